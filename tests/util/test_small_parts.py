"""Small parts that few need: what each answers, and when."""

import ctypes
import importlib.metadata
import sys
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.util import collector, cron, files, memory, regex
from fakekube.util.activity import Activity
from fakekube.util.answering import AnsweringThread, Stopwatch, TooSlow, answer_of
from fakekube.util.choices import Deviation
from fakekube.util.clock import ManualClock
from fakekube.util.clusterclock import ClockError, ClusterClock
from fakekube.util.drivers import driver_for
from fakekube.util.entrypoints import EntryPoint, entry_points
from fakekube.util.pipe import PatientPipe, Pipe
from fakekube.util.tasks import Tasks, _Rest, finish, turn
from fakekube.util.undisturbed import UNDISTURBED, beside


class TooBad(BaseException):
    """What a test raises that fails."""


def raising(error: BaseException) -> Any:
    """A function that raises."""
    def call() -> None:
        raise error

    return call


def test_the_answer_of_a_user_is_what_it_returns_or_raises() -> None:
    """Given a function of a user / when it is called / then what it raises is the answer, but for
    the end of all.
    """
    error = TooBad("no")
    assert answer_of(lambda: 5) == (5, None)
    assert answer_of(raising(error)) == (None, error)
    for end in (KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(end)) as caught:
            answer_of(raising(end))
        assert caught.value is end


def test_a_thread_answers_until_one_call_is_too_slow() -> None:
    """Given a thread that answers / when calls return, raise, and last / then so do ours, and after
    one that was too slow there is none.
    """
    thread, error, gate, patience = AnsweringThread("answers", 60.0), TooBad("no"), threading.Event(), 0.01
    assert thread.call(lambda: threading.current_thread().name) == "answers"
    with pytest.raises(TooBad) as caught:
        thread.call(raising(error))
    assert caught.value is error
    assert thread.call(lambda: 5) == 5
    thread.end()
    slow = AnsweringThread("slow", patience)
    with pytest.raises(TooSlow):
        slow.call(gate.wait)
    gate.set()
    with pytest.raises(TooSlow):
        slow.call(lambda: 5)
    slow.end()


def test_a_stopwatch_counts_its_blocks() -> None:
    """Given a stopwatch / when there were two blocks / then it counts two, and their time."""
    watch = Stopwatch()
    for _ in range(2):
        with watch:
            assert watch.seconds >= 0
    assert (watch.times, watch.seconds > 0) == (2, True)


@pytest.mark.parametrize(("rule", "shown"), [
    ('{"name":"slow"}', "fault: slow"), ('{"verb":"get"}', 'fault: {"verb":"get"}'), ("no JSON", "fault: no JSON"),
    ("[1]", "fault: [1]"),
])
def test_a_fault_that_was_planned_has_a_name(rule: str, shown: str) -> None:
    """Given the rule of a fault / when it is shown / then by its name, or as a whole without one.
    """
    assert str(Deviation(Deviation.of_fault({}).label.removesuffix("{}") + rule, 1, 1, 2)) == shown


async def test_a_clock_is_not_set_to_before_all_time() -> None:
    """Given midnight of the year 1, east of Greenwich / when a clock is set to it / then it is in
    the past.
    """
    clock = ManualClock()
    for when in ("0001-01-01T00:00:00+01:00", datetime.fromisoformat("0001-01-01T00:00:00+01:00")):
        with pytest.raises(ClockError) as error:
            await ClusterClock(clock, driver_for(clock, Activity())).set(when)
        assert str(error.value) == (
            "the clock is at 2026-01-01T00:00:00Z and cannot be set back to 0001-01-01T00:00:00+01:00")


@pytest.mark.parametrize("library", [raising(OSError()), raising(TypeError()), lambda *_: object()])
def test_where_memory_cannot_be_given_back(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a C library without malloc_trim, or none / when memory is to be given back / then it is
    said that it could not.
    """
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library())
    assert not collector.give_back()


def test_memory_is_given_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given glibc / when memory is to be given back / then all of it is."""
    asked: list[int] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(malloc_trim=asked.append))
    assert collector.give_back()
    assert asked == [0]


@pytest.mark.parametrize(("step", "said"), [
    ("-5", "negative number (-5) not allowed: -5"),
    ("-9223372036854775808", "negative number (-9223372036854775808) not allowed: -9223372036854775808"),
    *((text, f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range') for text in (
        "-9223372036854775809", "9223372036854775808", f"-{'1' * 1000}", "1" * 1001)),
])
def test_numbers_that_no_schedule_has(step: str, said: str) -> None:
    """Given a number below zero or beyond 64 bits / when it is a step / then robfig/cron's words
    refuse it.
    """
    with pytest.raises(cron.CronError) as error:
        cron.parse(f"*/{step} * * * *")
    assert str(error.value) == said


@pytest.mark.parametrize(("text", "after", "due"), [
    ("0 0 * * *", datetime(2018, 11, 3, 12, tzinfo=UTC), datetime(2018, 11, 5, 2, tzinfo=UTC)),
    ("0 0 * * *", datetime(2018, 11, 2, 12, tzinfo=UTC), datetime(2018, 11, 3, 3, tzinfo=UTC)),
    ("30 0 4 11 *", datetime(2018, 11, 3, 12, tzinfo=UTC), datetime(2019, 11, 4, 3, 30, tzinfo=UTC)),
])
def test_a_midnight_that_the_clocks_skip(text: str, after: datetime, due: datetime) -> None:
    """Given a night whose first hour there is not / when a schedule wants it / then the next one is
    due.
    """
    assert cron.next_time(cron.parse(text), after, "America/Sao_Paulo") == due


