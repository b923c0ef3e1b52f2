"""A Workload is evicted: the condition, what is reset with it, the Event, the counts.

Who runs the job stops it then, and takes the quota back when its pods are gone.
Upstream: pkg/workload/evict.
"""

from collections.abc import Callable

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.metrics import KueueMetrics
from fakekube_controllers.kueue.workload import patching, reasons, reservation, states
from fakekube_controllers.kueue.workload.patching import STRICT, How
from fakekube_controllers.kueue.workload.reasons import reason_with_cause


async def evict(
    client: Client, recorder: Recorder, workload: ReadOnlyTree, reason: str, message: str, underlying_cause: str = "", *,
    now: float, features: Features, metrics: KueueMetrics, expose_local_queue_metrics: bool = True,
    custom_prepare: Callable[[Tree], object] | None = None, how: How = STRICT,
) -> Tree:
    """Evict a Workload; the Workload as the server has it then.

    ``custom_prepare`` may change more of its status. ``now``: Unix seconds. Raises APIError.
    """
    condition_reason = reason
    if reason == reasons.DEACTIVATED and underlying_cause:
        condition_reason = reason_with_cause(reason, underlying_cause)
    first = True

    def update(changed: Tree) -> bool:
        nonlocal first
        if custom_prepare is not None:
            custom_prepare(changed)
        prepare_for_eviction(changed, condition_reason, message, now=now)
        first = _count_eviction(changed["status"], reason, underlying_cause)
        return True

    evicted = await patching.patch_admission_status(client, workload, update, features=features, how=how)
    assert evicted is not None, "there is always a condition to write"
    admission = states.admission(evicted)
    if states.admission(workload) is None or admission is None:
        return evicted
    metrics.report_evicted(
        evicted, reason, underlying_cause, first=first, expose_local_queue_metrics=expose_local_queue_metrics,
        pods_ready_seconds=_pods_ready_to_evicted_seconds(evicted))
    event = reason_with_cause(reasons.EVICTED, reason)
    if reason == reasons.DEACTIVATED and underlying_cause:
        event = reason_with_cause(event, underlying_cause)
    recorder.report(evicted, "Normal", event, event, reservation.truncate_event_message(message))
    return evicted


def prepare_for_eviction(workload: Tree, reason: str, message: str, *, now: float) -> None:
    """Set the condition, and reset what the next admission decides anew."""
    set_evicted_condition(workload, reason, message, now=now)
    status = workload["status"]
    for field in ("clusterName", "nominatedClusterNames", "unhealthyNodes"):
        status.pop(field, None)
    if status.get("admissionChecks"):
        status["admissionChecks"] = [_reset_check(check, now) for check in status["admissionChecks"]]
    if states.is_true(workload, reasons.BLOCKED_ON_PREEMPTION_GATES):
        reservation.set_condition(workload, reasons.BLOCKED_ON_PREEMPTION_GATES, "False", reason, message, now=now)
    for gate in status.get("preemptionGates") or ():
        gate.update(position="Closed", lastTransitionTime=times.format_time(now))


def set_evicted_condition(workload: Tree, reason: str, message: str, *, now: float) -> bool:
    """It is to stop."""
    return reservation.set_condition(workload, reasons.EVICTED, "True", reason, message, now=now)


def _reset_check(check: Tree, now: float) -> Tree:
    """The check, to be made again: what it answered is kept in its message alone."""
    state = check.get("state", "")
    if state == reasons.CHECK_PENDING:
        return check
    reset: Tree = {
        "name": check["name"], "state": reasons.CHECK_PENDING, "lastTransitionTime": times.format_time(now),
        "message": f"Reset to Pending after eviction. Previously: {state}"}
    if check.get("requeueAfterSeconds") is not None:
        reset["requeueAfterSeconds"] = check["requeueAfterSeconds"]
    if state == reasons.CHECK_RETRY:
        reset["retryCount"] = (check.get("retryCount") or 0) + 1
    return reset


def _count_eviction(status: Tree, reason: str, underlying_cause: str) -> bool:
    """Count the eviction in the status; whether it is the first for its reason."""
    evictions = status.setdefault("schedulingStats", {}).setdefault("evictions", [])
    for eviction in evictions:
        if eviction["reason"] == reason and eviction.get("underlyingCause", "") == underlying_cause:
            eviction["count"] += 1
            return False
    evictions.append({"reason": reason, "underlyingCause": underlying_cause, "count": 1})
    return True


def _pods_ready_to_evicted_seconds(workload: ReadOnlyTree) -> float | None:
    ready, evicted = (meta.find_condition(workload, type_) for type_ in (reasons.PODS_READY, reasons.EVICTED))
    if ready is None or ready["status"] != "True" or evicted is None:
        return None
    return times.parse_time(evicted["lastTransitionTime"]) - times.parse_time(ready["lastTransitionTime"])
