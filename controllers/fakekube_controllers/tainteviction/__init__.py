"""Pods leave nodes whose NoExecute taints they do not tolerate, or tolerate only for a while. Read ``controller.py``.

Upstream: pkg/controller/tainteviction.
"""

from functools import partial
from typing import Any

from fakekube.client.resources import NODES
from fakekube.client.users import controller_account
from fakekube.runtime.lazy import LazyController


def _drives_away(node: dict[str, Any]) -> bool:
    return any(taint["effect"] == "NoExecute" for taint in node["spec"].get("taints") or ())


component = partial(
    LazyController, "tainteviction", "fakekube_controllers.tainteviction.controller:TaintEvictionController",
    (NODES, _drives_away),
    user=controller_account("taint-eviction-controller"))
