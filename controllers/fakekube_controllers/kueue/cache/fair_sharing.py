"""The share of a node: how much it borrows of what there is to lend, by its dominant resource.

Upstream: pkg/cache/scheduler/fair_sharing.go.
"""

import math
from typing import NamedTuple, Protocol

from fakekube.apimachinery import quantity
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.cache.resource_node import HierarchicalNode, potential_available
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities, add, subtract

DEFAULT_WEIGHT = 1.0


class WeightedNode(HierarchicalNode, Protocol):
    """A node with a weight."""

    @property
    def fair_weight(self) -> float: ...


class DRS(NamedTuple):
    """A dominant resource share.

    ``unweighted_ratio`` is in thousandths of what can be lent.
    """

    fair_weight: float = DEFAULT_WEIGHT
    unweighted_ratio: float = 0.0
    dominant_resource: str = ""
    borrowed_frs: tuple[FlavorResource, ...] = ()

    def is_zero(self) -> bool:
        """Whether there is no share."""
        return self.unweighted_ratio == 0

    def is_borrowing(self) -> bool:
        """Whether more is used than the node has of its own, of anything."""
        return bool(self.borrowed_frs)

    def is_borrowing_on(self, requested: FlavorResourceQuantities) -> bool:
        """Whether any of what is requested is borrowed."""
        return any(requested.get(fr, 0) > 0 for fr in self.borrowed_frs)

    def precise_weighted_share(self) -> float:
        """The share by the weight; infinite when who has no weight borrows."""
        if self.is_zero():
            return 0.0
        return self.unweighted_ratio / self.fair_weight if self.fair_weight else math.inf

    def rounded_weighted_share(self) -> int:
        """The share as a status has it: rounded up, the largest number for an infinite one."""
        share = self.precise_weighted_share()
        return quantity.MAX_INT64 if share >= quantity.MAX_INT64 else math.ceil(share)

    def zero_weight_borrows(self) -> bool:
        """Whether who has no weight borrows: such shares are larger than all others."""
        return self.fair_weight == 0 and not self.is_zero()


def negative_drs() -> DRS:
    """Less than any share."""
    return DRS(unweighted_ratio=-1.0)


def compare_drs(left: DRS, right: DRS) -> int:
    """-1, 0 or 1: who has the lower share is scheduled first, and preempted last."""
    left_zero, right_zero = left.zero_weight_borrows(), right.zero_weight_borrows()
    if left_zero and right_zero:
        one, other = left.unweighted_ratio, right.unweighted_ratio
    elif left_zero or right_zero:
        return 1 if left_zero else -1
    else:
        one, other = left.precise_weighted_share(), right.precise_weighted_share()
    return (one > other) - (one < other)


def dominant_resource_share(node: WeightedNode) -> DRS:
    """The share of a node; nothing for a root."""
    parent, weight = node.parent(), node.fair_weight
    if parent is None:
        return DRS(weight)
    own = node.resource_node
    borrowing: dict[str, int] = {}
    borrowed_frs = []
    for fr, quota in own.subtree_quota.items():
        borrowed = subtract(own.usage.get(fr, 0), quota)
        if borrowed > 0:
            borrowing[fr.resource] = add(borrowing.get(fr.resource, 0), borrowed)
            borrowed_frs.append(fr)
    if not borrowing:
        return DRS(weight)
    ratio, dominant = 0.0, ""
    lendable = _lendable(parent)
    for name, amount in borrowing.items():
        if (lent := lendable.get(name, 0)) > 0:
            found = amount * 1000.0 / lent
            if found > ratio or (found == ratio and name < dominant):
                ratio, dominant = found, name
    return DRS(weight, ratio, dominant, tuple(borrowed_frs))


def _lendable(node: HierarchicalNode) -> dict[str, int]:
    """What a node could take of its tree, by resource."""
    root: HierarchicalNode = node
    while (above := root.parent()) is not None:
        root = above
    result: dict[str, int] = {}
    for fr in root.resource_node.subtree_quota:
        result[fr.resource] = add(result.get(fr.resource, 0), potential_available(node, fr))
    return result


def parse_fair_weight(spec: ReadOnlyTree) -> float:
    """``fairSharing.weight`` of a spec."""
    weight = (spec.get("fairSharing") or {}).get("weight")
    return DEFAULT_WEIGHT if weight is None else quantity.parse(weight).nano / quantity.NANO
