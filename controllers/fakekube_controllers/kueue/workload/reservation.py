"""Quota is reserved for a Workload, or taken back; what follows for its other conditions.

Every function changes a Workload that the caller owns, and tells whether it did. ``now`` is a time
in Unix seconds. Upstream: pkg/workload/workload.go, SyncAdmittedCondition in admissionchecks.go.
"""

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.conditions import Status as ConditionStatus
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import to_resource_list
from fakekube_controllers.kueue.workload import admissionchecks, reasons, states
from fakekube_controllers.kueue.workload.info import Info

MAX_CONDITION_MESSAGE, MAX_EVENT_MESSAGE = 32 * 1024, 1024
CUT = " ..."


def _truncated(message: str, limit: int) -> str:
    encoded = message.encode()
    return message if len(encoded) <= limit else encoded[: limit - len(CUT)].decode(errors="ignore") + CUT


def truncate_condition_message(message: str) -> str:
    """No longer than a condition takes."""
    return _truncated(message, MAX_CONDITION_MESSAGE)


def truncate_event_message(message: str) -> str:
    """No longer than an Event takes."""
    return _truncated(message, MAX_EVENT_MESSAGE)


def conditions_of(workload: Tree) -> list[Tree]:
    """Its conditions, to be changed."""
    status: Tree = workload.setdefault("status", {})
    found: list[Tree] = status.setdefault("conditions", [])
    return found


def set_condition(
    workload: Tree, type_: str, status: ConditionStatus, reason: str, message: str, *, now: float, observed: bool = True,
) -> bool:
    """Set a condition; ``observed`` False leaves ``observedGeneration`` out."""
    present = conditions_of(workload)
    generation = meta.generation_of(workload) if observed else 0
    before = conditions.find(present, type_)
    changed = conditions.set_condition(
        present, type_, status, now=times.format_time(now), reason=reason, message=truncate_condition_message(message),
        observed_generation=generation)
    if not generation and before is not None and "observedGeneration" in before:
        after = conditions.find(present, type_)
        assert after is not None, "it was just set"
        conditions.put(present, {field: value for field, value in after.items() if field != "observedGeneration"})
        return True
    return changed


def remove_condition(workload: Tree, type_: str) -> bool:
    """Remove a condition."""
    return conditions.remove(conditions_of(workload), type_)


def set_quota_reservation(workload: Tree, admission: Tree, *, now: float) -> bool:
    """Reserve the quota of an admission. Conditions of the last eviction become false."""
    workload.setdefault("status", {})["admission"] = admission
    reason = reasons.QUOTA_RESERVED
    message = f"Quota reserved in ClusterQueue {admission['clusterQueue']}"
    changed = set_condition(workload, reasons.QUOTA_RESERVED, "True", reason, message, now=now)
    for type_ in (reasons.EVICTED, reasons.PREEMPTED, reasons.BLOCKED_ON_PREEMPTION_GATES):
        changed = _reset_active_condition(workload, type_, reason, now) or changed
    return changed


def _reset_active_condition(workload: Tree, type_: str, reason: str, now: float) -> bool:
    present = states.condition(workload, type_)
    if present is None or present["status"] != "True":
        return False
    return set_condition(workload, type_, "False", reason, f"Previously: {present.get('message', '')}", now=now)


def unset_quota_reservation_with_condition(
    workload: Tree, reason: str, message: str, *, now: float, features: Features,
) -> bool:
    """Take the quota back, and say why; a Workload without quota gets the reason alone."""
    changed = set_condition(workload, reasons.QUOTA_RESERVED, "False", reason, message, now=now)
    if workload["status"].get("admission") is not None:
        del workload["status"]["admission"]
        changed = True
    return sync_admitted_condition(workload, now=now, features=features) or changed


