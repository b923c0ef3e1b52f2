"""A bucket as it was, and what happened to it: for exact lists, for pages of a list begun before, for watches from the past.

Both are worked out from what the event log keeps, read backwards from now.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fakekube.storage.eventlog import Entry, cause_in
from fakekube.storage.keyspace import Match, mended, read_page
from fakekube.storage.record import Event, Page, Record

if TYPE_CHECKING:
    from fakekube.storage.bucket import Bucket

Overlay = dict[str, dict[str, Record | None]]
"""What differed from now at some revision: by namespace and name, the record of then, None when there was none."""


def overlay(bucket: "Bucket", entries: Iterable[Entry]) -> Overlay:
    """How a bucket differed before these entries, which are its latest, newest first."""
    oldest = {(entry[2], entry[3]): entry for entry in entries}
    result: Overlay = {}
    for (namespace, name), entry in oldest.items():
        result.setdefault(namespace, {})[name] = _before(bucket, entry)
    return result


def events(bucket: "Bucket", entries: Iterable[Entry]) -> list[Event]:
    """The events of these entries, which are a bucket's latest, newest first; the oldest event comes first.

    The record after a change is the one before the object's next change, or the present one.
    """
    result: list[Event] = []
    later: dict[tuple[str, str], Record | None] = {}
    for entry in entries:
        revision, type_, namespace, name, _, _, last = entry[:7]
        previous = _before(bucket, entry)
        record: Record | None
        if last is not None:
            record = bucket.past_record(namespace, name, revision, last)
        elif type_ == "DELETED":
            assert previous is not None, "what was deleted was there"
            record = bucket.deleted_record(previous, revision)
        else:
            record = later.get((namespace, name)) or bucket.get(namespace, name)
        assert record is not None, f"nothing is known of {namespace}/{name} at {revision}"
        later[namespace, name] = previous
        result.append(Event(type_, record, previous, cause_in(entry)))
    result.reverse()
    return result


def _before(bucket: "Bucket", entry: Entry) -> Record | None:
    data = entry[5]
    return None if data is None else bucket.past_record(entry[2], entry[3], entry[4], data)


class PastState:
    """A bucket as it was at ``revision``: what is there now, with what changed since then undone."""

    def __init__(self, bucket: "Bucket", revision: int, overlay: Overlay) -> None:
        self.revision = revision
        self._bucket, self._overlay = bucket, overlay

    def get(self, namespace: str, name: str) -> Record | None:
        """The record of then."""
        changed = self._overlay.get(namespace)
        if changed is not None and name in changed:
            return changed[name]
        return self._bucket.get(namespace, name)

    def page(self, namespace: str = "", *, start: str = "", limit: int = 0, match: Match | None = None) -> Page:
        """As ``Bucket.page``."""
        return read_page(self, namespace, start, limit, match)

    def namespaces(self) -> list[str]:
        """The namespaces that had objects, and perhaps others."""
        return list(dict.fromkeys([*self._bucket.namespaces(), *self._overlay]))

    def names(self, namespace: str) -> list[str]:
        """The names of then in a namespace, sorted."""
        names, changed = self._bucket.names(namespace), self._overlay.get(namespace)
        if not changed:
            return names
        records = self._bucket.lookup(namespace)
        came = [name for name, record in changed.items() if record is None and name in records]
        gone = [name for name, record in changed.items() if record is not None and name not in records]
        return mended(names.copy(), came, gone) if came or gone else names

    def lookup(self, namespace: str) -> Mapping[str, Record]:
        """The records of a namespace by name, with those of then where they differ."""
        changed = self._overlay.get(namespace)
        if not changed:
            return self._bucket.lookup(namespace)
        then = _Then((name, record) for name, record in changed.items() if record is not None)
        then.now = self._bucket.lookup(namespace)
        return then


class _Then(dict[str, Record]):
    """The records that were others then; any other is looked up in those of now. A copy of all would cost what all cost."""

    now: Mapping[str, Record]

    def __missing__(self, name: str) -> Record:
        return self.now[name]
