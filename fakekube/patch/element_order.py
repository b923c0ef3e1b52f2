"""The order of a list after a strategic merge: what the patch names in its order, the rest where it stood.

Upstream: normalizeElementOrder and its helpers in apimachinery/pkg/util/strategicpatch/patch.go.
"""

from typing import Any

from fakekube.apimachinery.types import Json
from fakekube.patch.errors import PatchError, bad_type, no_merge_key


def kind_of(item: Json) -> type[Any]:
    """The type that decides how a list is merged: dict, list, or that of the scalar."""
    return type(item)


def partition(merged: list[Any], named: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Items that the patch, or its order, names, and those that only the object has. Raises PatchError."""
    if not merge_key:
        return [item for item in merged if item in named], [item for item in merged if item not in named]
    for item in merged:
        _check_item(item, merge_key)
    keys = []
    for number, item in enumerate(named):
        if not isinstance(item, dict):
            raise PatchError(f"value for key {number} is not a map")
        keys.append(item.get(merge_key))
    inside = [item for item in merged if item[merge_key] in keys]
    return inside, [item for item in merged if item[merge_key] not in keys]


def _check_item(item: Json, merge_key: str) -> None:
    if not isinstance(item, dict):
        raise bad_type({}, item)
    if merge_key not in item:
        raise no_merge_key(item, merge_key)


def index_of(items: list[Any], wanted: Json, merge_key: str, kind: type[Any]) -> int:
    """Where an item with the same key, or the same scalar, stands; -1 when nowhere."""
    if kind is not dict:
        return next((place for place, item in enumerate(items) if item == wanted), -1)
    key = wanted.get(merge_key)
    return next((place for place, item in enumerate(items) if isinstance(item, dict) and item.get(merge_key) == key), -1)


def in_order(
    named: list[Any], unnamed: list[Any], order: list[Any], live_order: list[Any], merge_key: str, kind: type[Any]
) -> list[Any]:
    """Both parts in one list: each part by its own order, woven as the live list allows. Raises PatchError."""
    named = _sorted(named, order, merge_key, kind)
    unnamed = _sorted(unnamed, live_order, merge_key, kind)
    result: list[Any] = []
    left, right = 0, 0
    while left < len(unnamed) and right < len(named):
        ours = index_of(live_order, unnamed[left], merge_key, kind)
        theirs = index_of(live_order, named[right], merge_key, kind)
        if ours >= 0 and theirs >= 0 and ours < theirs:
            result.append(unnamed[left])
            left += 1
        else:
            result.append(named[right])
            right += 1
    return result + unnamed[left:] + named[right:]


def _sorted(items: list[Any], order: list[Any], merge_key: str, kind: type[Any]) -> list[Any]:
    """Items by an order; one that the order does not name goes before what it meets, as upstream compares."""
    if kind is dict:
        for item in [*items, *order]:
            _check_item(item, merge_key)
    result: list[Any] = []
    for item in items:
        mine = index_of(order, item, merge_key, kind)
        place = len(result)
        while place > 0:
            before = index_of(order, result[place - 1], merge_key, kind)
            if mine >= 0 and before >= 0 and mine >= before:
                break
            place -= 1
        result.insert(place, item)
    return result
