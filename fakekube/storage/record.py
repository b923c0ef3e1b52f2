"""What the storage keeps and hands out: records, pages of them, events, and what can go wrong.

A record is an object's encoded bytes with the few facts that must be known without decoding them. Upstream keeps
decoded structs in its cacher; in Python the cyclic collector and the memory make bytes several times cheaper.
Of a state that was superseded only the bytes are kept, and a record of it is made when somebody asks for it.
Left out: transformers (encryption at rest), time to live.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson

from fakekube.apimachinery.causes import Cause
from fakekube.apimachinery.http import Frame
from fakekube.apimachinery.types import Tree

if TYPE_CHECKING:
    from weakref import ReferenceType

    from fakekube.storage.trees import TreeCache

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


Facts = tuple[str, Mapping[str, str], tuple[str, ...], Mapping[str, str]]
"""What is known of an object without decoding it, beside its key: uid, labels, owners' uids and selectable texts."""


class SharedTree(Tree):
    """A decoded object that is known for as long as anybody holds it: an informer's cache, say."""

    __slots__ = ("__weakref__",)


class Record:
    """One object at one revision; never changed.

    ``data`` is the object encoded: kind, apiVersion, metadata, then the rest, ``metadata.resourceVersion`` being
    ``revision``. ``body_offset`` is the length of what a list's item leaves out (kind and apiVersion, with the opening
    brace), 0 when items are whole. ``owners`` are the uids of ownerReferences, ``fields`` the selectable texts.
    """

    __slots__ = (
        "_trees", "body_offset", "data", "fields", "held_tree", "labels", "name", "namespace", "owners", "revision",
        "seen_tree", "uid", "uses",
    )

    def __init__(
        self, namespace: str, name: str, revision: int, uid: str, labels: Mapping[str, str], owners: tuple[str, ...],
        fields: Mapping[str, str], data: bytes, body_offset: int, trees: "TreeCache",
    ) -> None:
        self.namespace, self.name, self.revision, self.uid = namespace, name, revision, uid
        self.labels, self.owners, self.fields = labels, owners, fields
        self.data, self.body_offset = data, body_offset
        self._trees = trees
        self.held_tree: SharedTree | None = None  # the tree cache's, as are the next two
        self.seen_tree: ReferenceType[SharedTree] | None = None
        self.uses = 0

    def tree(self) -> Tree:
        """The object decoded, shared by all who ask: never to be changed."""
        tree = self.held_tree
        if tree is None:
            return self._trees.load(self)
        self.uses += 1
        return tree

    def copy_tree(self) -> Tree:
        """The object decoded for the caller alone."""
        tree: Tree = orjson.loads(self.data)
        return tree

    def __repr__(self) -> str:
        return f"<Record {self.namespace}/{self.name} at {self.revision}>"


class PastRecord(Record):
    """An object as it was at a revision. It decodes itself once, when somebody asks for more than its key and its bytes."""

    __slots__ = ("_facts_of",)

    def __init__(
        self, namespace: str, name: str, revision: int, data: bytes, body_offset: int, facts_of: Callable[[Tree], Facts],
    ) -> None:
        self.namespace, self.name, self.revision = namespace, name, revision
        self.data, self.body_offset = data, body_offset
        self._facts_of = facts_of
        self.held_tree = None

    def __getattr__(self, name: str) -> Any:
        if name not in ("uid", "labels", "owners", "fields"):
            raise AttributeError(name)
        self.uid, self.labels, self.owners, self.fields = self._facts_of(self.tree())
        return getattr(self, name)

    def tree(self) -> Tree:
        """As above; the tree stays for as long as the record."""
        tree = self.held_tree
        if tree is None:
            tree = self.held_tree = SharedTree(self.copy_tree())
        return tree


class Event:
    """One change. ``record`` is the new state, after a deletion the last one with the deletion's revision.

    ``cause`` is the request that it answers to; None for what the server did by itself. It is made for those who are told
    of it, and not kept: see ``eventlog.py``.
    """

    __slots__ = ("cause", "frames", "previous", "record", "revision", "type")

    def __init__(
        self, type: EventType, record: Record, previous: Record | None, cause: Cause | None,  # noqa: A002 (upstream's word)
    ) -> None:
        self.type, self.record, self.previous, self.cause = type, record, previous, cause
        self.revision = record.revision
        self.frames: dict[object, Frame] | None = None

    def frame(self, key: object, make: Callable[[], Frame]) -> Frame:
        """The frame that all watchers with the same ``key`` get, made by the first."""
        frames = self.frames
        if frames is None:
            frames = self.frames = {}
        frame = frames.get(key)
        if frame is None:
            frame = frames[key] = make()
        return frame

    def __repr__(self) -> str:
        return f"<Event {self.type} {self.record!r}>"


class Page(NamedTuple):
    """A part of a list, in key order.

    ``next_start`` is where the next page starts, empty when this was the last; ``remaining`` counts what is left
    after this page, matching or not.
    """

    records: list[Record]
    revision: int
    next_start: str
    remaining: int


class KeyExists(Exception):
    """There is an object of that name already."""

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__(f"{namespace}/{name} exists")


class Stale(Exception):
    """The stored object is not the one that the caller saw: changed or gone."""

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__(f"{namespace}/{name} has moved on")


class Compacted(Exception):
    """The history no longer reaches back to the revision. ``oldest`` is the oldest state that is left."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"history begins at {oldest}")
        self.oldest = oldest


class Future(Exception):
    """The revision is not there yet. ``current`` is the newest."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the newest revision is {current}")
        self.current = current
