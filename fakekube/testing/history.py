"""What happened in a cluster, as states one after the other: every change that was committed, with
its time and its cause.

It is read from the event log that the storage keeps anyway, so that nothing is recorded for it and
no test has to watch while things happen. A History is of the moment at which it was taken; it may
be taken of a cluster, of one in the background, of a snapshot, or of the file of one.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from heapq import merge
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fakekube.apimachinery.causes import Cause
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.composition.options import OptionError
from fakekube.composition.storedkinds import Kinds
from fakekube.storage.record import Event, Record

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.snapshot import Snapshot
    from fakekube.testing.background import BackgroundCluster

    Where: TypeAlias = "Cluster | BackgroundCluster | Snapshot | History"

Key = tuple[str, str]
KEPT_TREES = 1_000


class HistoryForgotten(Exception):
    """What was asked about is no longer retained."""


class Change(NamedTuple):
    """One commit. ``time`` is Unix seconds; ``event`` has the record, the one before and the cause.
    """

    time: float
    resource: GroupResource
    event: Event

    @property
    def revision(self) -> int:
        """The version of the cluster that it made, which is the object's resourceVersion."""
        return self.event.revision

    @property
    def type(self) -> str:
        """ADDED, MODIFIED or DELETED."""
        return self.event.type

    @property
    def cause(self) -> Cause | None:
        """The request behind it; None for what the server did by itself."""
        return self.event.cause

    @property
    def object(self) -> Tree:
        """The object after it, or the last state of one that is gone."""
        return self.event.record.copy_tree()

    @property
    def before(self) -> Tree | None:
        """The object before it, or None."""
        return self.event.previous.copy_tree() if self.event.previous is not None else None

    @property
    def name(self) -> str:
        """``pods default/web-0``."""
        record, resource = self.event.record, self.resource
        plural = f"{resource.resource}.{resource.group}" if resource.group else resource.resource
        return f"{plural} {record.namespace}/{record.name}" if record.namespace else f"{plural} {record.name}"


class State:
    """All objects at one moment.

    ``at`` is its time; ``change`` led to it, None in the state that a history begins with.
    """

    def __init__(self, kinds: Kinds, objects: dict[GroupResource, dict[Key, Record]], at: float, revision: int) -> None:
        self._kinds, self._objects = kinds, objects
        self.at, self.revision = at, revision
        self.change: Change | None = None
        # since somebody cleared it; None is the time
        self.looked_at: dict[GroupResource | None, None] = {}
        self._trees: dict[tuple[Resource, Record], Tree] = {}

    @property
    def time(self) -> float:
        """Unix seconds."""
        self.looked_at[None] = None
        return self.at

    @property
    def now(self) -> datetime:
        """The time as an aware UTC datetime."""
        return datetime.fromtimestamp(self.time, UTC)

    def get(self, resource: Resource, name: str, namespace: str = "default") -> Tree | None:
        """An object, or None; read-only."""
        record = self._of(resource).get((namespace if resource.namespaced else "", name))
        return None if record is None else self._tree(resource, record)

    def list(self, resource: Resource, namespace: str = "", **labels: str) -> list[Tree]:
        """The objects of a namespace ("" for all) that have these labels, in no useful order;
        read-only.
        """
        return [
            self._tree(resource, record) for (space, _), record in self._of(resource).items()
            if (not namespace or space == namespace) and all(record.labels.get(key) == value for key, value in labels.items())]

    def field(self, resource: Resource, name: str, path: str, namespace: str = "default") -> Any:
        """What stands at ``status.succeeded`` of an object; None when there is no such field, or no
        such object.
        """
        found: Any = self.get(resource, name, namespace)
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def condition(self, resource: Resource, name: str, type_: str, namespace: str = "default") -> str:
        """The status of a condition (True, False, Unknown); empty when there is none of that type.
        """
        for condition in self.field(resource, name, "status.conditions", namespace) or ():
            if condition["type"] == type_:
                return str(condition["status"])
        return ""

    def _of(self, resource: Resource) -> dict[Key, Record]:
        stored = self._kinds.stored_as(resource)
        self.looked_at[stored] = None
        return self._records(stored)

    def _records(self, stored: GroupResource) -> dict[Key, Record]:
        return self._objects.get(stored, {})

    def _tree(self, resource: Resource, record: Record) -> Tree:
        key = resource, record
        tree = self._trees.get(key)
        if tree is None:
            tree = self._trees[key] = self._kinds.tree(resource, record)
        return tree

    def apply(self, change: Change) -> None:
        """Become the state after a change."""
        record, previous = change.event.record, change.event.previous
        objects = self._objects.setdefault(change.resource, {})
        if change.type == "DELETED":
            objects.pop((record.namespace, record.name), None)
        else:
            objects[record.namespace, record.name] = record
        if previous is not None and self._trees:
            self._trees = {key: tree for key, tree in self._trees.items() if key[1] is not previous}
        self.at, self.revision, self.change = change.time, change.revision, change


