"""Which nodes still live, what their taints say of it, and their pods.

Read ``controller.py``, then ``health.py``.

Upstream: pkg/controller/nodelifecycle.
"""

from fakekube.client.resources import NODES
from fakekube_controllers import kube_controller

component = (
    kube_controller("nodelifecycle", "node-controller")
    .starts_with(NODES)
    .complete("fakekube_controllers.nodelifecycle.controller:NodeLifecycleReconciler")
)
