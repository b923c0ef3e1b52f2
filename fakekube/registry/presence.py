"""Which resources have objects, told by the storage. ``apimachinery.presence`` says what for."""

from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.presence import Cancel, Wake
from fakekube.registry.buckets import Buckets
from fakekube.registry.deletion import has_ties
from fakekube.registry.firstobjects import FirstObjects
from fakekube.registry.resources import ResourceRegistry
from fakekube.storage.memory import Bucket, Event, Subscription

Tell = Callable[[GroupResource, int | None], None]
Waiting = dict[GroupResource, dict[Wake, None]]


class StoredPresence:
    """A ResourcePresence. Who waits for a resource that nobody asked for does not make its bucket.
    """

    def __init__(self, resources: ResourceRegistry, buckets: Buckets, first: FirstObjects) -> None:
        self._resources, self._buckets, self._first = resources, buckets, first
        self._until_asked: Waiting = {}
        self._until_changed: Waiting = {}
        self._of_all: dict[Tell, None] = {}
        self._subscriptions: dict[GroupResource, Subscription] = {}
        buckets.on_made(self._made)

    def await_first(self, resource: GroupResource, wake: Wake, *, whole: bool) -> Cancel | None:
        """As ResourcePresence says; None, too, for a resource that is not served or cannot be
        watched.
        """
        kind = self._resources.stored.get(resource)
        if kind is None or "watch" not in kind.verbs:
            return None
        bucket = self._buckets.existing(resource)
        if bucket is None and resource in self._first:
            if not whole:
                return _add(self._until_asked, resource, wake)
            bucket = self._buckets.bucket(resource)
        if bucket is not None:
            if len(bucket):
                return None
            self._listen(bucket)
        return _add(self._until_changed, resource, wake)

    def await_changes(self, tell: Tell) -> Cancel:
        """As ResourcePresence says."""
        present = [(bucket, self._buckets.is_unchanged(bucket)) for bucket in self._buckets.storage.buckets]
        for bucket, is_unchanged in present:
            if not is_unchanged:
                tell(bucket.resource, None)
        self._of_all[tell] = None
        for bucket, is_unchanged in present:
            if is_unchanged:
                self._listen(bucket)
        return lambda: self._of_all.pop(tell, None)

    def await_owned(self, wake: Callable[[], None]) -> Cancel | None:
        """As ResourcePresence says."""
        return self._buckets.storage.await_record(has_ties, wake)

    def _made(self, bucket: Bucket) -> None:
        """Somebody has asked for a resource: its bucket is there now, its first objects in it."""
        resource = bucket.resource
        _wake_all(self._until_asked.pop(resource, {}), None)
        if self._of_all or resource in self._until_changed:
            self._listen(bucket)

    def _listen(self, bucket: Bucket) -> None:
        """Wait for the next event of a resource: one subscription for all who do."""
        resource = bucket.resource
        if resource in self._subscriptions:
            return

        def changed(event: Event) -> None:
            self._subscriptions.pop(resource).cancel()
            since = event.revision - 1 if event.type == "ADDED" and len(bucket) == 1 else None
            _wake_all(self._until_changed.pop(resource, {}), since)
            for tell in tuple(self._of_all):
                tell(resource, since)

        def closed() -> None:
            self._subscriptions.pop(resource, None)  # another resource may come under this name

        self._subscriptions[resource] = bucket.subscribe(bucket.revision, "", changed, closed=closed)


def _wake_all(waiting: dict[Wake, None], since: int | None) -> None:
    """In the order in which they came; one may cancel another's call."""
    while waiting:
        wake = next(iter(waiting))
        del waiting[wake]
        wake(since)


def _add(waiting: Waiting, resource: GroupResource, wake: Wake) -> Cancel:
    of_resource = waiting.setdefault(resource, {})
    of_resource[wake] = None
    return lambda: of_resource.pop(wake, None)
