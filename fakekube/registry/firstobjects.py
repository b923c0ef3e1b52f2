"""The objects that a cluster comes with (namespaces, RBAC roles, priority classes ...), and when
they are stored.

They are stored when somebody first asks for their resource, so that a cluster does not pay at its
start for what its user never looks at. Nobody can tell when that was: uids and times are those of
the start. Upstream: the post-start hooks of kube-apiserver.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from fakekube.apimachinery.causes import CAUSE
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.storage.memory import Bucket, Storage
from fakekube.util.rng import Rng


class FirstObjects(Protocol):
    """Knows which objects a cluster comes with."""

    def __contains__(self, resource: GroupResource) -> bool:
        """Whether there is anything of a resource."""

    @property
    def kept(self) -> Iterable[GroupResource]:
        """The resources of which there was something before the history begins."""

    def of(self, resource: GroupResource, started: str) -> list[Tree]:
        """The objects of a resource in their stored form, the caller's own, without uid and times.

        ``started`` is when the cluster was.

        Those with a resourceVersion were there before the history begins.
        """


class FirstObjectsWriter:
    """Stores the first objects of one cluster. ``started`` is their creationTimestamp."""

    def __init__(self, first: FirstObjects, rng: Rng, started: str) -> None:
        self.first, self.started = first, started
        self._rng = rng

    def write(self, resource: GroupResource, bucket: Bucket) -> None:
        """Store the first objects of a resource, if it has any.

        Their uids are the same whenever that is.
        """
        if resource not in self.first:
            return
        # it is nobody's wish: the request that came first only looks at them
        token = CAUSE.set(None)
        try:
            self._write(resource, bucket)
        finally:
            CAUSE.reset(token)

    def _write(self, resource: GroupResource, bucket: Bucket) -> None:
        rng = self._rng.fork(f"first {resource}")
        for tree in self.first.of(resource, self.started):
            meta = tree["metadata"]
            meta["uid"] = rng.uid()
            meta["creationTimestamp"] = self.started
            for entry in meta.get("managedFields", ()):
                entry["time"] = self.started
            if "resourceVersion" in meta:
                bucket.keep(tree)
            else:
                bucket.create(tree)


class UnaskedFirstObjects:
    """The first objects that nobody has asked for yet, for a fork of the storage.

    A fork has another start, so what was there before the history begins has to come along.
    """

    def __init__(self, writer: FirstObjectsWriter, open_bucket: Callable[[Storage, GroupResource], Bucket]) -> None:
        """``open_bucket`` makes the bucket of a resource in a storage."""
        self._writer, self._open_bucket = writer, open_bucket
        self._storage: Storage | None = None  # holds nothing else; filled for the first fork

    def add_to(self, fork: Storage) -> Storage:
        """The fork, with the first objects of those resources that it has no bucket for."""
        if self._storage is None:
            self._storage = Storage()
            for resource in self._writer.first.kept:
                self._writer.write(resource, self._open_bucket(self._storage, resource))
        for bucket in self._storage.buckets:
            if not fork.has(bucket.resource):
                fork.adopt(bucket)
        return fork
