"""Who sleeps until a resource is asked for, or changes. ``apimachinery.presence`` says what for."""

from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.presence import Cancel, Wake
from fakekube.storage.memory import Bucket, Event, Subscription

Tell = Callable[[GroupResource, int | None], None]


class Sleepers:
    """Functions to be called once, by resource. A resource needs no bucket to be slept over."""

    def __init__(self) -> None:
        self._for_question: dict[GroupResource, dict[Wake, None]] = {}
        self._for_change: dict[GroupResource, dict[Wake, None]] = {}
        self._subscriptions: dict[GroupResource, Subscription] = {}
        self._told: dict[Tell, None] = {}

    def until_asked(self, resource: GroupResource, wake: Wake) -> Cancel:
        """Wake when the resource gets a bucket."""
        return _add(self._for_question, resource, wake)

    def until_changed(self, resource: GroupResource, wake: Wake, bucket: Bucket | None) -> Cancel:
        """Wake at the first event of the resource; ``bucket`` is its bucket, if there is one."""
        if bucket is not None:
            self._listen(resource, bucket)
        return _add(self._for_change, resource, wake)

    def at_changes(self, tell: Tell, unchanged: list[Bucket]) -> Cancel:
        """Tell of the first event of each resource, of the buckets there are and of those to come."""
        self._told[tell] = None
        for bucket in unchanged:
            self._listen(bucket.resource, bucket)
        return lambda: self._told.pop(tell, None)

    def meet(self, resource: GroupResource, bucket: Bucket) -> None:
        """A resource has a bucket now, with what came with the cluster in it."""
        _wake_all(self._for_question.pop(resource, {}), None)
        if self._told or resource in self._for_change:
            self._listen(resource, bucket)

    def _listen(self, resource: GroupResource, bucket: Bucket) -> None:
        """One subscription for all sleepers of a resource."""
        if resource in self._subscriptions:
            return

        def changed(event: Event) -> None:
            self._subscriptions.pop(resource).cancel()
            since = event.revision - 1 if event.type == "ADDED" and len(bucket) == 1 else None
            _wake_all(self._for_change.pop(resource, {}), since)
            for tell in tuple(self._told):
                tell(resource, since)

        def closed() -> None:
            self._subscriptions.pop(resource, None)  # another resource may come under this name

        self._subscriptions[resource] = bucket.subscribe(bucket.revision, "", changed, closed=closed)


def _wake_all(sleepers: dict[Wake, None], since: int | None) -> None:
    """In the order in which they fell asleep; one may cancel another's sleep."""
    while sleepers:
        wake = next(iter(sleepers))
        del sleepers[wake]
        wake(since)


def _add(all_sleepers: dict[GroupResource, dict[Wake, None]], resource: GroupResource, wake: Wake) -> Cancel:
    sleepers = all_sleepers.setdefault(resource, {})
    sleepers[wake] = None
    return lambda: sleepers.pop(wake, None)
