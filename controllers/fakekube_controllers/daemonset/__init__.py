"""DaemonSets: a pod on every node that it fits. Read ``step.py``. Upstream: pkg/controller/daemon."""

from fakekube_controllers.daemonset.controller import DaemonSetController

__all__ = ["DaemonSetController"]
