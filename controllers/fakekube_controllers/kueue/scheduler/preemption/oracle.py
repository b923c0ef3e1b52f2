"""What preemption for one resource alone would come to: flavors are chosen by it.

Upstream: pkg/scheduler/preemption/preemption_oracle.go.
"""

from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.scheduler.preemption.classical.hierarchical_preemption import (
    find_height_of_lowest_subtree_that_fits,
)
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.resources import FlavorResource
    from fakekube_controllers.kueue.scheduler.preemption.preemptor import Preemptor
    from fakekube_controllers.kueue.workload.info import Info


class PreemptionOracle(NamedTuple):
    """For one snapshot. ``now`` in Unix seconds."""

    preemptor: "Preemptor"
    snapshot: "Snapshot"
    now: float

    def simulate_preemption(
        self, cq: "ClusterQueueSnapshot", info: "Info", fr: "FlavorResource", quantity: int,
    ) -> tuple[PreemptionPossibility, int]:
        """Whether there are victims, and from how high a subtree the Workload would borrow then."""
        targets = self.preemptor.targets_for(info, fr, quantity, self.snapshot, self.now)
        if not targets:
            return PreemptionPossibility.NO_CANDIDATES, find_height_of_lowest_subtree_that_fits(cq, fr, quantity)[0]
        revert = self.snapshot.simulate_workload_usage_removal([target.workload_info for target in targets])
        borrow, _ = find_height_of_lowest_subtree_that_fits(cq, fr, quantity)
        revert()
        if any(target.workload_info.cluster_queue == cq.name for target in targets):
            return PreemptionPossibility.PREEMPT, borrow
        return PreemptionPossibility.RECLAIM, borrow
