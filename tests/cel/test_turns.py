"""Evaluations in turns: the same values, costs and errors, whatever the turns are cut to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.cel import errors, spending, types
from fakekube.cel.environment import Environment
from fakekube.cel.library import kubernetes
from fakekube.util import turns
from fakekube.util.turns import TakesLong, Turn

LISTS = {"a": types.list_of(types.INT), "t": types.STRING}
VALUES: dict[str, Any] = {"a": list(range(60)), "t": "ab " * 60}
TEXTS = (
    "a.all(x, a.all(y, x + y >= 0))",
    "a.exists(x, a.exists(y, x * y == 3481))",
    "a.map(x, a.filter(y, y < x)).map(z, z.size()).sum()",
    "a.map(x, a.filter(y, false)).size()",
    "a.all(x, a.all(y, x != 59 || 1 / (y - y) == 0))",
    "a.all(x, a + a == a + a)",
    "a.all(x, t.findAll('[a-z]+').size() == 60)",
    "a.map(x, string(x)).join('-').split('-').size()",
    "a.map(x, -x).sort()[0]",
    "a.all(x, x in a) && a.all(x, dyn(x) in dyn(a))",
    "a.all(x, t == t + '') ? t.lastIndexOf('b ab ab ab ab ab ab') : 0",
)
LIMITS = (40, 1000, 20_000, 1_000_000)


class Paused(Turn):
    """Turns that end at once, and are counted."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.left, self.units, self.ended = units, units, 0

    def end(self) -> None:
        self.ended += 1
        self.left = self.units


def environment() -> Environment:
    return kubernetes.environment(37, stored=True).extended(LISTS)


def outcome(text: str, limit: int, turn: Turn | None) -> tuple[str, Any]:
    try:
        return "value", environment().compile(text).run(VALUES, limit, turn)
    except errors.CelError as error:
        return error.__class__.__name__, str(error)


@given(text=st.sampled_from(TEXTS), limit=st.sampled_from(LIMITS), units=st.integers(1, 5000))
def test_turns_change_nothing(text: str, limit: int, units: int) -> None:
    """Given an expression, a limit of its cost and turns of any size / then value and cost, or the
    error, are those of an evaluation without turns.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turns, "UNITS", units)
        assert outcome(text, limit, Paused(units)) == outcome(text, limit, None)


@pytest.mark.parametrize("text", TEXTS[:4])
def test_turns_end_where_much_is_computed(text: str) -> None:
    """Given loops in loops and turns of 100 units / then turns end, those whose steps cost nothing
    among them.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turns, "UNITS", 100)
        turn = Paused(100)
        outcome(text, 1_000_000, turn)
        assert turn.ended > 3


def test_the_first_turn_ends_the_evaluation() -> None:
    """Given the first turn of a computation / when an expression takes more / then TakesLong is
    raised; evaluations before it count.
    """
    small, large = environment().compile("a.all(x, x >= 0)"), environment().compile("a.all(x, a.all(y, x + y >= 0))")
    assert small.run(VALUES, turn=Turn())[0] is True
    with pytest.raises(TakesLong):
        large.run(VALUES, turn=Turn())
    turn = Turn()
    while turn.left > 100:
        small.run(VALUES, turn=turn)
    with pytest.raises(TakesLong):
        small.run(VALUES, turn=turn)


def test_sorting_is_refused_before_it_is_done() -> None:
    """Given a list that is too long to be sorted for the cost / then no element is compared."""
    class Element(int):
        def __lt__(self, other: object) -> bool:
            raise AssertionError("compared")

    elements = [Element(number) for number in range(2000)]
    with pytest.raises(errors.CostExceeded):
        environment().compile("a.sort().size()").run({"a": elements, "t": ""}, 1_000_000)


def test_what_is_left_counts_later_turns() -> None:
    """Given a limit of 1,000 and turns of 600 / when 1,000 are required at once / then that much is
    left, though not in this turn, and 1,001 are not.
    """
    frame: list[Any] = [None] * spending.FIRST_SLOT
    spending.begin(frame, 1000, 5000, Paused(600))
    assert frame[0] == 600
    assert spending.left(frame) == 1000
    assert spending.all_left(frame) == (1000, 5000)
    spending.require(frame, 1000)
    with pytest.raises(errors.CostExceeded):
        spending.require(frame, 1001)
