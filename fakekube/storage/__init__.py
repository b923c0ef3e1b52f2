"""Where objects live: one revision, bytes first, a log of what changed, and whoever watches it.

Read ``memory.py`` first, then ``eventlog.py``. Upstream: etcd, apiserver/pkg/storage and its cacher, in one.
"""
