"""What a kind is, and the one order of steps that every write takes.

Read ``store.py`` first, then ``kind.py`` and ``strategy.py``. Upstream:
apiserver/pkg/registry/generic.
"""
