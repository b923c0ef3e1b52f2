"""Closures for calls: of known overloads, of overloads that follow from values, and short cuts.

Upstream: interpreter/interpretable.go (evalUnary, evalBinary, evalVarArgs, evalSetMembership) and
optimizations.go.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from fakekube.cel import errors, functions, spending, values
from fakekube.cel.standard import texts
from fakekube.util import regex

Code = Callable[[list[Any]], Any]

_STANDARD = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint", "size"})


def call(overload: functions.Overload, arguments: Sequence[Code], constants: Sequence[bool]) -> Code:
    """A call whose cost is known."""
    implementation = overload.implementation
    if len(arguments) == 1:
        (only,) = arguments
        return lambda frame: implementation(only(frame))
    if len(arguments) == 2:
        first, second = arguments
        compared = _COMPARISONS.get(implementation)
        if compared is not None:
            return compared(first, second, constants[1])
        return lambda frame: implementation(first(frame), second(frame))
    return lambda frame: implementation(*[argument(frame) for argument in arguments])


def costed_call(
    implementation: Callable[..., Any], arguments: Sequence[Code], cost: functions.RunTimeCost, *, dear: bool = False,
) -> Code:
    """A call whose cost follows from its arguments and its result; from arguments if it is dear."""
    if dear:
        return _dear_call(implementation, arguments, cost)

    def run(frame: list[Any]) -> Any:
        given = [argument(frame) for argument in arguments]
        result = implementation(*given)
        frame[0] -= cost(given, result)
        if frame[0] < 0:
            spending.exceeded(frame)
        return result

    return run


def _dear_call(implementation: Callable[..., Any], arguments: Sequence[Code], cost: functions.RunTimeCost) -> Code:
    def run(frame: list[Any]) -> Any:
        given = [argument(frame) for argument in arguments]
        spending.require(frame, cost(given, None))
        result = implementation(*given)
        frame[0] -= cost(given, result)
        return result

    return run


def dispatched_call(name: str, overloads: Sequence[functions.Overload], arguments: Sequence[Code]) -> Code:
    """A call whose overload follows from the types that arguments have at run time.

    Where several may be meant, one whose overloads have costs of their own costs one: a call of the
    standard library, and a sort.
    """
    nominal = len(overloads) > 1 and (name in _STANDARD or name == "sort" or name.startswith(("_", "@")))

    def run(frame: list[Any]) -> Any:
        given = [argument(frame) for argument in arguments]
        for overload in overloads:
            if not overload.guarded or all(map(values.matches, given, overload.arguments)):
                working = _WORKING.get(overload.id)
                if working is not None:
                    result = working(frame, *given)
                elif overload.id in SEARCHES:
                    result = _searched(frame, overload, *given)
                else:
                    if overload.dear and overload.cost is not None:
                        _require(frame, overload.cost(given, None), nominal=nominal)
                    result = overload.implementation(*given)
                frame[0] -= 1 if nominal or overload.cost is None else overload.cost(given, result)
                if frame[0] < 0:
                    spending.exceeded(frame)
                return result
        raise no_overload_for(name, given)

    return run


def _require(frame: list[Any], cost: int, *, nominal: bool) -> None:
    """Look at what a dear call takes before it is made; it is work where it costs only one."""
    if not nominal:
        spending.require(frame, cost)
        return
    frame[1] -= cost
    if frame[1] < 0:
        spending.exceeded(frame)


_NUMBERS = frozenset({int, values.Uint, float})
_TIMES = frozenset({values.Duration, values.Timestamp})
_TEXTS = frozenset({str, bytes})
_ORDERED = _NUMBERS | _TIMES | _TEXTS | {bool}
_ORDERINGS = ("_<_", "_<=_", "_>_", "_>=_")
_FIRST_OPERANDS: dict[str, frozenset[type]] = {
    "_+_": _NUMBERS | _TIMES | _TEXTS | {list, tuple},
    "_-_": _NUMBERS | _TIMES,
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": frozenset({int, values.Uint}),
    "-_": frozenset({int, float, bool}),
    **dict.fromkeys(_ORDERINGS, _ORDERED),
    "size": _TEXTS | {list, tuple, dict},
    "matches": frozenset({str}),
}
_UNNAMED = frozenset({"startsWith", "endsWith", "contains"})


def no_overload_for(name: str, given: Sequence[Any]) -> errors.EvaluationError:
    """What is said of a call whose arguments no overload takes.

    Upstream names operators that the first operand has not got at all, and functions with the types
    of all arguments.
    """
    first = given[0].__class__ if given else None
    if name in _ORDERINGS and first is float and math.isnan(given[0]):
        return errors.EvaluationError("NaN values cannot be ordered")
    fitting = _FIRST_OPERANDS.get(name)
    if fitting is not None:
        plain = first in fitting or first is str or first in _TIMES
        return errors.no_such_overload() if plain else errors.EvaluationError(f"no such overload: {name}")
    if name in _UNNAMED or name.startswith(("_", "!", "@")):
        return errors.no_such_overload()
    listed = ", ".join(values.type_of(argument).name for argument in given)
    return errors.EvaluationError(f"no such overload: {name}({listed})")


def add_lists(left: Code, right: Code) -> Code:
    """``+`` of two lists, which costs one however long they are; what is copied is work."""

    def run(frame: list[Any]) -> list[Any]:
        return _added(frame, left(frame), right(frame))

    return run


def _added(frame: list[Any], left: list[Any], right: list[Any]) -> list[Any]:
    frame[1] -= len(left) + len(right)
    if frame[1] < 0:
        spending.exceeded(frame)
    return texts.add_lists(left, right)


def in_elements(element: Code, elements: Code) -> Code:
    """``in`` a list: one for each element, and the work of comparing what they hold."""

    def run(frame: list[Any]) -> bool:
        value, candidates = element(frame), elements(frame)
        frame[0] -= len(candidates)
        if frame[0] < 0:
            spending.exceeded(frame)
        return _is_in(frame, value, candidates)

    return run


def _is_in(frame: list[Any], value: Any, candidates: list[Any]) -> bool:
    frame[1] -= len(candidates)
    if not isinstance(value, list | tuple | dict):
        return any(values.equal(value, candidate) for candidate in candidates)
    for candidate in candidates:
        found, work = values.equal_counted(value, candidate)
        frame[1] -= work
        if frame[1] < 0:
            spending.exceeded(frame)
        if found:
            return True
    return False


EXPRESSION_WORK, INSTRUCTION_WORK, SCANNED_A_WORK, FORMATTED_WORK = 600, 20, 64, 4
LARGE_EXPRESSION = 10_000  # instructions
FORMAT = "string_format"
SEARCHES = frozenset({
    FORMAT, "matches", "matches_string", "string_find_string", "string_find_all_string", "string_find_all_string_int"})


def searching_call(overload: functions.Overload, arguments: Sequence[Code]) -> Code:
    """A call with a regular expression that is known only now, or one that formats values.

    Making it ready is work: a class of many characters, repeated, takes more time than its cost
    says.
    """
    counted = overload.cost
    assert counted is not None
    cost = counted

    def run(frame: list[Any]) -> Any:
        given = [argument(frame) for argument in arguments]
        result = _searched(frame, overload, *given)
        frame[0] -= cost(given, result)
        if frame[0] < 0:
            spending.exceeded(frame)
        return result

    return run


def _searched(frame: list[Any], overload: functions.Overload, text: Any, pattern: Any, *more: Any) -> Any:
    """Each expression is made ready once in an evaluation; frame[3] holds those that were.

    What formats values costs as much as its format is long, and its result is the work.
    """
    if pattern.__class__ is str and text.__class__ is str and _is_first(frame, pattern):
        frame[1] -= EXPRESSION_WORK
        if frame[1] < 0:
            spending.exceeded(frame)
        frame[1] -= INSTRUCTION_WORK * regex.instructions(pattern, text)
        if frame[1] < 0:
            spending.exceeded(frame)
    if overload.pausing:
        result = overload.implementation(text, pattern, *more, pause=lambda: spending.end_turn(frame))
    else:
        result = overload.implementation(text, pattern, *more)
    if result.__class__ is list:
        frame[1] -= len(result) * len(text) // SCANNED_A_WORK
    elif result.__class__ is str:
        frame[1] -= len(result) * FORMATTED_WORK
    if frame[1] < 0:
        spending.exceeded(frame)
    return result


def _is_first(frame: list[Any], pattern: str) -> bool:
    ready = frame[3]
    if ready is None:
        ready = frame[3] = set()
    if pattern in ready:
        return False
    ready.add(pattern)
    return True


def _note_ready(frame: list[Any], pattern: str, instructions: int) -> None:
    """End the turn after a large expression was made ready for other texts than ASCII."""
    if instructions > LARGE_EXPRESSION and _is_first(frame, pattern):
        spending.end_turn(frame)


_WORKING = {"add_list": _added, "in_list": _is_in}
"""Overloads whose cost says too little when it is not known before that they are meant."""


def matches_constant(text: Code, pattern: str, cost: functions.RunTimeCost | None) -> Code:
    """A regular expression that is known before. Raises ProgramError if it is none."""
    try:
        compiled = regex.compiled(pattern)
    except regex.RegexError as invalid:
        raise errors.ProgramError(str(invalid)) from None
    assert cost is not None
    counted = cost

    def run(frame: list[Any]) -> bool:
        value = text(frame)
        if value.__class__ is not str:
            raise errors.no_such_overload()
        found = compiled.is_in(value)
        if not value.isascii():
            _note_ready(frame, pattern, compiled.instructions(value))
        frame[0] -= counted((value, pattern), found)
        if frame[0] < 0:
            spending.exceeded(frame)
        return found

    return run


def members(elements: Sequence[Any]) -> frozenset[Any] | None:
    """The elements of a list for a quick look-up; None if one of them is no plain scalar."""
    if not all(element.__class__ in _HASHABLE for element in elements):
        return None
    return frozenset(values.digest(element) for element in elements if values.equal(element, element))


_HASHABLE = frozenset({str, int, bool, float, values.Uint})


def in_set(element: Code, found: frozenset[Any]) -> Code:
    """``in`` a list of constants."""

    def run(frame: list[Any]) -> bool:
        value = element(frame)
        return (value if value.__class__ is str else values.digest(value)) in found

    return run


def _le(left: Code, right: Code, constant: bool) -> Code:
    if constant:
        bound = right([])
        return lambda frame: left(frame) <= bound
    return lambda frame: left(frame) <= right(frame)


def _lt(left: Code, right: Code, constant: bool) -> Code:
    if constant:
        bound = right([])
        return lambda frame: left(frame) < bound
    return lambda frame: left(frame) < right(frame)


def _ge(left: Code, right: Code, constant: bool) -> Code:
    if constant:
        bound = right([])
        return lambda frame: left(frame) >= bound
    return lambda frame: left(frame) >= right(frame)


def _gt(left: Code, right: Code, constant: bool) -> Code:
    if constant:
        bound = right([])
        return lambda frame: left(frame) > bound
    return lambda frame: left(frame) > right(frame)


_COMPARISONS: dict[Callable[..., Any], Callable[[Code, Code, bool], Code]] = {
    operator.le: _le,
    operator.lt: _lt,
    operator.ge: _ge,
    operator.gt: _gt,
}
