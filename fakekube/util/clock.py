"""Time as an argument: what it is, and timers.

There are four clocks. ``RealClock`` is real time; ``ScaledClock`` runs N times as fast (both in
``wallclock.py``). ``ManualClock`` moves only when its driver moves it. ``AutoClock`` is a manual
clock whose driver jumps to the next timer whenever nothing is in flight. ``driver.py`` moves them.
Upstream: k8s.io/utils/clock, whose fake gives every waiter of a large step the final time; here
timers fire one at a time, each at its own instant, in (time, sequence) order.

A daemon timer is one that recurs for ever (heartbeats, cron, resync): it fires when time passes it,
but time does not jump to it. A lazy timer is a daemon for which time does not even stop: when time
jumps over it, it fires where time lands, before anything else there can see that it is late. An
hour in which nothing happens costs a hundred heartbeats one round, not 360.
"""

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fakekube.util.activity import Activity
from fakekube.util.durations import EARLIEST, LATEST
from fakekube.util.timers import ChosenTimerHeap, Timer, TimerHeap

if TYPE_CHECKING:
    from fakekube.util.choices import Choices

START = datetime(2026, 1, 1, tzinfo=UTC)
"""Where virtual time begins, unless told otherwise: a fixed instant, so that one seed gives one
history.
"""

LATE_SECONDS = 0.5
"""So long something may be on its way at most where a seed makes things late."""

_LATEST_SECONDS = LATEST.timestamp()


def written(moment: datetime) -> str:
    """A moment in UTC for people, ``2026-01-01T00:00:00Z``; ``strftime`` would drop the zeros of an
    early year.
    """
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


class Clock(ABC):
    """What time it is, and timers. Times are Unix seconds, delays seconds, both floats."""

    passes_while_busy = False  # whether time goes on while work is in flight, as real time does
    late_seconds = 0.0  # how long a write may be on its way, and then to those who watch, for all that a seed draws

    @abstractmethod
    def time(self) -> float:
        """Unix seconds."""

    @abstractmethod
    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, daemon: bool = False, lazy: bool = False,
    ) -> Timer:
        """Call ``callback(*args)`` at ``when``, never before this returns.

        It must not raise. ``lazy`` implies ``daemon``.
        """

    def now(self) -> datetime:
        """The time as an aware UTC datetime."""
        return datetime.fromtimestamp(self.time(), UTC)

    def call_later(
        self, delay_seconds: float, callback: Callable[..., object], *args: Any, daemon: bool = False, lazy: bool = False,
    ) -> Timer:
        """``call_at`` so many seconds from now."""
        return self.call_at(self.time() + delay_seconds, callback, *args, daemon=daemon, lazy=lazy)

    async def sleep(self, seconds: float, *, daemon: bool = False) -> None:
        """Wait so many seconds of this clock."""
        waiter = asyncio.get_running_loop().create_future()
        timer = self.call_later(seconds, _wake, waiter, daemon=daemon)
        try:
            await waiter
        finally:
            timer.cancel()


def is_holdable(unix_seconds: float) -> bool:
    """Whether a clock may stand at that time."""
    return EARLIEST.timestamp() <= unix_seconds <= _LATEST_SECONDS


def never(when: float, callback: Callable[..., object], *args: Any) -> Timer:
    """A timer for a time after the latest of all clocks: nothing waits for it."""
    return Timer(when, callback, args, True, lambda _: None)


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


def forget_timers(timers: Iterable[Timer]) -> None:
    """Cancel them, but for those that wake somebody."""
    for timer in timers:
        if timer.callback is not _wake:
            timer.cancel()


class ManualClock(Clock):
    """Virtual time. It moves only by ``fire_next`` and ``move_to``.

    With ``activity`` a busy task releases its units while it sleeps. With ``choices`` those say
    which of the timers of one instant fires first.
    """

    paused = True  # it never moves by itself

    def __init__(
        self, start: datetime = START, activity: Activity | None = None, choices: "Choices | None" = None,
    ) -> None:
        self._time = start.timestamp()
        self._timers, self._lazy = TimerHeap() if choices is None else ChosenTimerHeap(choices), TimerHeap()
        self.late_seconds = 0.0 if choices is None else LATE_SECONDS
        self._sequence = 0
        self._activity = activity
        self.pending = 0  # timers that pull time forward: those that are no daemons
        self.on_timer: Callable[[], None] | None = None  # told of every timer that is no daemon

    def time(self) -> float:
        """Unix seconds."""
        return self._time

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, daemon: bool = False, lazy: bool = False,
    ) -> Timer:
        """Call ``callback(*args)`` at ``when``; if ``lazy``, where time stops next after that."""
        assert not math.isnan(when), "a timer needs a time"
        if when > _LATEST_SECONDS:
            return never(when, callback, *args)
        self._sequence += 1
        if lazy:
            timer = Timer(when, callback, args, True, self._forget_lazy)
            self._lazy.push(timer, self._sequence)
            return timer
        timer = Timer(when, callback, args, daemon, self._forget)
        self._timers.push(timer, self._sequence)
        if not daemon:
            self.pending += 1
            if self.on_timer is not None:
                self.on_timer()
        return timer

    def _forget(self, timer: Timer) -> None:
        if not timer.daemon:
            self.pending -= 1
        self._timers.forget_one()

    def _forget_lazy(self, _: Timer) -> None:
        self._lazy.forget_one()

    def next_due(self) -> float | None:
        """When the next timer fires, or None.

        A lazy one is due once time has come to it, and never before.
        """
        lazy = self._lazy.due()
        if lazy is not None and lazy <= self._time:
            return self._time
        return self._timers.due()

    def next_lazy(self) -> float | None:
        """The earliest instant of a lazy timer, or None."""
        return self._lazy.due()

    def timers(self) -> list[Timer]:
        """All that wait, in the order in which they will fire."""
        waiting = sorted([*self._timers.entries(), *self._lazy.entries()], key=lambda entry: entry[:2])
        return [timer for _, _, timer in waiting]

    def fire_next(self) -> bool:
        """Move to the next timer's instant and fire one timer.

        A lazy timer that time has passed fires first.
        """
        lazy, due = self._lazy.due(), self._timers.due()
        if lazy is None or lazy > self._time:
            if due is None:
                return False
            self._time = max(self._time, due)
        timer = (self._lazy if lazy is not None and lazy <= self._time else self._timers).pop()
        timer.cancelled = True
        if not timer.daemon:
            self.pending -= 1
        timer.callback(*timer.args)
        return True

    def move_to(self, when: float) -> None:
        """Move to ``when`` without firing anything; only past timers that are gone, or lazy."""
        due = self.next_due()
        assert due is None or due > when, "would skip a timer"
        self._time = max(self._time, when)

    def jump_to(self, when: float) -> None:
        """Set the time to that of another history, which may lie before.

        Timers of the present one never fire; who sleeps is woken at the same instant of the other.
        """
        forget_timers(self.timers())
        self._time = when

    async def sleep(self, seconds: float, *, daemon: bool = False) -> None:
        """Wait so many virtual seconds. A busy task is not busy meanwhile."""
        resume = self._activity.suspend() if self._activity is not None else None
        if resume is None:
            return await super().sleep(seconds, daemon=daemon)
        try:
            return await super().sleep(seconds, daemon=daemon)
        finally:
            resume()


class AutoClock(ManualClock):
    """Virtual time that jumps to the next timer whenever nothing is in flight.

    Its driver does that, unless it is ``paused``.
    """

    paused = False
