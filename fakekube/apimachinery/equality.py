"""Whether two JSON trees are the same, true being no number.

Python takes ``True`` for 1. Where the schema gives every value its type that does no harm; in
custom objects and in fields that may hold anything, a change from one to the other is a change.
Upstream: apimachinery/third_party/forked/golang/reflect.
"""

from typing import Any

import orjson


def same(left: Any, right: Any) -> bool:
    """Whether both say the same; ``1`` and ``1.0`` do, as Go prints them alike."""
    return left is right or (left == right and equals_are_same(left, right))


def equals_are_same(left: Any, right: Any) -> bool:
    """``same`` for two trees that Python takes for equal."""
    if not isinstance(left, dict | list):
        return isinstance(left, bool) == isinstance(right, bool)
    return orjson.dumps(left) == orjson.dumps(right) or _alike(left, right)


def _alike(left: Any, right: Any) -> bool:
    """The same for trees that Python takes for equal."""
    if isinstance(left, dict):
        return all(_alike(value, right[name]) for name, value in left.items())
    if isinstance(left, list):
        return all(map(_alike, left, right))
    return isinstance(left, bool) == isinstance(right, bool)
