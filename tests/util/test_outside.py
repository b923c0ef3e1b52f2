"""Virtual time waits for clients outside until they have been quiet, by a wall's clock that the
tests move.
"""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

from fakekube.util.activity import Activity
from fakekube.util.clock import AutoClock, Clock, ManualClock
from fakekube.util.driver import Stalled, VirtualDriver, describe
from fakekube.util.outside import PATIENCE, ClientsOutside
from fakekube.util.tasks import Tasks
from fakekube.util.timers import Timer

GRACE = 0.5
MAPS = "/api/v1/configmaps"


class Wall(Clock):
    """A wall's clock on which sleeping costs nothing, and what others do has its time: ``plans`` of
    (when, what).
    """

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.late_seconds = 0.0  # how much later than asked everybody wakes up
        self.plans: list[tuple[float, Callable[[], object]]] = []

    def time(self) -> float:
        return self.seconds

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, daemon: bool = False, lazy: bool = False,
    ) -> Timer:
        raise AssertionError("nobody sets timers here")

    def plan(self, after_seconds: float, action: Callable[[], object]) -> None:
        self.plans.append((self.seconds + after_seconds, action))

    async def sleep(self, seconds: float, *, daemon: bool = False) -> None:
        self.seconds += seconds + self.late_seconds
        due, self.plans = [p for p in self.plans if p[0] <= self.seconds], [p for p in self.plans if p[0] > self.seconds]
        for _, action in due:
            action()
        await asyncio.sleep(0)


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def activity() -> Activity:
    return Activity()


@pytest.fixture
def outside(wall: Wall) -> ClientsOutside:
    found = ClientsOutside(GRACE, wall=wall)
    found.listens = True
    return found


@pytest.fixture
def clock(activity: Activity) -> ManualClock:
    return ManualClock(activity=activity)


@pytest.fixture
def driver(clock: ManualClock, activity: Activity, outside: ClientsOutside) -> VirtualDriver:
    return VirtualDriver(clock, activity, outside)


def ask(outside: ClientsOutside, activity: Activity, method: str = "GET") -> None:
    """A request over a socket."""
    activity.hold()
    outside.request("operator/1", "10.0.0.1", method, MAPS)
    activity.release()


async def test_without_clients_no_time_is_granted(driver: VirtualDriver, clock: ManualClock, wall: Wall) -> None:
    """Given a cluster that nobody watches, when it settles, advances and runs until something, then
    the wall stands still.
    """
    clock.call_later(60, lambda: None)
    start = clock.time()
    await driver.settle()
    await driver.advance("1m")
    clock.call_later(60, lambda: None)
    await driver.run_until(lambda: clock.time() == start + 120)
    assert wall.seconds == 1000


async def test_a_watch_that_was_told_is_granted_the_grace_once(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside) -> None:
    """Given an open watch, when it was told of a change and time advances over many timers, then
    the grace passes on the wall before the first, and no more until it is told again.
    """
    watch, passed = outside.watch("operator/1", "10.0.0.1", MAPS), []
    for _ in range(5):
        clock.call_later(60, lambda: passed.append(wall.seconds))
        await driver.advance("1m")
    assert passed == [pytest.approx(1000 + GRACE, abs=0.01)] * 5
    watch.tell()
    await driver.settle()
    assert wall.seconds == pytest.approx(1000 + 2 * GRACE, abs=0.01)
    watch.close()
    outside.note()
    await driver.advance("1m")
    assert wall.seconds == pytest.approx(1000 + 2 * GRACE, abs=0.01)


@pytest.mark.parametrize("pumped", [False, True])
async def test_whose_watch_the_server_ended_may_come_again(
    pumped: bool, driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside, activity: Activity) -> None:
    """Given a watch that the server ends, when time is to move, called or by itself, then it waits
    for the grace, in which the client opens another and is told of what it missed; it does not
    wait for who has ended a watch on its own.
    """
    watch, came = outside.watch("operator/1", "10.0.0.1", MAPS), []
    wall.seconds += 2 * GRACE
    watch.end()
    watch.close()

    def come() -> None:
        activity.hold()
        came.append(outside.watch("operator/1", "10.0.0.1", MAPS))
        came[0].tell()
        activity.release()

    wall.plan(0.3, come)
    if not pumped:
        outside.call()
    begun = wall.seconds
    while outside.wait():
        await outside.grant()
    assert came
    assert wall.seconds - begun == pytest.approx(0.3 + GRACE, abs=0.03)
    came[0].close()
    wall.seconds += GRACE
    assert not outside.wait()


