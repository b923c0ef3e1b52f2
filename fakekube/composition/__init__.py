"""Where the server stack and the client stack meet: clusters, their options and snapshots.

Read ``cluster.py`` first, then ``controlplane.py``. Only this package, and those above it (``cli``,
``testing``, ``pytest_plugin``), see both stacks. Upstream: cmd/kube-apiserver/app and
cmd/kube-controller-manager/app.
"""
