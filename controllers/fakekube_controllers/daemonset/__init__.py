"""DaemonSets: a pod on every node that it fits. Read ``step.py``. Upstream: pkg/controller/daemon.
"""

from fakekube.client.resources import DAEMON_SETS
from fakekube_controllers import kube_controller

component = (
    kube_controller("daemonset", "daemon-set-controller")
    .for_(DAEMON_SETS)
    .complete("fakekube_controllers.daemonset.controller:DaemonSetReconciler")
)
