"""ClusterRoles that are made of others. Read ``controller.py``.

Upstream: pkg/controller/clusterroleaggregation.
"""

from fakekube.client.resources import CLUSTER_ROLES
from fakekube_controllers import kube_controller

component = (
    kube_controller("clusterroleaggregation", "clusterrole-aggregation-controller")
    .starts_with(CLUSTER_ROLES)  # those that came with the cluster are made of others already
    .with_options(queue="ClusterRoleAggregator")
    .complete("fakekube_controllers.clusterroleaggregation.controller:ClusterRoleReconciler")
)
