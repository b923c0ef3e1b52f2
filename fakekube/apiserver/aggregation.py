"""Where a server begins to look at APIServices that lead to other servers: with the first one, and
no sooner.

``fakekube.aggregator`` does all the rest; a cluster without such APIServices never loads it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.buckets import Buckets
from fakekube.storage.memory import Bucket, Event
from fakekube.storage.record import Record

if TYPE_CHECKING:
    from fakekube.aggregator.apiservices import Aggregator

API_SERVICES = GroupResource("apiregistration.k8s.io", "apiservices")


class Aggregation:
    """Follows the APIServices of one server; ``made`` is called with what the first of them needs.
    """

    def __init__(self, buckets: Buckets, make: Callable[[], "Aggregator"], made: Callable[["Aggregator"], None]) -> None:
        self._make, self._made = make, made
        self._aggregator: Aggregator | None = None
        self._is_running = False
        self._storage = buckets.storage
        bucket = buckets.existing(API_SERVICES)  # of a state that was taken over
        if bucket is not None:
            self._listen(bucket)
        else:
            buckets.on_made(self._listen)

    def start(self) -> None:
        """Let other servers be asked."""
        self._is_running = True
        if self._aggregator is not None:
            self._aggregator.start()

    def stop(self) -> None:
        """Ask nobody any more."""
        self._is_running = False
        if self._aggregator is not None:
            self._aggregator.stop()

    def _listen(self, bucket: Bucket) -> None:
        if bucket.resource == API_SERVICES:
            bucket.subscribe(bucket.revision, "", self._changed)
            if any(_is_remote(record) for record in bucket.records()):
                self._begin()

    def _begin(self) -> None:
        if self._aggregator is not None:
            return
        aggregator = self._aggregator = self._make()
        self._made(aggregator)
        if self._is_running:
            aggregator.start()

    def _changed(self, event: Event) -> None:
        if self._aggregator is not None:
            self._aggregator.changed(event)
        elif event.type != "DELETED" and _is_remote(event.record):
            self._storage.afterwards(self._begin)


def _is_remote(record: Record) -> bool:
    return record.tree()["spec"].get("service") is not None
