"""The loops that macros make.

Upstream: evalFold of interpreter/interpretable.go.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from fakekube.cel import errors, values

Code = Callable[[list[Any]], Any]


class Loop(NamedTuple):
    """The parts of a loop, and the indexes of its variables in the frame; ``second`` may be 0."""

    range: Code
    initial: Code
    condition: Code
    step: Code
    result: Code
    accumulator: int
    first: int
    second: int


class Failure:
    """An error that the accumulator holds until the loop ends."""

    __slots__ = ("error",)

    def __init__(self, error: errors.EvaluationError) -> None:
        self.error = error


def elements(value: Any) -> Iterable[Any]:
    """What a loop with one variable runs over. Raises EvaluationError."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, dict):
        return values.keys(value)
    raise errors.EvaluationError(f"got '{value.__class__.__name__}', expected iterable type")


def pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """What a loop with two variables runs over. Raises EvaluationError."""
    if isinstance(value, list | tuple):
        return enumerate(value)
    if isinstance(value, dict):
        return [(values.key_value(key), element) for key, element in value.items()]
    raise errors.EvaluationError(f"got '{value.__class__.__name__}', expected iterable type")


def fold(loop: Loop, cost: int) -> Code:
    """The code of a loop; each turn costs so much besides what its parts count themselves."""

    def run(frame: list[Any]) -> Any:
        ranged = loop.range(frame)
        frame[loop.accumulator] = loop.initial(frame)
        turns: Iterable[Any] = pairs(ranged) if loop.second else elements(ranged)
        for element in turns:
            if loop.second:
                frame[loop.first], frame[loop.second] = element
            else:
                frame[loop.first] = element
            frame[0] -= cost
            if frame[0] < 0:
                raise errors.CostExceeded
            if loop.condition(frame) is False:
                break
            try:
                frame[loop.accumulator] = loop.step(frame)
            except errors.EvaluationError as failed:
                frame[loop.accumulator] = Failure(failed)
        return loop.result(frame)

    return run
