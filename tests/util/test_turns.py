"""Turns: long computations beside all else on the loop, always in the same order."""

import asyncio
from contextvars import ContextVar

import pytest

from fakekube.util import tasks, turns
from fakekube.util.turns import TakesLong, Turn, in_turns

NAME: ContextVar[str] = ContextVar("NAME")


async def test_the_first_turn_is_all_there_is_at_once() -> None:
    """Given a new turn / when more is spent than it has / then TakesLong is raised, not before."""
    turn = Turn()
    turn.spend(turns.UNITS)
    with pytest.raises(TakesLong):
        turn.spend(1)


async def test_the_loop_runs_once_before_each_turn() -> None:
    """Given a computation of three turns / when it is awaited / then a task of the loop runs before
    each, and what it sees is what was done by then.
    """
    seen: list[str] = []

    def compute(turn: Turn) -> str:
        for number in range(3):
            seen.append(f"turn {number} of {NAME.get()}")
            if number < 2:
                turn.spend(turns.UNITS + 1)
        return "done"

    async def beside() -> None:
        for number in range(3):
            seen.append(f"loop {number}")
            await tasks.turn()

    NAME.set("x")
    other = asyncio.create_task(beside())
    assert await in_turns(compute) == "done"
    await other
    assert seen == ["loop 0", "turn 0 of x", "loop 1", "turn 1 of x", "loop 2", "turn 2 of x"]


async def test_errors_come_back() -> None:
    """Given a computation that fails in its second turn / then its caller gets the error."""
    def compute(turn: Turn) -> None:
        turn.end()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await in_turns(compute)


async def test_a_part_takes_half_of_what_is_left() -> None:
    """Given a part within a computation / then it has half of the turn, and what it took is gone
    from the whole.
    """
    turn, given = Turn(), []

    def part(inner: Turn) -> None:
        given.append(inner.left)
        inner.spend(100)

    turn.within(part)
    assert (given, turn.left) == ([turns.UNITS // 2], turns.UNITS - 100)


async def test_nobody_computes_for_who_is_gone() -> None:
    """Given a computation without end / when its caller is cancelled / then it ends, with what it
    holds let go.
    """
    ended: list[bool] = []

    def compute(turn: Turn) -> None:
        try:
            while True:
                turn.end()
        finally:
            ended.append(True)

    task = asyncio.create_task(in_turns(compute))
    for _ in range(5):
        await tasks.turn()
    assert not ended
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]
