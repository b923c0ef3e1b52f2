"""For how long kubelets may keep what they read. Read ``controller.py``.

Upstream: pkg/controller/ttl.
"""

from fakekube.client.resources import NODES
from fakekube_controllers import kube_controller

component = kube_controller("ttl", "ttl-controller").starts_with(NODES).complete("fakekube_controllers.ttl.controller:NodeTTL")