def is_admitted_condition_synced(workload: ReadOnlyTree, features: Features) -> bool:
    """Whether ``sync_admitted_condition`` would change nothing. False may be wrong."""
    if features.UnadmittedWorkloadsObservability:
        return False
    return states.is_admitted(workload) == (_admitted_condition(workload, features)[0] == "True")


def sync_admitted_condition(workload: Tree, *, now: float, features: Features) -> bool:
    """Make ``Admitted`` what quota, checks and topology say.

    The time in which it was admitted is added up when it ends.
    """
    was_admitted = states.is_admitted(workload)
    status, reason, message = _admitted_condition(workload, features)
    if features.UnadmittedWorkloadsObservability:
        unknown = all(states.condition(workload, type_) is None for type_ in (reasons.QUOTA_RESERVED, reasons.ADMITTED))
        if unknown and not features.UnadmittedWorkloadsExplicitStatus:
            return False
    elif was_admitted == (status == "True"):
        return False
    if was_admitted and status == "False":
        _accumulate(workload, now)
    return set_condition(workload, reasons.ADMITTED, status, reason, message, now=now)


def _admitted_condition(workload: ReadOnlyTree, features: Features) -> tuple[ConditionStatus, str, str]:
    precise = features.UnadmittedWorkloadsObservability
    reserved = states.has_quota_reservation(workload)
    ready = admissionchecks.has_all_checks_ready(workload)
    if not reserved and not ready and not precise:
        return "False", "NoReservationUnsatisfiedChecks", "The workload has no reservation and not all checks ready"
    if not reserved:
        return "False", reasons.NO_RESERVATION, "The workload has no reservation"
    if not ready:
        reason = reasons.UNSATISFIED_ADMISSION_CHECKS if precise else "UnsatisfiedChecks"
        return "False", reason, "The workload has not all checks ready"
    if states.has_topology_assignments_pending(workload):
        return "False", reasons.PENDING_DELAYED_TOPOLOGY_REQUESTS, "There are pending delayed topology requests"
    return "True", reasons.ADMITTED, "The workload is admitted"


def _accumulate(workload: Tree, now: float) -> None:
    admitted = states.condition(workload, reasons.ADMITTED)
    assert admitted is not None, "only what is admitted ends to be"
    past = workload["status"].get("accumulatedPastExecutionTimeSeconds") or 0
    seconds = int(now - times.parse_time(admitted["lastTransitionTime"]))
    workload["status"]["accumulatedPastExecutionTimeSeconds"] = past + seconds


def set_requeued_condition(workload: Tree, reason: str, message: str, status: bool, *, now: float) -> bool:
    """Whether it may be queued again, and why."""
    return set_condition(workload, reasons.REQUEUED, "True" if status else "False", reason, message, now=now)


def set_preempted_condition(workload: Tree, reason: str, message: str, *, now: float) -> bool:
    """It is preempted."""
    return set_condition(workload, reasons.PREEMPTED, "True", reason, message, now=now, observed=False)


def set_deactivation_target(workload: Tree, reason: str, message: str, *, now: float) -> bool:
    """It is to be deactivated."""
    return set_condition(workload, reasons.DEACTIVATION_TARGET, "True", reason, message, now=now)


def set_blocked_on_preemption_gates_condition(workload: Tree, reason: str, message: str, *, now: float) -> bool:
    """It would have to preempt, and may not."""
    return set_condition(workload, reasons.BLOCKED_ON_PREEMPTION_GATES, "True", reason, message, now=now)


def propagate_resource_requests(workload: Tree, info: Info) -> bool:
    """Show what each podset asks for, while the Workload waits."""
    wanted: list[Tree] = []
    for podset in info.total_requests:
        resources = to_resource_list(podset.requests)
        wanted.append({"name": podset.name, "resources": resources} if resources else {"name": podset.name})
    if (states.status_of(workload).get("resourceRequests") or []) == wanted:
        return False
    workload.setdefault("status", {})["resourceRequests"] = wanted
    return True
