"""What the conditions of a Workload say outside of the scheduling cycle: why it is not queued, and
that it may be again.

Upstream: syncQuotaReservedFalseCondition and its like in
pkg/controller/core/workload_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.core.local_queue import stop_policy
from fakekube_controllers.kueue.workload import admissibility, reasons, reservation, states
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from fakekube_controllers.kueue.features import Features
    from fakekube_controllers.kueue.manager import Kueue

Why = tuple[str, str]
"""Reason and message."""
SCHEDULER_REASONS = frozenset({
    reasons.WAITING_FOR_QUOTA, reasons.NO_MATCHING_FLAVOR, reasons.EXCEEDS_MAX_QUOTA, reasons.TOPOLOGY_PLACEMENT_FAILED,
    reasons.WAITING_FOR_PREEMPTED_WORKLOADS, reasons.WAITING_FOR_PODS_READY, reasons.PENDING_EVALUATION,
})
"""What the scheduler said stands until its next cycle."""
EQUIVALENT_REASONS = frozenset({
    "", reasons.DEACTIVATED, reasons.PENDING_EVALUATION, reasons.SUSPENDED, reasons.PENDING,
})
"""After these it is asked whether an equivalent Workload has failed."""


def set_requeued(workload: Tree, *, now: float) -> bool:
    """Let what was deactivated, or has waited for its time, be queued again; whether it changed."""
    requeued = states.condition(workload, reasons.REQUEUED)
    if requeued is None or requeued["status"] != "False":
        return False
    if requeued["reason"] == reasons.DEACTIVATED:
        reservation.set_requeued_condition(workload, reasons.REACTIVATED, "The workload was reactivated", True, now=now)
        return True
    if requeued["reason"] in (reasons.EVICTED_BY_PODS_READY_TIMEOUT, reasons.EVICTED_BY_ADMISSION_CHECK):
        state = states.status_of(workload).get("requeueState")
        if state and state.get("requeueAt") and times.parse_time(state["requeueAt"]) > now:
            return False
        if state:
            state.pop("requeueAt", None)
        reservation.set_requeued_condition(
            workload, reasons.BACKOFF_FINISHED, "The workload backoff was finished", True, now=now)
        return True
    return False


def is_disabled_requeued_by(workload: ReadOnlyTree, reason: str) -> bool:
    """Whether a Workload is kept out of the queue for a reason."""
    requeued = states.condition(workload, reasons.REQUEUED)
    return requeued is not None and requeued["status"] == "False" and requeued["reason"] == reason


def has_admission_gated_condition(workload: ReadOnlyTree) -> bool:
    """Whether a Workload says that others gate it."""
    found = states.condition(workload, reasons.QUOTA_RESERVED)
    return found is not None and found["reason"] == reasons.ADMISSION_GATED


def quota_reserved_condition(workload: ReadOnlyTree, kueue: "Kueue") -> Why | None:
    """Why a Workload without quota has none, if that is to be said: of one that others gate the
    gates are said, and nothing else takes turns with them.
    """
    if states.admission_gates(workload, kueue.features):
        return None
    blocker = _queue_blocker(workload, kueue)
    if not kueue.features.UnadmittedWorkloadsObservability:
        return (reasons.INADMISSIBLE, blocker[1]) if blocker is not None else None
    found = states.condition(workload, reasons.QUOTA_RESERVED)
    if not states.is_active(workload):
        return reasons.DEACTIVATED, "The workload is deactivated"
    if found is not None and states.is_on_hold(workload):
        return None
    if blocker is not None:
        return blocker
    invalid = _why_not_admissible(workload, kueue)
    if invalid:
        return reasons.MISCONFIGURED, invalid
    if _asks_for_equivalents(found, kueue.features):
        reason = kueue.queues.get_no_fit_reason(workload)
        if reason is not None:
            return reason, "Bypassed scheduling evaluation because an equivalent workload recently failed"
    if found is not None and found["reason"] in SCHEDULER_REASONS:
        return None
    if found is None and not kueue.features.UnadmittedWorkloadsExplicitStatus:
        return None
    return reasons.PENDING_EVALUATION, "Workload is pending evaluation in the scheduling queue"


def _queue_blocker(workload: ReadOnlyTree, kueue: "Kueue") -> Why | None:
    local_queue = kueue.objects.local_queue_of(workload)
    queue_name = states.spec_of(workload).get("queueName", "")
    if local_queue is None:
        return reasons.MISCONFIGURED, f"LocalQueue {queue_name} doesn't exist"
    if stop_policy(local_queue) != "None":
        return reasons.SUSPENDED, f"LocalQueue {queue_name} is inactive"
    name, exists = kueue.queues.cluster_queue_for_workload(workload)
    if not exists:
        return reasons.MISCONFIGURED, f"ClusterQueue {name} doesn't exist"
    if not kueue.cache.cluster_queue_active(name):
        return reasons.SUSPENDED, f"ClusterQueue {name} is inactive"
    return None


def _why_not_admissible(workload: ReadOnlyTree, kueue: "Kueue") -> str:
    name, _ = kueue.queues.cluster_queue_for_workload(workload)
    found = kueue.queues.cluster_queue(name)
    if found is None:
        return ""
    namespace = meta.namespace_of(workload)
    return admissibility.validate_admissibility(
        Info(workload, kueue.info_options), kueue.objects.namespaces.get("", namespace), found.namespace_selector,
        kueue.objects.limit_ranges_of(namespace))


def _asks_for_equivalents(found: Tree | None, features: "Features") -> bool:
    if not features.SchedulingEquivalenceHashing:
        return False
    if found is None:
        return features.UnadmittedWorkloadsExplicitStatus
    return found.get("reason", "") in EQUIVALENT_REASONS
