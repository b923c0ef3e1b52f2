"""What drivers and clocks do at the edges: clients that act at the last moment, sleepers, jumps."""

import asyncio
from datetime import UTC, datetime

import pytest

from fakekube.util import outside as outside_module
from fakekube.util import sleepers
from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.driver import VirtualDriver
from fakekube.util.outside import ClientsOutside
from fakekube.util.tasks import Tasks, turn
from fakekube.util.wallclock import RealClock
from tests.util.test_outside import GRACE, MAPS, Wall, ask


async def test_who_acts_before_the_end_of_an_advance_is_heard() -> None:
    """Given a client that is told of something in the last minute / when it answers by a write that
    sets a timer / then that timer fires in the same advance, at its own instant.
    """
    wall, activity = Wall(), Activity()
    clock, outside = ManualClock(activity=activity), ClientsOutside(GRACE, wall=wall)
    outside.listens = True
    driver, watch = VirtualDriver(clock, activity, outside), outside.watch("operator/1", "10.0.0.1", MAPS)
    start, seen = clock.time(), list[float]()

    def acts() -> None:
        ask(outside, activity, "PATCH")
        clock.call_later(10, lambda: seen.append(clock.time() - start))

    def tells() -> None:
        watch.tell()
        wall.plan(0.2, acts)

    clock.call_later(30, tells)
    await driver.advance(60)
    assert seen == [40]
    assert clock.time() == start + 60


async def test_work_that_waits_for_what_sleeps_is_not_waited_for() -> None:
    """Given a unit that is held by who waits for what sleeps / when time is to settle / then it
    does, and once nothing sleeps it waits for the unit.
    """
    activity = Activity()
    driver, settled = VirtualDriver(ManualClock(activity=activity), activity), list[str]()
    activity.hold()
    with activity.sleeping():
        await driver.settle()

    async def settles() -> None:
        await driver.settle()
        settled.append("settled")

    task = Tasks().spawn(settles(), "settles")
    for _ in range(10):
        await turn()
    assert settled == []
    activity.release()
    await task
    assert settled == ["settled"]


@pytest.mark.parametrize("count", [1, 2, 20])
async def test_tasks_that_are_in_work_are_named(count: int, caplog: pytest.LogCaptureFixture) -> None:
    """Given tasks that hold units / when it is told what is waited for / then some are named,
    and of the rest the number.
    """
    activity, tasks, gate = Activity(), Tasks(), asyncio.Event()
    driver = VirtualDriver(ManualClock(activity=activity), activity)

    async def works() -> None:
        with activity.busy():
            await gate.wait()

    for number in range(count):
        tasks.spawn(works(), f"work {number}")
    await turn()
    driver._complain()
    names = ", ".join(f"work {number}" for number in range(min(count, 10)))
    more = " and 10 more" if count == 20 else ""
    assert f"virtual time waits for {count} units of work in flight\n  in work: {names}{more}\n" in f"{caplog.text}\n"
    gate.set()
    await tasks.close()


async def test_how_long_what_is_outside_may_take() -> None:
    """Given something in flight / when it is waited for, in real time / then it is said whether it
    came to its end.
    """
    activity = Activity()
    activity.hold()
    with activity.sleeping():
        assert not await sleepers._is_idle_within(activity, 0.001)
        asyncio.get_running_loop().call_soon(activity.release)
        assert await sleepers._is_idle_within(activity, 60)


@pytest.mark.parametrize(("alone", "sleeping", "asked"), [(True, True, 0), (False, True, 1), (True, False, 1)])
async def test_what_is_in_flight_beside_sleepers(
    alone: bool, sleeping: bool, asked: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a unit in flight / when something sleeps, and no socket could wake it / then it is not
    waited for; where one could, or nothing sleeps, it is given its time.
    """
    activity, waited = Activity(), list[float]()

    async def within(_: Activity, seconds: float) -> bool:
        waited.append(seconds)
        if not sleeping:
            activity.release()
        return not sleeping

    monkeypatch.setattr(sleepers, "_is_idle_within", within)
    activity.hold()
    await sleepers.quiet_beside_sleepers(lambda _: ([], alone), activity, lambda: sleeping)
    assert waited == [0.005] * asked


async def test_who_spins_does_not_keep_sleepers_waiting() -> None:
    """Given a loop that always has something ready / when something sleeps / then after many turns
    it counts as quiet.
    """
    activity, looks = Activity(), list[int]()

    def look(_: object) -> tuple[list[int], bool]:
        looks.append(1)
        return [1], False

    await sleepers.quiet_beside_sleepers(look, activity, lambda: True)
    assert len(looks) == 65


def test_clients_without_a_watch_are_told_for_a_while() -> None:
    """Given a client that asked and watches nothing / when it is told who is there / then it is,
    for ten times the grace.
    """
    wall = Wall()
    outside = ClientsOutside(GRACE, wall=wall)
    outside.listens = True
    outside.request("", "10.0.0.1", "GET", MAPS)
    none = "no client outside has an open watch: if one is to come, wait for it first"
    wall.seconds += 1
    assert list(outside.explain()) == [
        none, f"client outside: without a user agent at 10.0.0.1 watches nothing; last request GET {MAPS} 1.0 s ago"]
    wall.seconds += 10 * GRACE - 1
    assert list(outside.explain()) == [none]
    outside.listens = False
    assert list(outside.explain()) == []


def test_only_so_many_clients_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more clients than are remembered / when another comes / then the first without a watch
    is forgotten, and none where all watch.
    """
    monkeypatch.setattr(outside_module, "MAX_CLIENTS", 2)
    outside = ClientsOutside(GRACE, wall=Wall())
    outside.watch("watches", "10.0.0.1", MAPS)
    for name in ("a", "b"):
        outside.request(name, "10.0.0.1", "GET", MAPS)
    assert [name for name, _ in outside._clients] == ["watches", "b"]
    for name in ("b", "c", "d"):
        outside.watch(name, "10.0.0.1", MAPS)
    assert [name for name, _ in outside._clients] == ["watches", "b", "c", "d"]


def test_requests_of_a_test_itself_keep_nobody_waiting() -> None:
    """Given somebody who is expected, and a request before anybody waits for time / when it is
    asked whether time has to wait / then it has not.
    """
    wall = Wall()
    outside = ClientsOutside(GRACE, wall=wall)
    outside.expect(60, lambda: True)
    outside.request("test", "10.0.0.1", "GET", MAPS)
    assert not outside.wait()
    outside.call()
    assert outside.wait()


@pytest.mark.parametrize("held", [True, False])
async def test_time_of_another_history(held: bool) -> None:
    """Given a real clock with timers, held or not / when it jumps to an earlier time / then it goes
    on from there, and no timer of before fires.
    """
    start = datetime(2026, 1, 1, tzinfo=UTC)
    clock, fired = RealClock(start), list[str]()
    clock.call_later(0.0001, fired.append, "fired")
    clock.call_later(0.0001, fired.append, "lazily", lazy=True)
    wanted = start.timestamp() - 3600
    if held:
        with clock.held():
            clock.jump_to(wanted)
            assert (clock.time(), clock.next_due()) == (wanted, None)
    else:
        clock.jump_to(wanted)
    assert wanted <= clock.time() < wanted + 60
    assert fired == []
