"""ClusterRoles that are made of others. Read ``controller.py``. Upstream: pkg/controller/clusterroleaggregation."""
