"""Deployments: templates rolled out over ReplicaSets. Read ``controller.py``. Upstream: pkg/controller/deployment."""

from functools import partial

from fakekube.client.resources import DEPLOYMENTS
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "deployment", "fakekube_controllers.deployment.controller:DeploymentController", DEPLOYMENTS)
