"""Clocks, timers, units of work and tasks: each rule by itself, and what people are told."""

import asyncio
import functools
import re
import socket
from datetime import UTC, datetime, timedelta

import pytest

from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock, is_holdable, never, written
from fakekube.util.driver import Stalled, VirtualDriver, describe
from fakekube.util.tasks import Tasks, begun
from fakekube.util.timers import TimerHeap

START = 1767225600.0


def test_a_clock_begins_in_2026_and_says_so() -> None:
    """Given a new clock / then it stands at the beginning of 2026, has nothing to wait for, and
    moments are written with all their zeros.
    """
    clock = ManualClock()
    assert (clock.time(), clock.now(), clock.pending, clock.paused) == (START, datetime(2026, 1, 1, tzinfo=UTC), 0, True)
    assert (clock.passes_while_busy, clock.late_seconds, clock.next_due(), clock.next_lazy()) == (False, 0.0, None, None)
    assert not clock.fire_next()
    assert written(datetime(1, 2, 3, 4, 5, 6, 789, tzinfo=UTC)) == "0001-02-03T04:05:06Z"
    assert [is_holdable(seconds) for seconds in (START, 1e300, -1e300)] == [True, False, False]


def test_timers_fire_in_order_and_pull_time() -> None:
    """Given timers of every sort / when they fire / then they do in the order of their instants, of
    one instant as they came; daemons do not count, and lazy ones fire once time has passed them.
    """
    clock, fired, told = ManualClock(), list[object](), list[int]()
    clock.on_timer = lambda: told.append(clock.pending)

    def fire(name: str) -> None:
        fired.append((name, clock.time() - START, clock.pending))

    clock.call_later(5, fire, "five")
    first, second = clock.call_later(2, fire, "two"), clock.call_later(2, fire, "two again")
    clock.call_later(1, fire, "daemon", daemon=True)
    clock.call_later(0.5, fire, "lazy", lazy=True)
    gone = clock.call_later(3, fire, "gone")
    assert (clock.pending, told, clock.next_due(), clock.next_lazy()) == (4, [1, 2, 3, 4], START + 1, START + 0.5)
    assert [timer.args[0] for timer in clock.timers()] == ["lazy", "daemon", "two", "two again", "gone", "five"]
    gone.cancel()
    gone.cancel()
    assert (clock.pending, first.cancelled, gone.cancelled, second.daemon) == (3, False, True, False)
    with pytest.raises(AssertionError, match="would skip a timer"):
        clock.move_to(START + 1)
    clock.move_to(START + 0.25)
    clock.move_to(START)
    assert clock.time() == START + 0.25
    while clock.fire_next():
        pass
    assert fired == [("lazy", 1, 3), ("daemon", 1, 3), ("two", 2, 2), ("two again", 2, 1), ("five", 5, 0)]
    assert first.cancelled
    first.cancel()
    assert clock.pending == 0


def test_no_timer_is_beyond_all_time() -> None:
    """Given a timer for a time that no clock holds, and one without a time / then nobody waits for
    the one, and the other is refused.
    """
    clock = ManualClock()
    timer = clock.call_at(1e300, print)
    assert (timer.when, timer.daemon, clock.pending, clock.timers()) == (1e300, True, 0, [])
    timer.cancel()
    never(1e300, print).cancel()
    with pytest.raises(AssertionError, match="a timer needs a time"):
        clock.call_at(float("nan"), print)


async def test_a_jump_forgets_timers_and_keeps_sleepers() -> None:
    """Given a timer and a sleeper / when the clock is set to another history / then the timer never
    fires, and the sleeper wakes at its instant.
    """
    clock, fired = ManualClock(), list[str]()
    clock.call_later(1, fired.append, "timer")
    sleeper = asyncio.create_task(clock.sleep(2))
    await asyncio.sleep(0)
    clock.jump_to(START - 100)
    assert (clock.time(), clock.pending) == (START - 100, 1)
    assert clock.fire_next()
    await sleeper
    assert (fired, clock.time()) == ([], START + 2)


