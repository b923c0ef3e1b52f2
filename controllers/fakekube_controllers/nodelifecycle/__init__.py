"""Which nodes still live, what their taints say of it, and their pods. Read ``controller.py``, then ``health.py``.

Upstream: pkg/controller/nodelifecycle.
"""

from functools import partial

from fakekube.client.resources import NODES
from fakekube.client.users import controller_account
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "nodelifecycle", "fakekube_controllers.nodelifecycle.controller:NodeLifecycleController", NODES,
    user=controller_account("node-controller"))
