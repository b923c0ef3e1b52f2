"""An index of the nodes of a snapshot, which finds the best of thousands without asking each.

Nodes with the same signatures of all ``SignPlugin``s are one class. The nodes of a class that have
the same allocatable resources are the leaves of a binary tree, in the order of their names.
Each branch has the least of all usages below it, number by number, so that a branch is passed over
where nothing fits, or nothing scores more than the best so far. An index is brought up to date by
the nodes that differ from those that it was last asked about, whichever snapshot they are of.
Upstream has nothing of the kind: it samples large clusters, and keeps the order of nodes for pods
alike (KEP-5598).
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.search import SignPlugin
from fakekube_controllers.scheduler.framework.snapshot import NO_NODES, NodeMap
from fakekube_controllers.scheduler.framework.types import SHARE, NodeInfo, PodInfo, Usage, zone_of

Capacity = tuple[tuple[str, int], ...]
"""A node's allocatable resources."""
LATE = 32  # nodes that are kept beside the trees of one capacity before these are built anew
VIEWS = 16  # are kept at least; the least recently used is dropped
VIEWED_NODES = 250_000  # in all views



class Bound:
    """The total score of a pod by usage, of all ``ResourcePlugin``s: see ``ResourceScore``.

    ``is_exact``: both functions are the same. ``emptier_first``: see ``Framework``.
    """

    __slots__ = ("_scores", "bound", "emptier_first", "is_exact", "score")

    def __init__(
        self, bound: Callable[[Usage], int], score: Callable[[Usage], int], *, emptier_first: bool = False,
    ) -> None:
        self.bound, self.score, self.is_exact, self.emptier_first = bound, score, bound is score, emptier_first
        self._scores: dict[Usage, int] = {}

    def score_of(self, usage: Usage) -> int:
        """The score, computed once for nodes of the same usage."""
        score = self._scores.get(usage)
        if score is None:
            score = self._scores[usage] = self.score(usage)
        return score


class Best(NamedTuple):
    """The best node of several: by its score, by the share of it that is taken, then by its name.

    ``share`` is 0 where that has no say.
    """

    score: int
    share: int
    name: str

    def is_before(self, other: "Best | None") -> bool:
        """Whether it is the better one of two."""
        return other is None or (-self.score, self.share, self.name) < (-other.score, other.share, other.name)


