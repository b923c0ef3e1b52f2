"""Who sleeps until a resource is asked for, or changes. ``apimachinery.stock`` says what for."""

from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Event, Subscription

Wake = Callable[[], None]


class Sleepers:
    """Functions to be called once, by resource. A resource needs no bucket to be slept over."""

    def __init__(self) -> None:
        self._for_question: dict[GroupResource, dict[Wake, None]] = {}
        self._for_change: dict[GroupResource, dict[Wake, None]] = {}
        self._subscriptions: dict[GroupResource, Subscription] = {}

    def until_asked(self, resource: GroupResource, wake: Wake) -> Callable[[], object]:
        """Wake when the resource gets a bucket. What is returned cancels that."""
        sleepers = self._for_question.setdefault(resource, {})
        sleepers[wake] = None
        return lambda: sleepers.pop(wake, None)

    def until_changed(self, resource: GroupResource, wake: Wake, bucket: Bucket | None) -> Callable[[], object]:
        """Wake at the first event of the resource; ``bucket`` is its bucket, if there is one. What is returned cancels that."""
        sleepers = self._for_change.setdefault(resource, {})
        sleepers[wake] = None
        if bucket is not None:
            self._listen(resource, bucket)
        return lambda: sleepers.pop(wake, None)

    def meet(self, resource: GroupResource, bucket: Bucket) -> None:
        """A resource has a bucket now, with what came with the cluster in it."""
        for wake in self._for_question.pop(resource, ()):
            wake()
        if resource in self._for_change:
            self._listen(resource, bucket)

    def _listen(self, resource: GroupResource, bucket: Bucket) -> None:
        """One subscription for all sleepers of a resource."""
        if resource in self._subscriptions:
            return

        def changed(_: Event) -> None:
            self._subscriptions.pop(resource).cancel()
            for wake in self._for_change.pop(resource):
                wake()

        self._subscriptions[resource] = bucket.subscribe(bucket.revision, "", changed)
