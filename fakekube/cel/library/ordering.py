"""Which of two values comes first, as functions of lists ask it.

Upstream: the Comparer of cel-go's common/types.
"""

from typing import Any

from fakekube.cel import types, values

COMPARABLE = (
    ("int", types.INT), ("uint", types.UINT), ("double", types.DOUBLE), ("bool", types.BOOL),
    ("duration", types.DURATION), ("timestamp", types.TIMESTAMP), ("string", types.STRING), ("bytes", types.BYTES),
)
"""The types whose values have an order, with the names that they have in overloads."""

_ORDERED = (bool, str, bytes, values.Duration, values.Timestamp)


def is_comparable(value: Any) -> bool:
    """Whether values of this type have an order."""
    return isinstance(value, (int, float, *_ORDERED))


def compare(left: Any, right: Any) -> int | None:
    """-1, 0 or 1; None where there is no order, between types and beside NaN."""
    kind, other = left.__class__, right.__class__
    if kind is other and kind in _ORDERED:
        return int(left > right) - int(left < right)
    if bool in (kind, other) or not isinstance(left, int | float) or not isinstance(right, int | float):
        return None
    found = values.compare_numbers(left, right)
    return None if found == 2 else found
