"""What a pod lacks of its ResourceClaims: the claims, their classes, or devices on a node.

Devices are like some that are there, on whatever node; where there are none that would do, like one
without attributes. As many are proposed as are asked for and not free.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Json, ReadOnlyTree, Tree
from fakekube.runtime.why import Change, Changes
from fakekube_controllers.scheduler.devices.allocator import Allocator
from fakekube_controllers.scheduler.devices.model import AllocationError
from fakekube_controllers.scheduler.devices.pools import devices_of
from fakekube_controllers.scheduler.devices.references import FindClaim
from fakekube_controllers.scheduler.devices.requests import ALL, asked_of
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.types import NodeInfo

MAX_KINDS = 32  # of devices that are tried for a request
COPIED = ("attributes", "capacity", "allowMultipleAllocations")

MakeAllocator = Callable[[Changes], Allocator]
"""What allocates where changes have added devices."""


class Kind(NamedTuple):
    """A device that could be added, and its driver."""

    driver: str
    device: Json


def missing_objects(
    pod: ReadOnlyTree, find: FindClaim, find_class: Callable[[str, str], ReadOnlyTree | None],
) -> list[Change] | None:
    """The claims that a pod names and that are not there, or else the classes that these ask for;
    None where all are there.
    """
    namespace = meta.namespace_of(pod)
    names = [each["resourceClaimName"] for each in pod["spec"].get("resourceClaims") or () if each.get("resourceClaimName")]
    claims = {name: find(namespace, name) for name in names}
    lacking = [changes.create("ResourceClaim", namespace, name) for name, claim in claims.items() if claim is None]
    if lacking:
        return lacking
    bodies = [body for claim in claims.values() if claim is not None for each in asked_of(claim).get("requests") or ()
              for body in _alternatives(each)]
    classes = dict.fromkeys(body.get("deviceClassName") or "" for body in bodies)
    return [changes.create("DeviceClass", "", name) for name in classes if name and find_class("", name) is None] or None


def missing(
    make: MakeAllocator, slices: Sequence[ReadOnlyTree], claims: Sequence[ReadOnlyTree], node: NodeInfo,
) -> list[Change] | None:
    """The devices that a node lacks for claims; None where no devices would do."""
    kinds = list(_kinds(slices, claims))
    wanted: list[Change] = []
    for claim in claims:
        for request in asked_of(claim).get("requests") or ():
            alone = [_with_only(claim, request)]
            found = next((each for each in _devices(request, kinds, node) if _fits(make, (each,), alone, node)), None)
            if found is None:
                return None
            wanted.append(found)
    if not _fits(make, tuple(wanted), claims, node):
        return None
    for number, each in enumerate(wanted):
        for count in range(int(str(each.details["count"]))):
            fewer = [*wanted[:number], changes.with_count(each, count), *wanted[number + 1:]]
            if _fits(make, tuple(fewer), claims, node):
                wanted = fewer
                break
    return [each for each in wanted if each.details["count"]]


def _alternatives(request: ReadOnlyTree) -> Sequence[Tree]:
    """What would do for a request, the best first."""
    return request.get("firstAvailable") or [request.get("exactly") or {}]


def _devices(request: ReadOnlyTree, kinds: Sequence[Kind], node: NodeInfo) -> Iterator[Change]:
    """Devices that may do for a request."""
    for body in _alternatives(request):
        count = 1 if body.get("allocationMode") == ALL else int(body.get("count") or 1)
        for driver, device in kinds:
            yield changes.add_devices(changes.node_target(node), body.get("deviceClassName") or "", driver, device, count)


def _kinds(slices: Sequence[ReadOnlyTree], claims: Sequence[ReadOnlyTree]) -> Iterator[Kind]:
    """Devices that differ, without what binds them to a place; then some of which nothing is known,
    whose driver may be named like the class.
    """
    seen: dict[bytes, None] = {}
    drivers: dict[str, None] = {}
    for of, device in devices_of(slices):
        kind = Kind(of["spec"]["driver"], {name: device[name] for name in COPIED if name in device})
        drivers[kind.driver] = None
        key = orjson.dumps([*kind], option=orjson.OPT_SORT_KEYS)
        if key not in seen and len(seen) < MAX_KINDS:
            seen[key] = None
            yield kind
    for claim in claims:
        for request in asked_of(claim).get("requests") or ():
            drivers.update((body.get("deviceClassName") or "", None) for body in _alternatives(request))
    yield from (Kind(driver, {}) for driver in drivers if driver)


def _with_only(claim: ReadOnlyTree, request: ReadOnlyTree) -> Tree:
    """A claim that asks for nothing else."""
    return {**claim, "spec": {"devices": {"requests": [request]}}}


def _fits(make: MakeAllocator, added: Changes, claims: Sequence[ReadOnlyTree], node: NodeInfo) -> bool:
    """Whether claims can be had on a node with more devices."""
    try:
        labels = meta.labels_of(node.node) if node.node is not None else {}
        return make(added).allocate(node.name, labels, claims) is not None
    except AllocationError:
        return False
