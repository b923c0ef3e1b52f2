"""How many pods that match something are in each topology domain, kept up to date.

A domain is the nodes that have the same value of a label, the topology key. Upstream counts anew
in each cycle: podtopologyspread (TpValueToMatchNum), interpodaffinity (topologyToMatchedTermCount).
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery import labels
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.node_changes import Change, NodeChanges

HOSTNAME = "kubernetes.io/hostname"
MOST_COUNTS = 512  # that are kept up to date; the least recently used is dropped

Labels = Mapping[str, str]
Weigh = Callable[[PodInfo], int]
"""How much a pod counts."""
Includes = Callable[[ReadOnlyTree], bool]
"""Whether a Node belongs to a domain at all."""


def labels_of(node: ReadOnlyTree | None) -> Labels:
    """The labels of a Node."""
    if node is None:
        return {}
    found: Labels = node["metadata"].get("labels") or {}
    return found


def node_labels(node: NodeInfo) -> Labels:
    """The labels of a node."""
    return labels_of(node.node)


def selecting(selector: labels.Selector) -> Callable[[Labels], bool]:
    """A function that does what the selector's ``matches`` does, and sooner where all labels of a
    set are wanted.
    """
    if selector.nothing or any(len(each.values) != 1 or each.operator not in _IS for each in selector.requirements):
        return selector.matches
    wanted = {each.key: each.values[0] for each in selector.requirements}
    if len(wanted) != len(selector.requirements):
        return selector.matches
    items = wanted.items()
    return lambda found: items <= found.items()


_IS = (labels.EQUALS, labels.DOUBLE_EQUALS, labels.IN)


class Counts(NamedTuple):
    """What is counted at one moment; nothing in it is changed later.

    ``domains``: the count of each domain, 0 included; ``levels``: how many domains have a count.
    """

    domains: Mapping[str, int]
    levels: Mapping[int, int]


class TopologyCounts:
    """The counts of one topology key, or of each node alone where there is none.

    ``weigh`` says how much a pod counts, ``includes`` which nodes count at all; both are pure
    functions. A node without the label is in no domain.
    """

    def __init__(self, key: str | None, weigh: Weigh, includes: Includes | None = None) -> None:
        self._key, self._weigh, self._includes = key, weigh, includes
        self._seen = -1  # the position in the changes
        self._clear()

    def _clear(self) -> None:
        self.by_node: dict[str, int] = {}  # without those that have 0
        self._sizes: dict[str, int] = {}  # the number of nodes of a domain
        self._domains: dict[str, int] = {}
        self._levels: dict[int, int] = {}
        self._given = False  # what is given away is not changed any more
        self.shared = 0  # the number of domains with several nodes

    @property
    def now(self) -> Counts:
        """The counts as they are now."""
        self._given = True
        return Counts(self._domains, self._levels)

    def update(self, changes: NodeChanges) -> None:
        """Take in what has changed since the last time."""
        if self._seen == changes.position:
            return
        found = changes.since(self._seen) if self._seen >= 0 else None
        if found is None:
            self._clear()
            for info in changes.nodes.infos():
                self._put_node(Change(info.name, None, info.node, (), tuple(info.pods.values())))
        else:
            if self._given:
                self._domains, self._levels, self._given = dict(self._domains), dict(self._levels), False
            for change in found:
                self._put_node(change)
        self._seen = changes.position

    def _domain(self, node: ReadOnlyTree | None) -> str | None:
        """The domain of a node; empty where there are no domains, None for one that counts not."""
        if node is None or (self._includes is not None and not self._includes(node)):
            return None
        return labels_of(node).get(self._key) if self._key is not None else ""

    def _put_node(self, change: Change) -> None:
        name, old, new, gone, come = change
        if old is new:
            domain = self._domain(new)
            if domain is not None and (more := self._sum(come) - self._sum(gone)):
                self._change(name, domain, more)
            return
        domain = self._domain(old)
        if domain is not None:
            if here := self.by_node.get(name):
                self._change(name, domain, -here)
            self._resize(domain, -1)
        domain = self._domain(new)
        if domain is not None:
            self._resize(domain, 1)
            if here := self._sum(come):
                self._change(name, domain, here)

    def _sum(self, pods: Sequence[PodInfo]) -> int:
        return sum(map(self._weigh, pods)) if pods else 0

    def _change(self, name: str, domain: str, more: int) -> None:
        here = self.by_node.get(name, 0) + more
        if here:
            self.by_node[name] = here
        else:
            del self.by_node[name]
        if self._key is not None:
            before = self._domains[domain]
            self._move(before, before + more)
            self._domains[domain] = before + more

    def _resize(self, domain: str, more: int) -> None:
        if self._key is None:
            return
        before = self._sizes.get(domain, 0)
        now = self._sizes[domain] = before + more
        self.shared += (now > 1) - (before > 1)
        if not before:
            self._domains[domain] = 0
            self._levels[0] = self._levels.get(0, 0) + 1
        elif not now:
            del self._sizes[domain]
            self._move(self._domains.pop(domain), None)

    def _move(self, before: int, now: int | None) -> None:
        left = self._levels[before] - 1
        if left:
            self._levels[before] = left
        else:
            del self._levels[before]
        if now is not None:
            self._levels[now] = self._levels.get(now, 0) + 1


class CountsByKey:
    """Topology counts under keys that say all that they depend on."""

    def __init__(self, changes: NodeChanges) -> None:
        self._changes = changes
        self._counts: dict[Hashable, TopologyCounts] = {}
        self._nodes = TopologyCounts(HOSTNAME, lambda _: 0)

    def is_single_node(self, key: str) -> bool:
        """Whether each domain of a topology is one node."""
        if key != HOSTNAME:
            return False
        self._nodes.update(self._changes)
        return not self._nodes.shared

    def get(self, key: Hashable, make: Callable[[], TopologyCounts]) -> TopologyCounts:
        """The counts under a key, up to date."""
        found = self._counts.pop(key, None)
        if found is None:
            found = make()
            while len(self._counts) >= MOST_COUNTS:
                del self._counts[next(iter(self._counts))]
        self._counts[key] = found
        found.update(self._changes)
        return found


def is_terminating(pod: ReadOnlyTree) -> bool:
    """Whether a pod is being deleted."""
    return bool(pod["metadata"].get("deletionTimestamp"))
