"""ClusterRoles that are made of others. Read ``controller.py``. Upstream: pkg/controller/clusterroleaggregation."""

from functools import partial

from fakekube.client.resources import CLUSTER_ROLES
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "clusterroleaggregation", "fakekube_controllers.clusterroleaggregation.controller:ClusterRoleAggregation",
    CLUSTER_ROLES)  # those that came with the cluster are made of others already
