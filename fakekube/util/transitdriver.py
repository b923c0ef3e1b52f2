"""Moves virtual time where a seed makes things late; see ``transit.py``."""

from fakekube.util.activity import Activity
from fakekube.util.choices import Choices
from fakekube.util.clock import Clock, ManualClock
from fakekube.util.driver import Driver, VirtualDriver
from fakekube.util.drivers import driver_for
from fakekube.util.outside import ClientsOutside
from fakekube.util.sleepers import quiet_beside_sleepers
from fakekube.util.transit import Transit

GRACE_SECONDS = 0.02
"""How long at most clients outside have to be quiet, in real time, before something arrives that is
late: that is a few milliseconds of virtual time, and there are many of them.
"""


class TransitDriver(VirtualDriver):
    """Moves virtual time where things are on their way.

    Who waits for a part of its work that is on its way may hold a unit of activity meanwhile. So
    here nothing is left to do when nothing is ready, and something is on its way.
    """

    transit: Transit

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
        await quiet_beside_sleepers(self._look_at, self.activity, lambda: self.transit.count > 0 or self.activity.asleep > 0)
        self._unturned = 0


def driver_with_transit(choices: Choices, clock: Clock, activity: Activity, outside: ClientsOutside) -> Driver:
    """The driver that fits a clock, where ``choices`` say how late things are."""
    if isinstance(clock, ManualClock):
        virtual = TransitDriver(clock, activity, outside)
        virtual.transit = Transit(choices, clock, activity, outside, virtual.is_moved)
        return virtual
    driver = driver_for(clock, activity, outside)
    driver.transit = Transit(choices, clock, activity, outside, lambda: True)
    return driver
