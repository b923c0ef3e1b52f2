"""What clients ask of a cluster, written down, asked of another one, and compared.

Read ``recorder.py`` first, then ``lines.py`` (the file), ``plan.py`` (what would be played where),
``player.py`` and ``comparison.py``. Upstream has no counterpart; kube-apiserver's audit log comes
closest. Left out: what cannot be asked again, which is commands in containers, ports and logs.
"""
