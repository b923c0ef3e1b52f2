"""The clock that the user of a cluster has: it tells the time, and can be moved, paused and set.

Parts of a cluster get a plain Clock, which they cannot move. Time never goes backwards: leases,
back-offs and histories would be wrong.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from fakekube.util.clock import AutoClock, Clock, ManualClock, is_holdable, written
from fakekube.util.driver import Driver
from fakekube.util.durations import LATEST, Duration, seconds_of
from fakekube.util.timers import Timer
from fakekube.util.wallclock import RealClock, ScaledClock

Mode = Literal["real", "scaled", "manual", "auto"]


class ClockError(ValueError):
    """What a clock cannot do; the text says why."""


class ClusterClock(Clock):
    """A clock that its user moves. ``mode`` is real, scaled, manual or auto."""

    def __init__(self, clock: Clock, driver: Driver) -> None:
        self._clock, self._driver = clock, driver

    @property
    def mode(self) -> Mode:
        """Which kind of clock it is."""
        if isinstance(self._clock, ManualClock):
            return "auto" if isinstance(self._clock, AutoClock) else "manual"
        return "scaled" if isinstance(self._clock, ScaledClock) else "real"

    @property
    def factor(self) -> float:
        """How many times as fast as real time it runs; 0 for a manual or automatic clock."""
        return self._clock.factor if isinstance(self._clock, RealClock) else 0.0

    @property
    def paused(self) -> bool:
        """Whether time stands still until ``resume``. That of a manual clock always does."""
        assert isinstance(self._clock, ManualClock | RealClock), "a cluster has one of ours"
        return self._clock.paused

    def time(self) -> float:
        """Unix seconds."""
        return self._clock.time()

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, daemon: bool = False, lazy: bool = False,
    ) -> Timer:
        """Call ``callback(*args)`` at ``when``."""
        return self._clock.call_at(when, callback, *args, daemon=daemon, lazy=lazy)

    async def sleep(self, seconds: float, *, daemon: bool = False) -> None:
        """Wait so many seconds of this clock."""
        await self._clock.sleep(seconds, daemon=daemon)

    async def advance(self, duration: Duration) -> None:
        """Let time pass (``"1h30m"``, seconds or a timedelta), one timer at a time.

        A clock that runs by itself runs on from there; one that is paused stays paused. Raises
        ClockError for a text that is no duration, for one below zero, and for one that leads to a
        time that no clock can hold.
        """
        try:
            seconds = seconds_of(duration)
        except ValueError as error:
            raise ClockError(f"time cannot advance by that: {error}") from error
        await self._advance(seconds)

    async def _advance(self, seconds: float) -> None:
        if not is_holdable(self.time() + seconds):
            raise ClockError(f"no clock can hold a time after {LATEST:%Y-%m-%dT%H:%M:%SZ}")
        await self._driver.advance(seconds)

    async def set(self, when: datetime | str) -> None:
        """Let time pass until ``when``, a datetime or a text like ``2026-02-01T00:00:00Z``.

        Raises ClockError when it is no time with a zone, lies in the past, or too far ahead.
        """
        try:
            moment = datetime.fromisoformat(when) if isinstance(when, str) else when
        except ValueError as error:
            raise ClockError(f"{when!r} is no time: say 2026-02-01T00:00:00Z") from error
        if moment.tzinfo is None:
            raise ClockError(f"{when!r} has no time zone: say 2026-02-01T00:00:00Z")
        seconds = moment.timestamp() - self.time()
        if seconds < 0:
            raise ClockError(f"the clock is at {written(self.now())} and cannot be set back to {moment.isoformat()}")
        await self._advance(seconds)

    def pause(self) -> None:
        """Stop time: nothing that waits for time happens until ``resume``;

        ``advance`` still moves it.
        """
        if isinstance(self._clock, AutoClock):
            self._clock.paused = True
        elif isinstance(self._clock, RealClock):
            self._clock.pause()

    def resume(self) -> None:
        """Let time go on. Raises ClockError for a manual clock, which never runs by itself."""
        if isinstance(self._clock, AutoClock):
            self._clock.paused = False
            if self._clock.on_timer is not None:
                self._clock.on_timer()
        elif isinstance(self._clock, RealClock):
            self._clock.resume()
        else:
            raise ClockError("a manual clock moves only when it is told to: advance it")
