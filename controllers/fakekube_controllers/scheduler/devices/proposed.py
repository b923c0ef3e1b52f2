"""Devices that are not there, to be tried together with those that are."""

from collections.abc import Sequence

import orjson

from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.devices.model import PoolID
from fakekube_controllers.scheduler.devices.pools import ResourceSlices
from fakekube_controllers.scheduler.framework import changes


class ProposedSlices:
    """All ResourceSlices, and one more for each change that adds devices to a node."""

    def __init__(self, known: ResourceSlices, proposed: Changes) -> None:
        self._known = known
        self._by_node: dict[str, list[Tree]] = {}
        for number, each in enumerate(proposed):
            if each.action == changes.ADD_DEVICES:
                self._add(number, each)

    def _add(self, number: int, change: Change) -> None:
        node, details = change.target.partition("/")[2], change.details
        driver, device, count = str(details["driver"]), details["device"], int(str(details["count"]))
        assert isinstance(device, dict), "as changes.add_devices has it"
        pool = f"new-{number}-on-{node}"
        spec: Tree = {
            "driver": driver, "nodeName": node, "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
            "devices": [{**device, "name": f"new-{place}"} for place in range(count)]}
        # selectors remember what they said of a slice with this uid
        uid = orjson.dumps([driver, device], option=orjson.OPT_SORT_KEYS).decode()
        made = {"metadata": {"name": pool, "uid": uid, "resourceVersion": "0"}, "spec": spec}
        self._by_node.setdefault(node, []).append(made)

    def of_node(self, name: str) -> Sequence[ReadOnlyTree]:
        """Those with that nodeName; of an empty name those without one."""
        return [*self._known.of_node(name), *self._by_node.get(name, ())]

    def of_pool(self, pool: PoolID) -> Sequence[ReadOnlyTree]:
        """Those of a known pool, of any generation: proposed ones are whole."""
        return self._known.of_pool(pool)