async def test_who_acts_while_time_waits_is_seen_before_it_moves(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside, activity: Activity) -> None:
    """Given an operator that thinks for 0.3 s, and then again, when run until what it does, then
    virtual time did not move.
    """
    outside.watch("operator/1", "10.0.0.1", MAPS)
    clock.call_later(60, lambda: None, daemon=True)
    done: list[str] = []
    wall.plan(0.3, lambda: ask(outside, activity))

    def act() -> None:
        ask(outside, activity, "PATCH")
        done.append("acted")

    wall.plan(0.75, act)
    start, asked = clock.time(), []

    def acted() -> bool:
        asked.append(wall.seconds)
        return bool(done)

    await driver.run_until(acted, within="10m")
    assert clock.time() == start
    assert len(asked) == 2
    assert wall.seconds == pytest.approx(1000.75, abs=0.03)


async def test_who_never_acts_is_waited_for_and_then_told(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside) -> None:
    """Given a watch whose client does nothing, when run until what never comes, then it stalls
    after the grace, and says who is connected, what it watches and did last, and which predicate
    that was, by the caller's name and line.
    """
    outside.request("operator/1", "10.0.0.1", "POST", "/api/v1/events")
    outside.watch("operator/1", "10.0.0.1", MAPS)

    def it_is_done() -> bool:
        return False

    with pytest.raises(Stalled) as stalled:
        await driver.run_until(functools.wraps(it_is_done)(lambda: False))
    assert wall.seconds == pytest.approx(1000 + GRACE, abs=0.01)
    text = str(stalled.value)
    assert "it_is_done (" in text
    assert f"test_outside.py:{it_is_done.__code__.co_firstlineno})" in text
    assert (f"client outside: operator/1 at 10.0.0.1 watches {MAPS}; was last told of a change: never, "
            "last request POST /api/v1/events 0.5 s ago") in text


async def test_who_is_expected_and_does_not_come_is_told(driver: VirtualDriver) -> None:
    """Given a served cluster without clients, when it stalls, then the text says that nobody
    watches.
    """
    with pytest.raises(Stalled, match="no client outside has an open watch: if one is to come, wait for it first"):
        await driver.run_until(lambda: False)


async def test_a_client_that_is_never_quiet_does_not_stop_time(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside, activity: Activity) -> None:
    """Given a client that writes every 0.1 s, when time advances over ten timers, then the first
    waits for the bound of patience and each other for the grace; once it is quiet, the patience is
    there again.
    """
    outside.watch("operator/1", "10.0.0.1", MAPS)
    left, passed = [120], []

    def beat() -> None:
        ask(outside, activity, "PUT")
        left[0] -= 1
        if left[0]:
            wall.plan(0.1, beat)

    beat()
    for second in range(1, 11):
        clock.call_later(second, lambda: passed.append(wall.seconds))
    await driver.advance(10)
    waits = [after - before for before, after in zip([1000.0, *passed], passed, strict=False)]
    assert waits[0] == pytest.approx(PATIENCE * GRACE, abs=0.2)
    assert waits[1:] == [pytest.approx(GRACE, abs=0.2)] * 9
    left[0] = 1
    await driver.settle()
    outside.note()
    start = wall.seconds
    await driver.settle()
    assert wall.seconds - start == pytest.approx(GRACE, abs=0.03)


async def test_reads_of_the_predicate_end_no_quiet(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside, activity: Activity) -> None:
    """Given a predicate that asks over a socket, when run until an hour has passed in steps, then
    the grace is granted once.
    """
    outside.watch("operator/1", "10.0.0.1", MAPS)
    for minute in range(1, 61):
        clock.call_later(60 * minute, lambda: None)
    start = clock.time()

    def hour() -> bool:
        ask(outside, activity)
        return clock.time() >= start + 3600

    await driver.run_until(hour)
    assert wall.seconds == pytest.approx(1000 + GRACE, abs=0.01)


async def test_a_predicate_is_asked_again_when_somebody_wrote_meanwhile(
    driver: VirtualDriver, wall: Wall, outside: ClientsOutside, activity: Activity) -> None:
    """Given an operator that writes after the predicate has looked and before it has answered, when
    run until that, then it is asked again at once; a predicate that writes itself each time is not
    asked for ever.
    """
    outside.watch("operator/1", "10.0.0.1", MAPS)
    done: list[bool] = []

    def acted() -> bool:
        seen = bool(done)
        ask(outside, activity, "PATCH")
        done.append(True)
        return seen

    await driver.run_until(acted)
    assert wall.seconds == 1000

    def writes() -> bool:
        ask(outside, activity, "PATCH")
        return False

    with pytest.raises(Stalled):
        await driver.run_until(writes)


async def test_a_client_without_a_watch_counts_while_somebody_waits(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside, activity: Activity) -> None:
    """Given requests before anybody waited, when time advances, then nobody is waited for; given
    one during a wait, then its sender has the grace.
    """
    ask(outside, activity, "POST")
    await driver.advance("1m")
    assert wall.seconds == 1000
    clock.call_later(1, ask, outside, activity)
    start, moved = clock.time(), []
    clock.call_later(2, lambda: moved.append(wall.seconds))
    await driver.run_until(lambda: clock.time() > start + 1)
    assert moved == [pytest.approx(1000 + GRACE, abs=0.01)]


