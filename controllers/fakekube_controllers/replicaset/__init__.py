"""ReplicaSets and ReplicationControllers: so many pods of one template. Read ``controller.py``.

Upstream: pkg/controller/replicaset, pkg/controller/replication.
"""

from functools import partial

from fakekube.client.resources import REPLICA_SETS, REPLICATION_CONTROLLERS
from fakekube.runtime.dormant import Dormant

replica_sets = partial(
    Dormant, "replicaset", "fakekube_controllers.replicaset.controller:ReplicaSetController", REPLICA_SETS)
replication_controllers = partial(
    Dormant, "replicationcontroller", "fakekube_controllers.replicaset.controller:ReplicationManager",
    REPLICATION_CONTROLLERS)
