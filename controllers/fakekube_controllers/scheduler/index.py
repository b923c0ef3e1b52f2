"""Nodes in the order of what a pod finds there: the best of thousands is found without asking each.

Nodes that look the same to all plugins that look at nodes themselves are one class (``Sign``). Within a class, nodes of one
shape stand in a tree in the order of their names; each branch has the least of all loads below it, number by number, so that a
branch where nothing fits, or nothing scores as much as what is found already, is passed over (``Load``). A tree is brought up to
date by what has changed since it was last asked.
Upstream has nothing of the kind: it samples large clusters, and remembers the order of nodes for pods alike (KEP-5598).
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.cache import Snapshot
from fakekube_controllers.scheduler.framework.interface import Load, Sign
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

VIEWS = 16  # so many are kept up to date; of more the one that was not asked for longest is made anew

Loads = tuple[int, ...]
Bound = Callable[[Loads], int]


class Best(NamedTuple):
    """The best node of several, by its score and then its name."""

    score: int
    name: str


class NodeTree:
    """The nodes of one shape in the order of their names, as the leaves of a binary tree of loads."""

    def __init__(self) -> None:
        self._leaves: dict[str, Loads] = {}
        self._places: dict[str, int] | None = None  # None: to be built
        self._names: list[str] = []
        self._loads: list[Loads | None] = []
        self._first = 1  # of the leaves, in the list of loads

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def __iter__(self) -> Iterator[str]:
        """The names, in no order that means anything."""
        return iter(self._leaves)

    def set(self, name: str, load: Loads | None) -> None:
        """A node came, changed, or (None) went."""
        if load is None:
            self._leaves.pop(name, None)
        else:
            self._leaves[name] = load
        place = self._places.get(name) if self._places is not None else None
        if place is None:
            self._places = None
            return
        loads = self._loads
        loads[place] = load
        while place > 1:
            place >>= 1
            least = _least(loads[2 * place], loads[2 * place + 1])
            if least == loads[place]:
                return
            loads[place] = least

    def _build(self) -> None:
        self._names = sorted(self._leaves)
        first = 1
        while first < len(self._names):
            first *= 2
        leaves = [self._leaves[name] for name in self._names]
        self._loads = loads = [None] * first + leaves + [None] * (first - len(leaves))
        for place in range(first - 1, 0, -1):
            loads[place] = _least(loads[2 * place], loads[2 * place + 1])
        self._places = {name: first + number for number, name in enumerate(self._names)}
        self._first = first

    def most(self, bound: Bound) -> int:
        """A bound of all nodes; there is one at least."""
        if self._places is None:
            self._build()
        load = self._loads[1]
        assert load is not None, "there is a node"
        return bound(load)

    def best(self, bound: Bound, accepts: Callable[[str], bool] | None, most: int, other: Best | None = None) -> Best | None:
        """The best node by a bound, of those that are accepted (None: all); None when no node is better than another.

        ``most`` is what ``most`` tells.
        """
        loads, first = self._loads, self._first
        depth = first.bit_length()
        # Of the same score only a leaf before this place is better.
        found, found_place = (other.score, first + bisect_left(self._names, other.name)) if other is not None else (-1, 0)
        given = found, found_place
        waiting = [(most, 1)]
        while waiting:
            most, place = waiting.pop()
            while most > found or (most == found and place << (depth - place.bit_length()) < found_place):
                if place >= first:
                    if accepts is None or accepts(self._names[place - first]):
                        found, found_place = most, place
                    break
                load, place = loads[place], 2 * place
                left, right = loads[place], loads[place + 1]
                here = most if left is load else -1 if left is None else bound(left)
                there = most if right is load else -1 if right is None else bound(right)
                if here >= there:
                    if there >= found:
                        waiting.append((there, place + 1))
                    most = here
                else:
                    if here >= found:
                        waiting.append((here, place))
                    most, place = there, place + 1
        return Best(found, self._names[found_place - first]) if (found, found_place) != given else None


def _least(one: Loads | None, other: Loads | None) -> Loads | None:
    """The least of two, number by number: one of the two where it is that, so that it is known again."""
    if one is None or other is None:
        return one if other is None else other
    least = tuple(map(min, one, other))
    return one if least == one else other if least == other else least


_first = itemgetter(0)


class NodeClass:
    """Nodes that look the same to plugins that look at nodes themselves; their trees by shape."""

    def __init__(self, signs: tuple[Hashable, ...]) -> None:
        self.signs = signs
        self.trees: dict[Hashable, NodeTree] = {}

    def some(self) -> str:
        """The name of a node."""
        return next(iter(next(iter(self.trees.values()))))

    def best(self, bounds: Mapping[Hashable, Bound | None], accepts: Callable[[str], bool] | None) -> Best | None:
        """The best node of all shapes."""
        trees = [(tree.most(bound), tree, bound) for shape, tree in self.trees.items() if (bound := bounds[shape]) is not None]
        if len(trees) > 1:
            trees.sort(key=_first, reverse=True)
        found: Best | None = None
        for most, tree, bound in trees:
            if most < (found.score if found is not None else 0):
                break
            found = tree.best(bound, accepts, most, found) or found
        return found


class _Entry(NamedTuple):
    """Where a node stands, and what it said of itself when it was put there."""

    node: ReadOnlyTree | None
    node_class: NodeClass
    shape: Hashable
    tree: NodeTree


class View:
    """The nodes of a snapshot by classes, for pods of one aspect of each plugin."""

    def __init__(self, aspects: tuple[Hashable, ...], plugins: Sequence[Sign], load: Load) -> None:
        self._aspects, self._plugins, self._load = aspects, plugins, load
        self._entries: dict[str, _Entry] = {}
        self._classes: dict[tuple[Hashable, ...], NodeClass] = {}
        self._seen = -1  # the snapshot's sequence number

    @property
    def classes(self) -> list[NodeClass]:
        """All of them."""
        return list(self._classes.values())

    def update(self, snapshot: Snapshot) -> None:
        """Take in what has changed since the last time."""
        if self._seen < snapshot.known_since:
            self._entries, self._classes = {}, {}
            for name, info in snapshot.nodes.items():
                self._put(name, info)
        elif self._seen < snapshot.sequence:
            for name, sequence in reversed(snapshot.changes.items()):
                if sequence <= self._seen:
                    break
                self._put(name, snapshot.nodes.get(name))
        self._seen = snapshot.sequence

    def _put(self, name: str, info: NodeInfo | None) -> None:
        entry = self._entries.get(name)
        if info is None:
            self._take_out(name, entry)
            return
        if entry is None or entry.node is not info.node:
            signs = tuple([plugin.sign_node(aspect, info) for plugin, aspect in zip(self._plugins, self._aspects, strict=True)])
            shape = self._load.shape(info)
            if entry is None or entry.node_class.signs != signs or entry.shape != shape:
                self._take_out(name, entry)
            node_class = self._classes.get(signs)
            if node_class is None:
                node_class = self._classes[signs] = NodeClass(signs)
            tree = node_class.trees.get(shape)
            if tree is None:
                tree = node_class.trees[shape] = NodeTree()
            entry = self._entries[name] = _Entry(info.node, node_class, shape, tree)
        load = info.load
        if load is None:
            load = info.load = self._load.load(info)
        entry.tree.set(name, load)

    def _take_out(self, name: str, entry: _Entry | None) -> None:
        if entry is None:
            return
        del self._entries[name]
        entry.tree.set(name, None)
        if not entry.tree:
            del entry.node_class.trees[entry.shape]
            if not entry.node_class.trees:
                del self._classes[entry.node_class.signs]


class Index:
    """The views of one snapshot."""

    def __init__(self, snapshot: Snapshot, plugins: Sequence[Sign], load: Load) -> None:
        self.snapshot = snapshot
        self._plugins, self._load = plugins, load
        self._views: dict[tuple[Hashable, ...], View] = {}

    def view(self, pod: PodInfo) -> View:
        """The nodes as they look to a pod, up to date."""
        aspects = tuple([plugin.aspect(pod) for plugin in self._plugins])
        view = self._views.pop(aspects, None)
        if view is None:
            view = View(aspects, self._plugins, self._load)
            if len(self._views) >= VIEWS:
                del self._views[next(iter(self._views))]
        self._views[aspects] = view
        view.update(self.snapshot)
        return view
