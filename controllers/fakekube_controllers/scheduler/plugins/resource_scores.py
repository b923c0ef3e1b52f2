"""How well a pod's requests go with a node's resources.

Upstream: plugins/noderesources (resource_allocation.go, least_allocated.go, most_allocated.go,
requested_to_capacity_ratio.go, balanced_allocation.go), plugins/helper/shape_score.go. Left out:
extended resources that devices stand for.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.types import RESOURCE_ORDER, NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.arguments import MOST_CUSTOM_SCORE

MOST_UTILIZATION = 100


class Amounts(NamedTuple):
    """Of one resource of a node: what its pods take, the same with the pod, and what it has."""

    allocated: int
    requested: int
    allocatable: int


Scorer = Callable[[Sequence[Amounts | None]], int]
"""A score, from the amounts of the resources that count; None: the node or the pod has none."""

Shape = Sequence[tuple[int, int]]
"""Points of a function: utilization and score, by increasing utilization."""


def is_scalar(name: str) -> bool:
    """Whether a resource is none of those that every node has."""
    return name not in RESOURCE_ORDER


def amounts(
    names: Sequence[str], pod_requests: Mapping[str, int], taken: Mapping[str, int], allocatable: Mapping[str, int],
) -> list[Amounts | None]:
    """The amounts by name of the resource.

    ``taken``: what the node's pods take. A resource that few nodes have counts only for pods that
    ask for it.
    """
    found: list[Amounts | None] = []
    for name in names:
        asked, has = pod_requests.get(name, 0), allocatable.get(name, 0)
        if has == 0 or (asked == 0 and is_scalar(name)):
            found.append(None)
        else:
            allocated = taken.get(name, 0)
            found.append(Amounts(allocated, allocated + asked, has))
    return found


def amounts_of_many(names: Sequence[str], pods: Sequence[PodInfo], nodes: Sequence[NodeInfo]) -> list[Amounts | None]:
    """The amounts of all these nodes together, by name of the resource; a node without a resource
    does not count for it.
    """
    asked = [scored_requests(pod) for pod in pods]
    taken = [scored_taken(node) for node in nodes]
    having = {name: [place for place, node in enumerate(nodes) if node.allocatable.get(name, 0)] for name in names}
    return amounts(
        names, {name: sum(each.get(name, 0) for each in asked) for name in names},
        {name: sum(taken[place].get(name, 0) for place in places) for name, places in having.items()},
        {name: sum(nodes[place].allocatable[name] for place in places) for name, places in having.items()})


def scored_requests(pod: PodInfo) -> Mapping[str, int]:
    """What a pod takes for scores: a little of cpu and memory where it requests none."""
    return {**pod.requests, **pod.non_zero_requests}


def scored_taken(node: NodeInfo) -> Mapping[str, int]:
    """What a node's pods take for scores."""
    return {**node.requested, **node.non_zero_requested}


def scorer_of(strategy: ReadOnlyTree) -> Scorer:
    """The function of a scoring strategy, whose arguments are checked."""
    weights = [resource["weight"] for resource in strategy["resources"]]
    kind = strategy["type"]
    if kind == "RequestedToCapacityRatio":
        return _ratio(weights, shape_of(strategy["requestedToCapacityRatio"]["shape"]))
    return _weighted(weights, _least if kind == "LeastAllocated" else _most)


def _weighted(weights: Sequence[int], score: Callable[[Amounts], int]) -> Scorer:
    def scorer(found: Sequence[Amounts | None]) -> int:
        total = weight_sum = 0
        for each, weight in zip(found, weights, strict=True):
            if each is not None:
                total += score(each) * weight
                weight_sum += weight
        return total // weight_sum if weight_sum else 0

    return scorer


def _least(found: Amounts) -> int:
    _, requested, has = found
    return (has - requested) * MAX_NODE_SCORE // has if requested <= has else 0


def _most(found: Amounts) -> int:
    _, requested, has = found
    return min(requested, has) * MAX_NODE_SCORE // has


def shape_of(points: Sequence[ReadOnlyTree]) -> Shape:
    """The shape that arguments describe, with scores up to 100."""
    factor = MAX_NODE_SCORE // MOST_CUSTOM_SCORE
    return [(point.get("utilization", 0), point.get("score", 0) * factor) for point in points]


def on_shape(shape: Shape, utilization: int) -> int:
    """The value of the broken line through the points of a shape."""
    for number, (limit, score) in enumerate(shape):
        if utilization <= limit:
            if number == 0:
                return score
            before, from_score = shape[number - 1]
            rise = (score - from_score) * (utilization - before)
            length = limit - before
            return from_score + (rise // length if rise >= 0 else -(-rise // length))  # Go cuts towards zero
    return shape[-1][1]


def utilization_score(shape: Shape, requested: int, capacity: int) -> int:
    """The score of a resource that is used so far."""
    if capacity == 0 or requested > capacity:
        return on_shape(shape, MOST_UTILIZATION)
    return on_shape(shape, requested * MOST_UTILIZATION // capacity)


def _ratio(weights: Sequence[int], shape: Shape) -> Scorer:
    def scorer(found: Sequence[Amounts | None]) -> int:
        total = weight_sum = 0
        for each, weight in zip(found, weights, strict=True):
            if each is None:
                continue
            score = utilization_score(shape, each.requested, each.allocatable)
            if score > 0:
                total += score * weight
                weight_sum += weight
        return rounded(total / weight_sum) if weight_sum else 0

    return scorer


def rounded(number: float) -> int:
    """To the nearest whole number, halves up; for numbers of 0 and more."""
    return math.floor(number + 0.5)


def balance(found: Sequence[Amounts | None]) -> int:
    """How much the pod brings the shares of a node's resources together: 50 (apart) to 100; about
    75 where it changes nothing.
    """
    half = MAX_NODE_SCORE // 2
    shares = [(each.requested / each.allocatable, each.allocated / each.allocatable) for each in found if each is not None]
    return half + (half + _evenness([share for share, _ in shares]) - _evenness([share for _, share in shares])) // 2


def _evenness(shares: Sequence[float]) -> int:
    shares = [min(share, 1.0) for share in shares]
    deviation = 0.0
    if len(shares) == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif len(shares) > 2:
        mean = _sum(shares) / len(shares)
        deviation = math.sqrt(_sum([(share - mean) * (share - mean) for share in shares]) / len(shares))
    return int((1 - deviation) * MAX_NODE_SCORE)


def _sum(numbers: Sequence[float]) -> float:
    """One after the other, as upstream adds; ``sum`` is more exact."""
    total = 0.0
    for number in numbers:
        total += number
    return total
