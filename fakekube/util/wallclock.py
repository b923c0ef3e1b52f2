"""Real time, as it is or faster, which can be stopped and moved like virtual time.

A served cluster runs on it. While it is held no timer fires by itself; the holder fires what is
due, one timer at a time, each at its own instant, and so lets an hour pass in a moment. Afterwards
it runs on from there.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from datetime import datetime
from typing import Any

from fakekube.util.clock import Clock, forget_timers, never
from fakekube.util.durations import LATEST
from fakekube.util.timers import Timer, TimerHeap

_LATEST_SECONDS = LATEST.timestamp()


class RealClock(Clock):
    """Real time, or time that is ``start`` now and runs as fast.

    Timers need a running event loop.
    """

    factor = 1.0
    passes_while_busy = True

    def __init__(self, start: datetime | None = None) -> None:
        self._offset = 0.0
        self._held: float | None = None
        self._holders = 0
        self._timers, self._lazy = TimerHeap(), TimerHeap()
        self._sequence = 0
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._context = Context()  # timers fire on nobody's behalf, whoever set the alarm
        self.paused = False
        if start is not None:
            self._continue_at(start.timestamp())

    def _flow(self) -> float:
        """What runs by itself, in seconds of this clock."""
        return time.time()

    def _continue_at(self, when: float) -> None:
        self._offset = when - self._flow()

    def time(self) -> float:
        """Unix seconds."""
        return self._flow() + self._offset if self._held is None else self._held

    def real_seconds(self, seconds: float) -> float:
        """How many seconds of real time so many seconds of this clock take."""
        return seconds / self.factor

    # timers

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, daemon: bool = False, lazy: bool = False,
    ) -> Timer:
        """Call ``callback(*args)`` at ``when``."""
        if when > _LATEST_SECONDS:
            return never(when, callback, *args)
        heap = self._lazy if lazy else self._timers
        timer = Timer(when, callback, args, daemon or lazy, lambda _: self._forget(heap))
        self._sequence += 1
        heap.push(timer, self._sequence)
        if self._held is None and (self._alarm is None or when < self._alarm_at):
            self._arm()
        return timer

    def _forget(self, heap: TimerHeap) -> None:
        heap.forget_one()
        if self._first() is None:
            self._disarm()

    def _first(self) -> TimerHeap | None:
        """The heap with the timer that is due first."""
        due, lazy = self._timers.due(), self._lazy.due()
        if lazy is not None and (due is None or lazy < due):
            return self._lazy
        return None if due is None else self._timers

    def _arm(self) -> None:
        self._disarm()
        heap = self._first()
        if heap is not None:
            self._alarm_at = heap.due() or 0.0
            delay_seconds = self.real_seconds(max(0.0, self._alarm_at - self.time()))
            self._alarm = asyncio.get_running_loop().call_later(delay_seconds, self._ring, context=self._context)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _ring(self) -> None:
        self._alarm = None
        while self._held is None and (heap := self._first()) is not None and (heap.due() or 0.0) <= self.time():
            self._fire(heap.pop())
        if self._held is None and self._alarm is None:
            self._arm()

    @staticmethod
    def _fire(timer: Timer) -> None:
        timer.cancelled = True
        timer.callback(*timer.args)

    # held, and moved

    def pause(self) -> None:
        """Stop time; harmless when it is stopped."""
        self.paused = True
        self._hold()

    def resume(self) -> None:
        """Let time go on; harmless when it runs.

        Whoever holds the clock at the moment is not disturbed.
        """
        self.paused = False
        if not self._holders:
            self._let_go()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Stop time in the block, except for ``fire_next`` and ``move_to``; then let it go on."""
        self._holders += 1
        self._hold()
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders and not self.paused:
                self._let_go()

    def _hold(self) -> None:
        if self._held is None:
            self._held = self.time()
            self._disarm()

    def _let_go(self) -> None:
        if self._held is not None:
            when, self._held = self._held, None
            self._continue_at(when)
            self._arm()

    def next_due(self) -> float | None:
        """Where time must stop next while it is held, or None.

        For a lazy timer it does not; one that it passed is due there.
        """
        lazy = self._lazy.due()
        if lazy is not None and lazy <= self.time():
            return self.time()
        return self._timers.due()

    def fire_next(self) -> bool:
        """On a held clock: move to the next timer's instant and fire it.

        A lazy timer that time has passed fires first.
        """
        due = self.next_due()
        if due is None:
            return False
        assert self._held is not None, "time runs by itself"
        self._held = max(self._held, due)
        lazy = self._lazy.due()
        self._fire((self._lazy if lazy is not None and lazy <= self._held else self._timers).pop())
        return True

    def move_to(self, when: float) -> None:
        """On a clock that is held: move to ``when`` without firing anything."""
        assert self._held is not None, "time runs by itself"
        self._held = max(self._held, when)

    def jump_to(self, when: float) -> None:
        """Set the time to that of another history, which may lie before, and run on from there.

        Timers of the present one never fire; who sleeps is woken at the same instant of the other.
        """
        forget_timers(timer for heap in (self._timers, self._lazy) for _, _, timer in heap.entries())
        if self._held is None:
            self._continue_at(when)
            self._arm()
        else:
            self._held = when


class ScaledClock(RealClock):
    """Time that is ``start`` now and runs ``factor`` times as fast as real time.

    For demonstrations.
    """

    def __init__(self, factor: float, start: datetime | None = None) -> None:
        assert factor > 0, "time runs forward"
        self.factor = factor
        super().__init__()
        self._continue_at(start.timestamp() if start else time.time())

    def _flow(self) -> float:
        return time.monotonic() * self.factor

    def time(self) -> float:
        """Unix seconds. It stands still at the latest time that a clock may have."""
        return min(super().time(), _LATEST_SECONDS)
