"""All stores of one cluster, and what they may ask of each other.

A bucket's bootstrap objects (RBAC roles, flow schemas ...) are stored when somebody first asks for the bucket, so that a
cluster starts without paying for what its user never looks at.
"""

from collections.abc import Callable, Mapping

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.stock import Waiting
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Admission, AdmitAll
from fakekube.registry.kind import Kind
from fakekube.registry.store import FieldOwnership, Store
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket, Event, Record, Storage
from fakekube.util.rng import Rng

FEW = 16  # objects of a resource that every write asks for, such as priority classes and quotas
Bootstrap = Callable[[GroupResource], list[Tree]]


class Stores:
    """One Store a kind and version, made on first use. It is the ``Cluster`` that strategies and admission see."""

    def __init__(
        self, kinds: Mapping[tuple[str, str, str], Kind], storage: Storage, *, release: str, gates: Callable[[str], bool],
        definitions: Definitions, rng: Rng, now: Callable[[], str], bootstrap: Bootstrap | None = None,
    ) -> None:
        self.release, self.gate, self.storage = release, gates, storage
        self.admission: Admission = AdmitAll()  # the chain is built around these stores, then put here
        self._kinds = dict(kinds)
        self._definitions, self._bootstrap = definitions, bootstrap
        self._rng, self.started = rng, now()
        self._stores: dict[tuple[str, str, str], Store] = {}
        self._buckets: dict[GroupResource, Bucket] = {}
        self._sleepers: dict[GroupResource, dict[Callable[[], None], None]] = {}
        self._by_name: dict[tuple[str, str], Bucket] = {}
        self._selected: dict[tuple[str, str, str], tuple[Bucket, int, list[Record]]] = {}
        self._by_resource: dict[GroupResource, Kind] = {}
        for kind in self._kinds.values():
            if kind.conversion is None:
                self._by_resource.setdefault(kind.group_resource, kind)

    def store(self, kind: Kind) -> Store:
        """The store behind an endpoint."""
        key = (kind.group, kind.version, kind.plural)
        found = self._stores.get(key)
        if found is None:
            found = self._stores[key] = Store(
                kind, self.bucket(kind.storage_resource), cluster=self, admission=lambda: self.admission,
                fields=lambda: self._fields(kind))
        return found

    def bucket(self, resource: GroupResource) -> Bucket:
        """Where a resource's objects are kept, its bootstrap objects among them."""
        found = self._buckets.get(resource)
        if found is None:
            kind = self._by_resource.get(resource)
            fields = kind.selectable.values if kind else None
            known = self.storage.has(resource)  # in a state that was taken over, its first objects with it
            found = self._buckets[resource] = self.storage.bucket(
                resource, fields=fields, sort_keys=kind.custom if kind else False)
            if not known:
                self._fill(resource, found)
            for wake in self._sleepers.pop(resource, ()):
                wake()
        return found

    def await_first(self, resource: GroupResource, wake: Callable[[], None], *, whole: bool) -> Waiting | None:
        """What lets a cache sleep while there is nothing to see of a resource; see ``apimachinery.stock``."""
        kind = self._by_resource.get(resource)
        if kind is None:
            return None
        if not whole and resource not in self._buckets and not self.storage.has(resource):
            sleepers = self._sleepers.setdefault(resource, {})
            sleepers[wake] = None
            return Waiting(None, lambda: sleepers.pop(wake, None))
        bucket = self.bucket(resource)
        if len(bucket):
            return None

        def woken(_: Event) -> None:
            subscription.cancel()
            wake()

        subscription = bucket.subscribe(bucket.revision, "", woken)
        return Waiting(bucket.revision, subscription.cancel)

    def _fill(self, resource: GroupResource, bucket: Bucket) -> None:
        for tree in self._bootstrap(resource) if self._bootstrap else ():
            meta = tree["metadata"]
            meta["uid"] = self._rng.uid()
            meta["creationTimestamp"] = self.started
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
        known = self._selected.get((group, resource, namespace))
        if known is not None and known[0].changes == known[1]:
            return [record.tree() for record in known[2]] if known[2] else []
        bucket = self._bucket_of(group, resource)
        records = bucket.records(namespace)
        if len(records) <= FEW:
            self._selected[group, resource, namespace] = bucket, bucket.changes, records
        return [record.tree() for record in records]

    def changes(self, group: str, resource: str) -> int:
        """How often a resource has changed so far."""
        return self._bucket_of(group, resource).changes

    def _bucket_of(self, group: str, resource: str) -> Bucket:
        """The bucket of a resource: its name, a plain pair, finds it faster than a GroupResource would be made."""
        found = self._by_name.get((group, resource))
        if found is None:
            found = self._by_name[group, resource] = self.bucket(GroupResource(group, resource))
        return found

    def write_status(self, group: str, resource: str, namespace: str, name: str, status: Tree) -> None:
        """Store a new status of an object at once, past admission and validation; nothing when there is none."""
        bucket = self.bucket(GroupResource(group, resource))
        record = bucket.get(namespace, name)
        if record is not None:
            bucket.update({**record.copy_tree(), "status": status}, record)
