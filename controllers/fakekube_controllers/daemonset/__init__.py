"""DaemonSets: a pod on every node that it fits. Read ``step.py``. Upstream: pkg/controller/daemon."""

from functools import partial

from fakekube.client.resources import DAEMON_SETS
from fakekube.runtime.lazy import LazyController

component = partial(LazyController, "daemonset", "fakekube_controllers.daemonset.controller:DaemonSetController", DAEMON_SETS)
