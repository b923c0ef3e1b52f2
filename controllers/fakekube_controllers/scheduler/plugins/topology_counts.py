"""How many pods that match something are in each topology domain, kept up to date.

A domain is the nodes that have the same value of a label, the topology key. Upstream counts anew
in each cycle: podtopologyspread (TpValueToMatchNum), interpodaffinity (topologyToMatchedTermCount).
"""

from collections.abc import Callable, Hashable, Mapping
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
Includes = Callable[[NodeInfo], bool]
"""Whether a node belongs to a domain at all."""


def node_labels(node: NodeInfo) -> Labels:
    """The labels of a node."""
    if node.node is None:
        return {}
    found: Labels = node.node["metadata"].get("labels") or {}
    return found


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
    """The counts of one topology key.

    ``weigh`` says how much a pod counts, ``includes`` which nodes count at all; both are pure
    functions. A node without the label is in no domain.
    """

    def __init__(self, key: str, weigh: Weigh, includes: Includes | None = None) -> None:
        self.key = key
        self._weigh, self._includes = weigh, includes
        self._seen = -1  # the position in the changes
        self._clear()

    def _clear(self) -> None:
        self.by_node: dict[str, int] = {}  # without those that have 0
        self._domain_of: dict[str, str] = {}  # by the name of the node
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
                self._add_node(info.name, info)
        else:
            self._own()
            for change in found:
                self._apply(change)
        self._seen = changes.position

    def _own(self) -> None:
        if self._given:
            self._domains, self._levels, self._given = dict(self._domains), dict(self._levels), False

    def _apply(self, change: Change) -> None:
        name, weigh = change.name, self._weigh
        if change.is_of_pods:
            domain = self._domain_of.get(name)
            if domain is None:
                return
            more = sum(map(weigh, change.come)) - sum(map(weigh, change.gone))
            if more:
                self._change(name, domain, more)
            return
        domain = self._domain_of.pop(name, None)
        if domain is not None:
            if here := self.by_node.get(name):
                self._change(name, domain, -here)
            self._resize(domain, -1)
        if change.new is not None:
            self._add_node(name, change.new)

    def _add_node(self, name: str, info: NodeInfo) -> None:
        domain = node_labels(info).get(self.key)
        if domain is None or (self._includes is not None and not self._includes(info)):
            return
        self._domain_of[name] = domain
        self._resize(domain, 1)
        here = sum(map(self._weigh, info.pods.values()))
        if here:
            self._change(name, domain, here)

    def _change(self, name: str, domain: str, more: int) -> None:
        here = self.by_node.get(name, 0) + more
        if here:
            self.by_node[name] = here
        else:
            del self.by_node[name]
        before = self._domains[domain]
        self._move(before, before + more)
        self._domains[domain] = before + more

    def _resize(self, domain: str, more: int) -> None:
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