class Finder:
    """Finds a distribution that is in no directory."""

    @staticmethod
    def find_distributions(_: object = None) -> Iterable[importlib.metadata.Distribution]:
        return [Archived()]


class Archived(importlib.metadata.Distribution):
    """A package with one entry point."""

    def read_text(self, filename: str) -> str | None:
        texts = {"METADATA": "Metadata-Version: 2.1\nName: archived\nVersion: 1\n", "entry_points.txt": "[things]\na = b:c\n"}
        return texts.get(filename)

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


def test_a_finder_with_packages_of_its_own_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a finder of distributions that are in no directory / when a group is asked for / then
    what is there is found.
    """
    assert entry_points("things") == {"things": []}
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert entry_points("things") == {"things": [EntryPoint("a", "b:c")]}


def test_the_beginning_of_a_file(tmp_path: Path) -> None:
    """Given a file, none, and a directory / when the beginning is read / then it is so many bytes,
    nothing, and a refusal.
    """
    (tmp_path / "file").write_bytes(b"abcdef")
    assert [files.beginning(tmp_path / "file", size) for size in (0, 3, 9)] == [b"", b"abc", b"abcdef"]
    assert files.beginning(tmp_path / "none", 3) == b""
    with pytest.raises(files.NotReplaced) as error:
        files.beginning(tmp_path, 3)
    assert str(error.value) == f"{tmp_path} is no regular file, and is left as it is"


def test_a_lock_of_somebody_else_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a lock / when whoever has it gives it back after a while / then we have it, and give it
    back ourselves.
    """
    path, now, slept = tmp_path / "config", [10.0], list[float]()
    lock = tmp_path / "config.lock"
    lock.touch()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += 1.0
        if len(slept) == 2:
            lock.unlink()

    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    with files.locked(path):
        assert lock.exists()
    assert (len(slept), len(set(slept)), lock.exists()) == (2, 1, False)
    lock.touch()
    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda _: now.append(now.pop() + 1.0)))
    with pytest.raises(OSError, match="is there: somebody writes") as error, files.locked(path):
        raise AssertionError("we have it not")
    assert str(error.value) == f"{lock} is there: somebody writes {path}, or has died while writing; remove it if nobody does"


def test_nothing_is_kept_where_memos_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a process without memos / when a function is decorated / then it is itself."""
    def function(text: str) -> str:
        return text

    assert memory.memoized(4, longest=9)(function) is not function
    monkeypatch.setattr(memory, "ENABLED", False)
    assert memory.memoized(4, longest=9)(function) is function


async def test_all_of_a_pipe_is_read_at_its_end() -> None:
    """Given a pipe / when all of it is read / then the reader waits for the end, and has it whole.
    """
    pipe, tasks, found = Pipe(), Tasks(), list[bytes]()

    async def read() -> None:
        found.append(await pipe.read_all())

    reading = tasks.spawn(read(), "reads")
    for piece in (b"one\n", b"two"):
        pipe.feed(piece)
        await turn()
        assert found == []
    pipe.end()
    await reading
    assert (found, pipe.waiting) == ([b"one\ntwo"], 0)


async def test_who_reads_a_patient_pipe_is_idle_meanwhile() -> None:
    """Given a busy task / when it waits for a pipe / then nothing is in flight until something
    comes; one that is not busy stays so.
    """
    activity, tasks, seen = Activity(), Tasks(), list[object]()
    pipe = PatientPipe(activity)

    async def read() -> None:
        with activity.busy():
            seen.append(await pipe.read())
            seen.append(activity.units)

    reading = tasks.spawn(read(), "reads")
    await turn()
    assert activity.units == 0
    pipe.feed(b"a")
    await reading
    assert (seen, activity.units) == ([b"a", 1], 0)
    idle = tasks.spawn(pipe.read(), "idle")
    await turn()
    pipe.feed(b"b")
    assert await idle == b"b"
    assert activity.units == 0


def test_how_large_expressions_are() -> None:
    """Given expressions, short, long and none / when their size is asked for / then the one is as
    large as what it has, and what is none has no size.
    """
    long = "a" * 5000
    assert regex.instructions("a(", "a") == 0
    assert 0 < regex.instructions("a", "a") < regex.instructions("a{100}", "a") < regex.instructions(long, "a")
    assert (regex.compiled(long).is_in(f"b{long}"), regex.compiled(long).is_in("a" * 4999)) == (True, False)


async def test_what_waits_has_no_end_by_itself() -> None:
    """Given a coroutine that has nothing to wait for, and one that has / when they are finished /
    then the one returns, and the other is ended and said to wait.
    """
    ended: list[str] = []

    async def waits() -> None:
        try:
            await turn()
        finally:
            ended.append("ended")

    async def returns() -> int:
        return 5

    assert finish(returns()) == 5
    with pytest.raises(RuntimeError, match=r"^<coroutine object .*waits at 0x.*> waits for something$"):
        finish(waits())
    assert ended == ["ended"]


async def test_what_is_asked_beside_the_experiment() -> None:
    """Given something to be awaited / when it is asked beside / then it is undisturbed, and the
    rest is not.
    """
    async def asks() -> bool:
        return UNDISTURBED.get()

    assert (await asks(), await beside(asks()), await asks()) == (False, True, False)


def test_the_rest_of_a_coroutine_is_ended_where_it_waits() -> None:
    """Given a coroutine that has begun / when the rest of it is closed / then it ends where it
    waits.
    """
    ended: list[str] = []

    async def waits() -> None:
        try:
            await turn()
        finally:
            ended.append("ended")

    coro = waits()
    coro.send(None)
    _Rest(coro).close()
    assert ended == ["ended"]
