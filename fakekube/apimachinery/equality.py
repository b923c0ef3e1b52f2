"""Whether two JSON trees are the same, true being no number.

Python takes ``True`` for 1. Where the schema gives every value its type that does no harm; in
custom objects and in fields that may hold anything, a change from one to the other is a change.
A list or a map with nothing in it that storage does not keep is as good as none.
Upstream: apimachinery/third_party/forked/golang/reflect.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from fakekube.apimachinery.empties import NoEntries, NoItems

_ABSENT = object()
OF_THE_COLLECTOR = ("ownerReferences", "finalizers", "managedFields")


def same(left: Any, right: Any) -> bool:
    """Whether both say the same; ``1`` and ``1.0`` do, as Go prints them alike."""
    if left is right:
        return True
    return equals_are_same(left, right) if left == right else _same_but_for_empties(left, right)


def is_only_mutating_gc_fields(obj: Mapping[str, Any], old: Mapping[str, Any] | None) -> bool:
    """Whether a change of an object is one that the garbage collector makes; a new object is none.

    Upstream: pkg/registry/rbac/helpers.go.
    """
    if old is None:
        return False
    before, after = (
        {**tree, "metadata": {name: value for name, value in tree["metadata"].items() if name not in OF_THE_COLLECTOR}}
        for tree in (old, obj))
    return same(before, after)


def _same_but_for_empties(left: Any, right: Any) -> bool:
    """``same`` for two trees that Python takes for different."""
    if isinstance(left, NoItems | NoEntries) or isinstance(right, NoItems | NoEntries):
        return left is _ABSENT or right is _ABSENT or (not left and not right)
    if isinstance(left, dict) and isinstance(right, dict):
        return all(
            same(left.get(name, _ABSENT), right.get(name, _ABSENT)) for name in dict.fromkeys([*left, *right]))
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return all(map(same, left, right))
    return False


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
