"""The decoded objects that are worth keeping: a bounded cache, with second chances.

Decoding a pod costs ten microseconds, keeping every pod decoded costs the cyclic collector far more, so only the
objects that are asked for stay decoded. Upstream's counterpart of the checking variant is client-go's
tools/cache/mutation_detector.go.
"""

from collections import OrderedDict

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.storage.record import Record


class TreeCache:
    """Decoded trees of up to ``capacity`` records. The tree hangs on its record, so a hit costs an attribute."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._held: OrderedDict[Record, None] = OrderedDict()

    def load(self, record: Record) -> Tree:
        """The tree of a record that holds none: decoded, and held from now on."""
        tree = record.copy_tree()
        self.hold(record, tree)
        return tree

    def hold(self, record: Record, tree: Tree) -> None:
        """Keep a tree that equals the record's data; it belongs to the cache."""
        record.held_tree = tree
        held = self._held
        held[record] = None
        while len(held) > self.capacity:
            oldest, _ = held.popitem(last=False)
            if oldest.used:
                oldest.used = False
                held[oldest] = None
            else:
                oldest.held_tree = None

    def drop(self, record: Record) -> None:
        """Forget a tree whose record was superseded."""
        if record.held_tree is not None:
            record.held_tree = None
            self._held.pop(record, None)


class CheckedTreeCache(TreeCache):
    """For tests: every use first proves that nobody changed the shared tree. Raises AssertionError if one did."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._trees: OrderedDict[Record, Tree] = OrderedDict()

    def load(self, record: Record) -> Tree:
        """The shared tree, proven unchanged."""
        tree = self._trees.get(record)
        if tree is None:
            tree = record.copy_tree()
            self.hold(record, tree)
        self._check(record, tree)
        return tree

    def hold(self, record: Record, tree: Tree) -> None:
        """As above; the record is left without its tree so that every use comes by ``load``."""
        self._trees[record] = tree
        while len(self._trees) > self.capacity:
            self._check(*self._trees.popitem(last=False))

    def drop(self, record: Record) -> None:
        """As above, after a last proof."""
        tree = self._trees.pop(record, None)
        if tree is not None:
            self._check(record, tree)

    def check(self) -> None:
        """Prove that no tree that is still held was changed."""
        for record, tree in self._trees.items():
            self._check(record, tree)

    @staticmethod
    def _check(record: Record, tree: Tree) -> None:
        assert orjson.loads(record.data) == tree, f"somebody changed the shared tree of {record!r}"
