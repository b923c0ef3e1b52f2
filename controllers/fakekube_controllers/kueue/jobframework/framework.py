"""What an integration works with in a reconcile: the client, the caches, the clock, Events.

Upstream: the fields of JobReconciler in pkg/controller/jobframework/reconciler.go.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.cache.indexer import IndexFunction
from fakekube.cache.lister import Lister
from fakekube.client.recorder import EventType
from fakekube.client.resources import NAMESPACES, PRIORITY_CLASSES, Resource
from fakekube.runtime.context import Context
from fakekube.util.memory import Memo
from fakekube_controllers.kueue import names, patches
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.patches import Update
from fakekube_controllers.kueue.workload.reservation import truncate_event_message

COMPARED = 2048
"""So many comparisons of jobs with their Workloads are remembered."""


class Compared(NamedTuple):
    """What a comparison found, and the trees that it looked at: as long as they are held, no other
    tree has their ids.
    """

    is_same: bool
    seen: tuple[object, ...]


class Framework:
    """Of one integration, in one run. ``jobs`` are the objects that it is for.

    ``compared`` has what ``matching`` found, by the ids of the trees that were compared.
    """

    def __init__(self, ctx: Context, configuration: Configuration, name: str, resource: Resource) -> None:
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.configuration, self.features = configuration, configuration.features
        ctx.informer(resource).reflector.is_optional = True  # an integration begins when its kind is there
        self.jobs = ctx.lister(resource)
        self.workloads = ctx.lister(names.WORKLOADS)
        self.namespaces = ctx.lister(NAMESPACES)
        self.flavors = ctx.lister(names.RESOURCE_FLAVORS)
        self.priority_classes = ctx.lister(PRIORITY_CLASSES)
        self.workload_priority_classes = ctx.lister(names.WORKLOAD_PRIORITY_CLASSES)
        self.admission_checks = ctx.lister(names.ADMISSION_CHECKS)
        self._recorder = ctx.recorder(f"{name}-{names.KUEUE_NAME}-controller")
        self._consistency = Consistency()
        self._indexes: dict[GroupVersionKind, str] = {}
        self.compared: Memo[tuple[int, ...], Compared] = Memo(COMPARED)

    def event(self, obj: ReadOnlyTree, type_: EventType, reason: str, message: str) -> None:
        """Record an Event of an object."""
        self._recorder.report(obj, type_, reason, reason, truncate_event_message(message))

    def workloads_of(self, gvk: GroupVersionKind, key: ObjectKey) -> list[Tree]:
        """The Workloads that are owned by an object of this kind and name, whatever its uid.

        Upstream: the index of OwnerReferenceIndexKey.
        """
        index = self._indexes.get(gvk)
        if index is None:
            index = self._indexes[gvk] = index_of_owners(self.workloads, gvk)
        return self.workloads.by_index(index, f"{key.namespace}/{key.name}")

    def flavor(self, name: str) -> ReadOnlyTree | None:
        """The ResourceFlavor of a name."""
        return self.flavors.get("", name)

    async def patch(
        self, key: ObjectKey, resource: Resource, obj: ReadOnlyTree, update: Update, *, subresource: str = "",
    ) -> Tree | None:
        """Write what ``update`` changes in a copy of an object, as ``patches.patch``, while nobody
        else has written. ``key``: what is reconciled. APIError.
        """
        return self.wrote(key, resource, await patches.patch(self.client, resource, obj, update, subresource=subresource))

    async def update_workload(self, key: ObjectKey, workload: Tree) -> Tree:
        """Replace a Workload. APIError; 409 where it has changed."""
        return self.wrote(key, names.WORKLOADS, await self.client.update(names.WORKLOADS, workload, shared=True)) or {}

    def wrote(self, key: ObjectKey, resource: Resource, written: Tree | None) -> Tree | None:
        """Remember what the server answered to a write, until the caches show it."""
        if written is not None:
            self._consistency.wrote(key, self.ctx.informer(resource), written)
        return written

    def shows_all_written(self, key: ObjectKey) -> bool:
        """Whether the caches show what was written for what is reconciled."""
        return self._consistency.satisfied(key)

    def forget(self, key: ObjectKey) -> None:
        """What was reconciled is gone."""
        self._consistency.forget(key)


def workloads_of(workloads: Lister, gvk: GroupVersionKind, key: ObjectKey) -> list[Tree]:
    """The Workloads that are owned by an object of a kind and name, in a cache of Workloads."""
    return workloads.by_index(index_of_owners(workloads, gvk), f"{key.namespace}/{key.name}")


def index_of_owners(workloads: Lister, gvk: GroupVersionKind) -> str:
    """The index of a cache of Workloads by their owners of a kind, which is there then."""
    index = f"owner:{gvk.group}/{gvk.version}/{gvk.kind}"
    workloads.add_index(index, _by_owner(gvk))
    return index


def _by_owner(gvk: GroupVersionKind) -> IndexFunction:
    api_version = f"{gvk.group}/{gvk.version}" if gvk.group else gvk.version

    def values(workload: Tree) -> Iterable[str]:
        namespace = meta.namespace_of(workload)
        return [
            f"{namespace}/{owner['name']}" for owner in meta.owners_of(workload)
            if owner["kind"] == gvk.kind and owner["apiVersion"] == api_version]

    return values
