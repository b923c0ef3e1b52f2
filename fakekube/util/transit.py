"""What is on its way: requests, answers and events of watches that a seed makes late.

A network takes time, and settling means that everything has arrived: so ``settle`` lets pass as
much virtual time as what is on its way still needs, and no more. Without a Transit, in every run
that explores nothing, a driver lets none pass.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from fakekube.util.activity import Activity
from fakekube.util.choices import Choices
from fakekube.util.clock import Clock, ManualClock
from fakekube.util.driver import SPINNING_TURNS, Driver, VirtualDriver, driver_for
from fakekube.util.outside import ClientsOutside
from fakekube.util.tasks import turn
from fakekube.util.timers import Timer

GRACE_SECONDS = 0.02
"""How long at most clients outside have to be quiet, in real time, before something arrives that is
late: that is a few milliseconds of virtual time, and there are many of them.
"""

FOREIGN_SECONDS = 0.005
"""How long something may take, in real time, that is neither ready nor on its way: an answer from
outside.
"""


class HasRevision(Protocol):
    """A storage."""

    revision: int


class Transit:
    """How late things are by ``choices``, on a cluster's clock, which ``driver`` moves.

    ``calm``: nothing is late.
    """

    def __init__(self, choices: Choices, clock: Clock, activity: Activity, driver: Driver) -> None:
        self.choices, self.clock, self._activity, self._driver = choices, clock, activity, driver
        self.calm = True
        self.count = 0  # of what is on its way

    def begin(self, storage: HasRevision) -> None:
        """From now on things may be late; the versions of ``storage`` tell when."""
        clock = self.clock
        self.choices.tell_moment = lambda: (clock.time(), storage.revision)
        self.calm = False

    def may_be_late(self, *, in_process: bool) -> bool:
        """Whether the running task may be made to wait for time.

        Nobody would move it for a predicate that is being asked, nor for a test of the clock
        ``manual`` between two calls that move it; a controller in this process can wait for those.
        """
        if self.calm or self._driver.outside.asking:
            return False
        driver = self._driver
        moves = driver.is_moved if isinstance(driver, TransitDriver) else True
        return moves or (in_process and self._activity.is_busy())

    @contextmanager
    def on_time(self) -> Iterator[None]:
        """Nothing that is asked for in the block is late."""
        before, self.calm = self.calm, True
        try:
            yield
        finally:
            self.calm = before

    async def sleep(self, seconds: float) -> None:
        """Be on the way for so long."""
        self.count += 1
        try:
            await self.clock.sleep(seconds)
        finally:
            self.count -= 1

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> Timer:
        """A timer for what is on its way; ``arrived`` when it has come, or will not."""
        self.count += 1
        return self.clock.call_later(seconds, callback, *args)

    def arrived(self) -> None:
        """One thing is no longer on its way."""
        self.count -= 1


class TransitDriver(VirtualDriver):
    """Moves virtual time where things are on their way.

    Who waits for a part of its work that is on its way may hold a unit of activity meanwhile. So
    here nothing is left to do when nothing is ready, and something is on its way.
    """

    transit: Transit

    @property
    def is_moved(self) -> bool:
        """Whether time moves by itself, or somebody moves it now."""
        return self._controlled or not self.clock.paused

    def _is_due(self) -> bool:
        due = self.clock.next_due()
        return due is not None and (due <= self.clock.time() or self.transit.count > 0)

    async def _begin_to_advance(self, grace_seconds: float | None) -> None:
        """What is on its way has the time to come in which time is to pass."""
        await self._quiet()

    def _grace_seconds(self, grace_seconds: float | None) -> float | None:
        if not self.transit.count:
            return grace_seconds
        return min(self.outside.grace_seconds if grace_seconds is None else grace_seconds, GRACE_SECONDS)

    async def _quiet(self) -> None:
        """Return once the loop has nothing ready, sockets included, and no unit is held but by who
        waits for what is on its way.
        """
        activity, loop = self.activity, asyncio.get_running_loop()
        looked, waited, spins, generation = False, False, 0, activity.generation
        while True:
            ready, alone = self._look_at(loop)
            if not ready:
                if activity.idle or (self.transit.count and (alone or waited)):
                    if looked or alone:
                        return
                elif not alone or not self.transit.count:
                    waited = not await self._is_idle_within(FOREIGN_SECONDS)
                looked = True
            else:
                looked = False
            if activity.generation != generation:
                spins, generation, waited = 0, activity.generation, False
            spins += 1
            if spins > SPINNING_TURNS and (activity.idle or self.transit.count):
                return
            await turn()
            self._unturned = 0

    async def _is_idle_within(self, seconds: float) -> bool:
        """Wait for so long, in real time, until nothing is in flight; whether that came true."""
        try:
            async with asyncio.timeout(seconds):
                await self.activity.wait_idle()
        except TimeoutError:
            return False
        return True


def driver_with_transit(choices: Choices, clock: Clock, activity: Activity, outside: ClientsOutside) -> Driver:
    """The driver that fits a clock, where ``choices`` say how late things are."""
    driver = TransitDriver(clock, activity, outside) if isinstance(clock, ManualClock) else driver_for(clock, activity, outside)
    driver.transit = Transit(choices, clock, activity, driver)
    return driver
