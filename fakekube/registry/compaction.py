"""Compaction by time: states of the storage that are older than an interval or two can no longer be
read.

Every interval the revision of the moment is noted, and what lies before the one that was noted last
is refused from then on, as upstream's compactor does it: a list at an exact resourceVersion, or the
next page of one, gets 410. Watches go on as with upstream's watch cache, which etcd's compaction
does not touch; and nothing is thrown away, so that histories, snapshots and forks tell everything
still. Time that has leapt counts: what was written before the leap is as old as the leap made it.

Upstream: apiserver/pkg/storage/etcd3/compact.go. Left out: the key ``compact_rev_key``, whose
writes count revisions there.
"""

from typing import TYPE_CHECKING

from fakekube.storage.memory import Storage
from fakekube.util.clock import Clock

if TYPE_CHECKING:
    from fakekube.util.timers import Timer


class Compaction:
    """Lets the states of one storage expire, from ``start`` to ``stop``.

    An interval of 0 seconds is never, as upstream.
    """

    def __init__(self, storage: Storage, clock: Clock, interval_seconds: float) -> None:
        self._storage, self._clock, self._interval_seconds = storage, clock, interval_seconds
        self._noted: int | None = None  # the revision an interval ago
        self._timer: Timer | None = None

    def start(self) -> None:
        """Note the revision of the moment for the first time an interval from now."""
        if self._interval_seconds:
            self._wait_until(self._clock.time() + self._interval_seconds)

    def stop(self) -> None:
        """Let everything stay readable that is; harmless when nothing was started."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait_until(self, due: float) -> None:
        self._timer = self._clock.call_at(due, self._compact, due, lazy=True)

    def _compact(self, due: float) -> None:
        intervals_late = int((self._clock.time() - due) // self._interval_seconds)
        if intervals_late:
            self._noted = self._storage.revision  # no write came since it was due
        if self._noted is not None:
            self._storage.expire(self._noted)
        self._noted = self._storage.revision
        self._wait_until(due + self._interval_seconds * (intervals_late + 1))
