"""Pods leave nodes whose NoExecute taints they do not tolerate, or tolerate only for a while.

Read ``controller.py``.

Upstream: pkg/controller/tainteviction.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES
from fakekube_controllers import kube_controller


def _drives_away(node: Tree) -> bool:
    return any(taint["effect"] == "NoExecute" for taint in node["spec"].get("taints") or ())


component = (
    kube_controller("tainteviction", "node-controller")
    .starts_with((NODES, _drives_away))
    .complete("fakekube_controllers.tainteviction.controller:TaintEvictionReconciler")
)
