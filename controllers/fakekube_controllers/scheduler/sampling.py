"""How many nodes that fit are enough: the search for nodes of a pod ends early in large clusters
whose configuration says ``percentageOfNodesToScore``.

Each search begins where the last one ended, and goes through the zones in turn. Upstream looks at
several nodes at once, so that more or less of them may have been seen when enough are found; here
one is looked at after the other. Left out: a percentage that is 0, or is not said. Upstream then
takes one between 50 and 5 by the number of nodes; here all of them are candidates.

Upstream: pkg/scheduler/schedule_one.go (numFeasibleNodesToFind, findNodesThatPassFilters),
backend/cache/node_tree.go.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Self

from fakekube.apimachinery import meta
from fakekube_controllers.scheduler.framework.types import NodeInfo

MIN_FEASIBLE_NODES_TO_FIND = 100
REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


class SearchStart:
    """The place in the list of nodes where the next search begins, for all profiles of a scheduler.
    """

    def __init__(self) -> None:
        self.place = 0


class Sampling:
    """The samples of one profile; ``percentage`` is above 0."""

    def __init__(self, percentage: int, start: SearchStart) -> None:
        self._percentage, self._start = percentage, start

    @classmethod
    def of(cls, percentage: int | None, start: SearchStart) -> Self | None:
        """The samples of a profile by what its configuration says; None: all nodes are candidates.
        """
        return cls(percentage, start) if percentage else None

    def enough(self, num_nodes: int) -> int:
        """How many nodes that fit are enough, of so many nodes."""
        if num_nodes < MIN_FEASIBLE_NODES_TO_FIND:
            return num_nodes
        return min(num_nodes, max(num_nodes * self._percentage // 100, MIN_FEASIBLE_NODES_TO_FIND))

    def in_turn(self, nodes: Sequence[NodeInfo]) -> Iterator[NodeInfo]:
        """The nodes in the order of the search."""
        zones: dict[tuple[str, str], list[NodeInfo]] = {}
        for node in nodes:
            zones.setdefault(_zone(node), []).append(node)
        listed = [node for node in chain.from_iterable(zip_longest(*zones.values())) if node is not None]
        begin = self._start.place % len(listed) if listed else 0
        return chain(listed[begin:], listed[:begin])

    def go_on(self, num_seen: int, num_nodes: int) -> None:
        """So many of the nodes were looked at: begin behind them the next time."""
        self._start.place = (self._start.place + num_seen) % num_nodes


def _zone(node: NodeInfo) -> tuple[str, str]:
    """The region and the zone of a node; empty where its labels do not say."""
    labels = meta.labels_of(node.node) if node.node is not None else {}
    region, zone = (next((labels[key] for key in keys if key in labels), "") for keys in (REGION_LABELS, ZONE_LABELS))
    return region, zone
