"""Objects that are deleted some time after they were last written: Events, an hour after.

Every object has the same time to live, so the one that was written first expires first, and one
queue with one timer serves all. When very many expire at once they are deleted in portions, and
other work runs in between. The timer is a daemon one: virtual time neither jumps to it nor stops
for it. Times are whole seconds, as in an object's metadata, from which a cluster that continues
from a snapshot computes them again.

Upstream: the TTLFunc of pkg/registry/core/event/storage, and etcd's leases. Left out: leases that
several objects share, by which upstream keeps an object for up to a minute longer.
"""

from collections import deque
from typing import TYPE_CHECKING

from fakekube.apimachinery.times import parse_time
from fakekube.storage.memory import Bucket, Event, Record, Subscription
from fakekube.util.clock import Clock

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

PORTION = 200
"""So many objects leave at once; at some 15 microseconds each nobody waits for long."""

_Mark = tuple[str, str, int, float | None]
"""A write: namespace, name and revision, and when what it left is due; None for what was there
before.
"""


class Expiry:
    """Deletes the objects of a bucket ``ttl_seconds`` after their last write, from ``start`` to
    ``stop``.
    """

    def __init__(self, bucket: Bucket, clock: Clock, ttl_seconds: int) -> None:
        self._bucket, self._clock, self._ttl_seconds = bucket, clock, ttl_seconds
        self._marks: deque[_Mark] = deque()  # oldest first
        self._timer: Timer | None = None
        self._subscription: Subscription | None = None

    def start(self) -> None:
        """Watch over what is there and what comes.

        A time to live of 0 is none: as upstream, everything stays.
        """
        if not self._ttl_seconds:
            return
        present = sorted(self._bucket.all(), key=lambda record: record.revision)
        self._marks.extend((record.namespace, record.name, record.revision, None) for record in present)
        self._subscription = self._bucket.subscribe(self._bucket.revision, "", self._note, closed=self.stop)
        self._look()

    def stop(self) -> None:
        """Let everything stay; harmless when nothing is watched over."""
        if self._subscription is not None:
            self._subscription.cancel()
            self._subscription = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._marks.clear()

    def _note(self, event: Event) -> None:
        if event.type == "DELETED":
            return
        record, due = event.record, int(self._clock.time()) + self._ttl_seconds
        self._marks.append((record.namespace, record.name, record.revision, due))
        if self._timer is None:
            self._timer = self._clock.call_at(due, self._look, lazy=True)

    def _look(self) -> None:
        """Delete what is due, at most a portion of it, and set the timer for what is next."""
        self._timer = None
        now = self._clock.time()
        left = PORTION
        while self._marks:
            namespace, name, revision, due = self._marks[0]
            record = self._bucket.get(namespace, name)
            # else it is gone, or was written again
            if record is not None and record.revision == revision:
                if due is None:
                    due = _last_write(record) + self._ttl_seconds
                if due > now or not left:
                    self._timer = self._clock.call_at(max(due, now), self._look, lazy=True)
                    return
                self._bucket.delete(record)
                left -= 1
            self._marks.popleft()


def _last_write(record: Record) -> int:
    """When an object says that it was written last, in Unix seconds."""
    metadata = record.tree()["metadata"]
    times = [entry["time"] for entry in metadata.get("managedFields", ()) if "time" in entry]
    return int(parse_time(max([metadata["creationTimestamp"], *times])))
