"""The pools of devices that can be used on a node.

A pool is the slices of a driver with one pool name and the newest generation. One of which slices
are missing is incomplete, one with contradictions invalid: nothing is taken of either. Upstream:
pools_incubating.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fakekube.apimachinery import meta, placement, quantity
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.devices.model import DeviceID, Features, PoolID

Counters = dict[str, dict[str, int]]
"""By counter set and name, in billionths."""


class ResourceSlices(Protocol):
    """All ResourceSlices of the cluster."""

    def of_node(self, name: str) -> Sequence[ReadOnlyTree]:
        """Those with that nodeName; of an empty name those without one."""

    def of_pool(self, pool: PoolID) -> Sequence[ReadOnlyTree]:
        """Those of a pool, of any generation."""


@dataclass(slots=True, eq=False)
class Pool:
    """One pool, as far as it matters for a node.

    ``slices`` have devices that may be used there, ``other_slices`` have not. ``counters``: what
    the devices of the pool share. ``invalid``: why it is, or empty.
    """

    id: PoolID
    slices: Sequence[ReadOnlyTree] = ()
    other_slices: Sequence[ReadOnlyTree] = ()
    counters: Counters = field(default_factory=dict)
    is_incomplete: bool = False
    invalid: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether devices may be taken of it."""
        return not self.is_incomplete and not self.invalid


def device_id(of: ReadOnlyTree, device: ReadOnlyTree) -> DeviceID:
    """The id of a device of a slice."""
    return DeviceID(of["spec"]["driver"], of["spec"]["pool"]["name"], device["name"])


def devices_of(slices: Iterable[ReadOnlyTree]) -> Iterable[tuple[ReadOnlyTree, ReadOnlyTree]]:
    """Each slice with each of its devices."""
    return ((each, device) for each in slices for device in each["spec"].get("devices") or ())


def node_matches(selection: ReadOnlyTree, node_name: str, labels: Mapping[str, str]) -> bool:
    """Whether the nodeName, allNodes or nodeSelector of a slice or a device takes a node."""
    if selection.get("nodeName"):
        return bool(selection["nodeName"] == node_name)
    if selection.get("allNodes"):
        return True
    terms = (selection.get("nodeSelector") or {}).get("nodeSelectorTerms") or ()
    return any(placement.term_matches(term, node_name, labels) for term in terms)


def gather_pools(slices: ResourceSlices, node_name: str, labels: Mapping[str, str], features: Features) -> list[Pool]:
    """The pools with devices for a node, by driver and name; those with devices that must be made
    ready (binding conditions) come last.
    """
    found: dict[PoolID, list[ReadOnlyTree]] = {}
    for each in (*slices.of_node(node_name), *slices.of_node("")):
        spec = each["spec"]
        if not features.partitionable_devices and ("perDeviceNodeSelection" in spec or spec.get("sharedCounters")):
            continue
        if not _concerns(spec, node_name, labels):
            continue
        id_ = PoolID(spec["driver"], spec["pool"]["name"])
        known = found.get(id_)
        newer = _generation(each) - _generation(known[0]) if known else 1
        if newer > 0:
            found[id_] = [each]
        elif newer == 0 and known is not None:
            known.append(each)
    pools = [pool for id_ in sorted(found) if (pool := _pool(id_, found[id_], slices, features)) is not None]
    return sorted(pools, key=_has_binding_conditions)


def _concerns(spec: ReadOnlyTree, node_name: str, labels: Mapping[str, str]) -> bool:
    if spec.get("nodeName") or spec.get("allNodes") or spec.get("nodeSelector") is not None:
        return node_matches(spec, node_name, labels)
    return bool(spec.get("perDeviceNodeSelection")) and any(
        node_matches(device, node_name, labels) for device in spec.get("devices") or ())


def _generation(of: ReadOnlyTree) -> int:
    return int(of["spec"]["pool"].get("generation") or 0)


def _has_binding_conditions(pool: Pool) -> bool:
    return any("bindingConditions" in device for _, device in devices_of(pool.slices))


def _pool(id_: PoolID, here: list[ReadOnlyTree], slices: ResourceSlices, features: Features) -> Pool | None:
    """The pool of the slices that concern a node; None when there are newer ones elsewhere."""
    wanted, every = here[0]["spec"]["pool"]["resourceSliceCount"], here
    if len(here) != wanted:
        generations = [(_generation(each), each) for each in slices.of_pool(id_)]
        if any(generation > _generation(here[0]) for generation, _ in generations):
            return None
        every = [each for generation, each in generations if generation == _generation(here[0])]
        if len(every) != wanted:
            return Pool(id_, is_incomplete=True)
    counting = [each for each in every if features.partitionable_devices and each["spec"].get("sharedCounters")]
    names = {meta.name_of(each): None for each in counting}
    here = sorted((each for each in here if meta.name_of(each) not in names), key=meta.name_of)
    names.update((meta.name_of(each), None) for each in here)
    elsewhere = [each for each in every if meta.name_of(each) not in names]
    device_names: dict[str, None] = {}
    for _, device in devices_of(here):
        if device["name"] in device_names:
            return Pool(id_, invalid=f"duplicate device name {device['name']}")
        device_names[device["name"]] = None
    pool = Pool(id_, here, elsewhere)
    if features.partitionable_devices:
        pool.invalid = _read_counters(pool, counting)
    return pool


def _read_counters(pool: Pool, slices: Iterable[ReadOnlyTree]) -> str:
    """Why the shared counters of a pool, or what its devices take of them, contradict each other;
    empty when they do not.
    """
    for each in slices:
        for counters in each["spec"]["sharedCounters"]:
            if counters["name"] in pool.counters:
                return f"duplicate counter set name {counters['name']}"
            pool.counters[counters["name"]] = amounts_of(counters)
    for _, device in devices_of((*pool.slices, *pool.other_slices)):
        for taken in device.get("consumesCounters") or ():
            has = pool.counters.get(taken["counterSet"])
            if has is None:
                return f"counter set {taken['counterSet']} not found"
            for name in taken.get("counters") or ():
                if name not in has:
                    return f"counter {name} not found in counter set {taken['counterSet']}"
    return ""


def amounts_of(counters: ReadOnlyTree) -> dict[str, int]:
    """The values of counters by their names."""
    return {name: quantity.parse(counter["value"]).nano for name, counter in (counters.get("counters") or {}).items()}
