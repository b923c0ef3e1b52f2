"""A bucket at a past revision, and the events since: for exact lists, continued lists and watches.

Both are worked out from what the event log keeps, read backwards from now.
"""

from collections.abc import Collection, Iterable, Iterator

from sortedcontainers import SortedSet

from fakekube.storage.encoding import Encoder
from fakekube.storage.entry import Entry, cause_in
from fakekube.storage.keyspace import Keyspace, Match, prefix_of, read_page
from fakekube.storage.record import Event, Page, Record
from fakekube.storage.track import Track

Overlay = dict[str, dict[str, Record | None]]
"""What differed at some revision, by namespace and name: the record of then, None for none."""


def overlay(encoder: Encoder, entries: Iterable[Entry]) -> Overlay:
    """How a bucket differed before these entries, which are its latest, newest first."""
    oldest = {(entry[2], entry[3]): entry for entry in entries}
    result: Overlay = {}
    for (namespace, name), entry in oldest.items():
        result.setdefault(namespace, {})[name] = _before(encoder, entry)
    return result


def events(objects: Keyspace, encoder: Encoder, entries: Iterable[Entry]) -> list[Event]:
    """The events of a bucket's latest entries, which come newest first; the oldest event is first.

    ``objects`` are the present ones. The record after a change is the one before the object's next
    change, or the present one.
    """
    result: list[Event] = []
    later: dict[tuple[str, str], Record | None] = {}
    for entry in entries:
        key = entry[2], entry[3]
        event = _event(encoder, entry, later.get(key) or objects.get(*key))
        later[key] = event.previous
        result.append(event)
    result.reverse()
    return result


def events_at(objects: Keyspace, encoder: Encoder, track: Track, revisions: Collection[int]) -> Iterator[Event]:
    """The events of a bucket that made these revisions and are retained, each when what came after
    it has been read, which of one object is in the order of revisions.

    What the others were is not read.
    """
    needed: set[int] = set()  # their entries, and of each that of the object's next change
    latest: dict[tuple[str, str], int] = {}
    for head in track.heads():
        key = head[2], head[3]
        if key in latest:
            needed.add(head[0])
            del latest[key]
        if head[0] in revisions:
            needed.add(head[0])
            latest[key] = head[0]
    pending: dict[tuple[str, str], Entry] = {}
    for entry in track.entries_at(needed):
        key = entry[2], entry[3]
        previous = _before(encoder, entry)
        if key in pending:
            yield _event(encoder, pending.pop(key), previous)
        if entry[0] in revisions:
            if entry[1] == "DELETED":
                yield _event(encoder, entry, None)
            else:
                pending[key] = entry
    for key, entry in pending.items():
        yield _event(encoder, entry, objects.get(*key))


def _event(encoder: Encoder, entry: Entry, after: Record | None) -> Event:
    previous = _before(encoder, entry)
    record = _gone(encoder, entry, previous) or after
    assert record is not None, f"nothing is known of {entry[2]}/{entry[3]} at {entry[0]}"
    return Event(entry[1], record, previous, cause_in(entry))


def _gone(encoder: Encoder, entry: Entry, previous: Record | None) -> Record | None:
    """The last state of what an entry deleted; None where it did not."""
    revision, type_, namespace, name, _, _, last = entry[:7]
    if last is not None:
        return encoder.past_record(namespace, name, revision, last)
    if type_ != "DELETED":
        return None
    assert previous is not None, "what was deleted was there"
    return encoder.deleted_record(previous, revision)


def _before(encoder: Encoder, entry: Entry) -> Record | None:
    data = entry[5]
    return None if data is None else encoder.past_record(entry[2], entry[3], entry[4], data)


class PastState:
    """A bucket as it was at ``revision``: what is there now, without the changes since then."""

    def __init__(self, objects: Keyspace, revision: int, overlay: Overlay) -> None:
        self.revision = revision
        self._now, self._overlay = objects, overlay
        self._moved: dict[str, tuple[SortedSet, SortedSet]] = {}

    def get(self, namespace: str, name: str) -> Record | None:
        """The record of then."""
        changed = self._overlay.get(namespace)
        if changed is not None and name in changed:
            return changed[name]
        return self._now.get(namespace, name)

    def page(self, namespace: str = "", *, start: str = "", limit: int = 0, match: Match | None = None) -> Page:
        """As ``Bucket.page``."""
        return read_page(self, self.revision, namespace, start, limit, match)

    def namespaces(self) -> list[str]:
        """The namespaces that had objects, and perhaps others, in key order."""
        return sorted({*self._overlay, *self._now.namespaces()}, key=prefix_of)

    def records(self, namespace: str, start: str = "", limit: int = 0) -> list[Record]:
        """As ``Keyspace.records``, of then."""
        changed = self._overlay.get(namespace)
        if changed is None:
            return self._now.records(namespace, start, limit)
        came, gone = self._moves(namespace)
        names = self._now.names(namespace, start, limit + len(came) if limit else 0)
        if came:
            names = [name for name in names if name not in came]
        names = sorted([*names, *gone.irange(start)])
        present = self._now.lookup(namespace)
        return [changed.get(name) or present[name] for name in (names[:limit] if limit else names)]

    def count_from(self, namespace: str, start: str = "") -> int:
        """How many names there were in a namespace from ``start`` on."""
        count = self._now.count_from(namespace, start)
        if namespace in self._overlay:
            came, gone = self._moves(namespace)
            count += len(gone) - int(gone.bisect_left(start)) - len(came) + int(came.bisect_left(start))
        return count

    def _moves(self, namespace: str) -> "tuple[SortedSet, SortedSet]":
        """The names that came to a namespace since then, and those that are gone."""
        found = self._moved.get(namespace)
        if found is None:
            changed, present = self._overlay[namespace], self._now.lookup(namespace)
            found = self._moved[namespace] = (
                SortedSet(name for name, record in changed.items() if record is None and name in present),
                SortedSet(name for name, record in changed.items() if record is not None and name not in present))
        return found
