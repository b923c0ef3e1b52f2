"""The API server as one Handler: what every request passes, and where each path leads.

Read ``apiserver.py`` first, then ``routes.py`` and ``install.py``. Upstream: apiserver/pkg/server,
pkg/controlplane.
"""