class NodeTree:
    """The nodes of one capacity in the order of their names, as the leaves of binary trees of
    usages.

    ``zone_of`` gives of a usage the zone that it is in: each zone has a tree of its own, in which
    the nodes of other zones leave their places empty. The more alike what is in a zone, the closer
    are its bounds. A few nodes that came after the trees were built are kept beside them.
    """

    def __init__(self, zone_of: Callable[[Usage], int] | None = None) -> None:
        self._zone_of = zone_of
        self._leaves: dict[str, Usage] = {}
        self._places: dict[str, int] | None = None  # None: to be built
        self._names: list[str] = []
        self._zones: dict[int, list[Usage | None]] = {}  # the tree of each, its leaves from _first on
        self._first = 1
        self._late: dict[str, Usage] = {}  # the nodes that have no place
        self._by_usage: dict[Usage, dict[str, None]] | None = None  # the names; None: nobody has asked

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def __iter__(self) -> Iterator[str]:
        """The names, unordered."""
        return iter(self._leaves)

    def set(self, name: str, usage: Usage | None) -> None:
        """Set the usage of a node; None: the node is gone."""
        before = self._leaves.get(name)
        if self._by_usage is not None and usage != before:
            self._regroup(self._by_usage, name, before, usage)
        if usage is None:
            self._leaves.pop(name, None)
        else:
            self._leaves[name] = usage
        place = self._places.get(name) if self._places is not None else None
        if place is None:
            if usage is None:
                self._late.pop(name, None)
            elif self._places is not None and (name in self._late or len(self._late) < LATE):
                self._late[name] = usage
            else:
                self._places = None
            return
        zone = self._zone(usage) if usage is not None else None
        if before is not None and (old := self._zone(before)) != zone:
            self._write(self._zones[old], place, None)
        if zone is not None:
            tree = self._zones.get(zone)
            if tree is None:
                tree = self._zones[zone] = [None] * (2 * self._first)
            self._write(tree, place, usage)

    def _zone(self, usage: Usage) -> int:
        return self._zone_of(usage) if self._zone_of is not None else 0

    @staticmethod
    def _write(tree: list[Usage | None], place: int, usage: Usage | None) -> None:
        tree[place] = usage
        while place > 1:
            place >>= 1
            least = _least(tree[2 * place], tree[2 * place + 1])
            if least == tree[place]:
                return
            tree[place] = least

    @staticmethod
    def _regroup(groups: dict[Usage, dict[str, None]], name: str, before: Usage | None, now: Usage | None) -> None:
        if before is not None:
            names = groups[before]
            del names[name]
            if not names:
                del groups[before]
        if now is not None:
            groups.setdefault(now, {})[name] = None

    def by_usage(self) -> Mapping[Usage, Mapping[str, None]]:
        """The names of the nodes of each usage; the tree's own, to be read."""
        if self._by_usage is None:
            self._by_usage = {}
            for name, usage in self._leaves.items():
                self._by_usage.setdefault(usage, {})[name] = None
        return self._by_usage

    def count(self, by: Bound, accepts: Callable[[str], bool] | None) -> int:
        """How many nodes fit; nodes of the same usage are asked about once, unless ``accepts`` is
        given.
        """
        if accepts is not None:
            return sum(by.score_of(usage) >= 0 and accepts(name) for name, usage in self._leaves.items())
        return sum(len(names) for usage, names in self.by_usage().items() if by.score_of(usage) >= 0)

    def _build(self) -> None:
        self._names, self._late = sorted(self._leaves), {}
        first = 1
        while first < len(self._names):
            first *= 2
        self._zones = {}
        for place, name in enumerate(self._names, first):
            usage = self._leaves[name]
            zone = self._zone(usage)
            if zone not in self._zones:
                self._zones[zone] = [None] * (2 * first)
            self._zones[zone][place] = usage
        for tree in self._zones.values():
            for place in range(first - 1, 0, -1):
                tree[place] = _least(tree[2 * place], tree[2 * place + 1])
        self._places = {name: first + number for number, name in enumerate(self._names)}
        self._first = first

    def bounds(self, bound: Callable[[Usage], int]) -> list[tuple[int, int]]:
        """The bound of the score of all nodes of each zone that has any, and the zone; without
        those that came late.
        """
        if self._places is None:
            self._build()
        return [(bound(tree[1]), zone) for zone, tree in self._zones.items() if tree[1] is not None]

    def best_late(self, by: Bound, accepts: Callable[[str], bool] | None, other: Best | None = None) -> Best | None:
        """The best of the nodes that came late; None when none is better than ``other``. Asked
        after ``bounds``.
        """
        found: Best | None = None
        for name, usage in self._late.items():
            best = Best(by.score_of(usage), usage[SHARE] if by.emptier_first else 0, name)
            if best.score >= 0 and best.is_before(other) and (accepts is None or accepts(name)):
                found = other = best
        return found

    def best(
        self, by: Bound, accepts: Callable[[str], bool] | None, most: int, zone: int = 0, other: Best | None = None,
    ) -> Best | None:
        """The best node of a zone by a bound, of those that ``accepts`` takes (None: all); None
        when none is better than ``other``.

        ``most``: what the method ``bounds`` says of this bound and zone.
        """
        usages, first, bound = self._zones[zone], self._first, by.bound
        depth, weight = first.bit_length(), int(by.emptier_first)
        # Of the same score a leaf is better with less taken, or as much and before this place.
        found, share, found_place = (
            (other.score, other.share, first + bisect_left(self._names, other.name)) if other is not None else (-1, 0, 0))
        given = found, share, found_place
        if first == 1 and not by.is_exact:
            most = by.score_of(usages[1] or ())
        waiting = [(most, usages[1][SHARE] * weight if usages[1] is not None else 0, 1)]
        while waiting:
            most, least, place = waiting.pop()
            while most > found or (most == found and (
                    least < share or (least == share and place << (depth - place.bit_length()) < found_place))):
                if place >= first:
                    if accepts is None or accepts(self._names[place - first]):
                        found, share, found_place = most, least, place
                    break
                usage, place = usages[place], 2 * place
                left, right = usages[place], usages[place + 1]
                if place < first or by.is_exact:
                    here = most if left is usage else -1 if left is None else bound(left)
                    there = most if right is usage else -1 if right is None else bound(right)
                else:
                    here = -1 if left is None else by.score_of(left)
                    there = -1 if right is None else by.score_of(right)
                left_share = left[SHARE] * weight if left is not None else 0
                right_share = right[SHARE] * weight if right is not None else 0
                if here > there or (here == there and left_share <= right_share):
                    if there >= found:
                        waiting.append((there, right_share, place + 1))
                    most, least = here, left_share
                else:
                    if here >= found:
                        waiting.append((here, left_share, place))
                    most, least, place = there, right_share, place + 1
        return Best(found, share, self._names[found_place - first]) if (found, share, found_place) != given else None


def _least(one: Usage | None, other: Usage | None) -> Usage | None:
    """The least of two, number by number.

    One of the two itself if it is that, so that identity tells.
    """
    if one is None or other is None:
        return one if other is None else other
    least = tuple(map(min, one, other))
    return one if least == one else other if least == other else least


_first = itemgetter(0)


