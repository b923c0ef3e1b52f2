"""How long an entity waits after it was rejected, or after an error.

Upstream: pkg/scheduler/backend/queue/backoff_queue.go. With the gate SchedulerPopFromBackoffQ times
are aligned to windows of a second, within which priority decides.
"""

import math
from typing import NamedTuple

from fakekube.workqueue.ratelimit import doubled_seconds
from fakekube_controllers.scheduler.framework.queued import QueuedEntityInfo

WINDOW_SECONDS = 1.0
MAX_CAUGHT_UP = 64  # tries that are counted one by one
MAX_TRIES_IN_SECOND = 64  # half as many each time that they were too many


class Backoff(NamedTuple):
    """``initial_seconds`` after the first attempt, doubled with each one more; a group of pods may
    wait the longer the larger it is.
    """

    initial_seconds: float = 1.0
    max_seconds: float = 10.0

    def expiration(self, entity: QueuedEntityInfo, *, aligned: bool) -> float:
        """When the back-off is over, in Unix seconds; with ``aligned``, the window in which it is.
        """
        count = entity.consecutive_errors_count or entity.unschedulable_count
        if not count or not self.max_seconds:
            return -math.inf
        if entity.backoff_expiration is None:
            size = sum(1 for _ in entity.pods())
            most = self.max_seconds * math.sqrt(size) if size > 1 else self.max_seconds
            when = entity.timestamp + doubled_seconds(self.initial_seconds, count - 1, most)
            entity.backoff_expiration = math.floor(when) if aligned else when
        return entity.backoff_expiration

    def is_backing_off(self, entity: QueuedEntityInfo, now: float, *, aligned: bool) -> bool:
        """Whether it is not over yet."""
        return self.expiration(entity, aligned=aligned) >= (math.floor(now) if aligned else now)

    def end(self, entity: QueuedEntityInfo, *, aligned: bool) -> float:
        """The first instant at which it is over."""
        expiration = self.expiration(entity, aligned=aligned)
        return expiration + WINDOW_SECONDS if aligned else math.nextafter(expiration, math.inf)

    def catch_up(self, entity: QueuedEntityInfo, now: float, *, aligned: bool) -> None:
        """Have an entity that was rejected back off as if it had been tried, and rejected, whenever
        its back-off was over until now (Unix seconds).
        """
        size = sum(1 for _ in entity.pods())
        period = math.floor(self.max_seconds * math.sqrt(max(size, 1))) + WINDOW_SECONDS
        if now - entity.timestamp > MAX_CAUGHT_UP * period:
            entity.timestamp += ((now - entity.timestamp) // period - MAX_CAUGHT_UP / 2) * period
            entity.unschedulable_count, entity.backoff_expiration = entity.unschedulable_count + MAX_CAUGHT_UP, None
        while entity.unschedulable_count and not self.is_backing_off(entity, now, aligned=aligned):
            entity.timestamp = self.end(entity, aligned=aligned)
            entity.unschedulable_count, entity.backoff_expiration = entity.unschedulable_count + 1, None


def count_try(entity: QueuedEntityInfo, now: float) -> None:
    """An entity is tried now (Unix seconds)."""
    if entity.tried_in != int(now):
        entity.tried_in, entity.tries_in_second = int(now), 0
    entity.tries_in_second += 1


def is_tried_too_often(entity: QueuedEntityInfo, now: float) -> bool:
    """Whether it must wait for its back-off, whatever calls for it.

    Two that hinder each other, or evictions that are refused, would have it tried for ever while
    the clock stands still.
    """
    return entity.tried_in == int(now) and entity.tries_in_second >= max(1, MAX_TRIES_IN_SECOND >> entity.calmed_count)


def calm(entity: QueuedEntityInfo, now: float) -> None:
    """Have one that is tried too often back off from now on, as after an error."""
    entity.calmed_count += 1
    entity.consecutive_errors_count = max(entity.consecutive_errors_count, 1)
    entity.timestamp, entity.backoff_expiration = now, None


DEFAULT_BACKOFF = Backoff()
