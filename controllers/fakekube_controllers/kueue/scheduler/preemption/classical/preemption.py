"""A small set of victims, by priorities and quotas. Upstream: classicalPreemptions of
preemption.go.
"""

from fakekube_controllers.kueue.scheduler.preemption.classical.candidate_generator import CandidateIterator
from fakekube_controllers.kueue.scheduler.preemption.classical.hierarchical_preemption import (
    is_borrowing_within_cohort_forbidden,
)
from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
from fakekube_controllers.kueue.scheduler.preemption.simulation import PreemptionCtx


def classical_preemptions(ctx: PreemptionCtx) -> list[Target]:
    """Victims that make room; none if nothing does.

    Candidates are taken in order, as long as they are ones, until the preemptor fits; then those
    that are not needed are put back.
    """
    candidates = CandidateIterator(ctx)
    for borrow in _attempts(ctx, candidates):
        targets: list[Target] = []
        for info, reason in candidates.run(borrow=borrow):
            ctx.snapshot.remove_workload(info)
            targets.append(Target(info, reason, ctx.snapshot.cluster_queue(info.cluster_queue)))
            if ctx.workload_fits(allow_borrowing=borrow):
                targets = ctx.fill_back(targets, allow_borrowing=borrow)
                ctx.restore(targets)
                return targets
        ctx.restore(targets)
    return []


def _attempts(ctx: PreemptionCtx, candidates: CandidateIterator) -> tuple[bool, ...]:
    """With which of borrowing and not borrowing to try, in order.

    Without borrowing there are more candidates: those above the threshold of priorities are kept
    from whoever borrows.
    """
    forbidden, _ = is_borrowing_within_cohort_forbidden(ctx.cq)
    if candidates.no_candidate_from_other_queues or (forbidden and not ctx.queue_under_nominal()):
        return (True,)
    if forbidden and candidates.no_candidate_for_hierarchical_reclaim:
        return False, True
    return True, False
