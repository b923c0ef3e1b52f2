"""Real time: when it settles, where it ends, and how late things are on it."""

from datetime import UTC, datetime
from types import SimpleNamespace

from fakekube.util.activity import Activity
from fakekube.util.choices import Choices
from fakekube.util.clock import ManualClock
from fakekube.util.drivers import RealDriver
from fakekube.util.durations import LATEST
from fakekube.util.outside import ClientsOutside
from fakekube.util.tasks import Tasks, turn
from fakekube.util.transit import Transit
from fakekube.util.transitdriver import TransitDriver, driver_with_transit
from fakekube.util.wallclock import RealClock


async def test_real_time_settles_once_nothing_is_in_flight() -> None:
    """Given real time / when it settles / then once nothing is in flight, and a failure is raised.
    """
    activity, tasks = Activity(), Tasks()
    driver, done = RealDriver(RealClock(), activity), list[str]()
    activity.hold()

    async def works() -> None:
        await turn()
        done.append("done")
        activity.release()

    tasks.spawn(works(), "works")
    await driver.settle()
    assert done == ["done"]


def test_real_time_has_an_end() -> None:
    """Given a real clock / when a timer is set beyond the latest time / then it never fires, nor is
    it due.
    """
    clock, never = RealClock(datetime(2026, 1, 1, tzinfo=UTC)), list[str]()
    clock.call_at(LATEST.timestamp() + 1, never.append, "fired")
    assert (clock.next_due(), clock.fire_next(), never) == (None, False, [])


def transit(clock: ManualClock | RealClock) -> tuple[TransitDriver | RealDriver, Transit]:
    """The driver of an explored run on a clock."""
    activity = Activity()
    driver = driver_with_transit(Choices(1), clock, activity, ClientsOutside())
    assert driver.transit is not None
    return driver, driver.transit  # type: ignore[return-value]


async def test_on_real_time_things_are_always_late() -> None:
    """Given choices / when a driver is made for a clock / then on real time anybody may be late, on
    virtual time who moves it; nobody in a block that is on time.
    """
    for clock, kind, late in ((RealClock(), RealDriver, True), (ManualClock(), TransitDriver, False)):
        driver, found = transit(clock)
        assert type(driver) is kind
        assert not found.may_be_late(in_process=False)
        found.begin(SimpleNamespace(revision=1))
        assert found.may_be_late(in_process=False) is late
        with found.on_time():
            assert not found.may_be_late(in_process=False)
        assert found.may_be_late(in_process=False) is late
