"""Virtual time moves only when nothing is in flight, one timer at a time."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest

from fakekube.util.activity import Activity
from fakekube.util.clock import AutoClock, ManualClock
from fakekube.util.driver import Stalled, VirtualDriver
from fakekube.util.drivers import driver_for
from fakekube.util.tasks import Tasks
from fakekube.util.wallclock import ScaledClock


@pytest.fixture
def activity():
    return Activity()


@pytest.fixture
def clock(activity):
    return ManualClock(activity=activity)


@pytest.fixture
def driver(clock, activity):
    return VirtualDriver(clock, activity)


async def test_advance_fires_each_timer_at_its_own_instant(clock, driver):
    """Given three timers, two at one instant, when time advances past them, then each sees its own
    time, in order.
    """
    seen = []
    start = clock.time()
    for name, delay in (("late", 5), ("early", 2), ("second", 5)):
        clock.call_later(delay, lambda name=name: seen.append((name, clock.time() - start)))
    await driver.advance(10)
    assert seen == [("early", 2), ("late", 5), ("second", 5)]
    assert clock.time() - start == 10
    assert clock.now() == datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)


async def test_what_a_timer_starts_ends_before_the_next_fires(clock, driver):
    """Given a timer whose work takes many turns of the loop, when time advances, then the next
    timer comes after it.
    """
    seen, tasks = [], Tasks()

    async def work():
        for _ in range(20):
            await asyncio.sleep(0)
        seen.append("done")

    clock.call_later(1, lambda: tasks.spawn(work(), "work"))
    clock.call_later(1, lambda: seen.append("next"))
    await driver.advance(timedelta(seconds=1))
    assert seen == ["done", "next"]


async def test_timers_set_by_timers_fire_in_the_same_advance(clock, driver):
    """Given a timer that sets a timer, when time advances past both, then both fire."""
    seen = []
    clock.call_later(1, lambda: clock.call_later(1, lambda: seen.append(clock.time())))
    await driver.advance(3)
    assert seen == [clock.time() - 1]


async def test_settle_fires_what_is_due_and_moves_nothing(clock, driver):
    """Given a timer that is due and one that is not, when the cluster settles, then only the first
    fires.
    """
    seen = []
    clock.call_later(0, seen.append, "due")
    clock.call_later(0.001, seen.append, "later")
    await driver.settle()
    assert seen == ["due"]


async def test_a_cancelled_timer_never_fires(clock, driver):
    """Given many timers that are cancelled, when time passes, then none fires and none is left."""
    timers = [clock.call_later(1, pytest.fail) for _ in range(500)]
    for timer in timers:
        timer.cancel()
        timer.cancel()
    assert clock.pending == 0
    await driver.advance(2)
    assert clock.timers() == []


async def test_run_until_stops_at_the_instant_the_predicate_holds(clock, driver):
    """Given a timer chain, when run until a count, then time stands where the count was reached."""
    start, ticks = clock.time(), []

    def tick():
        ticks.append(clock.time())
        clock.call_later(10, tick)

    tick()
    await driver.run_until(lambda: len(ticks) == 4)
    assert clock.time() - start == 30


async def test_run_until_takes_an_async_predicate(clock, driver):
    """Given an async predicate, when run until it holds, then it is awaited."""
    clock.call_later(10, lambda: None)
    start = clock.time()

    async def later():
        return clock.time() > start

    await driver.run_until(later)
    assert clock.time() == start + 10


async def test_a_deadlock_is_an_instant_explained_failure(clock, driver):
    """Given only daemon timers, when run until what never comes, then Stalled says what is pending.
    """
    clock.call_later(10, clock.time, daemon=True)
    driver.explainers.append(lambda: ["queue job: 0 items"])
    with pytest.raises(Stalled) as stalled:
        await driver.run_until(lambda: False)
    text = str(stalled.value)
    assert "only daemon timers are left" in text
    assert "1 daemon timer, the first in 10 s" in text
    assert "queue job: 0 items" in text


async def test_daemon_timers_move_time_only_within_a_limit(clock, driver):
    """Given a heartbeat, when run until something within an hour, then it beats, and Stalled
    follows after the hour.
    """
    start, beats = clock.time(), []

    def beat():
        beats.append(clock.time())
        clock.call_later(600, beat, daemon=True)

    beat()
    await driver.run_until(lambda: len(beats) == 3, within=timedelta(hours=1))
    assert clock.time() - start == 1200
    with pytest.raises(Stalled, match="0:01:40 have passed"):
        await driver.run_until(lambda: len(beats) == 5, within=100)
    assert clock.time() - start == 1300


async def test_a_busy_task_that_sleeps_lets_time_pass(clock, activity, driver):
    """Given a busy task that sleeps on the clock, when time advances, then it wakes on time and is
    busy again.
    """
    tasks, seen = Tasks(), []

    async def work():
        with activity.busy(), activity.busy():
            await clock.sleep(5)
            assert activity.units == 2
            seen.append(clock.time())

    start = clock.time()
    tasks.spawn(work(), "work")
    await driver.advance(5)
    assert seen == [start + 5]
    assert activity.idle


async def test_time_waits_for_real_work_in_flight(clock, activity, driver):
    """Given a unit held for work in another thread, when time advances, then no timer fires before
    its release.
    """
    seen, loop = [], asyncio.get_running_loop()

    def finish():
        seen.append("thread")
        activity.release()

    activity.hold()
    clock.call_later(1, seen.append, "timer")
    threading.Timer(0.02, lambda: loop.call_soon_threadsafe(finish)).start()
    await driver.advance(1)
    assert seen == ["thread", "timer"]


async def test_waiting_long_for_work_in_flight_is_logged(activity, driver, monkeypatch, caplog):
    """Given a unit that is held for long, when time is to advance, then the log says what is waited
    for.
    """
    monkeypatch.setattr("fakekube.util.driver.STUCK_SECONDS", 0.01)
    driver.explainers.append(lambda: ["job: default/a in work"])
    activity.hold()
    asyncio.get_running_loop().call_later(0.05, activity.release)
    await driver.settle()
    assert "virtual time waits for 1 units of work in flight" in caplog.text
    assert "job: default/a in work" in caplog.text


async def test_a_task_that_spins_does_not_stop_time(clock, driver):
    """Given a foreign task that yields for ever, when time advances, then it does."""
    async def spin():
        while True:  # noqa: ASYNC110 - it spins on purpose
            await asyncio.sleep(0)

    tasks = Tasks()
    tasks.spawn(spin(), "spin")
    start = clock.time()
    await driver.advance(1)
    assert clock.time() == start + 1
    await tasks.close()


async def test_failures_of_tasks_reach_who_waits(clock, driver):
    """Given a task that fails, when time advances, then its error is raised there, once."""
    async def broken():
        await clock.sleep(1)
        raise ValueError("broken")

    tasks = Tasks(on_failure=driver.fail)
    tasks.spawn(broken(), "broken")
    with pytest.raises(ValueError, match="broken"):
        await driver.advance(5)
    await driver.advance(5)


async def test_auto_clock_jumps_while_nothing_is_in_flight(activity):
    """Given an auto clock, when somebody sleeps for virtual hours, then they pass at once, daemons
    on the way.
    """
    clock, tasks, beats = AutoClock(activity=activity), Tasks(), []
    driver = driver_for(clock, activity)
    driver.start(tasks)

    def beat():
        beats.append(clock.time())
        clock.call_later(600, beat, daemon=True)

    beat()
    start = clock.time()
    await clock.sleep(3600)
    assert clock.time() - start == 3600
    assert len(beats) >= 6
    await driver.advance(60)
    await tasks.close()


async def test_auto_clock_stands_still_for_daemons_and_for_work(activity):
    """Given only daemon timers, or a unit in flight, when the loop turns, then auto time stands
    still.
    """
    clock, tasks = AutoClock(activity=activity), Tasks()
    driver_for(clock, activity).start(tasks)
    start = clock.time()
    clock.call_later(1, lambda: None, daemon=True)
    activity.hold()
    clock.call_later(2, lambda: None)
    for _ in range(200):
        await asyncio.sleep(0)
    assert clock.time() == start
    activity.release()
    for _ in range(200):
        await asyncio.sleep(0)
    assert clock.time() == start + 2
    await tasks.close()


async def test_a_call_goes_before_an_auto_clock(activity):
    """Given an auto clock with a timer that is near, when calls follow one another, then each finds
    the time where the one before has left it; once something else is awaited, time goes on.
    """
    clock, tasks, fired = AutoClock(activity=activity), Tasks(), []
    driver = driver_for(clock, activity)
    driver.start(tasks)
    for seconds in (11, 30, 100):
        clock.call_later(seconds, fired.append, seconds)
    await driver.settle()
    start = clock.time()
    await driver.advance("10s")
    assert (clock.time() - start, fired) == (10, [])
    await driver.settle()
    await driver.advance("10s")
    assert (clock.time() - start, fired) == (20, [11])
    await driver.run_until(lambda: 30 in fired)
    assert (clock.time() - start, fired) == (30, [11, 30])
    await driver.advance("1s")
    assert clock.time() - start == 31
    for _ in range(100):
        await asyncio.sleep(0)
    assert (clock.time() - start, fired) == (100, [11, 30, 100])
    await tasks.close()


async def test_auto_clock_goes_slowly_where_nothing_changes(activity):
    """Given a requeue for ever, when it changes nothing, then time does not race away."""
    clock, tasks, ticks = AutoClock(activity=activity), Tasks(), []
    driver_for(clock, activity).start(tasks)

    def tick():
        ticks.append(clock.time())
        clock.call_later(30, tick)

    tick()
    for _ in range(10000):
        await asyncio.sleep(0)
    assert 50 <= len(ticks) < 200
    await tasks.close()


async def test_what_recurs_for_ever_does_not_keep_a_predicate_waiting(clock, activity, driver):
    """Given a requeue for ever, when run until what never comes, then it stalls, whether things
    change or not.
    """
    def tick():
        clock.call_later(30, tick)

    def busy_tick():
        activity.note_progress()
        clock.call_later(86_400, busy_tick)

    tick()
    with pytest.raises(Stalled, match="the last 10001 timers changed nothing"):
        await driver.run_until(lambda: False)
    busy_tick()
    with pytest.raises(Stalled, match="30 days, 0:00:00 have passed"):
        await driver.run_until(lambda: False)


def test_time_is_driven_from_another_thread(activity):
    """Given a cluster loop in a thread, when another thread advances and runs until, then it works
    as inside.
    """
    clock = ManualClock(activity=activity)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        async def begin():
            clock.call_later(5, lambda: None)
            return VirtualDriver(clock, activity)

        driver = asyncio.run_coroutine_threadsafe(begin(), loop).result()
        start = clock.time()
        asyncio.run_coroutine_threadsafe(driver.advance(2), loop).result()
        asyncio.run_coroutine_threadsafe(driver.run_until(lambda: clock.time() == start + 5), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def test_scaled_time_runs_faster(activity):
    """Given a clock a thousand times as fast, when ten seconds pass on it, then the wall hardly
    moved.
    """
    clock = ScaledClock(1000)
    driver = driver_for(clock, activity)
    start, seen = clock.time(), []
    clock.call_later(5, seen.append, 1)
    await driver.advance(10)
    await driver.run_until(lambda: seen == [1], within=100)
    assert clock.time() >= start + 10
