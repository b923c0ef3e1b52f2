"""Where the server stack and the client stack meet: a whole cluster, what it is told, its snapshots, its ports.

Read ``cluster.py`` first, then ``controlplane.py``. Only this package, and what stands above it (``cli``, ``testing``,
``pytest_plugin``), sees both stacks. Upstream: cmd/kube-apiserver/app and cmd/kube-controller-manager/app.
"""
