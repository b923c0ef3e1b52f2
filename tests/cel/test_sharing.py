"""Programs that share a layout: what they have in common is computed once, and changes nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.cel import decltypes, errors
from fakekube.cel.environment import Environment, Program
from fakekube.cel.frames import Given, Layout
from fakekube.cel.library import kubernetes
from fakekube.schema.structural import from_openapi
from fakekube.util import turns
from fakekube.util.turns import Turn
from tests.cel.test_turns import Paused

STRING, NUMBERS = {"type": "string"}, {"type": "array", "items": {"type": "integer"}}
ITEM = {"type": "object", "properties": {"type": STRING, "status": STRING}}
ITEMS = {"type": "array", "items": ITEM, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
SELF = decltypes.of_schema(from_openapi({"type": "object", "properties": {"items": ITEMS, "numbers": NUMBERS}}))
HAS_A = "has(self.items) && self.items.exists(c, c.type == 'A' && c.status == 'True')"
TEXTS = (
    f"{HAS_A} ? self.numbers.size() > 1 : true",
    f"({HAS_A}) && ({HAS_A.replace('self', 'oldSelf')})",
    f"{HAS_A} && self.numbers.all(n, n < 3) && has(oldSelf.numbers) && 1 / self.numbers[0] == 1",
    f"{HAS_A} && self.numbers.all(n, n < 3)",
    f"{HAS_A} || self.numbers.all(n, 6 / n < 3) || self.numbers == oldSelf.numbers",
    "self.numbers.all(n, 6 / n < 3) || self.numbers == oldSelf.numbers",
    "self.numbers.exists(n, self.numbers.exists(k, k == n + 1)) && self.numbers[0] > 0",
    "self.numbers.exists(n, self.numbers.exists(k, k == n + 1))",
    "self.items == oldSelf.items && self.items.all(c, oldSelf.items.exists(o, o == c))",
    "self.items == oldSelf.items && self.items.all(c, oldSelf.items.exists(o, o == c)) && 1 / self.numbers[0] > 0",
    "self.numbers.filter(n, n > 1).size() == 2",
    "self.?numbers.optMap(n, n.all(k, k > 0)).orValue(false)",
    "oldSelf.?numbers.optMap(n, n.all(k, k > 0)).orValue(false)",
    "self.items.all(c, c.type.matches('^' + 'A') || c.status.matches('^' + 'A'))",
    "self.items.all(c, c.type.matches('^' + 'A') || c.status.matches('^' + 'A')) && self.numbers.size() > 0",
)

texts = st.sampled_from(("", "A", "True", "a text that is longer than ten"))
items = st.lists(st.fixed_dictionaries({}, optional={"type": texts, "status": texts}), max_size=4)
objects = st.fixed_dictionaries({}, optional={"items": items, "numbers": st.lists(st.integers(-1, 4), max_size=4)})


def environment() -> Environment:
    assert SELF is not None
    return kubernetes.environment(37, stored=True).extended({"self": SELF, "oldSelf": SELF})


def programs(layout: Layout | None) -> dict[str, Program]:
    """The programs of the texts, in a layout of all of them, or each in its own."""
    base = environment()
    return {text: base.compile(text, layout) for text in TEXTS}


ALONE, TOGETHER = programs(None), programs(Layout())


def outcome(program: Program, values: Given, limit: int, turn: Turn | None = None) -> tuple[str, Any]:
    try:
        return "value", program.run_on(values, limit, turn)
    except errors.CelError as error:
        return error.__class__.__name__, str(error)


@given(
    one=objects, old=st.none() | objects, units=st.none() | st.integers(1, 60),
    asked=st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 120)), min_size=1, max_size=8))
def test_sharing_changes_nothing(
    one: dict[str, Any], old: dict[str, Any] | None, units: int | None, asked: list[tuple[str, int]],
) -> None:
    """Given any object and old object, or none, when programs that share a layout run on it one
    after the other, each with a limit and in turns of any size, then value and cost, or the error,
    are those of the program alone.
    """
    variables = {"self": one} if old is None else {"self": one, "oldSelf": old}
    shared = Given(variables)
    with pytest.MonkeyPatch.context() as patched:
        if units is not None:
            patched.setattr(turns, "UNITS", units)
        for text, limit in asked:
            turn = None if units is None else Paused(units)
            assert outcome(TOGETHER[text], shared, limit, turn) == outcome(ALONE[text], Given(variables), limit)


def test_a_part_that_rules_share_is_computed_once() -> None:
    """Given two programs with the same loop, when both run on the same values, then the list is
    read once; and again when the second may spend less than it costs.
    """
    class Counted(list[int]):
        read = 0

        def __iter__(self) -> Any:
            Counted.read += 1
            return super().__iter__()

    base, layout = environment(), Layout()
    one = base.compile("self.numbers.all(n, n > 0) && true", layout)
    other = base.compile("self.numbers.all(n, n > 0) && 1 > 0", layout)
    shared = Given({"self": {"numbers": Counted([1, 2, 3])}})
    assert one.run_on(shared, 1000)[0] is other.run_on(shared, 1000)[0] is True
    assert Counted.read == 1
    with pytest.raises(errors.CostExceeded):
        other.run_on(shared, 5)
    assert Counted.read == 2


def test_a_frame_is_filled_for_the_layout_of_the_program() -> None:
    """Given programs of several layouts, when they run on the same values in turn, then each finds
    its variables.
    """
    shared = Given({"self": {"numbers": [1, 2]}, "oldSelf": {"numbers": [3]}})
    for known in (ALONE, TOGETHER, ALONE):
        for text in TEXTS[-4:-2]:
            assert known[text].run_on(shared, 1000)[0] is True
