"""Deployments: templates rolled out over ReplicaSets. Read ``sync.py``. Upstream: pkg/controller/deployment."""

from fakekube_controllers.deployment.controller import DeploymentController

__all__ = ["DeploymentController"]
