"""Groups that were rejected. They only back off: events that may help their pods do not end that.

Upstream tries such a group whenever its back-off is over, as long as it is there. Here it is tried
then only if anything has happened that may change the answer, so that a clock that leaps from timer
to timer comes to rest; and it pulls time forward only when that may help it.

Upstream: AddAttemptedPodGroupIfNeeded of pkg/scheduler/backend/queue/scheduling_queue.go.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fakekube.util.clock import Clock
from fakekube_controllers.scheduler.backoff import Backoff
from fakekube_controllers.scheduler.framework.events import ClusterEvent, EventResource
from fakekube_controllers.scheduler.framework.queued import EntityKey, QueuedEntityInfo, QueuedPodGroupInfo

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

OF_GROUPS = (EventResource.UNSCHEDULED_POD, EventResource.POD_GROUP, EventResource.COMPOSITE_POD_GROUP, EventResource.WORKLOAD)
"""Their changes leave the room on the nodes as it is; a group that they concern is made anew."""


def rests(entity: QueuedEntityInfo) -> bool:
    """Whether it is a group that was rejected, and that no PreEnqueue plugin holds."""
    return isinstance(entity, QueuedPodGroupInfo) and entity.rests


class RestingGroups:
    """Those among the unschedulable groups of a queue, and what has happened meanwhile.

    ``aligned``: as ``Backoff`` means it. ``try_now`` is called with a group whose turn it is.
    """

    def __init__(
        self, clock: Clock, backoff: Backoff, *, aligned: bool, try_now: Callable[[QueuedEntityInfo], None],
    ) -> None:
        self._clock, self._backoff, self._aligned, self._try_now = clock, backoff, aligned, try_now
        # so that an event costs nothing while pods of no group wait
        self._unschedulable: dict[EntityKey, QueuedPodGroupInfo] = {}
        self._events = self._changes_of_room = 0  # how many there were
        self._timer: Timer | None = None

    def add(self, entity: QueuedEntityInfo) -> None:
        """An entity is unschedulable from now on."""
        if isinstance(entity, QueuedPodGroupInfo):
            self._unschedulable[entity.key] = entity

    def remove(self, key: EntityKey) -> None:
        """An entity is not unschedulable any more; harmless when it was not."""
        self._unschedulable.pop(key, None)

    def has(self, entity: QueuedEntityInfo) -> bool:
        """Whether it is one of those that upstream has among the ones that back off."""
        return entity.key in self._unschedulable and rests(entity)

    def is_tried(self, group: QueuedPodGroupInfo) -> None:
        """A group is tried now."""
        group.tried_after = self._events, self._changes_of_room

    def happened(self, event: ClusterEvent) -> None:
        """An event has happened."""
        self._events += 1
        if event.resource not in OF_GROUPS:
            self._changes_of_room += 1
            self._set_timer()

    def is_hopeless(self, entity: QueuedEntityInfo) -> bool:
        """Whether it is a group that was rejected, and since then nothing has happened."""
        return isinstance(entity, QueuedPodGroupInfo) and entity.rests and entity.tried_after[0] == self._events

    def catch_up(self, entity: QueuedEntityInfo) -> None:
        """Have a group that was rejected back off as if it had been tried all the time."""
        if rests(entity):
            self._backoff.catch_up(entity, self._clock.time(), aligned=self._aligned)

    def _stale(self) -> list[QueuedPodGroupInfo]:
        """The groups that were rejected before the nodes were what they are now."""
        return [
            group for group in self._unschedulable.values() if group.rests and group.tried_after[1] < self._changes_of_room]

    def _set_timer(self) -> None:
        """Have stale groups tried when the first back-off of them is over."""
        if self._timer is not None or not (stale := self._stale()):
            return
        for entity in stale:
            self.catch_up(entity)
        when = min(self._backoff.end(entity, aligned=self._aligned) for entity in stale)
        self._timer = self._clock.call_later(when - self._clock.time(), self._go_off, daemon=True)

    def _go_off(self) -> None:
        self._timer = None
        now = self._clock.time()
        for entity in self._stale():
            if not self._backoff.is_backing_off(entity, now, aligned=self._aligned):
                self._try_now(entity)
        self._set_timer()
