"""The decoded objects that are worth keeping.

Decoding a pod costs ten microseconds; keeping it costs the cyclic collector as much once the tree
is in its oldest generation, so only what is used again and again is worth it. Every tree is kept
for a short while (the writer's answer and the watchers in this process want it), and those that
were asked for more often than that stay, up to a bound. A tree that somebody else in this process
keeps (an informer's cache) is found there for as long as it is.

A record has its tree in ``held_tree`` for exactly as long as it stands in one of the two queues of
its cache, so that whoever takes it out of a queue takes its tree away, too. It makes no difference
whether the record was superseded meanwhile. With a capacity of 0 nothing is kept at all, and every
question is answered from the bytes. Upstream's counterpart of the checking variant is client-go's
tools/cache/mutation_detector.go.
"""

import weakref
from collections import OrderedDict

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.storage.record import Record, SharedTree

RECENT_TREES, RECENT_BYTES = 128, 1024 * 1024
"""So many of the most recent ones, and so many bytes of JSON that they stand for."""
HOT_USES = 3  # the writer and one shared frame are no sign that anybody will come back


def _tree_of(record: Record) -> SharedTree:
    seen = record.seen_tree() if record.seen_tree is not None else None
    return SharedTree(record.copy_tree()) if seen is None else seen


class TreeCache:
    """Decoded trees: the most recent ones, and up to ``capacity`` hot ones; none at all when the
    capacity is 0.

    A tree hangs on its record, so a hit costs an attribute.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._recent: dict[Record, None] = {}  # oldest first, as the next one
        self._recent_bytes = 0
        self._hot: dict[Record, None] = {}

    def load(self, record: Record) -> Tree:
        """The tree of a record that holds none: as somebody else has it, or decoded, and held for
        now.
        """
        if not self.capacity:
            return record.copy_tree()
        tree = _tree_of(record)
        record.uses += 1
        self.hold(record, tree)
        return tree

    def hold(self, record: Record, tree: SharedTree, previous: Record | None = None) -> None:
        """Keep a tree that equals the record's data, for a record that holds none; it belongs to
        the cache.

        That of ``previous``, which the record supersedes, is forgotten; the new one is as hot.
        """
        if not self.capacity:
            return
        record.held_tree, record.seen_tree = tree, None
        if previous is not None:
            record.uses = previous.uses
            if self._forget(previous):
                self._hot[record] = None
                return
        recent = self._recent
        recent[record] = None
        self._recent_bytes += len(record.data)
        while len(recent) > RECENT_TREES or self._recent_bytes > RECENT_BYTES:
            self._sort_out(next(iter(recent)))

    def _forget(self, record: Record) -> bool:
        """Whether it was hot.

        What another storage holds, which this one was forked from, may still be the latest there.
        """
        was_hot = record in self._hot
        if was_hot:
            del self._hot[record]
        elif record in self._recent:
            del self._recent[record]
            self._recent_bytes -= len(record.data)
        else:
            return False
        record.held_tree = None
        return was_hot

    def _sort_out(self, record: Record) -> None:
        """Hot or not: the oldest of the recent ones."""
        del self._recent[record]
        self._recent_bytes -= len(record.data)
        if record.uses < HOT_USES:
            _let_go(record)
            return
        hot = self._hot
        record.uses, hot[record] = 0, None
        while len(hot) > self.capacity:
            oldest = next(iter(hot))
            del hot[oldest]
            if oldest.uses:
                oldest.uses, hot[oldest] = 0, None
            else:
                _let_go(oldest)

    def check(self) -> None:
        """Prove that exactly those records hold a tree that are in a queue, in one of them, and
        that each tree is right.
        """
        assert not self._recent.keys() & self._hot.keys(), "a record is in both queues"
        assert len(self._recent) <= RECENT_TREES
        assert self._recent_bytes == sum(len(record.data) for record in self._recent) <= RECENT_BYTES
        assert len(self._hot) <= self.capacity
        for record in (*self._recent, *self._hot):
            assert record.held_tree is not None, f"{record!r} is in a queue without its tree"
            assert_unchanged(record, record.held_tree)


def _let_go(record: Record) -> None:
    """Hold a tree no longer, but know where it is if somebody else has it.

    The collector looks at every reference kept.
    """
    assert record.held_tree is not None, "what stands in a queue holds its tree"
    seen = weakref.ref(record.held_tree)
    record.held_tree = None
    record.seen_tree = seen if seen() is not None else None


def assert_unchanged(record: Record, tree: Tree) -> None:
    """Raises AssertionError when a tree is not what its record's bytes say."""
    assert orjson.loads(record.data) == tree, f"somebody changed the shared tree of {record!r}"


class CheckedTreeCache(TreeCache):
    """For tests: every use first proves that nobody changed the shared tree.

    Raises AssertionError if one did.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._trees: OrderedDict[Record, SharedTree] = OrderedDict()

    def load(self, record: Record) -> Tree:
        """The shared tree, proven unchanged."""
        tree = self._trees.get(record)
        if tree is None:
            tree = _tree_of(record)
            self.hold(record, tree)
        assert_unchanged(record, tree)
        return tree

    def hold(self, record: Record, tree: SharedTree, previous: Record | None = None) -> None:
        """As above; the record is left without its tree so that every use comes by ``load``."""
        if previous is not None:
            before, previous.seen_tree = self._trees.pop(previous, None), None
            if before is not None:
                assert_unchanged(previous, before)
        self._trees[record], record.seen_tree = tree, weakref.ref(tree)
        while len(self._trees) > self.capacity:
            assert_unchanged(*self._trees.popitem(last=False))

    def check(self) -> None:
        """Prove that no tree that is still held was changed."""
        for record, tree in self._trees.items():
            assert_unchanged(record, tree)
