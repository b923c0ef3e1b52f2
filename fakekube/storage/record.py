"""What the storage keeps and hands out: records, pages of them, events, and what can go wrong.

A record is an object's encoded bytes with the few facts that must be known without decoding them. Upstream keeps
decoded structs in its cacher; in Python the cyclic collector and the memory make bytes several times cheaper.
Left out: transformers (encryption at rest), time to live.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import orjson

from fakekube.apimachinery.causes import CAUSE
from fakekube.apimachinery.http import Frame
from fakekube.apimachinery.types import Tree

if TYPE_CHECKING:
    from weakref import ReferenceType

    from fakekube.storage.trees import TreeCache

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


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
        "shown", "uid", "uses",
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
        self.shown: ReferenceType[SharedTree] | None = None
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


class Event:
    """One change. ``record`` is the new state, after a deletion the last one with the deletion's revision.

    ``cause`` is the request that it answers to; None for what the server did by itself.
    """

    __slots__ = ("cause", "frames", "previous", "record", "revision", "type")

    def __init__(self, type: EventType, record: Record, previous: Record | None) -> None:  # noqa: A002 (upstream's word)
        self.type, self.record, self.previous = type, record, previous
        self.revision = record.revision
        self.cause = CAUSE.get()
        self.frames: dict[object, Frame] | None = {}  # None once the event is no longer fresh

    def frame(self, key: object, make: Callable[[], Frame]) -> Frame:
        """The frame that all watchers with the same ``key`` get, made by the first while the event is fresh."""
        frames = self.frames
        if frames is None:
            return make()
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
