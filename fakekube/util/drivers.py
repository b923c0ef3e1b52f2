"""The driver that fits a clock, and that of real time; that of virtual time is in ``driver.py``."""

import asyncio

from fakekube.util.activity import Activity
from fakekube.util.clock import Clock, ManualClock
from fakekube.util.driver import Driver, Predicate, VirtualDriver
from fakekube.util.durations import Duration, seconds_of, text_of
from fakekube.util.outside import ClientsOutside
from fakekube.util.tasks import turn
from fakekube.util.wallclock import RealClock

POLL_SECONDS = 0.01
"""How often a predicate is asked while time is real."""


class RealDriver(Driver):
    """Waits while a RealClock or a ScaledClock runs by itself, or moves it on.

    So the same tests can run in real time.
    """

    clock: RealClock

    def __init__(self, clock: RealClock, activity: Activity, outside: ClientsOutside | None = None) -> None:
        super().__init__(clock, activity, outside)
        self._moving = asyncio.Lock()

    async def settle(self, *, grace: Duration | None = None) -> None:
        """Return once nothing is in flight."""
        await self._quiet()
        self.raise_failure()

    async def _quiet(self) -> None:
        await turn()
        await self.activity.wait_idle()
        await turn()

    async def advance(self, duration: Duration, *, grace: Duration | None = None) -> None:
        """Let time pass at once; every timer in it fires at its own instant.

        Then the clock runs on.
        """
        seconds, clock = seconds_of(duration), self.clock
        async with self._moving:
            with clock.held():
                await self._quiet()
                end = clock.time() + seconds
                while (due := clock.next_due()) is not None and due <= end and self._failure is None:
                    clock.fire_next()
                    await self._quiet()
                clock.move_to(end)
                await self._quiet()
                while (due := clock.next_due()) is not None and due <= end and self._failure is None:
                    clock.fire_next()  # lazy ones, that time came past
                    await self._quiet()
        self.raise_failure()

    async def run_until(
        self, predicate: Predicate, *, within: Duration | None = None, grace: Duration | None = None,
    ) -> None:
        """Ask the predicate until it holds.

        Without ``within`` it waits for ever, unless the clock is paused.
        """
        limit = None if within is None else seconds_of(within)
        started = self.clock.time()
        while not await self._holds(predicate):
            if self.clock.paused and self.activity.idle:
                raise self._stalled("the clock is paused", predicate)
            if limit is not None and self.clock.time() > started + limit:
                raise self._stalled(f"{text_of(limit)} have passed", predicate)
            await asyncio.sleep(POLL_SECONDS)
        self.raise_failure()


def driver_for(clock: Clock, activity: Activity, outside: ClientsOutside | None = None) -> Driver:
    """The driver that fits a clock."""
    if isinstance(clock, ManualClock):
        return VirtualDriver(clock, activity, outside)
    assert isinstance(clock, RealClock), f"nobody knows how to move {clock!r}"
    return RealDriver(clock, activity, outside)
