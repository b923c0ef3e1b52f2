"""One preemptor on one snapshot: what it asks for, and whether that fits by now.

Upstream: preemptionCtx, workloadFits, fillBackWorkloads of preemption.go.
"""

from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.scheduler.preemption.common.preemption_policy import candidates_for_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from fakekube.apimachinery.types import ReadOnlyTree
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.resources import FlavorResource
    from fakekube_controllers.kueue.scheduler.preemption.common.ordering import CandidateKey
    from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
    from fakekube_controllers.kueue.workload.info import Info, Ordering, Usage


class PreemptionCtx(NamedTuple):
    """What a search for victims is given.

    ``key`` orders candidates. ``fits_topology`` says whether the pods find places by now, None
    where no place is asked for.
    """

    preemptor: "ReadOnlyTree"
    cq: "ClusterQueueSnapshot"
    snapshot: "Snapshot"
    usage: "Usage"
    frs_need_preemption: "Collection[FlavorResource]"
    ordering: "Ordering"
    key: "Callable[[Info], CandidateKey]"
    fits_topology: "Callable[[], bool] | None" = None

    def candidates_of(self, cq: "ClusterQueueSnapshot", policy: str) -> "Iterator[Info]":
        """The Workloads of a ClusterQueue that a policy lets be preempted, and that hold what is
        needed.
        """
        return candidates_for_policy(self.preemptor, cq, policy, self.frs_need_preemption, self.ordering)

    def workload_fits(self, *, allow_borrowing: bool) -> bool:
        """Whether the preemptor fits into what the snapshot shows."""
        for fr, amount in self.usage.quota.items():
            if not allow_borrowing and self.cq.borrowing_with(fr, amount):
                return False
            if amount > self.cq.available(fr):
                return False
        return self.fits_topology is None or self.fits_topology()

    def fill_back(self, targets: "list[Target]", *, allow_borrowing: bool) -> "list[Target]":
        """Put back, from the last but one to the first, each victim without which it fits as well.

        What is left of them; the last victim takes the place of one that was put back.
        """
        for index in range(len(targets) - 2, -1, -1):
            self.snapshot.add_workload(targets[index].workload_info)
            if self.workload_fits(allow_borrowing=allow_borrowing):
                targets[index] = targets[-1]
                targets.pop()
            else:
                self.snapshot.remove_workload(targets[index].workload_info)
        return targets

    def restore(self, targets: "list[Target]") -> None:
        """Put all victims back into the snapshot."""
        for target in targets:
            self.snapshot.add_workload(target.workload_info)

    def queue_under_nominal(self) -> bool:
        """Whether the preemptor's queue uses less than its nominal quota of all that is needed."""
        used = self.cq.resource_node.usage
        return all(self.cq.quota_for(fr).nominal > used.get(fr, 0) for fr in self.frs_need_preemption)

    def queue_within_nominal(self) -> bool:
        """As ``queue_under_nominal``, or all of it."""
        return not any(self.cq.borrowing(fr) for fr in self.frs_need_preemption)
