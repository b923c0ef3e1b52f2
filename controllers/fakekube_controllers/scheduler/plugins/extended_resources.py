"""Extended resources that devices stand for: ``example.com/gpu: 2`` asks for two devices of the
class that names that resource.

Upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache.
"""

from collections.abc import Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import Resource
from fakekube_controllers.scheduler.framework.handle import Handle

DEVICE_CLASSES = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False)
GATES = ("DynamicResourceAllocation", "DRAExtendedResource")
PREFIX = "deviceclass.resource.kubernetes.io/"
COMMON = "extended resources of device classes"


class ExtendedResources:
    """The DeviceClass of each extended resource. False where there is none at all."""

    def __init__(self) -> None:
        self._classes: dict[str, ReadOnlyTree] = {}

    def __bool__(self) -> bool:
        return bool(self._classes)

    def class_of(self, resource: str) -> ReadOnlyTree | None:
        """The class whose devices stand for a resource; of several the newest, and of these the
        first by name.
        """
        return self._classes.get(resource)

    def follow(self, handle: Handle) -> None:
        """Know the DeviceClasses of a cluster from now on."""
        lister = handle.lister(DEVICE_CLASSES)

        def changed(*_: object) -> None:
            self._read(lister.list())

        handle.add_handler(DEVICE_CLASSES, changed, changed, changed)

    def _read(self, classes: Iterable[ReadOnlyTree]) -> None:
        self._classes = {}
        for each in sorted(sorted(classes, key=meta.name_of), key=_created, reverse=True):
            self._classes[PREFIX + meta.name_of(each)] = each
            if each["spec"].get("extendedResourceName"):
                self._classes.setdefault(each["spec"]["extendedResourceName"], each)


def _created(of: ReadOnlyTree) -> str:
    return str(of["metadata"].get("creationTimestamp") or "")


def extended_resources(handle: Handle) -> ExtendedResources:
    """Those of the cluster, the same for all plugins; always empty where a gate is off."""
    found: ExtendedResources | None = handle.common.get(COMMON) if all(map(handle.enabled, GATES)) else ExtendedResources()
    if found is None:
        found = handle.common[COMMON] = ExtendedResources()
        found.follow(handle)
    return found
