"""A cluster's clock in its user's hands, and the wall's clock when it is held."""

from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

import pytest

from fakekube.util.activity import Activity
from fakekube.util.clock import START, AutoClock, Clock, ManualClock
from fakekube.util.clusterclock import ClockError, ClusterClock
from fakekube.util.driver import Stalled
from fakekube.util.drivers import driver_for
from fakekube.util.tasks import Tasks, turn
from fakekube.util.wallclock import RealClock, ScaledClock

CLOCKS = [ManualClock, AutoClock, RealClock, lambda: ScaledClock(2, START)]


def control(clock: Clock) -> ClusterClock:
    return ClusterClock(clock, driver_for(clock, Activity()))


@pytest.mark.parametrize("make", CLOCKS)
async def test_every_clock_advances_one_timer_at_a_time(make) -> None:
    """Given any clock that is paused, when an hour and a half pass, then every timer in it saw its
    own instant, what those started came too, and the clock stands ninety minutes later.
    """
    clock = make()
    handle = control(clock)
    handle.pause()
    start, seen = handle.time(), []

    def again(number: int) -> None:
        seen.append(round(handle.time() - start, 3))
        if number:
            clock.call_later(600, again, number - 1)

    clock.call_later(600, again, 3)
    clock.call_later(5400.5, seen.append, "too late")
    await handle.advance("1h30m")
    assert seen == [600, 1200, 1800, 2400]
    assert handle.time() == pytest.approx(start + 5400, abs=1e-3)
    assert handle.paused


@pytest.mark.parametrize(("duration", "text"), [
    (-1, "time cannot advance by that: -1 is below zero"), (timedelta(hours=-1), "is below zero"),
    ("-1h", "'-1h' is no duration: say 1h30m, 90s or 500ms"), ("soon", "'soon' is no duration"),
])
async def test_what_is_no_duration_is_refused(duration, text) -> None:
    """Given a duration that cannot be meant, when time is advanced by it, then one sentence says
    why and time stands.
    """
    handle = control(ManualClock())
    with pytest.raises(ClockError, match=text):
        await handle.advance(duration)
    assert handle.now() == START


async def test_time_is_set_forward_and_never_back() -> None:
    """Given a clock, when it is set to a later time, then it is there; when it is set to an earlier
    one, then that is refused.
    """
    handle = control(ManualClock())
    await handle.set("2026-02-01T00:00:00Z")
    assert handle.now() == datetime(2026, 2, 1, tzinfo=UTC)
    with pytest.raises(ClockError, match=r"the clock is at 2026-02-01T00:00:00Z and cannot be set back to 2026-01-31"):
        await handle.set(datetime(2026, 1, 31, tzinfo=UTC))
    for wrong in ("2026-03-01", "tomorrow"):
        with pytest.raises(ClockError, match="say 2026-02-01T00:00:00Z"):
            await handle.set(wrong)
    assert handle.now() == datetime(2026, 2, 1, tzinfo=UTC)


async def test_a_wall_clock_stands_still_while_it_is_paused() -> None:
    """Given the wall's clock and a timer that is due, when it is paused, then neither it nor the
    timer moves; resumed, it goes on from the same instant.
    """
    clock = RealClock(START)
    handle, seen = control(clock), []
    handle.pause()
    before = handle.time()
    clock.call_later(0, seen.append, 1)
    for _ in range(5):
        await turn()
    assert (handle.time(), seen) == (before, [])
    handle.resume()
    while not seen:
        await turn()
    assert before <= handle.time() < before + 60


async def test_a_wall_clock_that_was_advanced_runs_on_from_there() -> None:
    """Given the wall's clock, when an hour passes at once, then it is an hour later, and it runs.
    """
    handle = control(RealClock())
    before = handle.time()
    await handle.advance("1h")
    assert before + 3600 <= handle.time() < before + 3660
    assert not handle.paused


async def test_a_paused_wall_clock_makes_nothing_come_true() -> None:
    """Given a paused clock of the wall, when a predicate is waited for, then the wait ends at once
    and says why.
    """
    clock = RealClock()
    driver = driver_for(clock, Activity())
    ClusterClock(clock, driver).pause()
    with pytest.raises(Stalled, match="the clock is paused"):
        await driver.run_until(lambda: False)


