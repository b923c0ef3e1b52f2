"""ReplicaSets and ReplicationControllers: so many pods of one template. Read ``controller.py``.

Upstream: pkg/controller/replicaset, pkg/controller/replication.
"""

from fakekube_controllers.replicaset.controller import ReplicaSetController, ReplicationManager

__all__ = ["ReplicaSetController", "ReplicationManager"]
