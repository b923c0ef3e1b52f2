"""Victims that make the shares of ClusterQueues and cohorts more equal.

Upstream: fairPreemptions, runFirstFsStrategy, runSecondFsStrategy, findCandidates of preemption.go.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fakekube_controllers.kueue.scheduler.preemption.common.preemption_policy import NEVER
from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
from fakekube_controllers.kueue.scheduler.preemption.fairsharing.ordering import TargetClusterQueueOrdering
from fakekube_controllers.kueue.scheduler.preemption.fairsharing.strategy import Strategy, less_than_initial_share
from fakekube_controllers.kueue.scheduler.preemption.simulation import PreemptionCtx
from fakekube_controllers.kueue.workload import reasons

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
    from fakekube_controllers.kueue.workload.info import Info


def fair_preemptions(ctx: PreemptionCtx, strategies: Sequence[Strategy]) -> list[Target]:
    """Victims that make room; none if nothing fair does."""
    candidates = sorted(find_candidates(ctx), key=ctx.key)
    if not candidates:
        return []
    targets: list[Target] = []
    # shares are compared with the preemptor's Workload counted
    revert = ctx.cq.simulate_usage_addition(ctx.usage)
    fits, retry = _run_first_strategy(ctx, candidates, strategies[0], targets)
    if not fits and len(strategies) > 1:
        fits = _run_second_strategy(ctx, retry, targets)
    revert()
    if not fits:
        ctx.restore(targets)
        return []
    targets = ctx.fill_back(targets, allow_borrowing=True)
    ctx.restore(targets)
    return targets


def find_candidates(ctx: PreemptionCtx) -> "Iterator[Info]":
    """Those that policies allow and that hold what is needed: in the preemptor's queue, and in
    queues of its cohorts that borrow it.
    """
    cq = ctx.cq
    yield from ctx.candidates_of(cq, cq.preemption.within_cluster_queue)
    if cq.has_parent() and cq.preemption.reclaim_within_cohort != NEVER:
        *_, root = cq.path_parent_to_root()
        for other in root.subtree_cluster_queues():
            if other is not cq and any(other.borrowing(fr) for fr in ctx.frs_need_preemption):
                yield from ctx.candidates_of(other, cq.preemption.reclaim_within_cohort)


def _run_first_strategy(
    ctx: PreemptionCtx, candidates: "list[Info]", strategy: Strategy, targets: list[Target],
) -> "tuple[bool, list[Info]]":
    """Whether it fits by what was added to ``targets``, and whom the strategy spared."""
    ordering = TargetClusterQueueOrdering(ctx.cq, candidates, ctx.key)
    # what is within the nominal quota may be taken back from any that borrows, whatever the shares
    within_nominal = ctx.ordering.features.FairSharingPreemptWithinNominal and ctx.queue_within_nominal()
    retry: list[Info] = []
    for target in ordering:
        if target.in_cluster_queue_preemption() or within_nominal:
            reason = reasons.IN_CLUSTER_QUEUE if target.in_cluster_queue_preemption() else reasons.IN_COHORT_RECLAMATION
            if _take(ctx, target.pop_workload(), reason, target.cq, targets):
                return True, []
            continue
        preemptor_new, target_old = target.compute_shares()
        while target.has_workload():
            info = target.pop_workload()
            if strategy(preemptor_new, target_old, target.compute_target_share_after_removal(info)):
                if _take(ctx, info, reasons.IN_COHORT_FAIR_SHARING, target.cq, targets):
                    return True, []
                break  # another queue may have the largest share now
            retry.append(info)
    return False, retry


def _run_second_strategy(ctx: PreemptionCtx, candidates: "list[Info]", targets: list[Target]) -> bool:
    """Rule S2-b, once a queue. Whether it fits by what was added to ``targets``."""
    ordering = TargetClusterQueueOrdering(ctx.cq, candidates, ctx.key)
    for target in ordering:
        preemptor_new, target_old = target.compute_shares()
        info = target.pop_workload()
        if less_than_initial_share(preemptor_new, target_old, None) and _take(
            ctx, info, reasons.IN_COHORT_FAIR_SHARING, target.cq, targets
        ):
            return True
        ordering.drop_queue(target)
    return False


def _take(
    ctx: PreemptionCtx, info: "Info", reason: str, cq: "ClusterQueueSnapshot", targets: list[Target],
) -> bool:
    """Make a Workload a victim. Whether the preemptor fits now."""
    ctx.snapshot.remove_workload(info)
    targets.append(Target(info, reason, cq))
    # its usage is counted for the shares, so it is taken away while it is asked whether it fits
    revert = ctx.cq.simulate_usage_removal(ctx.usage)
    fits = ctx.workload_fits(allow_borrowing=True)
    revert()
    return fits
