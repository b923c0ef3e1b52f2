"""The objects of one resource: how they are read, and how one is changed.

Every read is of the present unless it says otherwise, and every change one synchronous step, see
``memory.py``.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

from fakekube.apimachinery.causes import CAUSE
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.storage import past
from fakekube.storage.encoding import Encoder, Fields
from fakekube.storage.entry import Entry, entry_of
from fakekube.storage.eventlog import EventLog
from fakekube.storage.index import Indexes, Key
from fakekube.storage.keyspace import Keyspace, Match, read_page
from fakekube.storage.ordering import MetadataOrder
from fakekube.storage.past import PastState
from fakekube.storage.record import (
    Compacted,
    Event,
    EventType,
    Future,
    KeyExists,
    Page,
    Record,
    Stale,
)
from fakekube.storage.track import Track
from fakekube.storage.trees import TreeCache
from fakekube.storage.watchcache import Deliver, Field, Subscribers, Subscription


class Commits(Protocol):
    """What the buckets of a storage share, so that there is one order of all changes;
    ``memory.Storage`` is one.
    """

    revision: int
    log: EventLog
    trees: TreeCache
    metadata_order: MetadataOrder
    sought: dict[Callable[[], None], Callable[[Record], bool]]
    plain_events: int
    oldest_readable: int
    oldest_watchable: int

    def next_revision(self) -> int:
        """The revision of the commit that is being made."""

    def tell(self, subscribers: Subscribers, event: Event) -> None:
        """Tell of an event whoever wants to know."""


class Bucket:
    """The objects of one resource. Reads never raise for what is not there unless they say so."""

    def __init__(self, storage: Commits, resource: GroupResource, fields: Fields | None, *, sort_keys: bool) -> None:
        self.storage, self.resource = storage, resource
        self.encoder = Encoder(fields, sort_keys, storage.metadata_order, storage.trees)
        self.objects = Keyspace()
        self.changes = 0  # writes so far: while it stays, what was read is the present
        self.track = Track(storage.plain_events)
        self.retired = False  # the cluster has another state now: watchers must list again
        self.dropped = False  # its resource is served no more: nothing may be written
        self._subscribers = Subscribers()
        self._indexes = Indexes()

    # reading

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def revision(self) -> int:
        """The storage's revision: a read of the present is one of this revision."""
        return self.storage.revision

    @property
    def compacted(self) -> int:
        """The oldest revision whose state can still be told."""
        return self.storage.log.compacted

    def get(self, namespace: str, name: str) -> Record | None:
        """The stored record; the namespace of an object without one is empty."""
        return self.objects.get(namespace, name)

    def page(self, namespace: str = "", *, start: str = "", limit: int = 0, match: Match | None = None) -> Page:
        """The present objects of a namespace ("" for all), in key order.

        ``start`` is the first key that counts (a ``next_start`` of before), ``limit`` the number of
        records (0: all), ``match`` chooses among them.
        """
        return read_page(self.objects, self.storage.revision, namespace, start, limit, match)

    def records(self, namespace: str = "") -> list[Record]:
        """All present records of a namespace ("" for all), in key order."""
        # objects without a namespace are all in the space that has no name
        if namespace or "" in self.objects.spaces:
            return self.objects.records(namespace)
        return self.page().records

    def at(self, revision: int) -> "Bucket | PastState":
        """The bucket as it was at a revision. Raises Compacted, Future."""
        if revision > self.storage.revision:
            raise Future(self.storage.revision)
        overlay = past.overlay(self.encoder, self.storage.log.since(self.track, revision))
        return PastState(self.objects, revision, overlay) if overlay or revision != self.storage.revision else self

    def history(self, since: int | None = None) -> list[Event]:
        """What happened here after a revision, by default all that is retained, oldest first.

        Raises Compacted.
        """
        since = self.compacted if since is None else since
        return past.events(self.objects, self.encoder, self.storage.log.since(self.track, since))

    def heads(self) -> Iterator[Entry]:
        """What is retained of each change here, oldest first, with or without the state before it;
        nothing is unpacked.
        """
        return self.track.heads()

    def events_at(self, revisions: Collection[int]) -> Iterator[Event]:
        """Those events that made these revisions and are retained, in no useful order."""
        return past.events_at(self.objects, self.encoder, self.track, revisions)

    def by_field(self, label: str, value: str) -> list[Record]:
        """The present objects whose selectable field has the text, in key order.

        The first question about a label builds its index.
        """
        return self._records_of(self._indexes.by_field(label, value, self.objects.all))

    def by_label(self, key: str, value: str) -> list[Record] | None:
        """The present objects with the label, in key order; None when too many other labels have an
        index already.

        The first question about a label builds its index.
        """
        found = self._indexes.by_label(key, value, self.objects.all)
        return None if found is None else self._records_of(found)

    def _records_of(self, keys: Iterable[Key]) -> list[Record]:
        spaces = self.objects.spaces
        return [spaces[prefix[:-1]].records[name] for prefix, name in keys]

    def all(self) -> Iterator[Record]:
        """All present records, in no useful order."""
        return self.objects.all()

    def namespaces(self) -> list[str]:
        """The namespaces that have objects, in key order."""
        return self.objects.namespaces()

    # writing

    def create(self, tree: Tree) -> Record:
        """Store a new object.

        ``tree`` has kind, apiVersion and a name, and is the storage's now. Raises KeyExists.
        """
        meta = tree["metadata"]
        namespace, name = meta.get("namespace", ""), meta["name"]
        if self.get(namespace, name) is not None:
            raise KeyExists(namespace, name)
        return self._commit("ADDED", tree, None)

    def keep(self, tree: Tree) -> Record:
        """Hold an object that was there before the history began, in the version that it names;
        there is no event of it.
        """
        record = self.encoder.record(tree, int(tree["metadata"]["resourceVersion"]))
        self.changes += 1
        self.objects.add(record)
        if self._indexes:
            self._indexes.replace(None, record)
        return record

    def update(self, tree: Tree, expected: Record) -> Record:
        """Replace the object that the caller saw. ``tree`` belongs to the storage. Raises Stale."""
        self._check(expected)
        return self._commit("MODIFIED", tree, expected)

    def restate(self, tree: Tree, expected: Record) -> Record:
        """Keep an object in another form, at the revision that it has; there is no event of it.

        For objects whose definition says since that they are to be read otherwise. Raises Stale.
        """
        self._check(expected)
        record = self.encoder.record(tree, expected.revision, expected)
        self.changes += 1
        self.objects.replace(record)
        if self._indexes:
            self._indexes.replace(expected, record)
        return record

    def select_by(self, fields: Fields | None) -> bool:
        """Let other texts of objects be selected by from now on.

        Whether that changes something for objects that are there: each needs ``select_anew`` then.
        """
        if fields is None and self.encoder.fields is None:
            return False
        self.encoder.fields = fields
        self._indexes = Indexes()
        return True

    def select_anew(self, record: Record) -> Record:
        """Let an object that is there be selected by what ``select_by`` said last."""
        found = self.encoder.decode(record.data)
        self.objects.replace(found)
        if self._indexes:
            self._indexes.replace(record, found)
        return found

    def delete(self, expected: Record, final: Tree | None = None) -> Record:
        """Remove the object that the caller saw. Raises Stale.

        The record that returns, and that watchers get, is ``final`` (by default the last state)
        with the deletion's revision.
        """
        self._check(expected)
        if final is None:
            return self._commit("DELETED", expected.tree(), expected, as_it_was=True)
        return self._commit("DELETED", final, expected)

    def _check(self, expected: Record) -> None:
        if self.get(expected.namespace, expected.name) is not expected:
            raise Stale(expected.namespace, expected.name)

    def _commit(self, type_: EventType, tree: Tree, previous: Record | None, *, as_it_was: bool = False) -> Record:
        """``as_it_was`` says that the tree is that of ``previous``, so that the history need not
        keep it twice.
        """
        storage = self.storage
        revision = storage.next_revision()
        # may refuse the tree, so nothing has happened yet
        record = self.encoder.record(tree, revision, previous)
        storage.revision = revision
        self.changes += 1
        before = None
        if previous is None:
            self.objects.add(record)
        else:
            before = previous.revision, previous.data
            if type_ == "MODIFIED":
                self.objects.replace(record)
            else:
                self.objects.remove(previous)
        left = None if type_ == "DELETED" else record
        if self._indexes:
            self._indexes.replace(previous, left)
        cause = CAUSE.get()
        last = record.data if left is None and not as_it_was else None
        storage.log.append(self.track, entry_of(revision, type_, (record.namespace, record.name), before, last, cause))
        if self._subscribers or storage.sought:
            storage.tell(self._subscribers, Event(type_, record, previous, cause))
        return record

    # forks, and what is read from files

    def fork(self, storage: Commits) -> "Bucket":
        """The same objects and history as a bucket of another storage."""
        other = Bucket(storage, self.resource, self.encoder.fields, sort_keys=self.encoder.sort_keys)
        other.objects, other._indexes, other.changes = self.objects.fork(), self._indexes.fork(), self.changes
        other.track = self.track.fork()
        return other

    def fill(self, records: list[Record], history: deque[Entry]) -> None:
        """Begin with these objects and this history, in a bucket that has had none; the log is told
        by ``take_over``.
        """
        assert not self.changes, f"{self.resource} was written to"
        for record in records:
            self.objects.add(record)
        self.changes, self.track = len(records), Track(self.storage.plain_events, history)

    # watching

    def subscribe(
        self, since: int, namespace: str, deliver: Deliver, *, field: Field | None = None,
        closed: Callable[[], None] | None = None,
    ) -> Subscription:
        """Call ``deliver(event)`` for every event after the revision ``since``: past ones now,
        others as they happen.

        ``namespace`` "" means all. ``field`` narrows to events whose object has, or had before, a
        text in a selectable field (``metadata.name`` among them). ``since`` may lie in the future.
        ``deliver`` must be quick and may not write. ``closed()`` is called when the resource itself
        goes away. Raises Compacted.
        """
        if since < self.storage.oldest_watchable:
            raise Compacted(self.storage.oldest_watchable)
        history = past.events(self.objects, self.encoder, self.storage.log.since(self.track, since))
        ahead = since > self.storage.revision
        subscription = Subscription(self._subscribers, since, namespace, field, deliver, closed, ahead=ahead)
        for event in history:
            subscription.tell_if_concerned(event)
        if subscription.active:
            self._subscribers.add(subscription)
        return subscription

    def close(self) -> None:
        """End every subscription: the resource is no longer served."""
        self._subscribers.close()
