"""Which pod is scheduled next, and which wait: for time (back-off), for an event (unschedulable),
for a gate to go.

Upstream: pkg/scheduler/backend/queue. Left out: nominated pods.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sortedcontainers import SortedList

from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.clock import Clock
from fakekube.workqueue.ratelimit import doubled_seconds
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.interface import PreEnqueuePlugin, QueuedPodInfo, QueueingHint, QueueSortPlugin
from fakekube_controllers.scheduler.framework.types import pod_info

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 10.0
UNSCHEDULABLE_SECONDS = 300.0  # a pod is queued again after so long, whatever happened


class SchedulingQueue:
    """Pods by uid, each in one place: active, back-off, unschedulable or gated.

    ``wake`` is called when one becomes active.

    ``queueing_hints``: by the name of a plugin, which events may help the pods that it rejected.
    ``options``: how their requests are computed.
    """

    def __init__(
        self, clock: Clock, sort: QueueSortPlugin, gates: list[PreEnqueuePlugin], wake: Callable[[], None],
        queueing_hints: Mapping[str, QueueingHint] | None = None, options: Options = IN_FLIGHT,
    ) -> None:
        self._clock, self._sort, self._gates, self._wake, self._options = clock, sort, gates, wake, options
        self._hints = queueing_hints or {}
        self._order = SortedList()  # of the active ones, each with its sort key before its uid
        self._active: dict[str, tuple[Any, str]] = {}  # what stands in the order for a uid
        self._pods: dict[str, QueuedPodInfo] = {}
        self._attempts: dict[str, int] = {}
        self._timers: dict[str, Timer] = {}
        self._unschedulable: dict[str, float] = {}  # since when (Unix seconds)
        self._rejected_by: dict[str, Sequence[str]] = {}  # of unschedulable pods: the plugins
        # pods in a cycle, and the events since it began
        self._in_flight: dict[str, list[ClusterEvent]] = {}
        self._gated: dict[str, None] = {}
        self._sequence = 0

    def add(self, pod: ReadOnlyTree) -> None:
        """A pod without a node was added or updated."""
        uid = pod["metadata"]["uid"]
        known = self._pods.get(uid)
        if known is not None and not self._is_pod_updated(known.info.pod, pod):
            self._pods[uid] = known._replace(info=known.info.at(pod))
            return
        info = pod_info(pod, self._options)
        self._remove_from_parts(uid)
        if known is None:
            self._sequence += 1
            queued = QueuedPodInfo(info, self._clock.time(), self._sequence)
        else:
            queued = known._replace(info=info)
        self._pods[uid] = queued
        if any(gate.pre_enqueue(queued.info) is not None for gate in self._gates):
            self._gated[uid] = None
        else:
            self._activate(uid)

    @staticmethod
    def _is_pod_updated(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
        """Whether an update may make the pod schedulable; that of a status may not.

        Upstream: isPodUpdated.
        """
        return bool(old["spec"] != new["spec"] or old["metadata"].get("labels") != new["metadata"].get("labels"))

    def remove(self, uid: str) -> None:
        """A pod is gone, or has a node."""
        self._remove_from_parts(uid)
        self._pods.pop(uid, None)
        self._attempts.pop(uid, None)
        self._in_flight.pop(uid, None)

    def pop(self) -> QueuedPodInfo | None:
        """The next pod, or None.

        It is in no part of the queue until ``add_unschedulable`` or ``remove``.
        """
        if not self._order:
            return None
        _, uid = self._order.pop(0)
        del self._active[uid]
        self._attempts[uid] = self._attempts.get(uid, 0) + 1
        self._in_flight[uid] = []
        return self._pods[uid]

    def add_unschedulable(self, uid: str, *, rejected_by: Sequence[str] = (), error: bool = False) -> None:
        """Add a pod again that could not be scheduled: plugins rejected it, or there was an error.

        After an error, or when an event since ``pop`` may help, it waits for its back-off only.
        """
        events = self._in_flight.pop(uid, ())
        queued = self._pods.get(uid)
        if queued is None:
            return
        if error or any(self._is_worth_requeuing(queued, rejected_by, event) for event in events):
            self._back_off(uid)
            return
        self._unschedulable[uid] = self._clock.time()
        self._rejected_by[uid] = rejected_by
        self._timers[uid] = self._clock.call_later(UNSCHEDULABLE_SECONDS, self._activate, uid, daemon=True)

    def move_all_to_active_or_backoff(self, event: ClusterEvent) -> None:
        """Move the unschedulable pods that an event may help to the active queue, or to back-off
        while that lasts.
        """
        for events in self._in_flight.values():
            events.append(event)
        for uid, since in list(self._unschedulable.items()):
            if self._is_worth_requeuing(self._pods[uid], self._rejected_by[uid], event):
                self._remove_from_parts(uid)
                self._back_off(uid, since)

    def _is_worth_requeuing(self, queued: QueuedPodInfo, rejected_by: Sequence[str], event: ClusterEvent) -> bool:
        """Whether an event may help a pod, by a plugin that rejected it.

        Rejected by none, it had no node: any event may.
        """
        for name in rejected_by:
            hint = self._hints.get(name)
            if hint is None or hint.is_schedulable_after(queued.info, event):
                return True
        return not rejected_by

    def _back_off(self, uid: str, since: float | None = None) -> None:
        attempts = self._attempts.get(uid, 1)
        delay = doubled_seconds(INITIAL_BACKOFF_SECONDS, attempts - 1, MAX_BACKOFF_SECONDS)
        left = delay - (self._clock.time() - since if since is not None else 0.0)
        if left <= 0:
            self._activate(uid)
            return
        self._timers[uid] = self._clock.call_later(left, self._activate, uid)

    def _activate(self, uid: str) -> None:
        self._remove_from_parts(uid)
        queued = self._pods.get(uid)
        if queued is not None:
            place = self._active[uid] = self._sort.sort_key(queued), uid
            self._order.add(place)
            self._wake()

    def _remove_from_parts(self, uid: str) -> None:
        self._unschedulable.pop(uid, None)
        self._rejected_by.pop(uid, None)
        self._gated.pop(uid, None)
        timer = self._timers.pop(uid, None)
        if timer is not None:
            timer.cancel()
        place = self._active.pop(uid, None)
        if place is not None:
            self._order.remove(place)