class Present(State):
    """The present state of a cluster that goes on: every look sees what is there then."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        super().__init__(Kinds(cluster.options), {}, 0.0, 0)
        self.refresh()

    def refresh(self) -> None:
        """Look anew from here on."""
        self.at, self.revision = self._cluster.clock.time(), self._cluster.apiserver.storage.revision
        self.looked_at = {}
        self._objects.clear()
        if len(self._trees) > KEPT_TREES:
            self._trees.clear()

    def _records(self, stored: GroupResource) -> dict[Key, Record]:
        found = self._objects.get(stored)
        if found is None:
            records = self._cluster.apiserver.storage.bucket(stored).records() if self._is_there(stored) else []
            found = self._objects[stored] = {(record.namespace, record.name): record for record in records}
        return found

    def _is_there(self, stored: GroupResource) -> bool:
        return self._cluster.apiserver.storage.has(stored)


class History:
    """What a cluster retains of what happened; by default of its whole life."""

    def __init__(self, snapshot: "Snapshot") -> None:
        self.snapshot = snapshot
        self._storage = snapshot.storage
        self.kinds = Kinds(snapshot.options)
        self.started = parse_time(snapshot.started)
        self.begins = self._storage.log.compacted
        self.changes = list(self._read())
        self.ends = self._storage.revision

    @classmethod
    def of(cls, where: "Where") -> "History":
        """The history of a cluster (from its own thread), of one in the background (from any
        other), or of a snapshot.
        """
        from fakekube.composition.snapshot import Snapshot
        from fakekube.testing.background import BackgroundCluster

        if isinstance(where, History):
            return where
        if isinstance(where, BackgroundCluster):
            return cls(where.snapshot())
        return cls(where if isinstance(where, Snapshot) else where.snapshot())

    def _read(self) -> Iterator[Change]:
        tracks = [[(event.revision, bucket.resource, event) for event in bucket.history()] for bucket in self._storage.buckets]
        time = self.started
        for _, resource, event in merge(*tracks, key=lambda entry: entry[0]):
            # the server's own writes come with others'
            time = event.cause.time if event.cause is not None else time
            yield Change(time, resource, event)

    @property
    def now(self) -> float:
        """When it was taken, in Unix seconds."""
        return self.snapshot.time

    def first_revision(self, since: int | str | None) -> int:
        """Where to begin for ``since``: a revision, an object's resourceVersion, or None for the
        beginning of the cluster.

        Raises HistoryForgotten when that is no longer retained, OptionError for what is no version
        of this cluster.
        """
        if since is None:
            since = self._storage.log.begun
        if not str(since).isdecimal() or int(since) > self.ends:
            raise OptionError(f"since: {since!r} is no version of this cluster, which is at {self.ends}")
        if int(since) < self.begins:
            raise HistoryForgotten(
                f"the history begins at version {self.begins}, and {since} is before that: of a cluster's changes the last "
                f"{self._storage.log.max_events:,} are retained; ask about a later part with since=, or sooner")
        return int(since)

    def states(self, since: int | str | None = None) -> Iterator[State]:
        """Every state from a version on, that version's included.

        It is one object that changes: look, and do not keep it.

        Raises HistoryForgotten.
        """
        revision = self.first_revision(since)
        objects = {
            bucket.resource: {(record.namespace, record.name): record for record in bucket.at(revision).page().records}
            for bucket in self._storage.buckets}
        later = [change for change in self.changes if change.revision > revision]
        earlier = [change for change in self.changes if change.revision <= revision]
        state = State(self.kinds, objects, earlier[-1].time if earlier else self.started, revision)
        state.change = earlier[-1] if earlier else None
        yield state
        for change in later:
            state.apply(change)
            yield state

    def of_object(self, resource: Resource, name: str, namespace: str = "default") -> list[Change]:
        """The changes of one object, by name: of all that have had it."""
        stored, key = self.kinds.stored_as(resource), (namespace if resource.namespaced else "", name)
        return [change for change in self.changes if change.resource == stored
                and (change.event.record.namespace, change.event.record.name) == key]

    def change_at(self, revision: int | str) -> Change | None:
        """The change that made a version, if it is retained."""
        return self._by_revision.get(str(revision))

    @cached_property
    def _by_revision(self) -> dict[str, Change]:
        return {str(change.revision): change for change in self.changes}
