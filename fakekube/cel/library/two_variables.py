"""Macros that name the index or key beside the value: ``m.all(key, value, key != value)``.

Upstream: cel-go's ext/comprehensions.go.
"""

from fakekube.cel import macros, types
from fakekube.cel.functions import function, overload
from fakekube.cel.libraries import Library
from fakekube.cel.standard import texts


def library() -> Library:
    """The macros, and the functions that they are made of, since 1.32."""
    key, value = types.parameter("K"), types.parameter("V")
    whole, none = types.map_of(key, value), texts.not_a_result
    return Library("two variables", (
        function(
            macros.MAP_INSERT,
            overload("@mapInsert_map_key_value", [whole, key, value], whole, none),
            overload("@mapInsert_map_map", [whole, whole], whole, none),
        ),
    ), macros=macros.TWO_VARIABLES)
