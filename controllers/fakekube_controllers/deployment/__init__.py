"""Deployments: templates rolled out over ReplicaSets. Read ``controller.py``. Upstream: pkg/controller/deployment."""

from functools import partial

from fakekube.client.resources import DEPLOYMENTS
from fakekube.runtime.dormant import Dormant

component = partial(
    Dormant, "deployment", "fakekube_controllers.deployment.controller:DeploymentController", DEPLOYMENTS)
