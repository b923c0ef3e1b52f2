"""Objects by namespace and name, and by whatever else somebody looks them up.

Upstream: client-go/tools/cache/thread_safe_store.go. Everything comes back in the order in which it was first seen.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree

IndexFunction = Callable[[Tree], Iterable[str]]
"""The values under which an object is found."""


def by_owner_uid(obj: Tree) -> Iterable[str]:
    """The uids of all owners."""
    return [reference["uid"] for reference in meta.owners_of(obj)]


def by_controller_uid(obj: Tree) -> Iterable[str]:
    """The uid of the owner that is the controller."""
    reference = meta.controller_of(obj)
    return (reference["uid"],) if reference is not None else ()


def by_namespace_without_controller(obj: Tree) -> Iterable[str]:
    """The namespace of what nobody controls."""
    return () if meta.controller_of(obj) is not None else (meta.namespace_of(obj),)


def by_label(key: str) -> IndexFunction:
    """The value of a label."""
    def values(obj: Tree) -> Iterable[str]:
        value = meta.labels_of(obj).get(key)
        return () if value is None else (value,)

    return values


def by_node_name(obj: Tree) -> Iterable[str]:
    """The node of a pod."""
    node = (obj.get("spec") or meta.EMPTY).get("nodeName")
    return (node,) if node else ()


class _Index(NamedTuple):
    function: IndexFunction
    values: dict[str, dict[ObjectKey, Tree]]

    def add(self, key: ObjectKey, obj: Tree) -> None:
        for value in self.function(obj):
            self.values.setdefault(value, {})[key] = obj

    def remove(self, key: ObjectKey, obj: Tree) -> None:
        for value in self.function(obj):
            bucket = self.values.get(value)
            if bucket is not None:
                bucket.pop(key, None)
                if not bucket:
                    del self.values[value]

    def replace(self, key: ObjectKey, old: Tree, new: Tree) -> None:
        before, after = list(self.function(old)), list(self.function(new))
        if before != after:
            self.remove(key, old)
        for value in after:
            self.values.setdefault(value, {})[key] = new


class Indexer:
    """A store of objects with indices."""

    def __init__(self) -> None:
        self._objects: dict[ObjectKey, Tree] = {}
        self._namespaces: dict[str, dict[ObjectKey, Tree]] = {}
        self._indices: dict[str, _Index] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self._objects.values())

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self._objects

    def all_keys(self) -> list[ObjectKey]:
        """Where the objects are."""
        return list(self._objects)

    def get(self, namespace: str, name: str) -> Tree | None:
        """One object, or None."""
        return self._objects.get((namespace, name))  # type: ignore[call-overload, no-any-return]

    def list(self, namespace: str = "") -> Iterable[Tree]:
        """The objects of one namespace, or all. A live view: do not await while going through it."""
        if namespace:
            return self._namespaces.get(namespace, {}).values()
        return self._objects.values()

    def by_index(self, index: str, value: str) -> Iterable[Tree]:
        """The objects that an index has under a value. A live view. KeyError when there is no such index."""
        return self._indices[index].values.get(value, {}).values()

    def index_values(self, index: str) -> Iterable[str]:
        """The values that an index knows."""
        return self._indices[index].values.keys()

    def has_index(self, index: str) -> bool:
        """Whether there is an index of this name."""
        return index in self._indices

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index by a function, what is there included. The first function of a name stays."""
        if name in self._indices:
            return
        index = self._indices[name] = _Index(function, {})
        for key, obj in self._objects.items():
            index.add(key, obj)

    def put(self, key: ObjectKey, obj: Tree) -> Tree | None:
        """Add or replace an object; returns what it replaced."""
        old = self._objects.get(key)
        self._objects[key] = obj
        if key.namespace:
            self._namespaces.setdefault(key.namespace, {})[key] = obj
        for index in self._indices.values():
            if old is None:
                index.add(key, obj)
            else:
                index.replace(key, old, obj)
        return old

    def remove(self, key: ObjectKey) -> Tree | None:
        """Take an object out; returns it."""
        old = self._objects.pop(key, None)
        if old is not None:
            if key.namespace:
                del self._namespaces[key.namespace][key]
            for index in self._indices.values():
                index.remove(key, old)
        return old
