"""The ResourceSlices of the cluster, with the taints that DeviceTaintRules add.

Upstream: dynamic-resource-allocation/resourceslice/tracker.
"""

from collections.abc import Callable, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube_controllers.scheduler.devices.model import PoolID

NODE_NAME, POOL = "the node of a slice", "the pool of a slice"
ANY = "-"  # no node has such a name


class TaintedSlices:
    """Reads the caches. ``rules`` lists the DeviceTaintRules, if there can be any."""

    def __init__(self, slices: Lister, rules: Callable[[], Sequence[ReadOnlyTree]]) -> None:
        self._slices, self._rules = slices, rules
        slices.add_index(NODE_NAME, lambda of: [of["spec"].get("nodeName") or ANY])
        slices.add_index(POOL, lambda of: [str(PoolID(of["spec"]["driver"], of["spec"]["pool"]["name"]))])

    def of_node(self, name: str) -> Sequence[ReadOnlyTree]:
        """Those with that nodeName; of an empty name those without one."""
        return self._tainted(self._slices.by_index(NODE_NAME, name or ANY))

    def of_pool(self, pool: PoolID) -> Sequence[ReadOnlyTree]:
        """Those of a pool, of any generation."""
        return self._tainted(self._slices.by_index(POOL, str(pool)))

    def _tainted(self, slices: Sequence[Tree]) -> Sequence[ReadOnlyTree]:
        rules = [rule for rule in self._rules() if not meta.is_deleting(rule)]
        return [_with_taints(each, rules) for each in slices] if rules else slices


def _with_taints(of: ReadOnlyTree, rules: Sequence[ReadOnlyTree]) -> ReadOnlyTree:
    """A slice with the taints of the rules that select its devices."""
    spec = of["spec"]
    place = {"driver": spec["driver"], "pool": spec["pool"]["name"]}
    devices = []
    for device in spec.get("devices") or ():
        added = [rule["spec"]["taint"] for rule in rules if _selects(rule, {**place, "device": device["name"]})]
        devices.append({**device, "taints": [*(device.get("taints") or ()), *added]} if added else device)
    return {**of, "spec": {**spec, "devices": devices}}


def _selects(rule: ReadOnlyTree, place: ReadOnlyTree) -> bool:
    selector = rule["spec"].get("deviceSelector")
    return selector is not None and all(selector[key] == value for key, value in place.items() if selector.get(key) is not None)
