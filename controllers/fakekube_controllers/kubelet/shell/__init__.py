"""A small scripted shell: no program runs. Read ``shell.py`` first."""
