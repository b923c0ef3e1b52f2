"""ResourceSlices, DeviceClasses and claims for the allocator, and an allocator of them."""

from typing import Any

from fakekube.util.rng import Rng
from fakekube_controllers.scheduler.devices.allocator import Allocator
from fakekube_controllers.scheduler.devices.model import Features, PoolID
from fakekube_controllers.scheduler.devices.selectors import Selectors
from fakekube_controllers.scheduler.devices.usage import AllocatedDevices

DRIVER = "gpu.example.com"


class Slices:
    """All slices there are."""

    def __init__(self, slices: Any) -> None:
        self.slices = slices

    def of_node(self, name: Any) -> Any:
        return [each for each in self.slices if each["spec"].get("nodeName", "") == name]

    def of_pool(self, pool: Any) -> Any:
        return [each for each in self.slices if (each["spec"]["driver"], each["spec"]["pool"]["name"]) == pool]


def device(name: Any, attributes: Any = None, capacity: Any = None, **rest: Any) -> Any:
    """A device; attributes are texts, numbers or booleans."""
    kinds = {str: "string", int: "int", bool: "bool"}
    found = {"name": name, **rest}
    if attributes:
        found["attributes"] = {key: {kinds[type(value)]: value} for key, value in attributes.items()}
    if capacity:
        found["capacity"] = {
            key: value if isinstance(value, dict) else {"value": value} for key, value in capacity.items()}
    return found


def devices(*names: Any) -> Any:
    """Devices that differ in nothing but their names."""
    return [device(name) for name in names]


def slice_of(
    listed: Any, *, node: Any = "n1", pool: Any = "p", name: Any = None, generation: Any = 1, of: Any = 1, driver: Any = DRIVER,
    **spec: Any,
) -> Any:
    """A ResourceSlice: one of ``of``; on a node unless ``spec`` says otherwise."""
    where = {} if {"allNodes", "nodeSelector", "perDeviceNodeSelection"} & spec.keys() else {"nodeName": node}
    metadata = {"name": name or f"{pool}-{generation}", "uid": name or f"{driver}/{pool}/{generation}", "resourceVersion": "1"}
    pool = {"name": pool, "generation": generation, "resourceSliceCount": of}
    return {"metadata": metadata, "spec": {"driver": driver, "pool": pool, "devices": listed, **where, **spec}}


def device_class(name: Any = "gpu", selectors: Any = (), config: Any = ()) -> Any:
    """A DeviceClass."""
    spec = {"selectors": [{"cel": {"expression": each}} for each in selectors]}
    return {"metadata": {"name": name}, "spec": spec | ({"config": list(config)} if config else {})}


def body(count: Any = 1, cls: Any = "gpu", selectors: Any = (), mode: Any = "ExactCount", **rest: Any) -> Any:
    """What one request asks for."""
    found = {"deviceClassName": cls, "allocationMode": mode, **rest}
    if mode == "ExactCount":
        found["count"] = count
    if selectors:
        found["selectors"] = [{"cel": {"expression": each}} for each in selectors]
    return found


def request(name: Any = "r", count: Any = 1, **rest: Any) -> Any:
    """A request for exactly this."""
    return {"name": name, "exactly": body(count, **rest)}


def first_of(name: Any, **alternatives: Any) -> Any:
    """A prioritized list; each alternative is a body."""
    return {"name": name, "firstAvailable": [{"name": key, **value} for key, value in alternatives.items()]}


def claim(*requests: Any, name: Any = "c", constraints: Any = (), config: Any = ()) -> Any:
    """A claim."""
    spec = {"requests": list(requests)}
    if constraints:
        spec["constraints"] = list(constraints)
    if config:
        spec["config"] = list(config)
    return {"metadata": {"name": name, "namespace": "n", "uid": name}, "spec": {"devices": spec}}


def allocation(*names: Any, pool: Any = "p", driver: Any = DRIVER, **more: Any) -> Any:
    """An allocation that there is already."""
    results = [{"request": "r", "driver": driver, "pool": pool, "device": name, **more} for name in names]
    return {"devices": {"results": results}}


def allocator(
    slices: Any, classes: Any = None, allocated: Any = (), max_work: Any = 400_000, spawn: Any = None, **features: Any,
) -> Any:
    """An allocator of such a cluster."""
    known = {each["metadata"]["name"]: each for each in classes or [device_class()]}
    on = Features(**features)
    usage = AllocatedDevices(shares=on.consumable_capacity)
    for each in allocated:
        usage.add(each)
    selectors = Selectors(
        37, multiple_allocations=on.consumable_capacity, list_attributes=on.list_type_attributes, spawn=spawn)
    return Allocator(
        on, usage, known.get, Slices(slices), selectors.match, Rng(0), max_work)


def allocate(slices: Any, *claims: Any, node: Any = "n1", labels: Any = None, **rest: Any) -> Any:
    """What the node gives to the claims, in full; None for nothing."""
    return allocator(slices, **rest).allocate(node, labels or {}, claims)


def given(slices: Any, *claims: Any, **rest: Any) -> Any:
    """The same in short: by claim the devices, each with its request."""
    found = allocate(slices, *claims, **rest)
    return found and [
        [f"{each['request']}={each['device']}" for each in one["devices"]["results"]] for one in found]


POOL = PoolID(DRIVER, "p")
