"""The order of a list after a strategic merge: what the patch names in its order, the rest where it
stood.

Items are found by their keys in a map, so that a long list costs what its bytes do. Upstream:
normalizeElementOrder and its helpers in apimachinery/pkg/util/strategicpatch/patch.go, which
search the lists.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import orjson
from sortedcontainers import SortedList

from fakekube.apimachinery.types import Json
from fakekube.patch.errors import PatchError, bad_type, no_merge_key

DIRECTIVE = "$patch"


def kind_of(item: Json) -> type[Any]:
    """The type that decides how a list is merged: dict, list, or that of the scalar."""
    return type(item)


class Places:
    """Where each of a list's items stands first: by the value of its merge key, or the scalar by
    itself.
    """

    __slots__ = ("_by_key", "_first", "_merge_key")

    def __init__(self, items: Iterable[Any], merge_key: str, kind: type[Any]) -> None:
        """``merge_key`` counts for items of ``kind`` dict; what is no dict among them has no place.
        """
        self._merge_key, self._by_key = merge_key, kind is dict
        self._first: dict[Hashable, int] = {}
        for place, item in enumerate(items):
            self.add(item, place)

    def add(self, item: Json, place: int) -> None:
        """Note an item, unless one with its key stands before it."""
        if not self._by_key or item.__class__ is dict:
            self._first.setdefault(self._key(item), place)

    def of(self, item: Json) -> int:
        """The place of the first item with the same key; -1 for nowhere."""
        return self._first.get(self._key(item), -1)

    def _key(self, item: Json) -> Hashable:
        return hashable(item.get(self._merge_key) if self._by_key else item)


def hashable(value: Json) -> Hashable:
    """Something that is equal for equal values.

    A key is a scalar, unless a patch is out to break something.
    """
    if value.__class__ is dict or value.__class__ is list:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return value  # type: ignore[no-any-return]


def text_keys(items: list[Any], merge_key: str) -> list[str] | None:
    """What each item has under its key, when that is a text in all of them and none is a directive;
    else None.
    """
    found = []
    for item in items:
        key = item.get(merge_key) if item.__class__ is dict else None
        if key.__class__ is not str or DIRECTIVE in item:
            return None
        found.append(key)
    return found


def partition(merged: list[Any], named: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Items that the patch, or its order, names, and those that only the object has.

    Raises PatchError.
    """
    if not merge_key:
        keys = {hashable(item) for item in named}
        return [item for item in merged if hashable(item) in keys], [item for item in merged if hashable(item) not in keys]
    for item in merged:
        _check_item(item, merge_key)
    for number, item in enumerate(named):
        if item.__class__ is not dict:
            raise PatchError(f"value for key {number} is not a map")
    keys = {hashable(item.get(merge_key)) for item in named}
    inside = [item for item in merged if hashable(item[merge_key]) in keys]
    if len(inside) == len(merged):
        return inside, []
    return inside, [item for item in merged if hashable(item[merge_key]) not in keys]


def _check_item(item: Json, merge_key: str) -> None:
    if item.__class__ is not dict:
        raise bad_type({}, item)
    if merge_key not in item:
        raise no_merge_key(item, merge_key)


def in_order(
    named: list[Any], unnamed: list[Any], order: list[Any], live_order: list[Any], merge_key: str, kind: type[Any]
) -> list[Any]:
    """Both parts in one list: each part by its own order, woven as the live list allows.

    Raises PatchError.
    """
    named = _sorted(named, order, merge_key, kind)
    if not unnamed:
        _check_all(live_order, merge_key, kind)
        return named
    unnamed = _sorted(unnamed, live_order, merge_key, kind)
    live = Places(live_order, merge_key, kind)
    result: list[Any] = []
    left, right = 0, 0
    while left < len(unnamed) and right < len(named):
        ours, theirs = live.of(unnamed[left]), live.of(named[right])
        if ours >= 0 and theirs >= 0 and ours < theirs:
            result.append(unnamed[left])
            left += 1
        else:
            result.append(named[right])
            right += 1
    return result + unnamed[left:] + named[right:]


def _check_all(items: list[Any], merge_key: str, kind: type[Any]) -> None:
    if kind is dict:
        for item in items:
            _check_item(item, merge_key)


def _sorted(items: list[Any], order: list[Any], merge_key: str, kind: type[Any]) -> list[Any]:
    """Items by an order; one that the order does not name goes before what it meets, as upstream
    compares.
    """
    _check_all(items, merge_key, kind)
    _check_all(order, merge_key, kind)
    if len(items) < 2:
        return items
    places = Places(order, merge_key, kind)
    found = [places.of(item) for item in items]
    if min(found) >= 0:
        return [item for _, item in sorted(zip(found, items, strict=True), key=_place)]
    return _inserted(items, found)


def _place(found: tuple[int, Any]) -> int:
    return found[0]


def _inserted(items: list[Any], places: list[int]) -> list[Any]:
    """What an insertion sort makes of items of which some have no place.

    It walks from the end to the first item that has a place which is not greater, and so comes to
    stand right behind that one, in front of what came there earlier; at the very front where there
    is none, or where it has no place itself.
    """
    behind: dict[int, list[int]] = {-1: []}  # by number, who was put right behind; -1 is the front
    sorted_places: SortedList = SortedList()
    for number, place in enumerate(places):
        at = sorted_places.bisect_right((place, number)) if place >= 0 else 0
        behind[sorted_places[at - 1][1] if at else -1].append(number)
        behind[number] = []
        if place >= 0:
            sorted_places.add((place, number))
    result: list[Any] = []
    waiting = list(behind[-1])
    while waiting:
        number = waiting.pop()
        result.append(items[number])
        waiting.extend(behind[number])
    return result
