"""What the storage keeps and hands out: records, pages of them, events, and what can go wrong.

A record is an object's encoded bytes with the few facts that must be known without decoding them.
Upstream keeps decoded structs in its cacher; in Python the cyclic collector and the memory make
bytes several times cheaper. Of a state that was superseded only the bytes are kept, and a record of
it is made when somebody asks for it. Left out: transformers (encryption at rest), time to live.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import orjson

from fakekube.apimachinery.causes import Cause
from fakekube.apimachinery.http import Frame
from fakekube.apimachinery.types import Tree

if TYPE_CHECKING:
    from weakref import ReferenceType

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


Row = tuple[str, str, int, str, tuple[str, ...], bool, tuple[Any, ...], bytes, int]
"""What is kept of an object: namespace, name, revision, uid, labels (keys and values in turn),
whether it has owners, selectable fields (their names, then a text for each), the encoded bytes, and
``body_offset``."""

NOTHING: Mapping[str, str] = MappingProxyType({})


class SharedTree(Tree):
    """A decoded object that is known for as long as anybody holds it: an informer's cache, say."""

    __slots__ = ("__weakref__",)


class Trees(Protocol):
    """Where the tree of a record is found, or kept; ``trees.TreeCache`` is one."""

    def load(self, record: "Record") -> Tree:
        """The tree of a record that holds none."""


class Record:
    """One object at one revision; never changed.

    ``data`` is the object encoded: kind, apiVersion, metadata, then the rest,
    ``metadata.resourceVersion`` being ``revision``. ``body_offset`` is the length of what a list's
    item leaves out (kind and apiVersion, with the opening brace), 0 when items are whole.
    ``fields`` are the selectable texts.

    All that is in one flat tuple, at which the cyclic collector looks no longer once it has seen
    it: with 50,000 objects following each part of them would be a pause of 50 ms. Labels and fields
    become dicts when somebody asks for them.
    """

    __slots__ = ("_fields", "_labels", "_trees", "held_tree", "row", "seen_tree", "uses")

    def __init__(self, row: Row, trees: Trees) -> None:
        self.row, self._trees = row, trees
        self._labels: Mapping[str, str] | None = None
        self._fields: Mapping[str, str] | None = None
        self.held_tree: SharedTree | None = None  # the tree cache's, as are the next two
        self.seen_tree: ReferenceType[SharedTree] | None = None
        self.uses = 0

    @property
    def namespace(self) -> str:
        """Empty for an object without one."""
        return self.row[0]

    @property
    def name(self) -> str:
        """The object's name."""
        return self.row[1]

    @property
    def revision(self) -> int:
        """The object's resourceVersion."""
        return self.row[2]

    @property
    def uid(self) -> str:
        """The object's uid; empty when it has none."""
        return self.row[3]

    @property
    def labels(self) -> Mapping[str, str]:
        """The object's labels."""
        labels = self._labels
        if labels is None:
            flat = self.row[4]
            labels = self._labels = dict(zip(flat[::2], flat[1::2], strict=True)) if flat else NOTHING
        return labels

    @property
    def has_owners(self) -> bool:
        """Whether the object has ownerReferences."""
        return self.row[5]

    @property
    def fields(self) -> Mapping[str, str]:
        """The object's selectable texts."""
        fields = self._fields
        if fields is None:
            flat = self.row[6]
            fields = self._fields = dict(zip(flat[0], flat[1:], strict=True)) if flat else NOTHING
        return fields

    @property
    def data(self) -> bytes:
        """The object encoded."""
        return self.row[7]

    @property
    def body_offset(self) -> int:
        """Where a list's item begins."""
        return self.row[8]

    def field(self, name: str) -> str:
        """One selectable text; empty when the object has none of that name."""
        flat = self.row[6]
        text: str = flat[1 + flat[0].index(name)] if flat and name in flat[0] else ""
        return text

    def label(self, key: str) -> str | None:
        """The value of one label."""
        flat = self.row[4]
        for at in range(0, len(flat), 2):
            if flat[at] == key:
                return flat[at + 1]
        return None

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
    """An object as it was at a revision.

    It decodes itself once, when somebody asks for more than its key and its bytes.
    """

    __slots__ = ("_data", "_past", "_row_of")

    def __init__(
        self, namespace: str, name: str, revision: int, data: bytes | Callable[[], bytes],
        row_of: Callable[[Tree, int, bytes], Row],
    ) -> None:
        self._past = namespace, name, revision
        self._data, self._row_of = data, row_of
        self._labels = self._fields = self.held_tree = None

    def __getattr__(self, name: str) -> Any:
        if name != "row":
            raise AttributeError(name)
        self.row = self._row_of(self.tree(), self._past[2], self.data)
        return self.row

    @property
    def namespace(self) -> str:
        """As above."""
        return self._past[0]

    @property
    def name(self) -> str:
        """As above."""
        return self._past[1]

    @property
    def revision(self) -> int:
        """As above."""
        return self._past[2]

    @property
    def data(self) -> bytes:
        """As above."""
        data = self._data
        if not isinstance(data, bytes):
            data = self._data = data()
        return data

    def tree(self) -> Tree:
        """As above; the tree stays for as long as the record."""
        tree = self.held_tree
        if tree is None:
            tree = self.held_tree = SharedTree(self.copy_tree())
        return tree


class Event:
    """One change.

    ``record`` is the new state, after a deletion the last one with the deletion's revision.

    ``cause`` is the request that it answers to; None for what the server did by itself. It is made
    for those who are told of it, and not kept: see ``eventlog.py``.
    """

    __slots__ = ("cause", "frames", "previous", "record", "revision", "type")

    def __init__(
        self, type: EventType, record: Record,  # noqa: A002 (upstream's word)
        previous: Record | None, cause: Cause | None,
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

    ``next_start`` is where the next page starts, empty when this was the last; ``remaining`` counts
    what is left after this page, matching or not.
    """

    records: list[Record]
    revision: int
    next_start: str
    remaining: int


class KeyExists(Exception):
    """There is an object of that name already."""

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__(f"{namespace}/{name} exists")
        self.name = name


class Stale(Exception):
    """The stored object is not the one that the caller saw: changed or gone."""

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__(f"{namespace}/{name} has moved on")


class Compacted(Exception):
    """The history no longer reaches back to the revision.

    ``oldest`` is the oldest state that is left.
    """

    def __init__(self, oldest: int) -> None:
        super().__init__(f"history begins at {oldest}")
        self.oldest = oldest


class Future(Exception):
    """The revision is not there yet. ``current`` is the newest."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the newest revision is {current}")
        self.current = current
