"""Which nodes still live, what their taints say of it, and their pods.

Read ``controller.py``, then ``health.py``.

Upstream: pkg/controller/nodelifecycle.
"""

from fakekube.client.resources import NODES
from fakekube.client.users import controller_account
from fakekube_controllers import kube_controller

component = (
    kube_controller("nodelifecycle")
    .starts_with(NODES)
    .with_options(user=controller_account("node-controller"))
    .complete("fakekube_controllers.nodelifecycle.controller:NodeLifecycleReconciler")
)