async def test_an_auto_clock_does_not_jump_while_it_is_paused() -> None:
    """Given an automatic clock that is paused with a timer pending, when the loop turns, then time
    stands; once resumed, the timer fires.
    """
    clock, activity, tasks = AutoClock(), Activity(), Tasks()
    driver = driver_for(clock, activity)
    handle, seen = ClusterClock(clock, driver), []
    handle.pause()
    driver.start(tasks)
    clock.call_later(60, seen.append, 1)
    for _ in range(20):
        await turn()
    assert (handle.now(), seen, handle.mode) == (START, [], "auto")
    handle.resume()
    while not seen:
        await turn()
    assert handle.time() == START.timestamp() + 60
    await tasks.close()


def test_a_manual_clock_cannot_be_told_to_run() -> None:
    """Given a manual clock, when it is resumed, then it is refused: it only moves when it is told
    to.
    """
    handle = control(ManualClock())
    with pytest.raises(ClockError, match="a manual clock moves only when it is told to"):
        handle.resume()


def test_every_clock_says_what_it_is() -> None:
    """Given each clock, when it is asked, then mode, speed and whether it stands are told."""
    assert [(handle.mode, handle.factor, handle.paused) for handle in (control(make()) for make in CLOCKS)] == [
        ("manual", 0.0, True), ("auto", 0.0, False), ("real", 1.0, False), ("scaled", 2.0, False)]


async def test_the_walls_time_does_not_stop_for_heartbeats_either() -> None:
    """Given a heartbeat each ten seconds on the wall's clock, when a day passes at once, then it
    comes where time stops for something else, and where it lands: not 8,640 times.
    """
    clock = RealClock(START)
    beats = []

    def beat() -> None:
        beats.append(round(clock.time() - start))
        clock.call_later(10, beat, lazy=True)

    handle = control(clock)
    handle.pause()
    start = clock.time()
    clock.call_later(10, beat, lazy=True)
    clock.call_later(3600, lambda: None)
    await handle.advance("1d")
    assert beats == [3600, 86400]


async def test_timers_of_the_walls_clock_fire_on_nobodys_behalf() -> None:
    """Given a task that works on behalf of something, when it sets a timer, then the timer's
    callback does not.
    """
    behalf: ContextVar[str] = ContextVar("behalf", default="nobody")
    behalf.set("somebody")
    clock, seen = RealClock(), []
    clock.call_later(0, lambda: seen.append(behalf.get()))
    while not seen:
        await turn()
    assert seen == ["nobody"]


async def test_an_early_year_keeps_its_zeros() -> None:
    """Given a clock in the year 999, when it is told to go back, then the refusal says the year
    with four digits.
    """
    handle = control(ManualClock(start=datetime(999, 1, 2, tzinfo=UTC)))
    with pytest.raises(ClockError, match="the clock is at 0999-01-02T00:00:00Z"):
        await handle.set(datetime(998, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("make", CLOCKS)
@pytest.mark.parametrize("duration", ["99999999999h", 1e300, timedelta.max])
async def test_a_time_that_no_clock_can_hold_is_refused(make, duration) -> None:
    """Given any clock, when it is to advance beyond the years that there are, then that is a
    ClockError and time stands.
    """
    handle = control(make())
    handle.pause()
    before = handle.time()
    with pytest.raises(ClockError):
        await handle.advance(duration)
    with pytest.raises(ClockError, match="no clock can hold a time after 9700-01-01T00:00:00Z"):
        await handle.set("9999-12-31T23:59:59Z")
    assert handle.time() == pytest.approx(before)


async def test_a_timer_beyond_the_end_of_time_never_fires_and_nothing_waits_for_it() -> None:
    """Given a timer in a thousand million years, when time runs on for a predicate, then nothing is
    left to wait for.
    """
    clock = AutoClock()
    driver = driver_for(clock, Activity())
    clock.call_later(9e18, pytest.fail, "it fired")
    clock.call_later(float("inf"), pytest.fail, "it fired")
    assert clock.pending == 0
    with pytest.raises(Stalled, match="no timer is left"):
        await driver.run_until(lambda: False)
    with pytest.raises(Stalled, match="no timer is left"):
        await driver.run_until(lambda: False, within="99999999999h")
    assert clock.now() == START


async def test_a_daemon_timer_is_waited_for_until_the_end_of_time_and_no_longer() -> None:
    """Given a timer that recurs every century, when it is waited for a million years, then that
    ends in Stalled.
    """
    clock = ManualClock()

    def again() -> None:
        clock.call_later(100 * 365 * 86400, again, daemon=True)

    again()
    with pytest.raises(Stalled, match=r"no timer is left|have passed"):
        await driver_for(clock, Activity()).run_until(lambda: False, within="8760000000h")
    assert clock.now().year > 9500
