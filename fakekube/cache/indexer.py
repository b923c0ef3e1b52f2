"""Objects by namespace and name, and by indices of any kind.

Upstream: client-go/tools/cache/thread_safe_store.go. Everything comes back in the order in which it
was first seen.
"""

from collections.abc import Callable, Iterable, Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree

IndexFunction = Callable[[Tree], Iterable[str]]
"""The values under which an object is found."""


class OwnersIndex:
    """An index function of an object's namespace, name and ownerReferences alone: while these stay,
    its values stay.
    """

    __slots__ = ("values",)

    def __init__(self, values: IndexFunction) -> None:
        self.values = values

    def __call__(self, obj: Tree) -> Iterable[str]:
        """The values under which an object is found."""
        return self.values(obj)


def _owner_uids(obj: Tree) -> Iterable[str]:
    return [reference["uid"] for reference in meta.owners_of(obj)]


def _controller_uid(obj: Tree) -> Iterable[str]:
    reference = meta.controller_of(obj)
    return (reference["uid"],) if reference is not None else ()


def _namespace_without_controller(obj: Tree) -> Iterable[str]:
    return () if meta.controller_of(obj) is not None else (meta.namespace_of(obj),)


by_owner_uid = OwnersIndex(_owner_uids)
"""The uids of all owners."""

by_controller_uid = OwnersIndex(_controller_uid)
"""The uid of the owner that is the controller."""

by_namespace_without_controller = OwnersIndex(_namespace_without_controller)
"""The namespace of what nobody controls."""


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


Objects = dict[ObjectKey, Tree]

_NOTHING: Objects = {}


class _Index:
    """Objects by value and key."""

    __slots__ = ("function", "objects", "of_owners")

    def __init__(self, function: IndexFunction) -> None:
        self.function = function
        self.of_owners = isinstance(function, OwnersIndex)
        self.objects: dict[str, Objects] = {}

    def add(self, key: ObjectKey, obj: Tree) -> None:
        for value in self.function(obj):
            self.objects.setdefault(value, {})[key] = obj

    def remove(self, key: ObjectKey, obj: Tree) -> None:
        for value in self.function(obj):
            objects = self.objects.get(value)
            if objects is not None:
                objects.pop(key, None)
                if not objects:
                    del self.objects[value]


class Indexer:
    """A store of objects with indices."""

    def __init__(self) -> None:
        self._objects: Objects = {}
        self._namespaces: dict[str, Objects] = {}
        self._indices: dict[str, _Index] = {}
        self._distinct: list[_Index] = []  # two names may be of one function
        self._not_of_owners: list[_Index] = []
        # all the dictionaries that an object is in
        self._places: dict[ObjectKey, tuple[Objects, ...]] = {}

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
        """The objects of one namespace, or all. A live view: do not await while going through it.
        """
        if namespace:
            return self._namespaces.get(namespace, _NOTHING).values()
        return self._objects.values()

    def by_index(self, index: str, value: str) -> Iterable[Tree]:
        """The objects that an index has under a value. A live view.

        KeyError when there is no such index.
        """
        return self._indices[index].objects.get(value, _NOTHING).values()

    def index_values(self, index: str) -> Iterable[str]:
        """The values that an index knows."""
        return self._indices[index].objects.keys()

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index by a function, what is there included. The first function of a name stays.

        A function that is indexed under another name already has one index under both, in the order
        that it has by then.
        """
        if name in self._indices:
            return
        index = next((known for known in self._distinct if known.function is function), None)
        if index is None:
            index = _Index(function)
            self._distinct.append(index)
            self._not_of_owners = [known for known in self._distinct if not known.of_owners]
            for key, obj in self._objects.items():
                index.add(key, obj)
                self._places[key] = self._find_places(key, obj)
        self._indices[name] = index

    def put(self, key: ObjectKey, obj: Tree) -> Tree | None:
        """Add or replace an object; returns what it replaced."""
        old = self._objects.get(key)
        if old is None:
            self._objects[key] = obj
            if key.namespace:
                self._namespaces.setdefault(key.namespace, {})[key] = obj
            for index in self._distinct:
                index.add(key, obj)
            self._places[key] = self._find_places(key, obj)
            return None
        if self._distinct:
            same_owners = old["metadata"].get("ownerReferences") == obj["metadata"].get("ownerReferences")
            moved = False
            for index in self._not_of_owners if same_owners else self._distinct:
                if list(index.function(old)) != list(index.function(obj)):
                    index.remove(key, old)
                    index.add(key, obj)
                    moved = True
            if moved:
                self._places[key] = self._find_places(key, obj)
        for objects in self._places[key]:
            objects[key] = obj
        return old

    def _find_places(self, key: ObjectKey, obj: Tree) -> tuple[Objects, ...]:
        places = [self._objects]
        if key.namespace:
            places.append(self._namespaces[key.namespace])
        for index in self._distinct:
            places += [index.objects[value] for value in index.function(obj)]
        return tuple(places)

    def remove(self, key: ObjectKey) -> Tree | None:
        """Take an object out; returns it."""
        old = self._objects.pop(key, None)
        if old is not None:
            del self._places[key]
            if key.namespace:
                del self._namespaces[key.namespace][key]
            for index in self._distinct:
                index.remove(key, old)
        return old
