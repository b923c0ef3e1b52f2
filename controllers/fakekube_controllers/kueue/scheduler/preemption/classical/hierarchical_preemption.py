"""Who can be preempted, by where its ClusterQueue stands in the tree of cohorts.

Upstream: preemption/classical/hierarchical_preemption.go.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.cache.resource_node import (
    is_within_nominal_in_resources,
    local_available,
    quantities_fit_in_quota,
)
from fakekube_controllers.kueue.scheduler.preemption.common.preemption_policy import NEVER
from fakekube_controllers.kueue.scheduler.preemption.simulation import PreemptionCtx
from fakekube_controllers.kueue.workload import reasons
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:

    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, CohortSnapshot
    from fakekube_controllers.kueue.resources import FlavorResource
    from fakekube_controllers.kueue.workload.info import Info


class PreemptionVariant(IntEnum):
    """On what ground a candidate can be preempted."""

    WITHIN_CQ = 0
    HIERARCHICAL_RECLAIM = 1
    """The preemptor's place in the tree gives it the first right to the quota."""
    RECLAIM_WITHOUT_BORROWING = 2
    """If the preemptor's ClusterQueue does not borrow afterwards."""
    RECLAIM_WHILE_BORROWING = 3

    @property
    def preemption_reason(self) -> str:
        """The reason of the condition Preempted."""
        return _REASONS[self]


_REASONS = (
    reasons.IN_CLUSTER_QUEUE, reasons.IN_COHORT_RECLAMATION, reasons.IN_COHORT_RECLAMATION,
    reasons.IN_COHORT_RECLAIM_WHILE_BORROWING,
)


class Candidate(NamedTuple):
    """A Workload that could be preempted.

    ``lca``: the nearest cohort above its queue and the preemptor's, None in the preemptor's queue.
    """

    info: "Info"
    lca: "CohortSnapshot | None"
    variant: PreemptionVariant


def is_borrowing_within_cohort_forbidden(cq: "ClusterQueueSnapshot") -> tuple[bool, int | None]:
    """Whether a ClusterQueue may not borrow when it preempts in its cohort, and the highest
    priority of whom it may preempt then (None: any that is lower than the preemptor's).
    """
    within_cohort = cq.preemption.borrow_within_cohort
    if within_cohort is None or within_cohort.policy == NEVER:
        return True, None
    return False, within_cohort.max_priority_threshold


def _variant_in_cohort(ctx: PreemptionCtx, info: "Info", *, have_hierarchical_advantage: bool) -> PreemptionVariant:
    if have_hierarchical_advantage:
        return PreemptionVariant.HIERARCHICAL_RECLAIM
    features = ctx.ordering.features
    forbidden, threshold = is_borrowing_within_cohort_forbidden(ctx.cq)
    if forbidden or _is_above_borrowing_threshold(
        effective_priority(info.obj, features), effective_priority(ctx.preemptor, features), threshold
    ):
        return PreemptionVariant.RECLAIM_WITHOUT_BORROWING
    return PreemptionVariant.RECLAIM_WHILE_BORROWING


def _is_above_borrowing_threshold(candidate_priority: int, incoming_priority: int, threshold: int | None) -> bool:
    return candidate_priority >= incoming_priority or (threshold is not None and candidate_priority > threshold)


def collect_same_queue_candidates(ctx: PreemptionCtx) -> list[Candidate]:
    """Those of the preemptor's own ClusterQueue."""
    return [
        Candidate(info, None, PreemptionVariant.WITHIN_CQ)
        for info in ctx.candidates_of(ctx.cq, ctx.cq.preemption.within_cluster_queue)]


def _candidates_of(
    cq: "ClusterQueueSnapshot", lca: "CohortSnapshot", ctx: PreemptionCtx, *, have_hierarchical_advantage: bool,
) -> Iterator[Candidate]:
    for info in ctx.candidates_of(cq, ctx.cq.preemption.reclaim_within_cohort):
        yield Candidate(info, lca, _variant_in_cohort(ctx, info, have_hierarchical_advantage=have_hierarchical_advantage))


def collect_candidates_for_hierarchical_reclaim(ctx: PreemptionCtx) -> tuple[list[Candidate], list[Candidate]]:
    """Those of other ClusterQueues: where the preemptor's place in the tree is nearer to the quota,
    and where priorities decide.
    """
    hierarchy_candidates: list[Candidate] = []
    priority_candidates: list[Candidate] = []
    if not ctx.cq.has_parent() or ctx.cq.preemption.reclaim_within_cohort == NEVER:
        return hierarchy_candidates, priority_candidates
    has_advantage, remaining_requests = quantities_fit_in_quota(ctx.cq, ctx.usage.quota)
    previous_root: CohortSnapshot | None = None
    for subtree_root in ctx.cq.path_parent_to_root():
        found = hierarchy_candidates if has_advantage else priority_candidates
        found.extend(_candidates_in_subtree(
            ctx, subtree_root, subtree_root, previous_root, has_hierarchical_advantage=has_advantage))
        fits, remaining_requests = quantities_fit_in_quota(subtree_root, remaining_requests)
        # a subtree that holds the request gives the first right against all outside of it
        has_advantage = has_advantage or fits
        previous_root = subtree_root
    return hierarchy_candidates, priority_candidates


def _candidates_in_subtree(
    ctx: PreemptionCtx, cohort: "CohortSnapshot", subtree_root: "CohortSnapshot",
    skipped: "CohortSnapshot | None", *, has_hierarchical_advantage: bool,
) -> Iterator[Candidate]:
    """Of queues that exceed their quotas, below cohorts that exceed theirs; not of ``skipped``."""
    for child in cohort.child_cohorts():
        if child is not skipped and not is_within_nominal_in_resources(child, ctx.frs_need_preemption):
            yield from _candidates_in_subtree(
                ctx, child, subtree_root, skipped, has_hierarchical_advantage=has_hierarchical_advantage)
    for cq in cohort.child_cqs():
        if cq is not ctx.cq and not is_within_nominal_in_resources(cq, ctx.frs_need_preemption):
            yield from _candidates_of(cq, subtree_root, ctx, have_hierarchical_advantage=has_hierarchical_advantage)


def _node_height(node: "CohortSnapshot") -> int:
    """How far away the farthest leaf is."""
    return max([int(node.has_children()), *(_node_height(child) + 1 for child in node.child_cohorts())])


def find_height_of_lowest_subtree_that_fits(cq: "ClusterQueueSnapshot", fr: "FlavorResource", val: int) -> tuple[int, bool]:
    """How high the smallest subtree is whose quota holds ``val`` more of a resource (0: the queue's
    own), or the whole tree if none does; and whether the subtree is smaller than the tree.
    """
    if not cq.borrowing_with(fr, val) or not cq.has_parent():
        return 0, cq.has_parent()
    remaining = val - local_available(cq, fr)
    root: CohortSnapshot | None = None
    for node in cq.path_parent_to_root():
        if not node.borrowing_with(fr, remaining):
            return _node_height(node), node.has_parent()
        remaining -= local_available(node, fr)
        root = node
    assert root is not None
    return _node_height(root), False
