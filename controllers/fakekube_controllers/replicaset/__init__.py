"""ReplicaSets and ReplicationControllers: so many pods of one template. Read ``controller.py``.

Upstream: pkg/controller/replicaset, pkg/controller/replication.
"""

from functools import partial

from fakekube.client.resources import REPLICA_SETS, REPLICATION_CONTROLLERS
from fakekube.runtime.lazy import LazyController

replica_sets = partial(
    LazyController, "replicaset", "fakekube_controllers.replicaset.controller:ReplicaSetController", REPLICA_SETS)
replication_controllers = partial(
    LazyController, "replicationcontroller", "fakekube_controllers.replicaset.controller:ReplicationManager",
    REPLICATION_CONTROLLERS)
