"""When Workloads that were tried in vain are tried again: a while after something changed.

What changes within that time is one reason. A ClusterQueue without a cohort is for itself; those of
a tree of cohorts lend to each other, and are looked at together. Upstream:
pkg/cache/queue/inadmissible_workloads.go.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.queues.cohorts import Cohorts

if TYPE_CHECKING:
    from fakekube.util.clock import Clock
    from fakekube.util.timers import Timer

BATCH_PERIOD_SECONDS, LONG_BATCH_PERIOD_SECONDS = 1.0, 10.0


class _Of(NamedTuple):
    """A ClusterQueue, or the root of a tree of cohorts."""

    name: str
    is_cohort: bool


class InadmissibleRequeuer:
    """``requeue`` is called with the names of ClusterQueues whose time has come."""

    def __init__(
        self, clock: "Clock", cohorts: Cohorts, requeue: Callable[[Iterable[str]], object], batch_period_seconds: float,
    ) -> None:
        self._clock, self._cohorts, self._requeue = clock, cohorts, requeue
        self._batch_period_seconds = batch_period_seconds
        self._timers: dict[_Of, Timer] = {}

    def notify_cluster_queue(self, name: str) -> None:
        """Something has changed for a ClusterQueue and its tree. In a cycle of cohorts nothing is
        tried until that is mended.
        """
        cohort = self._cohorts.cohort_of(name)
        if cohort:
            self.notify_cohort(cohort)
        else:
            self._notify(_Of(name, is_cohort=False))

    def notify_cohort(self, name: str) -> None:
        """Something has changed for the tree of a cohort."""
        root = self._cohorts.root_of(name)
        if root is not None:
            self._notify(_Of(root, is_cohort=True))

    def _notify(self, of: _Of) -> None:
        if of not in self._timers:
            self._timers[of] = self._clock.call_later(self._batch_period_seconds, self._ready, of)

    def _ready(self, of: _Of) -> None:
        del self._timers[of]
        if not of.is_cohort:
            self._requeue((of.name,))
        elif self._cohorts.root_of(of.name) is not None:
            self._requeue(self._cohorts.cluster_queues_below(of.name))

    def close(self) -> None:
        """End all waits."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
