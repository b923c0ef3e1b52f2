"""Closures for several parts at once, where that is quicker; each gives what the parts would give
one by one: value, cost and error.

Where a value is not what it nearly always is, they leave it to those.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fakekube.cel import costs, errors, folds, spending

Code = Callable[[list[Any]], Any]
Step = tuple[str, str, bool]
"""The key of a field, its name, and whether null is no value."""

Compared = tuple[str, str, int]
"""The key of a field, a text that it is compared with, and what it costs to get to it."""


def field_of_variable(index: int, key: str, name: str, *, absent_nulls: bool) -> Code:
    """A field of a variable of the environment; ``absent_nulls`` says that null is no value."""

    def run(frame: list[Any]) -> Any:
        try:
            value = frame[index][key]
        except KeyError:
            raise errors.no_such_key(name) from None
        if value is None and absent_nulls:
            raise errors.no_such_key(name)
        return value

    return run


class Path(NamedTuple):
    """A variable of the environment, and selections from it, from the first to the last."""

    slot: int
    steps: tuple[Step, ...] = ()


def at_path(path: Path) -> Code:
    """What ``field`` would give for one field after the other."""
    index, steps = path

    def run(frame: list[Any]) -> Any:
        value = frame[index]
        for key, name, absent_nulls in steps:
            try:
                value = value[key]
            except KeyError:
                raise errors.no_such_key(name) from None
            if value is None and absent_nulls:
                raise errors.no_such_key(name)
        return value

    return run


def has_field_at_path(path: Path, key: str, otherwise: Code, *, absent_nulls: bool) -> Code:
    """The same of what is at a path; ``otherwise`` computes it where that is no object, or is not
    there.
    """
    index, keys = path.slot, tuple(step for step, _, _ in path.steps)

    def run(frame: list[Any]) -> Any:
        value = frame[index]
        try:
            for step in keys:
                value = value[step]
        except (LookupError, TypeError):
            return otherwise(frame)
        if value.__class__ is not dict:
            return otherwise(frame)
        return key in value and not (absent_nulls and value[key] is None)

    return run


def shared(part: Code, index: int) -> Code:
    """A part that several programs have; the frame holds what came out, and what it cost.

    A program for which there is not so much left computes it anew, and is stopped where it would
    have been alone.
    """

    def run(frame: list[Any]) -> Any:
        known = frame[index]
        if known is not None:
            value, cost, work = known
            if cost <= frame[0] and work <= frame[1]:
                frame[0] -= cost
                frame[1] -= work
                return value
        cost, work = spending.all_left(frame)
        value = part(frame)
        cost_left, work_left = spending.all_left(frame)
        frame[index] = (value, cost - cost_left, work - work_left)
        return value

    return run


def all_equal_texts(index: int, compared: Sequence[Compared], otherwise: Code) -> Code:
    """``&&`` of fields of a loop's variable that are compared with constants, as loops over
    conditions have it. Of each the key, the text, and what it costs to get to it.

    ``otherwise`` computes the same where a field is no string.
    """
    sized = [*map(_sized, compared)]

    def run(frame: list[Any]) -> Any:
        value, spent = frame[index], 0
        if value.__class__ is not dict:
            return otherwise(frame)
        for key, text, size, shorter, whole in sized:
            found = value.get(key)
            if found.__class__ is not str:
                return otherwise(frame)
            if found != text:
                length = len(found)
                frame[0] -= spent + (shorter[length] if length < size else whole)
                return False
            spent += whole
        frame[0] -= spent
        return True

    return run


def exists_with_texts(loop: folds.Loop, compared: Sequence[Compared], cost: int, otherwise: Code) -> Code:
    """``exists`` of an element with fields that are equal to constants, as rules ask for
    conditions.

    ``cost`` is what each turn costs beside the fields. ``otherwise`` computes the same where an
    element is no object, a field no string, or too little is left; so the range may cost nothing.
    """
    sized, ranged_by = [*map(_sized, compared)], loop.range
    each, condition = folds.turn_cost(cost, stops_at=True)

    def run(frame: list[Any]) -> Any:
        ranged, spent, found = ranged_by(frame), 0, False
        if ranged.__class__ is not list:
            return otherwise(frame)
        for element in ranged:
            if found:  # the condition is asked once more
                spent += condition
                break
            if element.__class__ is not dict:
                return otherwise(frame)
            spent += each
            for key, text, size, shorter, whole in sized:
                value = element.get(key)
                if value.__class__ is not str:
                    return otherwise(frame)
                if value != text:
                    length = len(value)
                    spent += shorter[length] if length < size else whole
                    break
                spent += whole
            else:
                found = True
        if spent > frame[0]:
            return otherwise(frame)
        frame[0] -= spent
        return found

    return run


def _sized(compared: Compared) -> tuple[str, str, int, list[int], int]:
    """The key, the text and its size; what it costs to get to a shorter value and to walk over it,
    by its size, and the same of any other value.
    """
    key, text, cost = compared
    *shorter, whole = (cost + costs.scaled(size, costs.STRING_TRAVERSAL_FACTOR) for size in range(len(text) + 1))
    return key, text, len(text), shorter, whole
