"""Pods that have a node and wait: for Permit plugins to allow them, for what PreBind needs.

A task that waits here holds no activity, so that virtual time can pass. Whoever wakes it hands it a
unit.

Upstream: pkg/scheduler/framework/runtime/{waiting_pods_map,pods_in_prebind_map}.go.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.durations import go_text
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import PodInfo

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

T = TypeVar("T")
MAX_PERMIT_SECONDS = 900.0


class Signal:
    """Wakes one task, once."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity
        self._future: asyncio.Future[None] | None = None
        self._given = False

    def give(self) -> None:
        """Wake the task, or let it not wait at all."""
        if self._given:
            return
        self._given = True
        if self._future is not None and not self._future.done():
            self._activity.hold()
            self._future.set_result(None)

    async def wait(self) -> None:
        """Return once the signal is given. The current task holds no activity meanwhile."""
        if self._given:
            return
        self._future = asyncio.get_running_loop().create_future()
        resume = self._activity.suspend()
        try:
            await self._future
        finally:
            if resume is not None:
                resume()
            if self._future.done() and not self._future.cancelled():
                self._activity.release()


class WaitingPod:
    """A pod that waits for Permit plugins, each for so many seconds at most."""

    def __init__(
        self, pod: PodInfo, node_name: str, wait_seconds: Mapping[str, float], clock: Clock, activity: Activity,
    ) -> None:
        self.pod, self.node_name = pod, node_name
        self._signal = Signal(activity)
        self._status: Status | None = None
        self._is_over = False
        self._timers: dict[str, Timer] = {}
        for plugin, seconds in wait_seconds.items():
            text = f"rejected due to timeout after waiting {go_text(seconds)} at plugin {plugin}"
            self._timers[plugin] = clock.call_later(seconds, self.reject, plugin, text, daemon=True)

    @property
    def pending_plugins(self) -> Sequence[str]:
        """The plugins that have not allowed it yet."""
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        """One plugin allows it; once all have, it is bound."""
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers and not self._is_over:
            self._is_over = True
            self._signal.give()

    def reject(self, plugin: str, message: str) -> bool:
        """Let it wait no more: it is unschedulable. False when that comes too late."""
        return self._end(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """Let it wait no more, in favour of another pod. False when that comes too late."""
        return self._end(Status(Code.ERROR, (message,), plugin))

    def _end(self, status: Status) -> bool:
        for timer in self._timers.values():
            timer.cancel()
        if self._is_over:
            return False
        self._is_over, self._status = True, status
        self._signal.give()
        return True

    async def wait(self) -> Status | None:
        """Why it was rejected, once that is known, or None."""
        await self._signal.wait()
        return self._status


class WaitingPods:
    """The pods that wait for Permit plugins of all profiles."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __iter__(self) -> Iterator[WaitingPod]:
        """In the order in which they came; a pod may be allowed or rejected meanwhile."""
        return iter(list(self._pods.values()))

    def add(self, pod: WaitingPod) -> None:
        """A pod waits from now on."""
        self._pods[pod.pod.uid] = pod

    def get(self, uid: str) -> WaitingPod | None:
        """The pod with this uid."""
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        """It waits no more."""
        self._pods.pop(uid, None)


class Changes:
    """Wakes the tasks that wait for a change of the cluster."""

    def __init__(self, clock: Clock, activity: Activity) -> None:
        self._clock, self._activity = clock, activity
        self._signals: dict[Signal, None] = {}

    def happened(self) -> None:
        """Something has changed: all that wait look again."""
        if self._signals:
            signals, self._signals = self._signals, {}
            for signal in signals:
                signal.give()

    async def wait_for(self, check: Callable[[], T | None], timeout_seconds: float) -> T:
        """What ``check`` returns once that is not None; asked now and after every change.

        Raises TimeoutError.
        """
        deadline = self._clock.time() + timeout_seconds
        while (found := check()) is None:
            left = deadline - self._clock.time()
            if left <= 0:
                raise TimeoutError
            signal = Signal(self._activity)
            self._signals[signal] = None
            timer = self._clock.call_later(left, signal.give, daemon=True)
            try:
                await signal.wait()
            finally:
                timer.cancel()
                self._signals.pop(signal, None)
        return found
