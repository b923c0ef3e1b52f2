"""Balanced placement (gate TASBalancedPlacement): as many pods in each domain as may be, where the
pods prefer to be together.

The threshold is the least number of slices that every chosen domain holds; the largest for which
the slices still fit is searched. Upstream: pkg/cache/scheduler/tas_balanced_placement.go.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from fakekube_controllers.kueue.topology.domains import Domain, DomainTree, SliceLevels, sum_up
from fakekube_controllers.kueue.topology.ordering import Ordering
from fakekube_controllers.kueue.topology.parameters import Parameters

Domains = Sequence[Domain]


class _Greedy(NamedTuple):
    """How many domains a greedy choice takes, and the last of them, with and without a leader."""

    number: int
    last_with_leader: Domain | None
    last: Domain | None


def find_domains(tree: DomainTree, wanted: Parameters, order: Ordering) -> tuple[int, Domains] | None:
    """The level and the domains of a balanced placement, with what is in each; None where there is
    none.
    """
    threshold, found = _best_threshold(tree, wanted, order)
    if threshold <= 0:
        return None
    level = wanted.level
    if wanted.level < wanted.slices.level:
        chosen = _optimal_set(found, wanted, order, by_entropy=True)
        if chosen is None:
            return None
        found, level = [child for each in chosen for child in each.children], wanted.level + 1
    placed = _placed(found, wanted, order, threshold)
    return None if placed is None else (level, placed)


def _best_threshold(tree: DomainTree, wanted: Parameters, order: Ordering) -> tuple[int, Domains]:
    """The largest threshold for which domains below one that is a level above what is asked for
    hold all, and these domains without what does not reach it.
    """
    if wanted.level == 0:
        siblings: list[Domains] = [list(tree.per_level[0].values())]
    else:
        siblings = [each.children for each in tree.per_level[wanted.level - 1].values()]
    best, best_number, chosen = 0, 0, list[Domain]()
    for each in siblings:
        found = _threshold(each, wanted, order, best)
        if found is None:
            continue
        threshold, number, candidates = found
        if threshold > best or (threshold == best and number < best_number):
            best, best_number, chosen = threshold, number, candidates
    return best, chosen


def _threshold(siblings: Domains, wanted: Parameters, order: Ordering, best: int) -> tuple[int, int, list[Domain]] | None:
    """The threshold of some domains, at least ``best``, how many of them are taken, and copies of
    them without what does not reach it.
    """
    candidates = [each.clone() for each in siblings]
    below = candidates
    if wanted.level < wanted.slices.level:
        below = [child for each in candidates for child in each.children]
    greedy = _greedy(below, wanted, order)
    if greedy is None or not greedy.number:
        return None
    threshold = wanted.slice_count // greedy.number
    if greedy.last_with_leader is not None:
        threshold = min(threshold, greedy.last_with_leader.slice_state_with_leader)
    if greedy.last is not None:
        threshold = min(threshold, greedy.last.slice_state)
    lower = threshold
    if greedy.last is not None and wanted.leader_count:
        lower = min(threshold, greedy.last.slice_state_with_leader)
    if threshold < best:
        return None
    _prune(candidates, wanted, threshold)
    after = _greedy(candidates, wanted, order)
    if after is None and lower < threshold:
        if lower <= 0 or lower < best:
            return None
        # with a lower one there may be room for the leader
        threshold, candidates = lower, [each.clone() for each in siblings]
        _prune(candidates, wanted, threshold)
        after = _greedy(candidates, wanted, order)
    return None if after is None else (threshold, after.number, candidates)


def _greedy(domains: Domains, wanted: Parameters, order: Ordering) -> _Greedy | None:
    """What a greedy choice takes; None where not all fits. Upstream: evaluateGreedyAssignment."""
    number, left, leaders = 0, wanted.slice_count, wanted.leader_count
    last = last_with_leader = None
    if leaders:
        ordered, start = order.sorted_with_leader(domains), 0
        while leaders > 0 and start < len(ordered) and ordered[start].leader_state > 0:
            last_with_leader = ordered[start]
            number, start = number + 1, start + 1
            leaders -= last_with_leader.leader_state
            left -= last_with_leader.slice_state_with_leader
        domains = ordered[start:]
    if leaders > 0:
        return None
    for domain in order.sorted(domains):
        if left <= 0 or domain.slice_state <= 0:
            break
        number, last = number + 1, domain
        left -= domain.slice_state
    return None if left > 0 else _Greedy(number, last_with_leader, last)


def _optimal_set(domains: Domains, wanted: Parameters, order: Ordering, *, by_entropy: bool) -> list[Domain] | None:
    """As many domains as a greedy choice takes, which hold all and have the least room together.

    ``placements`` has, by how many domains are taken, by leaders and pods that are left, the
    domains that were taken first for it. Upstream: selectOptimalDomainSetToFit.
    """
    greedy = _greedy(domains, wanted, order)
    if greedy is None:
        return None
    ordered = sorted(domains, key=_by_entropy if by_entropy else _by_order)
    placements: list[dict[int, dict[int, list[Domain]]]] = [{} for _ in range(greedy.number + 1)]
    placements[0][wanted.leader_count] = {wanted.slice_count * wanted.slices.size: []}
    for domain in ordered:
        for number in range(greedy.number, 0, -1):
            before = [
                (leaders, left, placements[number - 1][leaders][left])
                for leaders in sorted(placements[number - 1]) for left in sorted(placements[number - 1][leaders])]
            for leaders, left, taken in before:
                if leaders <= 0 and left <= 0:
                    continue
                if leaders > 0 and domain.leader_state > 0:
                    after = placements[number].setdefault(leaders - domain.leader_state, {})
                    after.setdefault(left - domain.state_with_leader, [*taken, domain])
                if domain.slice_state > 0:
                    placements[number].setdefault(leaders, {}).setdefault(left - domain.state, [*taken, domain])
    without_leaders = placements[greedy.number].get(0, {})
    fitting = [left for left in without_leaders if left <= 0]
    return without_leaders[max(fitting)] if fitting else None


def _placed(domains: Domains, wanted: Parameters, order: Ordering, threshold: int) -> list[Domain] | None:
    """The threshold of slices in each domain, and what is left in the first that have room.

    Upstream: placeSlicesOnDomainsBalanced.
    """
    chosen = _optimal_set(domains, wanted, order, by_entropy=False)
    extra = wanted.slice_count - len(chosen or ()) * threshold
    if chosen is None or extra < 0:
        return None
    leaders = wanted.leader_count
    chosen = order.sorted_with_leader(chosen)
    for domain in chosen:
        more = 0
        if leaders > 0:
            more = min(domain.slice_state_with_leader - threshold, extra)
        elif extra > 0:
            more = min(domain.slice_state - threshold, extra)
        domain.leader_state = 1 if leaders > 0 else 0
        leaders -= domain.leader_state
        domain.slice_state = domain.slice_state_with_leader = threshold + more
        domain.state = domain.slice_state * wanted.slices.size
        domain.state_with_leader = domain.state - domain.leader_state
        extra -= more
    return None if extra > 0 or leaders > 0 else chosen


def _prune(domains: Domains, wanted: Parameters, threshold: int) -> None:
    """Take domains that hold fewer slices than the threshold, and those below them, for full."""
    leader, slices = wanted.leader_count > 0, SliceLevels(wanted.slices.size, wanted.slices.level, {})
    for domain in domains:
        for child in domain.children:
            _prune_one(child, threshold, leader=leader)
    for domain in domains:
        sum_up(domain, wanted.level, slices, leader=leader)
        _prune_one(domain, threshold, leader=leader)


def _prune_one(domain: Domain, threshold: int, *, leader: bool) -> None:
    if domain.slice_state < threshold:
        domain.clear_all()
    elif leader and domain.leader_state > 0 and domain.slice_state_with_leader < threshold:
        domain.clear_leader()


def _by_order(domain: Domain) -> int:
    return domain.order


def _by_entropy(domain: Domain) -> tuple[int, int, float, int]:
    """Room first, then how evenly it is spread over what is below."""
    return -domain.leader_state, -domain.slice_state_with_leader, -_entropy(domain.children), domain.order


def _entropy(domains: Domains) -> float:
    total = sum(each.state for each in domains)
    shares = [each.state / total for each in domains if each.state > 0] if total else []
    return -sum(share * math.log2(share) for share in shares)
