"""ClusterRoles that are made of others. Read ``controller.py``. Upstream: pkg/controller/clusterroleaggregation."""

from functools import partial

from fakekube.client.resources import CLUSTER_ROLES
from fakekube.runtime.dormant import Dormant

component = partial(
    Dormant, "clusterroleaggregation", "fakekube_controllers.clusterroleaggregation.controller:ClusterRoleAggregation",
    CLUSTER_ROLES)  # those that came with the cluster are made of others already