def test_cancelled_timers_are_dropped_when_they_are_many() -> None:
    """Given 200 timers / when they are cancelled one by one / then no more than 64 dead ones, or as
    many as live ones, are kept.
    """
    clock, heap = ManualClock(), TimerHeap()
    timers = [clock.call_later(number + 1, print) for number in range(200)]
    for number, timer in enumerate(timers):
        heap.push(timer, number)
    kept = []
    for timer in timers[1:]:
        timer.cancelled = True
        heap.forget_one()
        kept.append(len(heap._entries))
    assert (kept[63], kept[99], kept[100], kept[101]) == (200, 200, 99, 99)
    assert [entry[2] for entry in heap.entries()] == [timers[0]]
    assert heap.due() == timers[0].when
    heap.clear()
    assert (heap.due(), heap.entries()) == (None, [])


async def test_units_of_work() -> None:
    """Given units / when they are taken, given back, slept with and broken off / then who waits is
    woken when nothing is in flight, and what was not taken cannot be given back.
    """
    activity, woken = Activity(), list[str]()

    async def wait(name: str, *, with_sleepers: bool = False) -> None:
        await activity.wait_idle(with_sleepers=with_sleepers)
        woken.append(name)

    with pytest.raises(AssertionError, match="released more units than were held"):
        activity.release()
    assert (activity.idle, activity.units, activity.generation, activity.progress) == (True, 0, 0, 0)
    await wait("at once")
    activity.hold()
    activity.hold()
    waiting = [asyncio.create_task(wait("a")), asyncio.create_task(wait("b", with_sleepers=True))]
    await asyncio.sleep(0)
    activity.release()
    await asyncio.sleep(0)
    assert (woken, activity.units, activity.generation, activity.idle) == (["at once"], 1, 2, False)
    with activity.sleeping():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (woken, activity.asleep) == (["at once", "a"], 1)
    activity.break_off()
    await asyncio.gather(*waiting)
    assert (woken, activity.asleep, activity.broken_off) == (["at once", "a", "b"], 0, True)
    activity.note_progress()
    assert activity.progress == 1
    activity.release()
    assert activity.idle


async def test_a_busy_task_is_counted_and_not_while_it_sleeps() -> None:
    """Given a task that is busy twice / when it sleeps by the clock / then it holds nothing
    meanwhile, and both after it; nobody else is busy.
    """
    activity = Activity()
    clock, seen = ManualClock(activity=activity), list[object]()

    async def work() -> None:
        with activity.busy(), activity.busy():
            seen.append((activity.units, activity.is_busy(), activity.tasks()))
            await clock.sleep(1)
            seen.append((activity.units, clock.time() - START))
        seen.append((activity.units, activity.is_busy(), activity.tasks()))

    task = asyncio.create_task(work(), name="worker")
    await asyncio.sleep(0)
    assert (activity.units, activity.is_busy(), activity.tasks(), activity.suspend()) == (0, False, ["worker"], None)
    assert clock.fire_next()
    await task
    assert seen == [(2, True, ["worker"]), (2, 1), (0, False, [])]


async def test_tasks_are_closed_and_their_failures_told() -> None:
    """Given tasks of an owner and of its parts / when some fail / then the owner hears of each,
    or the first is raised at the end; what runs is cancelled.
    """
    told: list[str] = []
    tasks = Tasks(lambda error: told.append(str(error)))

    async def fail(text: str) -> None:
        raise ValueError(text)

    async def cancelled() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told.append("cancelled")

    tasks.spawn(fail("a"), "a")
    tasks.child().spawn(fail("b"), "b")
    running = tasks.spawn(cancelled(), "c")
    assert (running.get_name(), len(tasks)) == ("c", 2)
    await asyncio.sleep(0.01)
    assert (told, len(tasks)) == (["a", "b"], 1)
    await tasks.close()
    assert (told, len(tasks), running.cancelled()) == (["a", "b", "cancelled"], 0, True)
    alone = Tasks()
    alone.spawn(fail("first"), "x")
    alone.spawn(fail("second"), "y")
    with pytest.raises(ValueError, match="first"):
        await alone.finish(1)
    assert [str(error) for error in alone.failures] == ["first", "second"]