class NodeClass:
    """Nodes with the same signatures, in trees by capacity."""

    def __init__(self, signatures: tuple[Hashable, ...]) -> None:
        self.signatures = signatures
        self.trees: dict[Capacity, NodeTree] = {}

    def any_node(self) -> str:
        """The name of one of the nodes."""
        return next(iter(next(iter(self.trees.values()))))

    def best(self, bounds: Mapping[Capacity, Bound | None], accepts: Callable[[str], bool] | None) -> Best | None:
        """The best node of all trees; ``bounds`` by capacity, None where the pod fits no node of
        it.
        """
        asked = [(tree, by) for capacity, tree in self.trees.items() if (by := bounds[capacity]) is not None]
        trees = [(most, zone, tree, by) for tree, by in asked for most, zone in tree.bounds(by.bound)]
        if len(trees) > 1:
            trees.sort(key=_first, reverse=True)
        found: Best | None = None
        for tree, by in asked:
            found = tree.best_late(by, accepts, found) or found
        for most, zone, tree, by in trees:
            if most < (found.score if found is not None else 0):
                break
            found = tree.best(by, accepts, most, zone, found) or found
        return found

    def count(self, bounds: Mapping[Capacity, Bound | None], accepts: Callable[[str], bool] | None) -> int:
        """How many of the nodes fit; arguments as for ``best``."""
        return sum(tree.count(by, accepts) for capacity, tree in self.trees.items() if (by := bounds[capacity]) is not None)


class Entry(NamedTuple):
    """The place of a node in the index, and the node as it was put there."""

    node: ReadOnlyTree | None
    node_class: NodeClass
    capacity: Capacity
    tree: NodeTree


class View:
    """The classes of nodes, for pods that depend on the same node fields."""

    def __init__(self, node_fields: tuple[Hashable, ...], plugins: Sequence[SignPlugin]) -> None:
        self._node_fields, self._plugins = node_fields, plugins
        self._counting = [
            place for place, plugin in enumerate(plugins) if getattr(plugin, "counts_pods", False) and node_fields[place]]
        self._entries: dict[str, Entry] = {}
        self._classes: dict[tuple[Hashable, ...], NodeClass] = {}
        self._seen = NO_NODES

    @property
    def counts_pods(self) -> bool:
        """Whether signatures depend on the pods of nodes."""
        return bool(self._counting)

    @property
    def classes(self) -> list[NodeClass]:
        """All of them."""
        return list(self._classes.values())

    def entries(self) -> Mapping[str, Entry]:
        """Where each node is now, by its name."""
        return self._entries.copy()

    def update(self, nodes: NodeMap) -> None:
        """Be about these nodes from now on."""
        if nodes is not self._seen:
            for name, info in nodes.changes_since(self._seen):
                self._put(name, info)
            self._seen = nodes

    def _put(self, name: str, info: NodeInfo | None) -> None:
        entry = self._entries.get(name)
        if info is None:
            self._remove(name, entry)
            return
        if entry is None or self._counting or entry.node is not info.node:
            signatures = self._sign(entry, info)
            capacity = tuple(info.allocatable.items())
            if entry is None or entry.node_class.signatures != signatures or entry.capacity != capacity:
                self._remove(name, entry)
            node_class = self._classes.get(signatures)
            if node_class is None:
                node_class = self._classes[signatures] = NodeClass(signatures)
            tree = node_class.trees.get(capacity)
            if tree is None:
                tree = node_class.trees[capacity] = NodeTree(zone_of)
            entry = self._entries[name] = Entry(info.node, node_class, capacity, tree)
        entry.tree.set(name, info.usage)

    def _sign(self, entry: Entry | None, info: NodeInfo) -> tuple[Hashable, ...]:
        """The signatures of a node; of plugins that do not count pods as before, if it is the same.
        """
        if entry is None or entry.node is not info.node:
            plugins = zip(self._plugins, self._node_fields, strict=True)
            return tuple([plugin.sign_node(fields, info) for plugin, fields in plugins])
        signatures = list(entry.node_class.signatures)
        for place in self._counting:
            signatures[place] = self._plugins[place].sign_node(self._node_fields[place], info)
        return tuple(signatures)

    def _remove(self, name: str, entry: Entry | None) -> None:
        if entry is None:
            return
        del self._entries[name]
        entry.tree.set(name, None)
        if not entry.tree:
            del entry.node_class.trees[entry.capacity]
            if not entry.node_class.trees:
                del self._classes[entry.node_class.signatures]


class Index:
    """The views of the nodes, by the node fields that pods depend on."""

    def __init__(self, plugins: Sequence[SignPlugin]) -> None:
        self._plugins = plugins
        self._views: dict[tuple[Hashable, ...], View] = {}

    def view(self, pod: PodInfo, nodes: NodeMap) -> View:
        """The view of these nodes for a pod."""
        node_fields = tuple([plugin.node_fields(pod) for plugin in self._plugins])
        view = self._views.pop(node_fields, None)
        if view is None:
            view = View(node_fields, self._plugins)
            if len(self._views) >= max(VIEWS, VIEWED_NODES // (len(nodes) or 1)):
                del self._views[next(iter(self._views))]
        self._views[node_fields] = view
        view.update(nodes)
        return view
