"""What a Workload would get by now, and who would have to be evicted for it.

Upstream: getAssignments, getInitialAssignments, updateAssignmentForTAS of scheduler.go.
"""

from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.scheduler.flavorassigner.flavorassigner import FlavorAssigner
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.flavorassigner.podset_reducer import PodSetReducer
from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
from fakekube_controllers.kueue.scheduler.preemption.oracle import PreemptionOracle
from fakekube_controllers.kueue.scheduler.preemption.preemptor import Preemptor, parse_strategies
from fakekube_controllers.kueue.slices.replacement import replaced_workload_slice
from fakekube_controllers.kueue.topology.flavorassigner import find_topology_assignments_for_workload
from fakekube_controllers.kueue.topology.requests import is_explicitly_requesting_tas
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.configuration import Configuration
    from fakekube_controllers.kueue.features import Features
    from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment
    from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, Ordering

Found = tuple["Assignment", list[Target]]


class Settings(NamedTuple):
    """What a configuration says about scheduling."""

    features: "Features"
    preemptor: "Preemptor"
    quota_check_strategy: str = "BlockUndeclared"

    @property
    def is_fair_sharing_enabled(self) -> bool:
        """Whether shares decide."""
        return self.preemptor.strategies is not None


class Assigner(NamedTuple):
    """Finds assignments in one cycle. ``now`` in Unix seconds."""

    settings: Settings
    snapshot: "Snapshot"
    cycle: int
    now: float

    def get_assignments(self, info: "Info") -> Found:
        """The assignment of a Workload, and its victims.

        What it tried last is dropped when that is outdated.
        """
        cq = self.snapshot.cluster_queue(info.cluster_queue)
        assert cq is not None, "an entry has a queue in the snapshot"
        if info.last_assignment is not None and self._is_outdated(info.last_assignment, cq, info):
            info.last_assignment = None
        assignment, targets = self._initial(info, cq)
        self._update_for_tas(cq, info, assignment, targets)
        return assignment, targets

    def _is_outdated(self, last: "AssignmentClusterQueueState", cq: "ClusterQueueSnapshot", info: "Info") -> bool:
        if self.settings.features.FlavorFungibilityPreserveScanProgress:
            if not last.matches_scheduling_shape(info.scheduling_hash):
                return True
            # else whatever is admitted in a busy cohort makes the next attempt start over
            if self.cycle - last.scheduling_cycle <= 1:
                return False
        return cq.allocatable_resource_generation > last.cluster_queue_generation

    def _initial(self, info: "Info", cq: "ClusterQueueSnapshot") -> Found:
        settings = self.settings
        replaced = replaced_workload_slice(info, cq.workloads, settings.features)
        replacement = [Target(replaced)] if replaced is not None else []
        assigner = FlavorAssigner(
            info, cq, self.snapshot.resource_flavors, settings.is_fair_sharing_enabled,
            PreemptionOracle(settings.preemptor, self.snapshot, self.now), replaced, settings.quota_check_strategy,
            self.cycle, settings.features)
        full = assigner.assign(None)
        found = self._with_targets(info, full)
        if found is None and settings.features.PartialAdmission and info.can_be_partially_admitted():
            found = PodSetReducer(
                info.obj["spec"]["podSets"], lambda counts: self._with_targets(info, assigner.assign(counts))).search()
        if found is None:
            return full, []
        return found[0], replacement + found[1]

    def _with_targets(self, info: "Info", assignment: "Assignment") -> Found | None:
        """The assignment with its victims; None if it cannot be had."""
        mode = assignment.representative_mode()
        if mode == FlavorAssignmentMode.FIT:
            return assignment, []
        if mode == FlavorAssignmentMode.PREEMPT:
            targets = self.settings.preemptor.get_targets(info, assignment, self.snapshot, self.now)
            if targets:
                return assignment, targets
        return None

    def _update_for_tas(self, cq: "ClusterQueueSnapshot", info: "Info", assignment: "Assignment", targets: list[Target]) -> None:
        """Find domains for a Workload that waits for victims, so that nobody else takes them."""
        if not (
            self.settings.features.TopologyAwareScheduling
            and assignment.representative_mode() == FlavorAssignmentMode.PREEMPT
            and (any(map(is_explicitly_requesting_tas, info.obj["spec"]["podSets"])) or cq.is_tas_only())
            and not states.has_topology_assignment_with_unhealthy_node(info.obj)
        ):
            return
        requests = assignment.workloads_topology_requests(info, cq)
        # without victims the domains are those of an empty cluster: of whoever is to go one day
        revert = self.snapshot.simulate_workload_usage_removal([target.workload_info for target in targets])
        result = find_topology_assignments_for_workload(
            cq.tas_flavors, requests, simulate_empty=not targets, workload=info.obj)
        revert()
        assignment.update_for_tas_result(cq, info, result)


def settings_of(configuration: "Configuration", ordering: "Ordering") -> Settings:
    """What a configuration says about scheduling."""
    fair_sharing = configuration.fair_sharing
    strategies = None if fair_sharing is None else parse_strategies(fair_sharing.preemption_strategies)
    return Settings(configuration.features, Preemptor(ordering, strategies), configuration.resources.quota_check_strategy)