async def test_a_coroutine_that_has_begun_goes_on_where_it_is_awaited() -> None:
    """Given coroutines that end at once, wait, or raise / when they are begun / then the first is
    over, the second goes on, and the third raises.
    """
    done: list[str] = []

    async def steps(wait: bool, text: str) -> None:
        done.append(f"{text} begins")
        if wait:
            await asyncio.sleep(0)
        done.append(f"{text} ends")

    async def fail() -> None:
        raise ValueError("broken")

    assert begun(steps(False, "a")) is None
    rest = begun(steps(True, "b"))
    assert rest is not None
    assert done == ["a begins", "a ends", "b begins"]
    await rest
    assert done[-1] == "b ends"
    with pytest.raises(ValueError, match="broken"):
        begun(fail())


async def stalled(driver: VirtualDriver, within: timedelta | None = None) -> str:
    """What is told of a wait that never ends, without the place of the predicate."""
    with pytest.raises(Stalled) as error:
        await driver.run_until(lambda: False, within=within)
    return re.sub(r"\(/.*?\)", "(place)", str(error.value)).partition("<lambda> ")[2]


async def test_a_stall_says_why_and_what_waits() -> None:
    """Given nothing to wait for, daemons alone, and a time that is too short / when somebody waits
    for what never comes / then the reason, the time and the timers are told.
    """
    clock = ManualClock()
    driver = VirtualDriver(clock, Activity())
    assert await stalled(driver) == "(place) is not true and no timer is left (it is 2026-01-01T00:00:00Z)"
    for seconds in (7, 9):
        clock.call_later(seconds, print, daemon=True)
    only = "only daemon timers are left, for which within= would wait (it is 2026-01-01T00:00:00Z)"
    assert await stalled(driver) == f"(place) is not true and {only}\n  2 daemon timers, the first in 7 s"
    driver.explainers.append(lambda: ["one", "two"])
    clock.call_later(3600, print)
    assert await stalled(driver, timedelta(seconds=5)) == (
        "(place) is not true and 0:00:05 have passed (it is 2026-01-01T00:00:05Z)\n  timer in 3595 s: print\n"
        "  2 daemon timers, the first in 2 s\n  one\n  two")
    clock.fire_next()
    assert "\n  1 daemon timer, the first in 2 s" in await stalled(driver, timedelta(seconds=0))


def test_a_predicate_is_named_with_its_place() -> None:
    """Given predicates of every sort / when they are described / then by name and place."""
    class Waits:
        def __call__(self) -> bool:
            return False

    def plain() -> bool:
        return True

    line = plain.__code__.co_firstlineno
    name = "test_a_predicate_is_named_with_its_place.<locals>.plain"
    for one in (plain, functools.partial(plain), functools.partial(functools.partial(plain)), functools.wraps(plain)(lambda: 1)):
        assert describe(one) == f"{name} ({__file__}:{line})"
    assert describe(Waits()) == f"{Waits.__qualname__} ({__file__}:{Waits.__call__.__code__.co_firstlineno})"
    assert describe(len) == "len"


async def test_a_failure_is_raised_once() -> None:
    """Given two failures / when somebody waits for time / then the first is raised, once; beside
    another error it is a note.
    """
    activity = Activity()
    driver = VirtualDriver(ManualClock(), activity)
    driver.fail(ValueError("first"))
    driver.fail(ValueError("second"), at_once=True)
    assert activity.broken_off
    with pytest.raises(ValueError, match="first"):
        await driver.settle()
    assert not activity.broken_off
    await driver.settle()
    driver.fail(ValueError("third"))
    error = RuntimeError("other")
    driver.note_failure(error)
    driver.note_failure(error)
    assert error.__notes__ == ["and ValueError('third')"]
    assert driver.take_failure() is None


async def test_what_has_come_on_a_socket_is_taken_up_before_time_stands_still() -> None:
    """Given bytes that wait on a socket / when somebody settles, while nothing is in flight / then
    whoever reads them has had them.
    """
    driver, read = VirtualDriver(ManualClock(), Activity()), list[bytes]()
    near, far = socket.socketpair()
    with near, far:
        loop = asyncio.get_running_loop()
        loop.add_reader(near, lambda: read.append(near.recv(10)))
        far.send(b"x")
        await driver.settle()
        assert read == [b"x"]
        loop.remove_reader(near)
