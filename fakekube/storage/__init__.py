"""Where objects are kept, as bytes: one revision for all, a log of what changed, and the watchers.

Read ``memory.py`` first, then ``eventlog.py``. Upstream: etcd, apiserver/pkg/storage and its
cacher, in one.
"""
