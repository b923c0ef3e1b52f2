"""What happened in a cluster, as states one after the other: every change that was committed, with
its time and its cause.

It is read from the event log that the storage keeps anyway, so that nothing is recorded for it and
no test has to watch while things happen. A History is of the moment at which it was taken; it may
be taken of a cluster, of one in the background, of a snapshot, or of the file of one.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from heapq import merge
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from fakekube.apimachinery.causes import Cause
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from fakekube.composition.options import OptionError
from fakekube.composition.storedkinds import Kinds
from fakekube.storage.record import Event, Record
from fakekube.tracing.text import offset_text

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.snapshot import Snapshot
    from fakekube.testing.background import BackgroundCluster

    Where: TypeAlias = "Cluster | BackgroundCluster | Snapshot | History"

Spaces = dict[str, dict[str, Record]]
"""Objects of a resource: by namespace, and by name."""


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


Look = tuple[GroupResource | str, ...] | None
"""What a predicate looked at: None is the time, () all that changes; else a resource, a namespace
of it, or one object of that.
"""


class State:
    """All objects at one moment.

    ``at`` is its time, ``started`` when the cluster began; ``last`` and ``number`` are the change
    that led here and the version, for who only tells of them.
    """

    member = ""  # of a fleet

    def __init__(
        self, kinds: Kinds, objects: dict[GroupResource, Spaces], at: float, revision: int, started: float,
        change: "Change | None" = None,
    ) -> None:
        self._kinds, self._objects = kinds, objects
        self.at, self.started = at, started
        self.number, self.last = revision, change
        self._is_first = True
        self.looked_at: dict[Look, None] = {}  # since somebody cleared it
        self._trees: dict[Record, dict[Resource, Tree]] = {}

    @property
    def time(self) -> float:
        """Unix seconds."""
        self.looked_at[None] = None
        return self.at

    @property
    def now(self) -> datetime:
        """The time as an aware UTC datetime."""
        return datetime.fromtimestamp(self.time, UTC)

    @property
    def revision(self) -> int:
        """The version of the cluster."""
        self.looked_at[()] = None
        return self.number

    @property
    def change(self) -> "Change | None":
        """What led to it, if that is known."""
        self.looked_at[()] = None
        return self.last

    @property
    def moment(self) -> str:
        """``at +31s (version 57)``."""
        return f"at {offset_text(self.at - self.started)} (version {self.number})"

    def get(self, resource: Resource, name: str, namespace: str = "default") -> Tree | None:
        """An object, or None; read-only."""
        stored, space = self._kinds.stored_as(resource), namespace if resource.namespaced else ""
        self.looked_at[stored, space, name] = None
        record = self._record(stored, space, name)
        return None if record is None else self._tree(resource, record)

    def list(self, resource: Resource, namespace: str = "", **labels: str) -> list[Tree]:
        """The objects of a namespace ("" for all) that have these labels, in no useful order;
        read-only.
        """
        stored = self._kinds.stored_as(resource)
        self.looked_at[(stored, namespace) if namespace else (stored,)] = None
        return [
            self._tree(resource, record) for record in self._records(stored, namespace)
            if all(record.labels.get(key) == value for key, value in labels.items())]

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

    def concerns(self, looks: Mapping[Look, None]) -> bool:
        """Whether the change that led here is of something that was looked at."""
        return self._is_first or any(look in looks for look in self.concerned)

    @property
    def concerned(self) -> tuple[Look, ...]:
        """Who has looked at one of these is concerned by the change that led here."""
        if self.last is None:
            return ((),)
        resource, record = self.last.resource, self.last.event.record
        return (), (resource,), (resource, record.namespace), (resource, record.namespace, record.name)

    def changed(self, resource: Resource) -> Iterable[Tree]:
        """The object of a resource that the change that led here is of, if it is there; all of them
        in the first state. This is no look.
        """
        stored = self._kinds.stored_as(resource)
        if self._is_first or self.last is None:
            return [self._tree(resource, record) for record in self._records(stored, "")]
        is_there = self.last.resource == stored and self.last.type != "DELETED"
        return [self._tree(resource, self.last.event.record)] if is_there else []

    def looks_at_all_of(self, resource: Resource) -> Mapping[Look, None]:
        """What is looked at by who looks at all objects of a resource."""
        return {(self._kinds.stored_as(resource),): None}

    def resources(self, looks: Iterable[Look]) -> Iterator[tuple[str, GroupResource | None]]:
        """Of which resources the changes are wanted by who looks at these; None: of all. Each with
        the member of a fleet, here empty.
        """
        for look in looks:
            yield "", cast("GroupResource", look[0]) if look else None

    def _record(self, stored: GroupResource, namespace: str, name: str) -> Record | None:
        return self._objects.get(stored, {}).get(namespace, {}).get(name)

    def _records(self, stored: GroupResource, namespace: str) -> Iterable[Record]:
        """Of a namespace, or of all."""
        spaces = self._objects.get(stored, {})
        if namespace:
            return spaces.get(namespace, {}).values()
        return (record for space in spaces.values() for record in space.values())

    def _tree(self, resource: Resource, record: Record) -> Tree:
        trees = self._trees.setdefault(record, {})
        tree = trees.get(resource)
        if tree is None:
            tree = trees[resource] = self._kinds.tree(resource, record)
        return tree

    def apply(self, change: Change) -> None:
        """Become the state after a change."""
        record = change.event.record
        space = self._objects.setdefault(change.resource, {}).setdefault(record.namespace, {})
        if change.type == "DELETED":
            space.pop(record.name, None)
        else:
            space[record.name] = record
        self.note(change)

    def note(self, change: Change) -> None:
        """A change has led here; objects are as it left them."""
        if change.event.previous is not None:
            self._trees.pop(change.event.previous, None)
        # a request that waited was asked before others, and is committed after them
        self.at, self.number, self.last = max(self.at, change.time), change.revision, change
        self._is_first = False


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
        if isinstance(where, Mapping):
            raise OptionError('a fleet has a history for each of its clusters: ask about fleet["manager"], say')
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

    def stores(self, resource: GroupResource) -> bool:
        """Whether there can be objects of a resource."""
        if self._storage.has(resource) or self.kinds.has(resource):
            return True
        definitions = CUSTOM_RESOURCE_DEFINITIONS.group_resource
        if self._storage.has(definitions) and self._storage.bucket(definitions).get("", str(resource)) is not None:
            return True
        return any(one.resource == definitions and one.event.record.name == str(resource) for one in self.changes)

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
        objects: dict[GroupResource, Spaces] = {}
        for bucket in self._storage.buckets:
            for record in bucket.at(revision).page().records:
                objects.setdefault(bucket.resource, {}).setdefault(record.namespace, {})[record.name] = record
        later = [change for change in self.changes if change.revision > revision]
        earlier = [change for change in self.changes if change.revision <= revision]
        state = State(
            self.kinds, objects, earlier[-1].time if earlier else self.started, revision, self.started,
            earlier[-1] if earlier else None)
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