async def test_a_newcomer_is_waited_for_until_it_watches(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside) -> None:
    """Given somebody who was started just now, when time advances, then it waits for their watch
    and the grace; in vain until the limit, or until they have gone.
    """
    outside.expect(2.0, lambda: True)
    wall.plan(1.2, lambda: outside.watch("operator/1", "10.0.0.1", MAPS).close())
    opened: list[Any] = []
    wall.plan(1.2, lambda: opened.append(outside.watch("operator/1", "10.0.0.1", MAPS)))
    await driver.advance("1m")
    assert wall.seconds == pytest.approx(1001.2 + GRACE, abs=0.03)
    opened[0].close()
    outside.expect(2.0, lambda: True)
    before = wall.seconds
    await driver.advance("1m")
    assert wall.seconds == pytest.approx(before + 2.0, abs=0.03)
    left = [3]

    def is_there() -> bool:
        left[0] -= 1
        return left[0] > 0

    outside.expect(2.0, is_there)
    before = wall.seconds
    await driver.advance("1m")
    assert wall.seconds < before + 0.1


async def test_a_busy_machine_takes_nothing_from_clients(
    driver: VirtualDriver, wall: Wall, outside: ClientsOutside) -> None:
    """Given a machine on which everybody wakes up late, when time waits, then what was lost is
    granted besides.
    """
    wall.late_seconds = 0.06
    outside.watch("operator/1", "10.0.0.1", MAPS)
    await driver.settle()
    assert wall.seconds > 1000 + 3 * GRACE


async def test_a_busy_machine_takes_nothing_from_those_who_are_to_connect(
    driver: VirtualDriver, clock: ManualClock, wall: Wall, outside: ClientsOutside) -> None:
    """Given somebody who was announced, on a machine on which everybody wakes up late / when they
    connect later than they were given, counted with what was lost / then time has waited for them.
    """
    wall.late_seconds = 0.06
    began, opened = clock.time(), []
    outside.expect(2.0, lambda: True)
    wall.plan(5.0, lambda: opened.append((clock.time(), outside.watch("operator/1", "10.0.0.1", MAPS))))
    await driver.advance("1m")
    assert [when for when, _ in opened] == [began]


async def test_a_busy_machine_does_not_tax_patience(driver: VirtualDriver, wall: Wall, outside: ClientsOutside) -> None:
    """Given an open watch on a machine that is late by many times of each slice / when time waits /
    then it waits for the whole grace, however long that takes on the wall.
    """
    wall.late_seconds = 0.3
    outside.watch("operator/1", "10.0.0.1", MAPS)
    await driver.settle()
    assert wall.seconds > 1000 + 1.4 * PATIENCE * GRACE


async def test_a_call_may_say_another_grace(driver: VirtualDriver, wall: Wall, outside: ClientsOutside) -> None:
    """Given an open watch, when a call says how long clients have to be quiet, then that counts,
    none at all included.
    """
    outside.watch("operator/1", "10.0.0.1", MAPS)
    await driver.settle(grace=0)
    await driver.advance("1m", grace="0s")
    assert wall.seconds == 1000
    await driver.run_until(lambda: True, grace="2s")
    assert wall.seconds == 1000
    await driver.advance("1m", grace="2s")
    assert wall.seconds == pytest.approx(1002)


async def test_an_automatic_clock_waits_for_whoever_was_told(activity: Activity, outside: ClientsOutside, wall: Wall) -> None:
    """Given an automatic clock and an open watch, when a timer is set, then it fires after the
    grace; polling delays none.
    """
    clock, tasks, fired = AutoClock(activity=activity), Tasks(), asyncio.Event()
    driver = VirtualDriver(clock, activity, outside)
    driver.start(tasks)
    outside.watch("operator/1", "10.0.0.1", MAPS)

    def poll() -> None:
        ask(outside, activity)
        wall.plan(0.1, poll)

    poll()
    clock.call_later(60, fired.set)
    await fired.wait()
    assert wall.seconds == pytest.approx(1000 + GRACE, abs=0.01)
    await tasks.close()


class Counts:
    """A predicate that is no function."""

    def __call__(self) -> bool:
        return False


@pytest.mark.parametrize(("predicate", "text"), [
    (functools.partial(isinstance, 1), "isinstance"),
    (functools.partial(lambda _: False, 1), "test_outside.py:"),
    (Counts(), "Counts (")])
def test_predicates_of_all_kinds_have_names(predicate: Callable[..., bool], text: str) -> None:
    """Given predicates that are no plain functions, when they are described, then it says where
    they stand.
    """
    assert text in describe(predicate)
    assert " object at " not in describe(predicate)
