"""All stores of one cluster, and what they may ask of each other.

A bucket's first objects (RBAC roles, default service accounts ...) are stored when somebody first asks for the bucket, so that
a cluster starts without paying for what its user never looks at.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.presence import Cancel, Wake
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Admission, AdmitAll
from fakekube.registry.deletion import has_ties
from fakekube.registry.kind import Kind
from fakekube.registry.sleepers import Sleepers
from fakekube.registry.store import Store
from fakekube.registry.strategy import SERVER_MANAGER
from fakekube.registry.write import FieldOwnership
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket, Storage
from fakekube.util.rng import Rng


class FirstObjects(Protocol):
    """What a cluster holds when it is first seen."""

    def __contains__(self, resource: GroupResource) -> bool:
        """Whether there is anything of a resource."""

    @property
    def kept(self) -> Iterable[GroupResource]:
        """The resources of which there was something before the history begins."""

    def of(self, resource: GroupResource) -> list[Tree]:
        """The objects of a resource in their stored form, the caller's own, without uid and times.

        Those with a resourceVersion were there before the history begins.
        """


class Stores:
    """One Store a kind and version, made on first use. It is the ``Cluster`` that strategies and admission see."""

    def __init__(
        self, stored: Mapping[GroupResource, Kind], storage: Storage, *, release: str, gates: Callable[[str], bool],
        definitions: Definitions, rng: Rng, now: Callable[[], str], first: FirstObjects,
    ) -> None:
        self.release, self.gate, self.storage = release, gates, storage
        self.admission: Admission = AdmitAll()  # the chain is built around these stores, then put here
        self._stored = stored
        self._definitions, self._first = definitions, first
        self._rng, self.started = rng, now()
        self._stores: dict[tuple[str, str, str], Store] = {}
        self._buckets: dict[GroupResource, Bucket] = {}
        self._sleepers = Sleepers()
        self._spare: Storage | None = None  # with what was there from the beginning, once that is wanted for a fork
        self._came: dict[GroupResource, int] = {}  # how many objects of a resource came with the cluster
        self._by_name: dict[tuple[str, str], Bucket] = {}

    def store(self, kind: Kind) -> Store:
        """The store behind an endpoint."""
        key = (kind.group, kind.version, kind.plural)
        found = self._stores.get(key)
        if found is None:
            found = self._stores[key] = Store(
                kind, self.bucket(kind.storage_resource), cluster=self, admission=lambda: self.admission,
                fields=lambda: self._fields(kind))
        return found

    def forget(self, kind: Kind, *, last: bool) -> None:
        """Know a version of a kind no longer: what comes under its name may be another kind, with another scope.

        ``last`` says that no other version of the resource is served: its bucket goes too, once it holds nothing.
        """
        self._stores.pop((kind.group, kind.version, kind.plural), None)
        resource = kind.storage_resource
        if last and not len(self._buckets.get(resource, ())):
            self._buckets.pop(resource, None)
            self._by_name.pop((resource.group, resource.resource), None)
            self.storage.drop_bucket(resource)

    def bucket(self, resource: GroupResource) -> Bucket:
        """Where a resource's objects are kept, its first objects among them."""
        found = self._buckets.get(resource)
        if found is None:
            known = self.storage.has(resource)  # in a state that was taken over, its first objects with it
            found = self._buckets[resource] = self._made(self.storage, resource)
            if not known:
                self._fill(resource, found)
                self._came[resource] = found.changes
            self._sleepers.meet(resource, found)
        return found

    def _made(self, storage: Storage, resource: GroupResource) -> Bucket:
        kind = self._stored.get(resource)
        fields = kind.selectable.values if kind else None
        return storage.bucket(resource, fields=fields, sort_keys=kind.custom if kind else False)

    def await_first(self, resource: GroupResource, wake: Wake, *, whole: bool) -> Cancel | None:
        """What lets a cache sleep while there is nothing to see of a resource; see ``apimachinery.presence``."""
        if resource not in self._stored:
            return None
        bucket = self._bucket_slept_over(resource)
        if bucket is None and resource in self._first:
            if not whole:
                return self._sleepers.until_asked(resource, wake)
            bucket = self.bucket(resource)
        if bucket is not None and len(bucket):
            return None
        return self._sleepers.until_changed(resource, wake, bucket)

    def await_changes(self, tell: Callable[[GroupResource, int | None], None]) -> Cancel:
        """What lets components sleep that are for objects which somebody makes; see ``apimachinery.presence``."""
        present = [(bucket, bucket.changes == self._came.get(bucket.resource, 0)) for bucket in self.storage.buckets]
        for bucket, is_new in present:
            if not is_new:
                tell(bucket.resource, None)
        return self._sleepers.at_changes(tell, [bucket for bucket, is_new in present if is_new])

    def await_owned(self, wake: Callable[[], None]) -> Cancel | None:
        """What lets a garbage collector sleep while nothing is owned; see ``apimachinery.presence``."""
        return self.storage.await_record(has_ties, wake)

    def complete(self, fork: Storage) -> Storage:
        """A fork of the storage, with what was there from the beginning and nobody has asked for here."""
        if self._spare is None:
            self._spare = Storage()
            for resource in self._first.kept:
                self._fill(resource, self._made(self._spare, resource))
        for bucket in self._spare.buckets:
            if not fork.has(bucket.resource):
                fork.adopt(bucket)
        return fork

    def _bucket_slept_over(self, resource: GroupResource) -> Bucket | None:
        """The bucket of a resource, if there is one already: none is made for those who want to know of nothing."""
        return self.bucket(resource) if resource in self._buckets or self.storage.has(resource) else None

    def _fill(self, resource: GroupResource, bucket: Bucket) -> None:
        """Store what came with the cluster. Its uids are the same whenever it is asked for."""
        if resource not in self._first:
            return
        rng = self._rng.fork(f"first {resource}")
        for tree in self._first.of(resource):
            meta = tree["metadata"]
            meta["uid"] = rng.uid()
            meta["creationTimestamp"] = self.started
            for entry in meta.get("managedFields", ()):
                entry["time"] = self.started
            if "resourceVersion" in meta:
                bucket.keep(tree)
            else:
                bucket.create(tree)

    def _fields(self, kind: Kind) -> FieldOwnership:
        from fakekube.managedfields.manager import FieldManager

        return FieldManager(self._definitions.schema(kind.gvk), kind.api_version)

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Tree | None:
        """The stored object, decoded; never to be changed. None when there is none."""
        bucket = self._bucket_of(group, resource)
        record = bucket.get(namespace, name)
        return record.tree() if record is not None else None

    def select(self, group: str, resource: str, namespace: str) -> list[Tree]:
        """All stored objects of a namespace ("" for all), in key order; never to be changed."""
        bucket = self._bucket_of(group, resource)
        if not len(bucket):
            return []
        records = bucket.lookup(namespace)
        if namespace or records:  # a resource without namespaces has all in the one that has no name
            return [records[name].tree() for name in bucket.names(namespace)]
        return [record.tree() for record in bucket.records()]

    def _bucket_of(self, group: str, resource: str) -> Bucket:
        """The bucket of a resource: its name, a plain pair, finds it faster than a GroupResource would be made."""
        found = self._by_name.get((group, resource))
        if found is None:
            found = self._by_name[group, resource] = self.bucket(GroupResource(group, resource))
        return found

    def write_status(self, group: str, resource: str, namespace: str, name: str, status: Tree, *, now: str) -> None:
        """Store a new status of an object at once, past admission and validation; nothing when there is none.

        It is the server's own write, at the time ``now``.
        """
        store = self.store(self._stored[GroupResource(group, resource)])
        record = store.bucket.get(namespace, name)
        if record is not None:
            old = store.load(record)
            new = {**old, "metadata": dict(old["metadata"]), "status": status}
            store.fields.update(old, new, manager=SERVER_MANAGER, now=now, subresource="status")
            store.replace(new, record)
