"""Randomness is seeded; tasks do not fail in silence."""

import asyncio
import uuid

import pytest

from fakekube.util import tasks
from fakekube.util.activity import Activity
from fakekube.util.rng import SUFFIX_ALPHABET, Rng
from fakekube.util.tasks import Tasks, turn


def test_one_seed_gives_one_history():
    """Given two generators of one seed, when both draw, then they draw the same, forks included."""
    first, second = Rng(7), Rng(7)
    first.fork("kubelet").uid()
    assert [first.uid(), first.suffix(), first.randbelow(9), first.uniform(1, 2)] == [
        second.uid(), second.suffix(), second.randbelow(9), second.uniform(1, 2)]
    assert first.fork("a").uid() == second.fork("a").uid() != second.fork("b").uid()


def test_uids_are_version_4():
    """Given a generator, when it makes uids, then they parse as random UUIDs and differ."""
    rng = Rng(0)
    uids = [rng.uid() for _ in range(100)]
    assert all(uuid.UUID(uid).version == 4 and uuid.UUID(uid).variant == uuid.RFC_4122 for uid in uids)
    assert len(set(uids)) == 100


def test_suffixes_have_the_alphabet_of_generated_names():
    """Given a generator, when it makes suffixes, then they are five characters of upstream's
    alphabet.
    """
    rng = Rng(0)
    assert all(len(s) == 5 and not s.strip(SUFFIX_ALPHABET) for s in (rng.suffix() for _ in range(100)))


async def test_close_cancels_and_raises_the_first_failure():
    """Given a task that runs and one that failed, when closed, then the first is cancelled and the
    error raised.
    """
    tasks = Tasks()
    waiting = tasks.spawn(asyncio.Event().wait(), "waits")

    async def broken():
        raise ValueError("broken")

    tasks.spawn(broken(), "broken")
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="broken"):
        await tasks.close()
    assert waiting.cancelled()
    assert len(tasks) == 0


async def test_an_eager_task_does_at_once_what_needs_not_wait() -> None:
    """Given a coroutine that waits for nothing, when it is spawned eagerly, then it is done before
    anybody else has a turn, in a task of its own.
    """
    tasks, done, caller = Tasks(), [], asyncio.current_task()

    async def run() -> None:
        done.append(asyncio.current_task())

    tasks.spawn_eagerly(run(), "eager")
    assert done[0] not in (None, caller)
    assert asyncio.current_task() is caller
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(tasks) == 0


async def test_an_eager_task_that_waits_goes_on_as_the_task_that_it_began_as() -> None:
    """Given a coroutine that waits twice, when it is spawned eagerly, then it goes on once it is
    told to, gets what it waited for, errors among it, and stays one task.
    """
    tasks, seen = Tasks(), []
    loop = asyncio.get_running_loop()
    first, second = loop.create_future(), loop.create_future()

    async def run() -> None:
        seen.append(asyncio.current_task())
        seen.append(await first)
        try:
            await second
        except ValueError as error:
            seen.append(str(error))
        seen.append(asyncio.current_task())

    tasks.spawn_eagerly(run(), "eager")
    assert len(seen) == 1
    await asyncio.sleep(0)
    first.set_result("given")
    second.set_exception(ValueError("wrong"))
    for _ in range(4):
        await asyncio.sleep(0)
    assert seen[1:3] == ["given", "wrong"]
    assert seen[0] is seen[3]
    assert len(tasks) == 0


async def test_an_eager_task_that_waits_is_cancelled_with_its_owner() -> None:
    """Given an eager task that waits, when its owner closes, then it is told where it waits."""
    tasks, seen = Tasks(), []

    async def run() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            seen.append("ended")

    tasks.spawn_eagerly(run(), "eager")
    await asyncio.sleep(0)
    await tasks.close()
    assert seen == ["ended"]


async def test_what_an_eager_task_raises_at_once_is_its_caller_s() -> None:
    """Given a coroutine that fails before it waits, when it is spawned eagerly, then its caller
    gets the error.
    """
    async def run() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        Tasks().spawn_eagerly(run(), "eager")


@pytest.mark.parametrize("waits_for", ["a future", "a turn"])
async def test_an_eager_task_is_told_that_it_is_cancelled_before_its_first_turn(waits_for: str) -> None:
    """Given an eager task that holds a unit of activity where it waits, when its owner closes
    before the loop came to it, then it ends there: what it waited for is cancelled, the unit
    released.
    """
    tasks, activity, seen = Tasks(), Activity(), []
    future = asyncio.get_running_loop().create_future()

    async def run() -> None:
        with activity.busy():
            try:
                await (future if waits_for == "a future" else turn())
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

    tasks.spawn_eagerly(run(), "eager")
    assert activity.units == 1
    await tasks.close()
    assert seen == ["cancelled"]
    assert activity.idle
    assert future.cancelled() == (waits_for == "a future")
    assert len(tasks) == 0


async def test_an_eager_task_that_is_done_may_be_cancelled() -> None:
    """Given an eager task that had nothing to wait for, when its owner closes before the loop came
    to it, then nothing is raised.
    """
    tasks, seen = Tasks(), []

    async def run() -> None:
        seen.append("ran")

    tasks.spawn_eagerly(run(), "eager")
    await tasks.close()
    assert seen == ["ran"]
    assert len(tasks) == 0


async def test_what_has_begun_is_gone_on_with():
    """Given a coroutine that waits, when it is begun, then what it does before is done; awaited, it
    gets what it waits for and ends; cancelled, it hears of it."""
    heard = []

    async def work(future):
        heard.append("begun")
        try:
            heard.append(await future)
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        try:
            await asyncio.wait_for(asyncio.get_running_loop().create_future(), 0)
        except TimeoutError:
            heard.append("timeout")

    future = asyncio.get_running_loop().create_future()
    rest = tasks.begun(work(future))
    assert heard == ["begun"]
    future.set_result("told")
    await rest
    assert heard == ["begun", "told", "timeout"]
    heard.clear()
    rest = tasks.begun(work(asyncio.get_running_loop().create_future()))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await rest
    assert heard == ["begun", "cancelled"]


async def test_what_has_ended_is_not_gone_on_with():
    """Given coroutines that wait for nothing, when they are begun, then they have ended, or have
    raised."""
    async def fine():
        return 1

    async def broken():
        raise ValueError("no")

    assert tasks.begun(fine()) is None
    with pytest.raises(ValueError, match="no"):
        tasks.begun(broken())
