"""The loops that macros make, and bindings.

What a loop makes is put together in place: a macro costs time in proportion to its turns.

Upstream: evalFold of interpreter/interpretable.go.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fakekube.cel import errors, macros, spending, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.standard import conversions

Code = Callable[[list[Any]], Any]
Test = tuple[Code, int]  # a predicate, and what it costs

_ACCUMULATOR_COST = 1
_CONDITION_COST = {False: 2, True: 3}  # of ``all`` and of ``exists``, which negates


class Loop(NamedTuple):
    """What a loop runs over, and the indexes of its variables in the frame; ``second`` may be 0."""

    range: Code
    first: int
    second: int


class Steps(NamedTuple):
    """What a loop does that is no more than its step, to the end of the range."""

    initial: Code
    step: Code
    result: Code
    accumulator: int


class Failure:
    """An error in the place of a value, raised where the value is read."""

    __slots__ = ("error",)

    def __init__(self, error: EvaluationError) -> None:
        self.error = error


class Unread:
    """A binding that nobody has read yet: how it is computed, and what that costs."""

    __slots__ = ("code", "cost")

    def __init__(self, code: Code, cost: int) -> None:
        self.code = code
        self.cost = cost


def turns(loop: Loop, frame: list[Any]) -> Iterable[Any]:
    """What the first variable is, turn by turn, for the caller to put into the frame; the second is
    put there already. Raises EvaluationError.
    """
    return _turns(loop.range(frame), loop, frame)


def _turns(ranged: Any, loop: Loop, frame: list[Any]) -> Iterable[Any]:
    if isinstance(ranged, list | tuple):
        return _numbered(ranged, frame, loop.second) if loop.second else ranged
    if isinstance(ranged, dict):
        return _entries(ranged, frame, loop.second)
    named = values.go_type(ranged)
    if loop.second:
        raise EvaluationError(f"unsupported comprehension range type: {named}")
    raise EvaluationError(f"got '{named}', expected iterable type")


def _numbered(elements: Iterable[Any], frame: list[Any], second: int) -> Iterator[int]:
    for position, element in enumerate(elements):
        frame[second] = element
        yield position


def _entries(entries: dict[Any, Any], frame: list[Any], second: int) -> Iterator[Any]:
    for key, element in entries.items():
        if second:
            frame[second] = element
        yield values.key_value(key)


def _spend(frame: list[Any], cost: int) -> None:
    frame[0] -= cost
    if frame[0] < 0:
        spending.exceeded(frame)


def turn_cost(cost: int, *, stops_at: bool) -> tuple[int, int]:
    """What a turn of ``all`` or ``exists`` costs whose predicate costs so much, and what it costs
    to find that the loop is decided before the next.
    """
    condition = _CONDITION_COST[stops_at]
    return condition + _ACCUMULATOR_COST + cost, condition


def quantifier(loop: Loop, predicate: Code, cost: int, *, stops_at: bool) -> Code:
    """``all`` and ``exists``: the first False or True ends it, and hides errors before it."""
    each, condition = turn_cost(cost, stops_at=stops_at)
    first, ranged_by, is_plain = loop.first, loop.range, not loop.second

    def run(frame: list[Any]) -> bool:
        failed: EvaluationError | None = None
        decided = False
        ranged = ranged_by(frame)
        for element in ranged if is_plain and ranged.__class__ is list else _turns(ranged, loop, frame):
            frame[first] = element
            if decided:
                _spend(frame, condition)
                break
            frame[0] -= each
            if frame[0] < 0:
                spending.exceeded(frame)
            try:
                value = predicate(frame)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is stops_at:
                decided = True
            elif value.__class__ is not bool:
                failed = failed or errors.no_such_overload()
        if decided:
            return stops_at
        if failed is not None:
            raise failed
        return not stops_at

    return run


def _passes(test: Test | None, frame: list[Any], cost: int) -> bool:
    """Whether an element is wanted; what the turn costs is spent. Raises EvaluationError."""
    if test is None:
        _spend(frame, cost)
        return True
    predicate, own = test
    _spend(frame, own)
    value = predicate(frame)
    if value is True:
        _spend(frame, cost)
        return True
    if value is False:  # the accumulator is read as a branch, which is not counted
        frame[1] -= 1
        if frame[1] < 0:
            spending.exceeded(frame)
        return False
    raise errors.no_such_overload()


def collect(loop: Loop, each: Code, cost: int, test: Test | None) -> Code:
    """``map`` and ``filter``: a list of what each turn makes."""
    first = loop.first

    def run(frame: list[Any]) -> list[Any]:
        made: list[Any] = []
        failed: EvaluationError | None = None
        for element in turns(loop, frame):
            frame[first] = element
            try:
                wanted = _passes(test, frame, cost)
            except EvaluationError as error:
                failed = error  # the last one counts: it takes the place of the accumulator
                continue
            if wanted and failed is None:
                try:
                    made.append(each(frame))
                except EvaluationError as error:
                    failed = error
        if failed is not None:
            raise failed
        return made

    return run


def insert(loop: Loop, parts: Sequence[Code], cost: int, test: Test | None) -> Code:
    """``transformMap`` and ``transformMapEntry``: a map of what each turn makes."""
    first = loop.first

    def run(frame: list[Any]) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        failed: EvaluationError | None = None
        for element in turns(loop, frame):
            frame[first] = element
            try:
                if _passes(test, frame, cost) and failed is None:
                    _insert(made, [part(frame) for part in parts])
            except EvaluationError as error:
                failed = error
        if failed is not None:
            raise failed
        return made

    return run


def _insert(into: dict[Any, Any], made: list[Any]) -> None:
    entries = made[0] if len(made) == 1 else {values.map_key(made[0]): made[1]}
    if not isinstance(entries, dict):
        raise EvaluationError(f"no such overload: {macros.MAP_INSERT}(map, {values.type_of(entries).name})")
    for key, value in entries.items():
        if key in into:
            raise EvaluationError(f"insert failed: key {conversions.key_text(values.key_value(key))} already exists")
        into[key] = value


def general(loop: Loop, steps: Steps, cost: int) -> Code:
    """A loop step by step; each turn costs so much besides what its parts count themselves."""
    accumulator, first = steps.accumulator, loop.first

    def run(frame: list[Any]) -> Any:
        frame[accumulator] = steps.initial(frame)
        for element in turns(loop, frame):
            frame[first] = element
            _spend(frame, cost)
            try:
                frame[accumulator] = steps.step(frame)
            except EvaluationError as failed:
                frame[accumulator] = Failure(failed)
        return steps.result(frame)

    return run


def binding(index: int, value: Code, cost: int, result: Code) -> Code:
    """A name for a value in a result."""

    def run(frame: list[Any]) -> Any:
        frame[index] = Unread(value, cost)
        return result(frame)

    return run


def read(frame: list[Any], index: int) -> Any:
    """The value of a local variable. Raises EvaluationError if it holds an error."""
    value = frame[index]
    kind = value.__class__
    if kind is Unread:
        _spend(frame, value.cost)
        try:
            value = frame[index] = value.code(frame)
        except EvaluationError as failed:
            frame[index] = Failure(failed)
            raise
    elif kind is Failure:
        raise value.error
    return value
