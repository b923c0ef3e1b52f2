"""Old values beside the new ones: what an update changed, place by place.

Fields are found by their names, items of keyed lists by their keys, items of other lists not at
all. Upstream: apiserver/pkg/cel/common (CorrelatedObject, MapList).
"""

from typing import Any

import orjson

from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.types import Json


class Correlation:
    """A value and the one that stood in its place before.

    ``constraints`` is the node of the schema, which says how what is below is found.
    """

    __slots__ = ("_children", "_equal", "_old_items", "constraints", "old", "value")

    def __init__(self, value: Json, old: Json, constraints: Constraints) -> None:
        self.value, self.old, self.constraints = value, old, constraints
        self._children: dict[str | int, Correlation | None] = {}
        self._equal: bool | None = None
        self._old_items: dict[Any, Json] | None = None

    @property
    def unchanged(self) -> bool:
        """Whether the value is what it was."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        # a field that the schema does not know cannot be compared, and counts as changed
        value, old = self.value, self.old
        if isinstance(value, list) and isinstance(old, list) and self.constraints.list_keys:
            if len(value) != len(old):
                return False
            children = [self.index(place) for place in range(len(value))]
            return all(child is not None and child.unchanged for child in children)
        if isinstance(value, dict) and isinstance(old, dict):
            if len(value) != len(old):
                return False
            fields = [self.field(name) for name in value]
            return all(child is not None and child.unchanged for child in fields)
        return same(value, old)

    def field(self, name: str) -> "Correlation | None":
        """What is below under a name; None where nothing was, or where the schema knows nothing."""
        if name not in self._children:
            self._children[name] = self._field(name)
        return self._children[name]

    def _field(self, name: str) -> "Correlation | None":
        value, old = self.value, self.old
        if not isinstance(value, dict) or not isinstance(old, dict) or name not in value or name not in old:
            return None
        below = self.constraints.field(name) or self.constraints.additional
        return None if below is None else Correlation(value[name], old[name], below)

    def index(self, place: int) -> "Correlation | None":
        """The item at a place; None where there was none of its keys."""
        if place not in self._children:
            self._children[place] = self._index(place)
        return self._children[place]

    def _index(self, place: int) -> "Correlation | None":
        value, below = self.value, self.constraints.items
        keys = self.constraints.list_keys
        if below is None or not keys or not isinstance(value, list) or not isinstance(self.old, list):
            return None
        if self._old_items is None:
            self._old_items = keyed_items(self.old, keys)
        key = key_of(value[place], keys)
        old = None if key is None else self._old_items.get(key)
        return None if old is None else Correlation(value[place], old, below)


def keyed_items(items: list[Any], keys: tuple[str, ...]) -> dict[Any, Json]:
    """The items of a keyed list by their keys, the first of each."""
    found: dict[Any, Json] = {}
    for item in items:
        key = key_of(item, keys)
        if key is not None:
            found.setdefault(key, item)
    return found


def key_of(item: Json, keys: tuple[str, ...]) -> Any:
    """What an item of a keyed list is known by; None when it lacks a key, or one is no scalar."""
    if not isinstance(item, dict):
        return None
    values = [item.get(key) for key in keys]
    if any(value is None or isinstance(value, dict | list) for value in values):
        return None
    return values[0] if len(values) == 1 and isinstance(values[0], str) else orjson.dumps(values)
