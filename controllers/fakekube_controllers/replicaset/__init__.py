"""ReplicaSets and ReplicationControllers: so many pods of one template. Read ``controller.py``.

Upstream: pkg/controller/replicaset, pkg/controller/replication.
"""

from fakekube.client.resources import REPLICA_SETS, REPLICATION_CONTROLLERS
from fakekube_controllers import kube_controller

replica_sets = (
    kube_controller("replicaset", "replicaset-controller")
    .for_(REPLICA_SETS)
    .complete("fakekube_controllers.replicaset.controller:ReplicaSetReconciler")
)
replication_controllers = (
    kube_controller("replicationcontroller", "replication-controller")
    .for_(REPLICATION_CONTROLLERS)
    .complete("fakekube_controllers.replicaset.controller:ReplicationReconciler")
)
