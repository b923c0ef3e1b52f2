"""One scheduling cycle, as far as it is decided: on one snapshot, without waiting for anything.

``nominate`` finds an assignment for each head, ``in_order`` says who is next, and ``process`` says
what is to be done with an entry, counting for those after it what it takes or will take.

Upstream: pkg/scheduler/scheduler.go.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.cache.snapshot import FitsCheck
from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason
from fakekube_controllers.kueue.scheduler.assignments import Assigner, Settings
from fakekube_controllers.kueue.scheduler.entry import Entry
from fakekube_controllers.kueue.scheduler.fair_sharing_iterator import fair_sharing_iterator
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.iterators import classical_iterator
from fakekube_controllers.kueue.scheduler.preemption.policy import can_always_reclaim
from fakekube_controllers.kueue.slices.replacement import find_replaced_slice_target
from fakekube_controllers.kueue.workload import reasons, states
from fakekube_controllers.kueue.workload.admissibility import NAMESPACE_MISMATCH
from fakekube_controllers.kueue.workload.admissionchecks import has_rejected_checks, has_retry_checks
from fakekube_controllers.kueue.workload.info import Usage

if TYPE_CHECKING:
    from fakekube.apimachinery.meta import ObjectKey
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.resources import FlavorResourceQuantities
    from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
    from fakekube_controllers.kueue.workload.info import Info

Validate = Callable[["Info", "ClusterQueueSnapshot"], str]
"""Why a Workload may not be admitted by a ClusterQueue; empty when it may."""


class Action(Enum):
    """What is to be done with an entry, after which it may be requeued."""

    NOTHING = "nothing"
    EVICT = "evict"
    """There are no nodes in place of those that failed."""
    PREEMPT = "preempt"
    ADMIT = "admit"


class Decision(NamedTuple):
    """What is to be done: ``targets`` are to be evicted, ``old_slice`` is replaced."""

    action: Action
    targets: "list[Target]" = []  # noqa: RUF012 - never changed
    old_slice: "Target | None" = None


NOTHING = Decision(Action.NOTHING)


@dataclass(slots=True)
class Cycle:
    """Decides about heads. ``number`` is that of the cycle, ``now`` its time in Unix seconds."""

    settings: Settings
    snapshot: "Snapshot"
    number: int
    now: float
    preempted: "dict[ObjectKey, Info]" = field(default_factory=dict)
    skipped_preemptions: dict[str, int] = field(default_factory=dict)
    """By ClusterQueue."""

    @property
    def _assigner(self) -> Assigner:
        return Assigner(self.settings, self.snapshot, self.number, self.now)

    def nominate(
        self, heads: "Iterable[Info]", *, is_added: "Callable[[Info], bool]", validate: Validate,
    ) -> tuple[list[Entry], list[Entry]]:
        """Entries with an assignment, and those that cannot have one.

        A head that ``is_added`` to the cache and needs no second pass is dropped.
        """
        entries, inadmissible = [], []
        for info in heads:
            entry = Entry(info, info.cluster_queue, self.snapshot.cluster_queue(info.cluster_queue))
            if not states.needs_second_pass(info.obj) and is_added(info):
                continue
            if self._may_be_nominated(entry, validate):
                entry.record_assignment(*self._assigner.get_assignments(info))
                entries.append(entry)
            else:
                inadmissible.append(entry)
        return entries, inadmissible

    def _may_be_nominated(self, entry: Entry, validate: Validate) -> bool:
        name = entry.cluster_queue
        if has_retry_checks(entry.obj) or has_rejected_checks(entry.obj):
            entry.inadmissible_msg = "The workload has failed admission checks"
            entry.quota_reserved_reason = reasons.PENDING_EVALUATION
        elif name in self.snapshot.inactive_cluster_queue_sets:
            entry.inadmissible_msg = f"ClusterQueue {name} is inactive"
            entry.quota_reserved_reason = reasons.SUSPENDED
        elif entry.cq is None:
            entry.inadmissible_msg = f"ClusterQueue {name} not found"
            entry.quota_reserved_reason = reasons.MISCONFIGURED
        elif message := validate(entry.info, entry.cq):
            entry.inadmissible_msg = message
            entry.quota_reserved_reason = reasons.MISCONFIGURED
            if message == NAMESPACE_MISMATCH:
                entry.requeue_reason = RequeueReason.NAMESPACE_MISMATCH
        else:
            return True
        return False

    def in_order(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Entries in the order in which they are processed; each is to be processed before the next
        is asked for.
        """
        ordering = self.settings.preemptor.ordering
        if self.settings.is_fair_sharing_enabled:
            return fair_sharing_iterator(entries, ordering, self._assignment_usage)
        return classical_iterator(entries, ordering)

    def process(self, entry: Entry) -> Decision:
        """What to do with an entry.

        What it takes, or keeps from others, is added to the snapshot.
        """
        usage, fits = self._update_assignment_if_needed(entry)
        cq, assignment, features = _cq(entry), entry.assignment, self.settings.features
        assert assignment is not None, "entries were nominated"
        mode = assignment.representative_mode()
        if (
            features.TASFailedNodeReplacementFailFast and mode != FlavorAssignmentMode.FIT
            and states.has_topology_assignment_with_unhealthy_node(entry.obj)
        ):
            return Decision(Action.EVICT)
        if mode == FlavorAssignmentMode.NO_FIT:
            entry.requeue_reason, entry.quota_reserved_reason = RequeueReason.NO_FIT, assignment.no_fit_reason
            return NOTHING
        if mode == FlavorAssignmentMode.PREEMPT and not entry.preemption_targets:
            entry.requeue_reason = RequeueReason.PREEMPTION_NO_CANDIDATES
            entry.quota_reserved_reason = reasons.WAITING_FOR_QUOTA
            # what the queue cannot take back at any time nobody else may get before this one
            if not can_always_reclaim(cq):
                cq.add_usage(self._net_usage(entry, quota_resources_to_reserve(entry, cq)))
            return NOTHING
        if mode == FlavorAssignmentMode.PREEMPT and self._is_preemption_gated(entry):
            entry.quota_reserved_reason = reasons.ADMISSION_GATED
            entry.mark_preemption_gated("Workload requires preemption, but it's gated")
            return NOTHING
        if mode == FlavorAssignmentMode.DEFERRED_FIT:
            self._defer(entry)
            cq.add_usage(usage)
            return NOTHING
        if self._overlaps(entry.preemption_targets):
            self._skip(entry, "Workload has overlapping preemption targets with another workload", is_preempting=True)
            return NOTHING
        if not fits:
            self._skip(
                entry, "Workload no longer fits after processing another workload",
                is_preempting=mode == FlavorAssignmentMode.PREEMPT)
            return NOTHING
        self.preempted.update((target.workload_info.key, target.workload_info) for target in entry.preemption_targets)
        cq.add_usage(usage)
        targets, old_slice = find_replaced_slice_target(entry.obj, entry.preemption_targets, features)
        if mode == FlavorAssignmentMode.PREEMPT:
            entry.quota_reserved_reason = reasons.WAITING_FOR_PREEMPTED_WORKLOADS
            return Decision(Action.PREEMPT, targets, old_slice)
        return Decision(Action.ADMIT, targets, old_slice)

    def _is_preemption_gated(self, entry: Entry) -> bool:
        features = self.settings.features
        has_gates = features.ConcurrentAdmission or features.MultiKueueOrchestratedPreemption
        return has_gates and states.has_closed_preemption_gate(entry.obj)

    def _defer(self, entry: Entry) -> None:
        entry.inadmissible_msg = (
            "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete")
        entry.quota_reserved_reason = reasons.WAITING_FOR_PREEMPTED_WORKLOADS
        entry.requeue_reason = RequeueReason.PENDING_PREEMPTION
        # once the victims are gone a flavor that is preferred may be free
        entry.info.last_assignment = None

    def _skip(self, entry: Entry, message: str, *, is_preempting: bool) -> None:
        entry.mark_skipped(message, keeps_progress=self.settings.features.FlavorFungibilityPreserveScanProgress)
        entry.quota_reserved_reason = reasons.WAITING_FOR_QUOTA
        if is_preempting:
            name = entry.cluster_queue
            self.skipped_preemptions[name] = self.skipped_preemptions.get(name, 0) + 1

    def _overlaps(self, targets: "Iterable[Target]") -> bool:
        return any(target.workload_info.key in self.preempted for target in targets)

    def _update_assignment_if_needed(self, entry: Entry) -> tuple[Usage, bool]:
        """What an entry adds, and whether it fits by now, perhaps with a new assignment."""
        usage, features = self._assignment_usage(entry), self.settings.features
        check = self._fits(entry, usage)
        overlaps = features.RecomputeAssignmentUponPreemptionTargetsOverlap and self._overlaps(entry.preemption_targets)
        lost_domains = features.TASRecomputeAssignmentWithinSchedulingCycle and check == FitsCheck.NO_TAS
        if not overlaps and not lost_domains:
            return usage, check == FitsCheck.OK
        revert = self.snapshot.simulate_workload_removal(list(self.preempted.values())) if overlaps else None
        info = entry.info
        info.last_assignment = None
        assert entry.assignment is not None, "entries were nominated"
        info.nomination_mapping = {
            podset.name: {resource: flavor.name for resource, flavor in podset.flavors.items()}
            for podset in entry.assignment.pod_sets}
        assignment, targets = self._assigner.get_assignments(info)
        entry.record_assignment(assignment, targets)
        if revert is not None:
            revert()
            if assignment.representative_mode() == FlavorAssignmentMode.FIT:
                assignment.set_representative_mode(FlavorAssignmentMode.DEFERRED_FIT)
        usage = self._assignment_usage(entry)
        check = self._fits(entry, usage)
        info.nomination_mapping = {}
        return usage, check == FitsCheck.OK

    def _fits(self, entry: Entry, usage: Usage) -> FitsCheck:
        """Whether an entry fits once all victims so far, and its own, are gone."""
        going = dict(self.preempted)
        going.update((target.workload_info.key, target.workload_info) for target in entry.preemption_targets)
        revert = self.snapshot.simulate_workload_usage_removal(list(going.values()))
        check = _cq(entry).fits(usage)
        revert()
        return check

    def _assignment_usage(self, entry: Entry) -> Usage:
        assert entry.assignment is not None, "entries were nominated"
        return self._net_usage(entry, entry.assignment.usage.quota)

    def _net_usage(self, entry: Entry, quota: "FlavorResourceQuantities") -> Usage:
        """What is to be added for an entry: quota that it has already is counted."""
        tas = None
        if self.settings.features.TopologyAwareScheduling:
            assert entry.assignment is not None, "entries were nominated"
            tas = entry.assignment.compute_tas_net_usage(_cq(entry), entry.info, states.admission(entry.obj))
        return Usage({} if states.has_quota_reservation(entry.obj) else quota, tas)


def quota_resources_to_reserve(entry: Entry, cq: "ClusterQueueSnapshot") -> "FlavorResourceQuantities":
    """What is kept for an entry that waits for quota: no more than its queue may use."""
    assignment = entry.assignment
    assert assignment is not None, "entries were nominated"
    usage: FlavorResourceQuantities = assignment.usage.quota
    if assignment.representative_mode() != FlavorAssignmentMode.PREEMPT:
        return usage
    reserved: FlavorResourceQuantities = {}
    for fr, amount in usage.items():
        quota, used = cq.quota_for(fr), cq.resource_node.usage.get(fr, 0)
        if not assignment.borrows():
            reserved[fr] = max(0, min(amount, resources.subtract(quota.nominal, used)))
        elif quota.borrowing_limit is None:
            reserved[fr] = amount
        else:
            reserved[fr] = min(amount, resources.subtract(resources.add(quota.nominal, quota.borrowing_limit), used))
    return reserved


def _cq(entry: Entry) -> "ClusterQueueSnapshot":
    assert entry.cq is not None, "entries were nominated"
    return entry.cq
