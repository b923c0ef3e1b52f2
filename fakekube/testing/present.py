"""The present state of a cluster that goes on: every look sees what is there then."""

from typing import TYPE_CHECKING

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.times import parse_time
from fakekube.composition.storedkinds import Kinds
from fakekube.storage.memory import Storage
from fakekube.testing.history import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fakekube.composition.cluster import Cluster
    from fakekube.storage.bucket import Bucket
    from fakekube.storage.record import Record

KEPT_TREES = 1_000


class Present(State):
    """The objects of a cluster's storage as they are, and not a copy of them.

    In the middle of a commit, where subscribers are told, that is the state after it.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster, self.server = cluster, cluster.apiserver
        self._unasked: Storage | None = None
        started = parse_time(self.server.first_objects.started)
        super().__init__(Kinds(cluster.options), {}, cluster.clock.time(), self.server.storage.revision, started)

    def refresh(self) -> None:
        """Look anew from here on."""
        self.at, self.number = self._cluster.clock.time(), self.server.storage.revision
        self.looked_at = {}
        self.forget_trees()

    def forget_trees(self) -> None:
        """Keep no more than some."""
        if len(self._trees) > KEPT_TREES:
            self._trees.clear()

    def _record(self, stored: GroupResource, namespace: str, name: str) -> "Record | None":
        bucket = self._bucket(stored)
        return None if bucket is None else bucket.get(namespace, name)

    def _records(self, stored: GroupResource, namespace: str) -> "Iterable[Record]":
        bucket = self._bucket(stored)
        return () if bucket is None else bucket.records(namespace)

    def _bucket(self, stored: GroupResource) -> "Bucket | None":
        """None where there is nothing. Who looks makes no bucket, which would be a write."""
        storage = self.server.storage
        if not storage.has(stored):
            if stored not in self.server.first_objects.first:
                return None
            if self._unasked is None:
                self._unasked = self.server.unasked.add_to(Storage())
            storage = self._unasked
        return storage.bucket(stored) if storage.has(stored) else None
