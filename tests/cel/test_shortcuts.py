"""What is planned as one step gives what its parts would give one by one: value, cost and error."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakekube.cel import folds, operators, shortcuts
from fakekube.cel.errors import CelError
from fakekube.cel.operators import Code
from fakekube.cel.shortcuts import Path

FIELDS = ("type", "status")
TEXTS = ("", "True", "QuotaReserved", "a text that is longer than ten")
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(TEXTS))
trees = st.recursive(
    scalars, lambda below: st.one_of(st.lists(below, max_size=2), st.dictionaries(st.sampled_from(FIELDS), below)), max_leaves=6)
compared_fields = st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(TEXTS), st.integers(0, 5)), min_size=1, max_size=3)


def outcome(code: Code, value: Any, limit: int = 1_000_000) -> tuple[Any, int]:
    """What a code gives for a variable at index 7, an error as its text or type, and what is left
    to be spent.
    """
    frame = [limit, 1_000_000, None, None, None, 0, 0, value, None]
    try:
        found = code(frame)
    except CelError as error:
        found = str(error)
    except (TypeError, AttributeError, LookupError) as error:
        found = type(error)
    return found, frame[0]


@given(value=trees, compared=compared_fields)
def test_texts_that_are_compared_at_once(value: Any, compared: list[tuple[str, str, int]]) -> None:
    """given any value of a loop's variable, when its fields are compared with texts at once, then
    that is as if they were compared one after the other
    """
    terms = [
        operators.equals_text(operators.field(operators.local(7), key, key, absent_nulls=True), text, negated=False)
        for key, text, _ in compared]
    spent = [0, *(cost for _, _, cost in compared[1:])]
    one_by_one = operators.logical(terms, spent, decisive=False)
    costed = [(key, text, cost) for (key, text, _), cost in zip(compared, spent, strict=True)]
    assert outcome(shortcuts.all_equal_texts(7, costed, one_by_one), value) == outcome(one_by_one, value)


@given(value=st.lists(trees) | trees, compared=compared_fields, limit=st.integers(0, 100))
def test_elements_whose_texts_are_compared_at_once(value: Any, compared: list[tuple[str, str, int]], limit: int) -> None:
    """given any value as the range of a loop, and any limit, when an element with some texts is
    looked for at once, then that is as if the loop was run turn by turn
    """
    terms = [
        operators.equals_text(operators.field(operators.local(8), key, key, absent_nulls=True), text, negated=False)
        for key, text, _ in compared]
    spent = [0, *(cost for _, _, cost in compared[1:])]
    loop = folds.Loop(operators.variable(7), 8, 0)
    turn_by_turn = folds.quantifier(loop, operators.logical(terms, spent, decisive=False), 2, stops_at=True)
    costed = [(key, text, cost) for (key, text, _), cost in zip(compared, spent, strict=True)]
    at_once = shortcuts.exists_with_texts(loop, costed, 2, turn_by_turn)
    for most in (1_000_000, limit):
        assert outcome(at_once, value, most) == outcome(turn_by_turn, value, most)


@given(value=trees, names=st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3), nulls=st.booleans())
def test_paths_that_are_walked_at_once(value: Any, names: list[str], nulls: bool) -> None:
    """given any value of a variable, when a path is selected from it at once, or looked for, then
    that is as if each field was selected from the one before it
    """
    code = operators.variable(7)
    for name in names:
        code = operators.field(code, name, name, absent_nulls=nulls)
    path = Path(7, tuple((name, name, nulls) for name in names))
    assert outcome(shortcuts.at_path(path), value) == outcome(code, value)
    has = operators.has_field(code, "type", absent_nulls=nulls)
    assert outcome(shortcuts.has_field_at_path(path, "type", has, absent_nulls=nulls), value) == outcome(has, value)
