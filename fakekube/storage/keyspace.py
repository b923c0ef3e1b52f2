"""Objects in key order: a dict per namespace with a sorted list of names that is mended when somebody lists.

The key of an object is ``namespace/name``, or ``name`` when it has no namespace, and keys sort by their bytes: the
namespace ``a-b`` comes before ``a``, since ``-`` sorts before ``/``. Upstream: keys in etcd.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from fakekube.storage.record import Page, Record

Match = Callable[[Record], object]

SINGLY = 32  # so many names are put in or taken out one by one, beyond that all are gone through


class Space:
    """The objects of one namespace, by name."""

    __slots__ = ("_late", "_names", "_removed", "records")

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self._names: list[str] = []  # sorted; may hold names of ``_removed``
        self._late: dict[str, None] = {}  # names that are not in ``_names`` yet
        self._removed: dict[str, None] = {}

    def copy(self) -> "Space":
        """The same records in a space of its own."""
        space = Space()
        space.records, space._names = dict(self.records), list(self.names())
        return space

    def put(self, record: Record) -> None:
        """Store or replace a record."""
        name = record.name
        if name not in self.records:
            if name in self._removed:
                del self._removed[name]
            else:
                self._late[name] = None
        self.records[name] = record

    def remove(self, name: str) -> None:
        """Take a record out."""
        del self.records[name]
        if name in self._late:
            del self._late[name]
        else:
            self._removed[name] = None
            if len(self._removed) > SINGLY + len(self.records):
                self.names()  # most of them are gone: give back what they take

    def names(self) -> list[str]:
        """All names, sorted; not to be changed. It costs little when few names came or went since the last call."""
        if self._removed or self._late:
            self._names = mended(self._names, self._removed, self._late)
            self._removed.clear()
            self._late.clear()
        return self._names


def mended(names: list[str], removed: Collection[str], added: Collection[str]) -> list[str]:
    """Sorted names without some that are among them and with some that are not; the list is changed, or a new one made."""
    if len(removed) > SINGLY:
        unwanted = frozenset(removed)
        names = [name for name in names if name not in unwanted]
    else:
        for name in removed:
            del names[bisect_left(names, name)]
    if len(added) > SINGLY:
        names.extend(added)
        names.sort()
    else:
        for name in added:
            insort(names, name)
    return names


class State(Protocol):
    """The objects of a bucket, now or at a past revision, as ``read_page`` wants them."""

    @property
    def revision(self) -> int:
        """Which state this is."""

    def namespaces(self) -> Iterable[str]:
        """Every namespace that may hold an object, in any order; "" for objects without one."""

    def names(self, namespace: str) -> list[str]:
        """The names in a namespace, sorted; not to be changed."""

    def lookup(self, namespace: str) -> Mapping[str, Record]:
        """The objects of a namespace by name, at least those that ``names`` gives."""


def key_of(record: Record) -> str:
    """``namespace/name``, or the name alone."""
    return f"{record.namespace}/{record.name}" if record.namespace else record.name


def read_page(state: State, namespace: str, start: str = "", limit: int = 0, match: Match | None = None) -> Page:
    """The objects from the key ``start`` on, ``limit`` of them at most (0: all), that ``match``.

    With a namespace keys are names. What does not match counts neither for the limit nor among the records, but does
    for ``remaining``.
    """
    records: list[Record] = []
    for names, begin, lookup in _ranges(state, namespace, start):
        if not limit and match is None:
            records.extend(map(lookup.__getitem__, names[begin:] if begin else names))
        elif match is None:
            end = begin + limit - len(records)
            records.extend(map(lookup.__getitem__, names[begin:end]))
            if end < len(names):
                return _cut(state, namespace, records)
        else:
            for at in range(begin, len(names)):
                if limit and len(records) >= limit:
                    return _cut(state, namespace, records)
                record = lookup[names[at]]
                if match(record):
                    records.append(record)
    return Page(records, state.revision, "", 0)


def _ranges(state: State, namespace: str, start: str) -> Iterable[tuple[list[str], int, Mapping[str, Record]]]:
    """The sorted names namespace by namespace, where among them ``start`` is, and where to look them up."""
    if namespace:
        names = state.names(namespace)
        yield names, bisect_left(names, start) if start else 0, state.lookup(namespace)
        return
    for space in sorted(state.namespaces(), key=_prefix):
        prefix = _prefix(space)
        names, begin = state.names(space), 0
        if start > prefix:
            if not start.startswith(prefix):
                continue
            begin = bisect_left(names, start[len(prefix):])
        yield names, begin, state.lookup(space)


def _prefix(namespace: str) -> str:
    return f"{namespace}/" if namespace else ""


def _cut(state: State, namespace: str, records: list[Record]) -> Page:
    """A page that ends before the list does."""
    last = records[-1]
    next_start = (last.name if namespace else key_of(last)) + "\0"
    remaining = sum(len(names) - begin for names, begin, _ in _ranges(state, namespace, next_start))
    return Page(records, state.revision, next_start, remaining)
