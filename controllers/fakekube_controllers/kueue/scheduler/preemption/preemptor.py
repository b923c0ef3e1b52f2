"""Whom to evict so that a Workload fits. Simulates on the snapshot and leaves it as it was.

Upstream: pkg/scheduler/preemption/preemption.go.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.resources import FlavorResource
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.classical.preemption import classical_preemptions
from fakekube_controllers.kueue.scheduler.preemption.common.ordering import candidates_ordering
from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
from fakekube_controllers.kueue.scheduler.preemption.fairsharing.preemption import fair_preemptions
from fakekube_controllers.kueue.scheduler.preemption.fairsharing.strategy import STRATEGIES, Strategy
from fakekube_controllers.kueue.scheduler.preemption.simulation import PreemptionCtx
from fakekube_controllers.kueue.topology.flavorassigner import find_topology_assignments_for_workload
from fakekube_controllers.kueue.workload.info import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment
    from fakekube_controllers.kueue.workload.info import Info, Ordering

DEFAULT_STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


class Preemptor(NamedTuple):
    """How victims are chosen. ``strategies`` are those of fair sharing, None when it is off."""

    ordering: "Ordering"
    strategies: tuple[Strategy, ...] | None = None

    def get_targets(self, info: "Info", assignment: "Assignment", snapshot: "Snapshot", now: float) -> list[Target]:
        """Who is to be evicted for a Workload to get an assignment; empty if that cannot be.

        ``now`` in Unix seconds.
        """
        cq = snapshot.cluster_queue(info.cluster_queue)
        assert cq is not None, "a Workload with an assignment is of a queue of the snapshot"
        usage = Usage(assignment.total_requests_for(info), info.tas_usage())
        requests = assignment.workloads_topology_requests(info, cq) if self.ordering.features.TopologyAwareScheduling else {}

        def fits_topology() -> bool:
            return find_topology_assignments_for_workload(cq.tas_flavors, requests, workload=info.obj).failure() is None

        return self._targets(
            info, cq, snapshot, usage, _flavor_resources_need_preemption(assignment), now, fits_topology if requests else None)

    def targets_for(
        self, info: "Info", fr: "FlavorResource", quantity: int, snapshot: "Snapshot", now: float,
    ) -> list[Target]:
        """The same, for so much of one resource alone."""
        cq = snapshot.cluster_queue(info.cluster_queue)
        assert cq is not None, "flavors are assigned in queues of the snapshot"
        return self._targets(info, cq, snapshot, Usage({fr: quantity}), (fr,), now, None)

    def _targets(
        self, info: "Info", cq: "ClusterQueueSnapshot", snapshot: "Snapshot", usage: Usage,
        frs_need_preemption: "Collection[FlavorResource]", now: float, fits_topology: "Callable[[], bool] | None",
    ) -> list[Target]:
        ctx = PreemptionCtx(
            info.obj, cq, snapshot, usage, frs_need_preemption, self.ordering,
            candidates_ordering(self.ordering, cq.name, now), fits_topology)
        return classical_preemptions(ctx) if self.strategies is None else fair_preemptions(ctx, self.strategies)


def parse_strategies(names: Collection[str]) -> tuple[Strategy, ...]:
    """The strategies of fair sharing by the names that a configuration has; its default if none."""
    return tuple(STRATEGIES[name] for name in names or DEFAULT_STRATEGIES)


def _flavor_resources_need_preemption(assignment: "Assignment") -> "tuple[FlavorResource, ...]":
    return tuple(dict.fromkeys(
        FlavorResource(flavor.name, resource)
        for podset in assignment.pod_sets for resource, flavor in podset.flavors.items()
        if flavor.mode == FlavorAssignmentMode.PREEMPT))
