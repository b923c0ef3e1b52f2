"""Inverted indexes over the records of a bucket, so that a selector need not look at every object.

Upstream: the cacher's indexers (``spec.nodeName`` of pods); here any label or field that is asked
for gets one.
"""

from collections.abc import Callable, Iterable

from fakekube.storage.record import Record

MAX_LABEL_INDEXES = 8  # each costs every write a little

Key = tuple[str, str]
"""The namespace with a slash and the name: tuples sort as keys do, see ``keyspace.py``."""
Value = Callable[[Record], str | None]
"""What a record is found under; None: it is not in the index."""


class Index:
    """Which keys have which value.

    They are sorted when somebody asks: a list that is kept in order costs each write of an indexed
    text more than it saves, see ADR 12.
    """

    __slots__ = ("_keys", "_shared", "value")

    def __init__(self, value: Value, records: Iterable[Record] = ()) -> None:
        self.value = value
        self._keys: dict[str, dict[Key, None]] = {}
        self._shared = False  # with the index of a fork, until either changes
        for record in records:
            self.replace(None, record)

    def replace(self, old: Record | None, new: Record | None) -> None:
        """Follow one change of one object."""
        before = self.value(old) if old is not None else None
        after = self.value(new) if new is not None else None
        if before == after:
            return
        if self._shared:
            self._keys = {value: dict(keys) for value, keys in self._keys.items()}
            self._shared = False
        if old is not None and before is not None:
            keys = self._keys[before]
            del keys[f"{old.namespace}/", old.name]
            if not keys:
                del self._keys[before]
        if new is not None and after is not None:
            self._keys.setdefault(after, {})[f"{new.namespace}/", new.name] = None

    def fork(self) -> "Index":
        """An index that is the same now; whichever changes first takes a copy."""
        other = Index(self.value)
        other._keys, other._shared, self._shared = self._keys, True, True
        return other

    def keys(self, value: str) -> list[Key]:
        """The keys that have the value, in key order."""
        return sorted(self._keys.get(value, ()))


class Indexes:
    """The indexes of one bucket, each built when it is first asked for."""

    __slots__ = ("_by_field", "_by_label")

    def __init__(self) -> None:
        self._by_field: dict[str, Index] = {}
        self._by_label: dict[str, Index] = {}

    def __bool__(self) -> bool:
        return bool(self._by_field or self._by_label)

    def replace(self, old: Record | None, new: Record | None) -> None:
        """Follow one change of one object, where what decides has changed: a record has the very
        same facts otherwise.
        """
        if old is None or new is None or old.row[4] is not new.row[4]:
            for index in self._by_label.values():
                index.replace(old, new)
        if old is None or new is None or old.row[6] is not new.row[6]:
            for index in self._by_field.values():
                index.replace(old, new)

    def by_field(self, label: str, value: str, records: Callable[[], Iterable[Record]]) -> list[Key]:
        """The keys whose selectable field has the text, the empty text too.

        ``records()`` gives all, for a new index.
        """
        found = self._by_field.get(label)
        if found is None:
            found = self._by_field[label] = Index(lambda record: record.field(label), records())
        return found.keys(value)

    def by_label(self, key: str, value: str, records: Callable[[], Iterable[Record]]) -> list[Key] | None:
        """The keys with the label; None when too many other labels have an index already."""
        found = self._by_label.get(key)
        if found is None:
            if len(self._by_label) >= MAX_LABEL_INDEXES:
                return None
            found = self._by_label[key] = Index(lambda record: record.label(key), records())
        return found.keys(value)

    def fork(self) -> "Indexes":
        """The same indexes; either side copies one before it changes it."""
        other = Indexes()
        other._by_field = {label: index.fork() for label, index in self._by_field.items()}
        other._by_label = {key: index.fork() for key, index in self._by_label.items()}
        return other
