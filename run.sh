export PYTHONPATH=/work/tmp/tie:/work/tmp/tie/controllers
exec /work/main/.venv/bin/python "$@"
