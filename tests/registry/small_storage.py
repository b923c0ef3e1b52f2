"""A registry of three resources, their buckets and first objects, without a server around them."""

from collections.abc import Iterable
from typing import Any

from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.buckets import Buckets
from fakekube.registry.firstobjects import FirstObjectsWriter
from fakekube.registry.kind import Conversion, Kind, Selectable
from fakekube.registry.presence import StoredPresence
from fakekube.registry.resources import ResourceRegistry
from fakekube.storage.memory import Storage
from fakekube.util.rng import Rng

MAPS, NODES, ROLES = GroupResource("", "maps"), GroupResource("", "nodes"), GroupResource("rbac", "roles")
REVIEWS = GroupResource("", "reviews")
STARTED = "2026-01-01T00:00:00Z"


def kind(group: str, plural: str, **more: Any) -> Kind:
    return Kind(group=group, version="v1", kind=plural.capitalize(), plural=plural, singular=plural, namespaced=False, **more)


KINDS = (
    kind("", "maps", selectable=Selectable(("color",), lambda tree: {"color": tree.get("color", "")})),
    kind("", "nodes", custom=True),
    kind("rbac", "roles"),
    kind("", "reviews", verbs=("create",)),
)


def older(of: Kind) -> Kind:
    """Another version of a kind, which is not the one that is stored."""
    return kind(of.group, of.plural, conversion=Conversion(GroupVersionKind(of.group, "v1", of.kind), dict, dict), verbs=("get",))


class Roles:
    """Two roles come with a cluster, one of them from before its history begins."""

    def __contains__(self, resource: GroupResource) -> bool:
        return resource == ROLES

    @property
    def kept(self) -> Iterable[GroupResource]:
        return (ROLES,)

    def of(self, resource: GroupResource, started: str) -> list[Tree]:
        old = {"metadata": {"name": "old", "resourceVersion": "1", "managedFields": [{"manager": "m"}]}, "since": started}
        return [old, {"metadata": {"name": "new"}, "since": started}]


class Small:
    """All of it."""

    def __init__(self, storage: Storage | None = None) -> None:
        self.storage = storage or Storage(check_trees=True)
        if storage is None:
            self.storage.begin(5)
        self.resources = ResourceRegistry(KINDS)
        self.writer = FirstObjectsWriter(Roles(), Rng(0), STARTED)
        self.buckets = Buckets(self.storage, self.resources, self.writer)
        self.presence = StoredPresence(self.resources, self.buckets, self.writer.first)

    def make(self, resource: GroupResource, name: str, **more: Any) -> None:
        """Store an object."""
        self.buckets.bucket(resource).create({"metadata": {"name": name, "uid": f"uid-{name}", **more}})

    def remove(self, resource: GroupResource, name: str) -> None:
        """Delete it."""
        bucket = self.buckets.bucket(resource)
        record = bucket.get("", name)
        assert record is not None
        bucket.delete(record)

    def names(self, resource: GroupResource) -> list[str]:
        """What is there."""
        return [record.name for record in self.buckets.bucket(resource).all()]
