"""StatefulSets: pods with names, an order, and storage of their own. Read ``update.py``. Upstream: pkg/controller/statefulset."""

from fakekube_controllers.statefulset.controller import StatefulSetController

__all__ = ["StatefulSetController"]
