"""Candidates in the order in which they are tried. Upstream:
preemption/classical/candidate_generator.go.
"""

from itertools import chain
from typing import TYPE_CHECKING

from fakekube_controllers.kueue.cache.resource_node import is_within_nominal_in_resources
from fakekube_controllers.kueue.scheduler.preemption.classical.hierarchical_preemption import (
    Candidate,
    PreemptionVariant,
    collect_candidates_for_hierarchical_reclaim,
    collect_same_queue_candidates,
)
from fakekube_controllers.kueue.scheduler.preemption.common.ordering import eviction_order
from fakekube_controllers.kueue.scheduler.preemption.simulation import PreemptionCtx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fakekube_controllers.kueue.workload.info import Info


class CandidateIterator:
    """Candidates for one preemptor.

    Those that are evicted already come first; among both, those that the preemptor's place in the
    tree gives, those that priorities give, those of its own queue.
    """

    def __init__(self, ctx: PreemptionCtx) -> None:
        self._ctx = ctx
        hierarchy, priority = collect_candidates_for_hierarchical_reclaim(ctx)
        kinds = [
            sorted(kind, key=lambda candidate: ctx.key(candidate.info))
            for kind in (hierarchy, priority, collect_same_queue_candidates(ctx))
        ]
        everyone = list(chain.from_iterable(kinds))
        self._candidates = sorted(everyone, key=lambda candidate: eviction_order(candidate.info, ctx.ordering.features)[0])
        self.no_candidate_from_other_queues = not hierarchy and not priority
        self.no_candidate_for_hierarchical_reclaim = not hierarchy

    def run(self, *, borrow: bool) -> "Iterator[tuple[Info, str]]":
        """Each candidate that is still one when it is asked for, and the reason to evict it.

        What was taken from the snapshot in the meantime makes some candidates invalid.
        """
        for candidate in self._candidates:
            if self._is_valid(candidate, borrow=borrow):
                yield candidate.info, candidate.variant.preemption_reason

    def _is_valid(self, candidate: Candidate, *, borrow: bool) -> bool:
        if candidate.info.cluster_queue == self._ctx.cq.name:
            return True
        if borrow and candidate.variant == PreemptionVariant.RECLAIM_WITHOUT_BORROWING:
            return False
        cq = self._ctx.snapshot.cluster_queue(candidate.info.cluster_queue)
        assert cq is not None, "candidates are of queues of the snapshot"
        if is_within_nominal_in_resources(cq, self._ctx.frs_need_preemption):
            return False
        for node in cq.path_parent_to_root():
            if node is candidate.lca:
                break
            if is_within_nominal_in_resources(node, self._ctx.frs_need_preemption):
                return False
        return True
