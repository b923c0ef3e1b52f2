"""Values that may be absent: ``optional.of(1)``, ``a.?b.orValue(0)``.

Selection, ``or`` and ``orValue`` are the evaluator's: they look at the second operand only if the
first has no value. Upstream: the optional library in cel-go's cel/library.go.
"""

from collections.abc import Sequence
from typing import Any

from fakekube.cel import macros, operators, types, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.functions import Function, function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.standard import texts


def library(version: int) -> Library:
    """The functions of a version.

    0 in 1.28, 1 with ``optFlatMap`` from 1.29 on, 2 with ``first``, ``last`` and unwrapping from
    1.33 on.
    """
    held = types.parameter("V")
    optional, elements = types.optional_of(held), types.list_of(held)
    functions: tuple[Function, ...] = (
        function("optional.of", overload("optional_of", [held], optional, values.OptionalValue)),
        function("optional.ofNonZeroValue", overload("optional_ofNonZeroValue", [held], optional, of_non_zero_value)),
        function("optional.none", overload("optional_none", [], optional, lambda: values.NONE)),
        function("value", member("optional_value", [optional], held, value_of)),
        function("hasValue", member("optional_hasValue", [optional], types.BOOL, lambda optional: optional.present)),
        function("or", member("optional_or_optional", [optional, optional], optional, texts.not_a_result)),
        function("orValue", member("optional_orValue_value", [optional, held], held, texts.not_a_result)),
        *_selections(),
    )
    if version >= 2:
        listed = types.list_of(optional)
        functions += (
            function("first", member("list_first", [elements], optional, lambda found: _at(found, 0))),
            function("last", member("list_last", [elements], optional, lambda found: _at(found, -1))),
            function("optional.unwrap", overload("optional_unwrap", [listed], elements, unwrap)),
            function("unwrapOpt", member("optional_unwrapOpt", [listed], elements, unwrap)),
        )
    expanded = macros.OPTIONAL if version else macros.OPTIONAL[:1]
    named = {"optional_type": types.optional_of(types.DYN)}
    return Library(f"optional {version}", functions, macros=expanded, named_types=named, optional_syntax=True)


def _selections() -> tuple[Function, ...]:
    """``a.?b``, ``a[?b]``, and ``a[b]`` of an optional."""
    key, held = types.parameter("K"), types.parameter("V")
    optional, elements, entries = types.optional_of(held), types.list_of(held), types.map_of(key, held)
    found = operators.optional_index_value
    return (
        function("_?._", overload("select_optional_field", [types.DYN, types.STRING], optional, found)),
        function(
            "_[?_]",
            overload("list_optindex_optional_int", [elements, types.INT], optional, found),
            overload("optional_list_optindex_optional_int", [types.optional_of(elements), types.INT], optional, found),
            overload("map_optindex_optional_value", [entries, key], optional, found),
            overload("optional_map_optindex_optional_value", [types.optional_of(entries), key], optional, found),
        ),
        function(
            "_[_]",
            overload("optional_list_index_int", [types.optional_of(elements), types.INT], optional, found),
            overload("optional_map_index_value", [types.optional_of(entries), key], optional, found),
        ),
    )


def of_non_zero_value(value: Any) -> values.OptionalValue:
    """An optional of a value; none for what is empty, zero, false or null."""
    return values.NONE if is_zero(value) else values.OptionalValue(value)


def is_zero(value: Any) -> bool:
    """Whether a value is the zero of its type; of a time that is the year 1, as in Go."""
    if isinstance(value, values.Duration):
        return value.nanoseconds == 0
    if isinstance(value, values.Timestamp):
        return value.nanoseconds == values.MIN_SECONDS * values.NANOSECONDS
    if value is None or isinstance(value, bool | int | float | str | bytes | list | tuple | dict):
        return not value
    return False


def value_of(optional: values.OptionalValue) -> Any:
    """The value, if there is one."""
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _at(elements: Sequence[Any], index: int) -> values.OptionalValue:
    return values.OptionalValue(elements[index]) if elements else values.NONE


def unwrap(optionals: Sequence[Any]) -> list[Any]:
    """The values of those that have one."""
    found = []
    for optional in optionals:
        if not isinstance(optional, values.OptionalValue):
            raise EvaluationError(f"value {optional} is not optional")
        if optional.present:
            found.append(optional.value)
    return found
