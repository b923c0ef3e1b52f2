"""Whether a Workload may preempt another. Upstream: preemption/common/preemption_policy.go."""

from typing import TYPE_CHECKING

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:
    from fakekube_controllers.kueue.workload.info import Ordering

NEVER, LOWER_PRIORITY, LOWER_OR_NEWER_EQUAL_PRIORITY, ANY = "Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"
TIMESTAMP_PREEMPTION_BUFFER_SECONDS = 300


def satisfies_preemption_policy(preemptor: ReadOnlyTree, candidate: ReadOnlyTree, ordering: "Ordering", policy: str) -> bool:
    """Whether a policy of a ClusterQueue (``withinClusterQueue``, ``reclaimWithinCohort``) lets a
    Workload preempt another.
    """
    if policy == ANY:
        return True
    preemptor_priority = effective_priority(preemptor, ordering.features)
    candidate_priority = effective_priority(candidate, ordering.features)
    if policy == LOWER_PRIORITY:
        return preemptor_priority > candidate_priority
    if policy != LOWER_OR_NEWER_EQUAL_PRIORITY:
        return False
    if preemptor_priority != candidate_priority:
        return preemptor_priority > candidate_priority
    newer_by = ordering.queue_order_timestamp(candidate) - ordering.queue_order_timestamp(preemptor)
    return newer_by > (TIMESTAMP_PREEMPTION_BUFFER_SECONDS if ordering.features.SchedulerTimestampPreemptionBuffer else 0)
