"""Which gated pods go to which domains: by their ranks, where all pods tell theirs, else as they
come.

Upstream: assignGatedPodsToDomains in pkg/controller/tas/topology_ungater.go.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, repeat

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment, level_values

PodDomain = tuple[ReadOnlyTree, tuple[str, ...]]
"""A gated pod, and the values of the domain that it goes to."""


class NoRanks(Exception):
    """Pods that do not tell their ranks, or not rightly."""


def assign_gated_pods(
    assignment: TopologyAssignment, count: int, found: Sequence[ReadOnlyTree], request: ReadOnlyTree | None, *, offset: int,
    max_rank: int,
) -> list[PodDomain]:
    """Where the gated ones of a podset's pods go; ``count`` is the podset's.

    The index of a pod is its rank plus ``offset``, and below ``max_rank``.
    """
    try:
        ranked = _ranks(count, found, request, offset, max_rank)
    except NoRanks:
        return _greedy(assignment, found)
    ends = [*accumulate(each.count for each in assignment.domains)]
    if any(rank >= (ends[-1] if ends else 0) for rank in ranked):
        return _greedy(assignment, found)
    placed = [(pod, assignment.domains[bisect_right(ends, rank)].values) for rank, pod in ranked.items()]
    if any(values != _domain_of(pod, assignment) for pod, values in placed if not _is_gated(pod)):
        return _greedy(assignment, found)
    return [(pod, values) for pod, values in placed if _is_gated(pod)]


def _ranks(
    count: int, found: Sequence[ReadOnlyTree], request: ReadOnlyTree | None, offset: int, max_rank: int,
) -> dict[int, ReadOnlyTree]:
    """The pods by their ranks. Raises NoRanks."""
    label = (request or meta.EMPTY).get("podIndexLabel")
    if request is None or label is None:
        raise NoRanks
    group_label, groups = request.get("subGroupIndexLabel"), request.get("subGroupCount") or 0
    if group_label is not None and groups <= 0:
        raise NoRanks
    size = count // groups if group_label is not None else count
    result: dict[int, ReadOnlyTree] = {}
    for pod in found:
        index = _number(pod, label, max_rank)
        rank = index - offset
        if group_label is not None:
            rank += _number(pod, group_label, groups) * size
            if index >= size:
                raise NoRanks
        if not 0 <= rank < count or rank in result:
            raise NoRanks
        result[rank] = pod
    return result


def _number(pod: ReadOnlyTree, label: str, bound: int) -> int:
    try:
        number = pods.number_of_label(pod, label, bound)
    except pods.LabelError:
        raise NoRanks from None
    if number is None:
        raise NoRanks
    return number


def _greedy(assignment: TopologyAssignment, found: Sequence[ReadOnlyTree]) -> list[PodDomain]:
    """Fill up one domain after the other."""
    gated = [pod for pod in found if _is_gated(pod)]
    there: dict[tuple[str, ...], int] = {}
    for pod in found:
        if not _is_gated(pod):
            own = _domain_of(pod, assignment)
            there[own] = there.get(own, 0) + 1
    free = chain.from_iterable(repeat(each.values, each.count - there.get(each.values, 0)) for each in assignment.domains)
    return list(zip(gated, free, strict=False))


def _domain_of(pod: ReadOnlyTree, assignment: TopologyAssignment) -> tuple[str, ...]:
    return level_values(assignment.levels, pod["spec"].get("nodeSelector"))


def _is_gated(pod: ReadOnlyTree) -> bool:
    return pods.has_gate(pod, names.TOPOLOGY_GATE)
