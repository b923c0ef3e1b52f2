"""The standard library as a Library: every function, its overloads, their run-time costs.

What it costs before run time is counted in ``fakekube.cel.estimate``, and the operators that do not
always compute their arguments are built by the planner.

Upstream: common/stdlib/standard.go; costs as in interpreter/runtimecost.go.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from fakekube.cel import costs, functions, macros, types, values
from fakekube.cel.functions import Function, Overload, function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.standard import arithmetic, conversions, texts, times
from fakekube.cel.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, Type

_A, _B = types.parameter("A"), types.parameter("B")
_LIST, _MAP = types.list_of(_A), types.map_of(_A, _B)


def _traversal(index: int) -> functions.RunTimeCost:
    """The cost of a walk over one argument."""
    return lambda arguments, _: costs.scaled(values.size(arguments[index]), costs.STRING_TRAVERSAL_FACTOR)


def _smaller(arguments: Sequence[Any], _: Any) -> int:
    """The cost of a comparison: a walk over the smaller argument."""
    size = min(values.size(arguments[0]), values.size(arguments[1]))
    return costs.scaled(size, costs.STRING_TRAVERSAL_FACTOR)


def _both(arguments: Sequence[Any], _: Any) -> int:
    """The cost of putting two texts together."""
    return costs.scaled(len(arguments[0]) + len(arguments[1]), costs.STRING_TRAVERSAL_FACTOR)


def _search(arguments: Sequence[Any], _: Any) -> int:
    """The cost of finding one text in another."""
    text = costs.scaled(len(arguments[0]), costs.STRING_TRAVERSAL_FACTOR)
    return text * costs.scaled(len(arguments[1]), costs.STRING_TRAVERSAL_FACTOR)


def _match(arguments: Sequence[Any], _: Any) -> int:
    """The cost of a regular expression on a text."""
    text = costs.scaled(len(arguments[0]) + 1, costs.STRING_TRAVERSAL_FACTOR)
    return text * costs.scaled(len(arguments[1]), costs.REGEX_LENGTH_FACTOR)


def _elements(arguments: Sequence[Any], _: Any) -> int:
    """The cost of finding an element in a list."""
    return len(arguments[1])


def _identity(value: Any) -> Any:
    return value


def _logical() -> tuple[Function, ...]:
    """Operators that the planner builds, and negation."""
    none = texts.not_a_result
    return (
        function("_?_:_", overload("conditional", (BOOL, _A, _A), _A, none)),
        function("_&&_", overload("logical_and", (BOOL, BOOL), BOOL, none)),
        function("_||_", overload("logical_or", (BOOL, BOOL), BOOL, none)),
        function("!_", overload("logical_not", (BOOL,), BOOL, operator.not_)),
        function("@not_strictly_false", overload("not_strictly_false", (BOOL,), BOOL, _identity)),
        function("_==_", overload("equals", (_A, _A), BOOL, none)),
        function("_!=_", overload("not_equals", (_A, _A), BOOL, none)),
        function("_[_]", overload("index_list", (_LIST, INT), _A, none), overload("index_map", (_MAP, _A), _B, none)),
    )


def _arithmetic() -> tuple[Function, ...]:
    """``+``, ``-``, ``*``, ``/``, ``%`` and the sign."""
    return (
        function(
            "_+_",
            overload("add_bytes", (BYTES, BYTES), BYTES, operator.add, cost=_both),
            overload("add_double", (DOUBLE, DOUBLE), DOUBLE, operator.add),
            overload("add_duration_duration", (DURATION, DURATION), DURATION, arithmetic.add_durations),
            overload("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP, arithmetic.add_duration_timestamp),
            overload("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, arithmetic.add_timestamp_duration),
            overload("add_int64", (INT, INT), INT, arithmetic.add_ints),
            overload("add_list", (_LIST, _LIST), _LIST, texts.add_lists),
            overload("add_string", (STRING, STRING), STRING, operator.add, cost=_both),
            overload("add_uint64", (UINT, UINT), UINT, arithmetic.add_uints),
        ),
        function(
            "_/_",
            overload("divide_double", (DOUBLE, DOUBLE), DOUBLE, arithmetic.divide_doubles),
            overload("divide_int64", (INT, INT), INT, arithmetic.divide_ints),
            overload("divide_uint64", (UINT, UINT), UINT, arithmetic.divide_uints),
        ),
        function(
            "_%_",
            overload("modulo_int64", (INT, INT), INT, arithmetic.modulo_ints),
            overload("modulo_uint64", (UINT, UINT), UINT, arithmetic.modulo_uints),
        ),
        function(
            "_*_",
            overload("multiply_double", (DOUBLE, DOUBLE), DOUBLE, operator.mul),
            overload("multiply_int64", (INT, INT), INT, arithmetic.multiply_ints),
            overload("multiply_uint64", (UINT, UINT), UINT, arithmetic.multiply_uints),
        ),
        function(
            "-_",
            overload("negate_double", (DOUBLE,), DOUBLE, operator.neg),
            overload("negate_int64", (INT,), INT, arithmetic.negate_int),
        ),
        function(
            "_-_",
            overload("subtract_double", (DOUBLE, DOUBLE), DOUBLE, operator.sub),
            overload("subtract_duration_duration", (DURATION, DURATION), DURATION, arithmetic.subtract_durations),
            overload("subtract_int64", (INT, INT), INT, arithmetic.subtract_ints),
            overload("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, arithmetic.subtract_timestamp_duration),
            overload("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION, arithmetic.subtract_timestamps),
            overload("subtract_uint64", (UINT, UINT), UINT, arithmetic.subtract_uints),
        ),
    )


_ORDERED = (
    ("bool", BOOL, BOOL),
    ("int64", INT, INT),
    ("int64_double", INT, DOUBLE),
    ("int64_uint64", INT, UINT),
    ("uint64", UINT, UINT),
    ("uint64_double", UINT, DOUBLE),
    ("uint64_int64", UINT, INT),
    ("double", DOUBLE, DOUBLE),
    ("double_int64", DOUBLE, INT),
    ("double_uint64", DOUBLE, UINT),
    ("string", STRING, STRING),
    ("bytes", BYTES, BYTES),
    ("timestamp", TIMESTAMP, TIMESTAMP),
    ("duration", DURATION, DURATION),
)


def _comparison(name: str, prefix: str, plain: Callable[..., bool], careful: Callable[..., bool]) -> Function:
    """An order; doubles and numbers of two types are compared with care."""
    overloads = []
    for suffix, left, right in _ORDERED:
        implementation = careful if DOUBLE in {left, right} else plain
        cost = _smaller if left in {STRING, BYTES} else None
        overloads.append(
            Overload(f"{prefix}_{suffix}", (left, right), BOOL, implementation, cost=cost, cross_type=left != right)
        )
    return Function(name, tuple(overloads))


def _comparisons() -> tuple[Function, ...]:
    return (
        _comparison("_<_", "less", operator.lt, arithmetic.less),
        _comparison("_<=_", "less_equals", operator.le, arithmetic.less_equals),
        _comparison("_>_", "greater", operator.gt, arithmetic.greater),
        _comparison("_>=_", "greater_equals", operator.ge, arithmetic.greater_equals),
    )


def _collections() -> tuple[Function, ...]:
    """``in`` and ``size``."""
    sized = (("bytes", BYTES), ("list", _LIST), ("map", _MAP), ("string", STRING))
    sizes = [
        declared
        for name, of in sized
        for declared in (overload(f"size_{name}", (of,), INT, len), member(f"{name}_size", (of,), INT, len))
    ]
    return (
        function(
            "@in",
            overload("in_list", (_A, _LIST), BOOL, texts.in_list, cost=_elements),
            overload("in_map", (_A, _MAP), BOOL, texts.in_map),
        ),
        function("size", *sizes),
    )


def _to(target: Type, name: str, *sources: tuple[str, Type, Callable[..., Any], functions.RunTimeCost | None]) -> Function:
    """The conversions to one type."""
    return Function(name, tuple(Overload(of, (source,), target, run, cost=cost) for of, source, run, cost in sources))


def _conversions() -> tuple[Function, ...]:
    walk = _traversal(0)
    return (
        function("type", overload("type", (_A,), types.type_of_type(_A), conversions.to_type)),
        function("dyn", overload("to_dyn", (_A,), DYN, _identity)),
        _to(
            BOOL,
            "bool",
            ("bool_to_bool", BOOL, _identity, None),
            ("string_to_bool", STRING, conversions.string_to_bool, None),
        ),
        _to(
            BYTES,
            "bytes",
            ("bytes_to_bytes", BYTES, _identity, None),
            ("string_to_bytes", STRING, conversions.string_to_bytes, walk),
        ),
        _to(
            DOUBLE,
            "double",
            ("double_to_double", DOUBLE, _identity, None),
            ("int64_to_double", INT, float, None),
            ("string_to_double", STRING, conversions.string_to_double, None),
            ("uint64_to_double", UINT, float, None),
        ),
        _to(
            DURATION,
            "duration",
            ("duration_to_duration", DURATION, _identity, None),
            ("string_to_duration", STRING, times.parse_duration, None),
        ),
        _to(
            INT,
            "int",
            ("int64_to_int64", INT, _identity, None),
            ("double_to_int64", DOUBLE, arithmetic.double_to_int, None),
            ("duration_to_int64", DURATION, lambda duration: duration.nanoseconds, None),
            ("string_to_int64", STRING, conversions.string_to_int, None),
            ("timestamp_to_int64", TIMESTAMP, conversions.timestamp_to_int, None),
            ("uint64_to_int64", UINT, arithmetic.uint_to_int, None),
        ),
        _to(
            STRING,
            "string",
            ("string_to_string", STRING, _identity, None),
            ("bool_to_string", BOOL, lambda value: "true" if value else "false", None),
            ("bytes_to_string", BYTES, conversions.bytes_to_string, walk),
            ("double_to_string", DOUBLE, conversions.double_to_string, None),
            ("duration_to_string", DURATION, times.duration_text, None),
            ("int64_to_string", INT, str, None),
            ("timestamp_to_string", TIMESTAMP, times.timestamp_text, None),
            ("uint64_to_string", UINT, str, None),
        ),
        _to(
            TIMESTAMP,
            "timestamp",
            ("timestamp_to_timestamp", TIMESTAMP, _identity, None),
            ("int64_to_timestamp", INT, conversions.int_to_timestamp, None),
            ("string_to_timestamp", STRING, times.parse_timestamp, None),
        ),
        _to(
            UINT,
            "uint",
            ("uint64_to_uint64", UINT, _identity, None),
            ("double_to_uint64", DOUBLE, arithmetic.double_to_uint, None),
            ("int64_to_uint64", INT, arithmetic.int_to_uint, None),
            ("string_to_uint64", STRING, conversions.string_to_uint, None),
        ),
    )


def _texts() -> tuple[Function, ...]:
    pair = (STRING, STRING)
    return (
        function("contains", member("contains_string", pair, BOOL, texts.contains, cost=_search)),
        function("endsWith", member("ends_with_string", pair, BOOL, str.endswith, cost=_traversal(1))),
        function("startsWith", member("starts_with_string", pair, BOOL, str.startswith, cost=_traversal(1))),
        function(
            "matches",
            overload("matches", pair, BOOL, texts.matches, cost=_match),
            member("matches_string", pair, BOOL, texts.matches, cost=_match),
        ),
    )


def _times() -> tuple[Function, ...]:
    """The parts of timestamps, in UTC or a zone, and those of durations."""
    parts: tuple[tuple[str, str, Callable[..., int], Callable[..., int] | None], ...] = (
        ("getFullYear", "year", times.full_year, None),
        ("getMonth", "month", times.month, None),
        ("getDayOfYear", "day_of_year", times.day_of_year, None),
        ("getDayOfMonth", "day_of_month", times.day_of_month, None),
        ("getDate", "day_of_month_1_based", times.date, None),
        ("getDayOfWeek", "day_of_week", times.day_of_week, None),
        ("getHours", "hours", times.hours, times.duration_hours),
        ("getMinutes", "minutes", times.minutes, times.duration_minutes),
        ("getSeconds", "seconds", times.seconds, times.duration_seconds),
        ("getMilliseconds", "milliseconds", times.milliseconds, times.duration_milliseconds),
    )
    made = []
    for name, part, of_timestamp, of_duration in parts:
        zoned = "timestamp_to_seconds_tz" if part == "seconds" else f"timestamp_to_{part}_with_tz"
        overloads = [
            member(f"timestamp_to_{part}", (TIMESTAMP,), INT, of_timestamp),
            member(zoned, (TIMESTAMP, STRING), INT, of_timestamp),
        ]
        if of_duration is not None:
            overloads.append(member(f"duration_to_{part}", (DURATION,), INT, of_duration))
        made.append(Function(name, tuple(overloads)))
    return tuple(made)


def library() -> Library:
    """The standard library."""
    named = {
        "bool": BOOL,
        "bytes": BYTES,
        "double": DOUBLE,
        "google.protobuf.Duration": DURATION,
        "int": INT,
        "list": types.LIST,
        "map": types.MAP,
        "null_type": types.NULL,
        "string": STRING,
        "google.protobuf.Timestamp": TIMESTAMP,
        "type": types.TYPE,
        "uint": UINT,
    }
    parts = (_logical(), _arithmetic(), _comparisons(), _collections(), _conversions(), _texts(), _times())
    return Library("standard", tuple(made for part in parts for made in part), macros.STANDARD, named)
