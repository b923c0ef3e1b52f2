"""Workloads with quota that the scheduler is to look at again: for nodes that come late, or failed.

Upstream: pkg/cache/queue/second_pass_queue.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.meta import ObjectKey
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.backoff import wait_time_seconds
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 30.0


class SecondPassQueue:
    """Those that wait for their time, each with its timer, and those whose time has come."""

    def __init__(self) -> None:
        self._prequeued: dict[ObjectKey, Timer] = {}
        self._queued: dict[ObjectKey, Info] = {}

    def is_prequeued(self, key: ObjectKey) -> bool:
        """Whether one waits for its time."""
        return key in self._prequeued

    def prequeue(self, key: ObjectKey, timer: "Timer") -> None:
        """Let one wait for its time."""
        self._prequeued[key] = timer

    def queue(self, info: Info) -> bool:
        """Its time has come; whether it is still wanted."""
        if self._prequeued.pop(info.key, None) is None or not states.needs_second_pass(info.obj):
            return False
        self._queued[info.key] = info
        return True

    def take_all_ready(self) -> list[Info]:
        """All whose time has come."""
        ready, self._queued = list(self._queued.values()), {}
        return ready

    def delete(self, key: ObjectKey) -> None:
        """Forget one."""
        self._queued.pop(key, None)
        timer = self._prequeued.pop(key, None)
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """End all waits."""
        for key in list(self._prequeued):
            self.delete(key)


def delay_seconds(iteration: int) -> float:
    """How long a Workload waits before its pass of that number, from 1."""
    return wait_time_seconds(iteration, INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS)
