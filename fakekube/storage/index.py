"""Inverted indexes over the records of a bucket, so that a selector need not look at every object.

Upstream: the cacher's indexers (``spec.nodeName`` of pods); here any label or field that is asked for gets one.
"""

from collections.abc import Callable, Iterable

from fakekube.storage.record import Record

Key = tuple[str, str]
"""Namespace and name."""


class Index:
    """Which keys have which value. ``values(record)`` gives those of a record, usually none or one."""

    __slots__ = ("_keys", "_shared", "values")

    def __init__(self, values: Callable[[Record], tuple[str, ...]], records: Iterable[Record] = ()) -> None:
        self.values = values
        self._keys: dict[str, dict[Key, None]] = {}
        self._shared = False  # with the index of a fork, until either changes
        for record in records:
            self.replace(None, record)

    def replace(self, old: Record | None, new: Record | None) -> None:
        """Follow one change of one object."""
        before = self.values(old) if old is not None else ()
        after = self.values(new) if new is not None else ()
        if before == after:
            return
        if self._shared:
            self._keys = {value: dict(keys) for value, keys in self._keys.items()}
            self._shared = False
        if old is not None:
            for value in before:
                keys = self._keys[value]
                keys.pop((old.namespace, old.name), None)
                if not keys:
                    del self._keys[value]
        if new is not None:
            for value in after:
                self._keys.setdefault(value, {})[new.namespace, new.name] = None

    def fork(self) -> "Index":
        """An index that is the same now; whichever changes first takes a copy."""
        other = Index(self.values)
        other._keys, other._shared, self._shared = self._keys, True, True
        return other

    def keys(self, value: str) -> list[Key]:
        """The keys that have the value, in key order."""
        return sorted(self._keys.get(value, ()), key=_in_key_order)


def _in_key_order(key: Key) -> Key:
    return f"{key[0]}/", key[1]


def by_owner() -> Index:
    """By the uids of ownerReferences."""
    return Index(lambda record: record.owners)


def by_label(key: str, records: Iterable[Record]) -> Index:
    """By the value of one label; objects without it are not in the index."""
    def values(record: Record) -> tuple[str, ...]:
        value = record.label(key)
        return () if value is None else (value,)

    return Index(values, records)


def by_field(label: str, records: Iterable[Record]) -> Index:
    """By the text of one selectable field, the empty text too."""
    return Index(lambda record: (record.field(label),), records)
