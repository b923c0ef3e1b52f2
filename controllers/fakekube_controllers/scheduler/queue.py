"""Which pod is tried next, and which have to wait: for time (back-off), for an event (unschedulable), for a gate.

Upstream: pkg/scheduler/backend/queue. Left out: nominated pods.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.clock import Clock
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.interface import PreEnqueuePlugin, QueuedPodInfo, QueueingHint, QueueSortPlugin
from fakekube_controllers.scheduler.framework.types import pod_info

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 10.0
UNSCHEDULABLE_SECONDS = 300.0  # after so long a pod is tried again, whatever happened


class SchedulingQueue:
    """Pods by uid, each in one place: active, back-off, unschedulable or gated. ``wake`` is called when one turns active.

    ``queueing_hints``, by the name of a plugin, say which events may help those that it rejected; ``options`` how requests
    are counted.
    """

    def __init__(
        self, clock: Clock, sort: QueueSortPlugin, gates: list[PreEnqueuePlugin], wake: Callable[[], None],
        queueing_hints: Mapping[str, QueueingHint] | None = None, options: Options = IN_FLIGHT,
    ) -> None:
        self._clock, self._sort, self._gates, self._wake, self._options = clock, sort, gates, wake, options
        self._hints = queueing_hints or {}
        self._heap: list[tuple[Any, str]] = []  # active ones, and some that are no longer
        self._active: dict[str, Any] = {}  # their sort keys
        self._pods: dict[str, QueuedPodInfo] = {}
        self._attempts: dict[str, int] = {}
        self._timers: dict[str, Timer] = {}
        self._unschedulable: dict[str, float] = {}  # since when
        self._rejected_by: dict[str, Sequence[str]] = {}  # the plugins, of those that are unschedulable
        self._in_flight: dict[str, list[ClusterEvent]] = {}  # those that are being tried, and what happened meanwhile
        self._gated: dict[str, None] = {}
        self._sequence = 0

    def add(self, pod: ReadOnlyTree) -> None:
        """A pod that has no node came, or changed."""
        uid = pod["metadata"]["uid"]
        known = self._pods.get(uid)
        if known is not None and not self._matters(known.info.pod, pod):
            self._pods[uid] = known._replace(info=known.info.at(pod))
            return
        info = pod_info(pod, self._options)
        self._take_out(uid)
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
    def _matters(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
        """Whether an update may make the pod schedulable: its status does not."""
        return bool(old["spec"] != new["spec"] or old["metadata"].get("labels") != new["metadata"].get("labels"))

    def remove(self, uid: str) -> None:
        """A pod is gone, or has its node."""
        self._take_out(uid)
        self._pods.pop(uid, None)
        self._attempts.pop(uid, None)
        self._in_flight.pop(uid, None)

    def pop(self) -> QueuedPodInfo | None:
        """The pod to try now, or None; it is nowhere until it is given back or removed."""
        while self._heap:
            key, uid = heapq.heappop(self._heap)
            if self._active.get(uid) == key:
                del self._active[uid]
                self._attempts[uid] = self._attempts.get(uid, 0) + 1
                self._in_flight[uid] = []
                return self._pods[uid]
        return None

    def give_back(self, uid: str, *, rejected_by: Sequence[str] = (), error: bool = False) -> None:
        """A pod could not be scheduled: plugins rejected it, or there was an error.

        When something happened meanwhile that may help, or by an error, it only backs off.
        """
        events = self._in_flight.pop(uid, ())
        queued = self._pods.get(uid)
        if queued is None:
            return
        if error or any(self._may_help(queued, rejected_by, event) for event in events):
            self._back_off(uid)
            return
        self._unschedulable[uid] = self._clock.time()
        self._rejected_by[uid] = rejected_by
        self._timers[uid] = self._clock.call_later(UNSCHEDULABLE_SECONDS, self._activate, uid, daemon=True)

    def move(self, event: ClusterEvent) -> None:
        """Something happened: pods that it may help are tried once their back-off is over."""
        for events in self._in_flight.values():
            events.append(event)
        for uid, since in list(self._unschedulable.items()):
            if self._may_help(self._pods[uid], self._rejected_by[uid], event):
                self._take_out(uid)
                self._back_off(uid, since)

    def _may_help(self, queued: QueuedPodInfo, rejected_by: Sequence[str], event: ClusterEvent) -> bool:
        """Whether one of the plugins that rejected a pod sees that an event may help; none of them: there was no node."""
        for name in rejected_by:
            hint = self._hints.get(name)
            if hint is None or hint.is_schedulable_after(queued.info, event):
                return True
        return not rejected_by

    def _back_off(self, uid: str, since: float | None = None) -> None:
        attempts = self._attempts.get(uid, 1)
        delay = min(INITIAL_BACKOFF_SECONDS * 2.0 ** (attempts - 1), MAX_BACKOFF_SECONDS)
        left = delay - (self._clock.time() - since if since is not None else 0.0)
        if left <= 0:
            self._activate(uid)
            return
        self._timers[uid] = self._clock.call_later(left, self._activate, uid)

    def _activate(self, uid: str) -> None:
        self._take_out(uid)
        queued = self._pods.get(uid)
        if queued is not None:
            key = self._active[uid] = self._sort.sort_key(queued)
            heapq.heappush(self._heap, (key, uid))
            self._wake()

    def _take_out(self, uid: str) -> None:
        self._unschedulable.pop(uid, None)
        self._rejected_by.pop(uid, None)
        self._gated.pop(uid, None)
        timer = self._timers.pop(uid, None)
        if timer is not None:
            timer.cancel()
        self._active.pop(uid, None)
