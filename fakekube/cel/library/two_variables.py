"""Macros that name the index or key beside the value: ``m.all(key, value, key != value)``.

Upstream: cel-go's ext/comprehensions.go.
"""

from typing import Any

from fakekube.cel import macros, types, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.functions import function, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import formatting


def library() -> Library:
    """The macros, and the functions that they are made of, since 1.32."""
    key, value = types.parameter("K"), types.parameter("V")
    whole = types.map_of(key, value)
    return Library("two variables", (
        function(
            "cel.@mapInsert",
            overload("@mapInsert_map_key_value", [whole, key, value], whole, insert),
            overload("@mapInsert_map_map", [whole, whole], whole, insert_all),
        ),
    ), macros=macros.TWO_VARIABLES)


def insert(into: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    """The map with one more entry."""
    return insert_all(into, {values.map_key(key): value})


def insert_all(into: dict[Any, Any], entries: dict[Any, Any]) -> dict[Any, Any]:
    """The map with more entries, none of which it has already."""
    for held in entries:
        if held in into:
            raise EvaluationError(f"insert failed: key {formatting.go_value(values.key_value(held))} already exists")
    return into | entries
