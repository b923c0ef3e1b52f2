"""Where the objects of each resource are kept.

A bucket is made when somebody first asks for its resource.
"""

from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.firstobjects import FirstObjectsWriter
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.storage.memory import Bucket, Storage

Made = Callable[[Bucket], None]


class Buckets:
    """The buckets of one storage, with the first objects of their resources in them."""

    def __init__(self, storage: Storage, resources: ResourceRegistry, first: FirstObjectsWriter) -> None:
        self.storage = storage
        self._resources, self._first = resources, first
        # a GroupResource equals its pair of names
        self._buckets: dict[tuple[str, str], Bucket] = {}
        # how many changes storing the first objects was
        self._first_changes: dict[GroupResource, int] = {}
        self._observers: dict[Made, None] = {}
        resources.on_change(self._forget)

    def bucket(self, resource: GroupResource) -> Bucket:
        """The bucket of a resource, made if there is none."""
        found = self._buckets.get(resource)
        return found if found is not None else self._make(resource)

    def named(self, group: str, resource: str) -> Bucket:
        """As ``bucket``, for who has the names alone: no GroupResource is made to look for it."""
        found = self._buckets.get((group, resource))
        return found if found is not None else self._make(GroupResource(group, resource))

    def existing(self, resource: GroupResource) -> Bucket | None:
        """The bucket of a resource, if somebody has asked for it already."""
        found = self._buckets.get(resource)
        if found is None and self.storage.has(resource):
            found = self._make(resource)
        return found

    def open_in(self, storage: Storage, resource: GroupResource) -> Bucket:
        """The bucket of a resource in another storage, made if there is none, without first
        objects.
        """
        if storage.has(resource):
            return storage.bucket(resource)
        kind = self._resources.stored.get(resource)
        fields = kind.selectable.values if kind else None
        return storage.add_bucket(resource, fields=fields, sort_keys=kind.custom if kind else False)

    def is_unchanged(self, bucket: Bucket) -> bool:
        """Whether nobody has written anything besides the first objects."""
        return bucket.changes == self._first_changes.get(bucket.resource, 0)

    def on_made(self, made: Made) -> Callable[[], object]:
        """Call ``made`` with each bucket that is made from now on, first objects in it.

        What is returned ends that.
        """
        self._observers[made] = None
        return lambda: self._observers.pop(made, None)

    def _make(self, resource: GroupResource) -> Bucket:
        # in a state that was taken over, its first objects with it
        known = self.storage.has(resource)
        bucket = self._buckets[resource] = self.open_in(self.storage, resource)
        if not known:
            self._first.write(resource, bucket)
            self._first_changes[resource] = bucket.changes
        for made in tuple(self._observers):
            made(bucket)
        return bucket

    def _forget(self, kind: Kind, last: bool) -> None:
        """Drop the bucket of a resource that is not served any more, if it is empty."""
        resource = kind.storage_resource
        if last and not len(self._buckets.get(resource, ())):
            self._buckets.pop(resource, None)
            self.storage.drop_bucket(resource)
