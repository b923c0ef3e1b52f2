"""Objects by namespace and name, and by whatever else somebody looks them up.

Upstream: client-go/tools/cache/thread_safe_store.go. Everything comes back in the order in which it was first seen.
"""

from collections.abc import Callable, Iterable, Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree

IndexFunction = Callable[[Tree], Iterable[str]]
"""The values under which an object is found."""


class OwnersIndex:
    """An index function that looks at an object's place and ownerReferences alone: where these stay, so do its values."""

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

    __slots__ = ("function", "number", "objects", "of_owners")

    def __init__(self, function: IndexFunction, number: int) -> None:
        self.function, self.number = function, number
        self.of_owners = isinstance(function, OwnersIndex)
        self.objects: dict[str, Objects] = {}

    def add(self, values: tuple[str, ...], key: ObjectKey, obj: Tree) -> None:
        for value in values:
            self.objects.setdefault(value, {})[key] = obj

    def remove(self, values: tuple[str, ...], key: ObjectKey) -> None:
        for value in values:
            bucket = self.objects.get(value)
            if bucket is not None:
                bucket.pop(key, None)
                if not bucket:
                    del self.objects[value]


class _Place:
    """Where one object is: under which values of each index, and so in which dictionaries."""

    __slots__ = ("dictionaries", "key", "values")

    def __init__(self, key: ObjectKey) -> None:
        self.key = key  # the very one that is in the dictionaries, where it is found sooner than an equal one
        self.values: list[tuple[str, ...]] = []  # by the number of the index
        self.dictionaries: list[Objects] = []


class Indexer:
    """A store of objects with indices."""

    def __init__(self) -> None:
        self._objects: Objects = {}
        self._places: dict[ObjectKey, _Place] = {}
        self._namespaces: dict[str, Objects] = {}
        self._indices: dict[str, _Index] = {}
        self._distinct: list[_Index] = []  # two names may be of one function
        self._not_of_owners: list[_Index] = []

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
            return self._namespaces.get(namespace, _NOTHING).values()
        return self._objects.values()

    def by_index(self, index: str, value: str) -> Iterable[Tree]:
        """The objects that an index has under a value. A live view. KeyError when there is no such index."""
        return self._indices[index].objects.get(value, _NOTHING).values()

    def index_values(self, index: str) -> Iterable[str]:
        """The values that an index knows."""
        return self._indices[index].objects.keys()

    def has_index(self, index: str) -> bool:
        """Whether there is an index of this name."""
        return index in self._indices

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index by a function, what is there included. The first function of a name stays."""
        if name in self._indices:
            return
        index = next((known for known in self._distinct if known.function is function), None)
        if index is None:
            index = _Index(function, len(self._distinct))
            self._distinct.append(index)
            self._not_of_owners = [known for known in self._distinct if not known.of_owners]
            for key, obj in self._objects.items():
                place = self._places[key]
                values = tuple(function(obj))
                place.values.append(values)
                index.add(values, key, obj)
                self._note_dictionaries(place)
        self._indices[name] = index

    def put(self, key: ObjectKey, obj: Tree) -> Tree | None:
        """Add or replace an object; returns what it replaced."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place(key)
            if key.namespace:
                self._namespaces.setdefault(key.namespace, {})[key] = obj
            self._objects[key] = obj
            for index in self._distinct:
                values = tuple(index.function(obj))
                place.values.append(values)
                index.add(values, key, obj)
            self._note_dictionaries(place)
            return None
        key = place.key
        old = self._objects[key]
        if self._distinct:
            same_owners = old["metadata"].get("ownerReferences") == obj["metadata"].get("ownerReferences")
            for index in self._not_of_owners if same_owners else self._distinct:
                values = tuple(index.function(obj))
                if values != place.values[index.number]:
                    self._move(place, index, values, obj)
        for objects in place.dictionaries:
            objects[key] = obj
        return old

    def _move(self, place: _Place, index: _Index, values: tuple[str, ...], obj: Tree) -> None:
        index.remove(place.values[index.number], place.key)
        index.add(values, place.key, obj)
        place.values[index.number] = values
        self._note_dictionaries(place)

    def _note_dictionaries(self, place: _Place) -> None:
        namespace = place.key.namespace
        place.dictionaries = [self._objects, *([self._namespaces[namespace]] if namespace else ()), *(
            index.objects[value] for index in self._distinct for value in place.values[index.number])]

    def remove(self, key: ObjectKey) -> Tree | None:
        """Take an object out; returns it."""
        place = self._places.pop(key, None)
        if place is None:
            return None
        if key.namespace:
            del self._namespaces[key.namespace][key]
        for index in self._distinct:
            index.remove(place.values[index.number], key)
        return self._objects.pop(key)
