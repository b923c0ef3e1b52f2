"""What a ClusterQueue may take back. Upstream: preemption/policy.go."""

from typing import TYPE_CHECKING

from fakekube_controllers.kueue.scheduler.preemption.common.preemption_policy import ANY

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot


def can_always_reclaim(cq: "ClusterQueueSnapshot") -> bool:
    """Whether it gets its nominal quota back whatever the priorities."""
    return cq.preemption.reclaim_within_cohort == ANY
