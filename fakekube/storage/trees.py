"""The decoded objects that are worth keeping.

Decoding a pod costs ten microseconds; keeping it costs the cyclic collector as much as soon as the tree outlives its
youth, so a tree must be used again and again to be worth it. Every tree is kept for a short while (the writer's answer
and the watchers in this process want it), and those that were asked for more often than that stay, up to a bound. A tree
that somebody else in this process keeps (an informer's cache) is found there for as long as it is.
Upstream's counterpart of the checking variant is client-go's tools/cache/mutation_detector.go.
"""

import weakref
from collections import OrderedDict, deque

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.storage.record import Record, SharedTree

RECENT_TREES = 32
HOT_USES = 3  # the writer and one shared frame are no sign that anybody will come back


def _tree_of(record: Record) -> SharedTree:
    shown = record.shown() if record.shown is not None else None
    return SharedTree(record.copy_tree()) if shown is None else shown


class TreeCache:
    """Decoded trees: the most recent ones, and up to ``capacity`` hot ones.

    A tree hangs on its record, so a hit costs an attribute.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._recent: deque[Record] = deque()
        self._hot: OrderedDict[Record, None] = OrderedDict()

    def load(self, record: Record) -> Tree:
        """The tree of a record that holds none: as somebody else has it, or decoded, and held for now."""
        tree = _tree_of(record)
        record.uses += 1
        self.hold(record, tree)
        return tree

    def hold(self, record: Record, tree: SharedTree, previous: Record | None = None) -> None:
        """Keep a tree that equals the record's data; it belongs to the cache. It takes the place of ``previous``."""
        record.held_tree, record.shown = tree, None
        if previous is not None:
            record.uses = previous.uses
            if previous in self._hot:
                del self._hot[previous]
                self._hot[record] = None
                return
        self._recent.append(record)
        if len(self._recent) > RECENT_TREES:
            self._sort_out(self._recent.popleft())

    def drop(self, record: Record) -> None:
        """Forget a tree whose record was superseded."""
        record.held_tree = record.shown = None
        self._hot.pop(record, None)

    def _sort_out(self, record: Record) -> None:
        """Hot or not."""
        if record.held_tree is None:
            return
        if record.uses < HOT_USES:
            _let_go(record)
            return
        hot = self._hot
        record.uses, hot[record] = 0, None
        while len(hot) > self.capacity:
            oldest, _ = hot.popitem(last=False)
            if oldest.uses:
                oldest.uses, hot[oldest] = 0, None
            else:
                _let_go(oldest)


def _let_go(record: Record) -> None:
    """Hold a tree no longer, but know where it is if somebody else has it. The collector looks at every reference kept."""
    assert record.held_tree is not None
    shown = weakref.ref(record.held_tree)
    record.held_tree = None
    record.shown = shown if shown() is not None else None


class CheckedTreeCache(TreeCache):
    """For tests: every use first proves that nobody changed the shared tree. Raises AssertionError if one did."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._trees: OrderedDict[Record, SharedTree] = OrderedDict()

    def load(self, record: Record) -> Tree:
        """The shared tree, proven unchanged."""
        tree = self._trees.get(record)
        if tree is None:
            tree = _tree_of(record)
            self.hold(record, tree)
        self._check(record, tree)
        return tree

    def hold(self, record: Record, tree: SharedTree, previous: Record | None = None) -> None:
        """As above; the record is left without its tree so that every use comes by ``load``."""
        self._trees[record], record.shown = tree, weakref.ref(tree)
        while len(self._trees) > self.capacity:
            self._check(*self._trees.popitem(last=False))

    def drop(self, record: Record) -> None:
        """As above, after a last proof."""
        tree, record.shown = self._trees.pop(record, None), None
        if tree is not None:
            self._check(record, tree)

    def check(self) -> None:
        """Prove that no tree that is still held was changed."""
        for record, tree in self._trees.items():
            self._check(record, tree)

    @staticmethod
    def _check(record: Record, tree: Tree) -> None:
        assert orjson.loads(record.data) == tree, f"somebody changed the shared tree of {record!r}"
