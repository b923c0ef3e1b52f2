"""Pods between their scheduling cycle and the end of it, and what happened meanwhile.

Upstream: pkg/scheduler/backend/queue/active_queue.go (inFlightPods, inFlightEvents).
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.events import ClusterEvent


class Happened(NamedTuple):
    """An event, with the object before and after; ``only_for``: the uid of the one pod that it is
    about.
    """

    event: ClusterEvent
    old: ReadOnlyTree | None
    new: ReadOnlyTree | None
    only_for: str = ""


class InFlight:
    """Pods in flight, by uid, and the events since the first of them began."""

    def __init__(self) -> None:
        self._began: dict[str, int] = {}  # the number of the first event since then, oldest first
        self._events: list[Happened] = []
        self._first = 0  # the number of the first event that is kept

    def has(self, uid: str) -> bool:
        """Whether a pod is in flight."""
        return uid in self._began

    def begin(self, uid: str) -> None:
        """A pod is in flight from now on."""
        self._began[uid] = self._first + len(self._events)

    def add(self, happened: Happened) -> None:
        """Something has happened; nothing is kept while no pod is in flight."""
        if self._began:
            self._events.append(happened)

    def since(self, uid: str) -> Sequence[Happened]:
        """What has happened since a pod began."""
        began = self._began.get(uid)
        return self._events[began - self._first:] if began is not None else ()

    def end(self, uid: str) -> None:
        """A pod is in flight no more: what only it has waited for is forgotten."""
        if self._began.pop(uid, None) is None or not self._events:
            return
        oldest = next(iter(self._began.values()), None)
        if oldest is None:
            self._first += len(self._events)
            self._events = []
        elif oldest > self._first:
            del self._events[:oldest - self._first]
            self._first = oldest
