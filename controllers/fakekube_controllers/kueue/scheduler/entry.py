"""A head of a queue on its way through one cycle. Upstream: entry of scheduler.go."""

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason

if TYPE_CHECKING:
    from fakekube.apimachinery.types import ReadOnlyTree
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
    from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment
    from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
    from fakekube_controllers.kueue.workload.info import Info


class EntryStatus(Enum):
    """How far it came."""

    NOT_NOMINATED = ""
    NOMINATED = "nominated"
    SKIPPED = "skipped"
    PREEMPTION_GATED = "preemptionGated"
    EVICTED = "evicted"
    ASSUMED = "assumed"


@dataclass(slots=True, eq=False)
class Entry:
    """What is known of a head so far.

    ``cluster_queue`` is the name of its queue, ``cq`` the queue if it may admit.
    ``inadmissible_msg`` says why it is not admitted, ``quota_reserved_reason`` is the precise
    reason of its condition QuotaReserved then.
    """

    info: "Info"
    cluster_queue: str
    cq: "ClusterQueueSnapshot | None" = None
    assignment: "Assignment | None" = None
    status: EntryStatus = EntryStatus.NOT_NOMINATED
    inadmissible_msg: str = ""
    requeue_reason: RequeueReason = RequeueReason.GENERIC
    preemption_targets: "list[Target]" = field(default_factory=list)
    quota_reserved_reason: str = ""
    skip_status_update: bool = False

    @property
    def obj(self) -> "ReadOnlyTree":
        """The Workload."""
        return self.info.obj

    def record_assignment(self, assignment: "Assignment", targets: "list[Target]") -> None:
        """Keep what it would get, and who would be evicted for that."""
        self.assignment, self.preemption_targets = assignment, targets
        self.inadmissible_msg = assignment.message()
        self.info.last_assignment = assignment.last_state

    def mark_skipped(self, message: str, *, keeps_progress: bool) -> None:
        """Another entry was in its way. ``keeps_progress``: its next attempt goes on with the
        flavor after those that this one tried.
        """
        self.status, self.inadmissible_msg = EntryStatus.SKIPPED, message
        if not keeps_progress:
            self.info.last_assignment = None

    def mark_preemption_gated(self, message: str) -> None:
        """It would have to preempt and may not; its next attempt starts over."""
        self.status, self.inadmissible_msg = EntryStatus.PREEMPTION_GATED, message
        self.requeue_reason = RequeueReason.PREEMPTION_GATED
        self.info.last_assignment = None

    def mark_preemption_outcome(self, preempted: int, errors: int) -> None:
        """So many victims were told, for so many that failed; its next attempt starts over."""
        self.info.last_assignment = None
        if preempted:
            self.inadmissible_msg += f". Pending the preemption of {preempted} workload(s)"
            self.requeue_reason = RequeueReason.PENDING_PREEMPTION
        elif errors:
            self.inadmissible_msg += f". Preempting {errors} workload(s) failed, will retry."
            self.requeue_reason = RequeueReason.PREEMPTION_FAILED

    def settle_requeue_reason(self) -> None:
        """What was nominated and got no other reason failed after that."""
        if self.status != EntryStatus.NOT_NOMINATED and self.requeue_reason == RequeueReason.GENERIC:
            self.requeue_reason = RequeueReason.FAILED_AFTER_NOMINATION
