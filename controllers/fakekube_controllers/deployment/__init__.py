"""Deployments: templates rolled out over ReplicaSets. Read ``controller.py``.

Upstream: pkg/controller/deployment.
"""

from fakekube.client.resources import DEPLOYMENTS
from fakekube_controllers import kube_controller

component = (
    kube_controller("deployment", "deployment-controller")
    .for_(DEPLOYMENTS)
    .complete("fakekube_controllers.deployment.controller:DeploymentReconciler")
)
