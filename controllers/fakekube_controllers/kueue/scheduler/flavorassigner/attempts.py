"""Which flavors were tried and what became of each, as Events and reasons tell.

Upstream: pkg/scheduler/flavorassigner/flavor_assigner_attempts.go, and resolveNoFitReason of
flavorassigner.go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment, FlavorAssignmentAttempt
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode

TOPOLOGY_PLACEMENT_FAILED, WAITING_FOR_QUOTA = "TopologyPlacementFailed", "WaitingForQuota"
EXCEEDS_MAX_QUOTA, NO_MATCHING_FLAVOR = "ExceedsMaxQuota", "NoMatchingFlavor"
_SEVERITIES = ("", TOPOLOGY_PLACEMENT_FAILED, WAITING_FOR_QUOTA, EXCEEDS_MAX_QUOTA, NO_MATCHING_FLAVOR)

Considered = dict[str, FlavorAssignmentAttempt]
"""By flavor."""


def severity(reason: str) -> int:
    """How bad a reason is."""
    return _SEVERITIES.index(reason)


def most_severe_reason(one: str, other: str) -> str:
    """The worse of two reasons."""
    return max(one, other, key=severity)


def merge_for_resource(
    total: Considered, found: Sequence[FlavorAssignmentAttempt], resource: str, cq: ClusterQueueSnapshot,
) -> None:
    """Add what was tried for one more resource: of a flavor the worst counts.

    Flavors of its group that the resource did not get to do not provide it.
    """
    for attempt in found:
        known = total.get(attempt.flavor)
        total[attempt.flavor] = _merged(known, attempt) if known is not None else replace(
            attempt, reasons=sorted(dict.fromkeys(attempt.reasons)))
    group, tried = cq.rg_by_resource(resource), {attempt.flavor for attempt in found}
    if not found or group is None:
        return
    for flavor, known in total.items():
        if flavor in group.flavors and flavor not in tried:
            text = f"flavor {flavor} does not provide resource {resource}"
            total[flavor] = replace(
                known, mode=FlavorAssignmentMode.NO_FIT, reasons=sorted({*known.reasons, text}), no_fit_reason=NO_MATCHING_FLAVOR)


def _merged(one: FlavorAssignmentAttempt, other: FlavorAssignmentAttempt) -> FlavorAssignmentAttempt:
    possibilities = [
        each.preemption_possibility for each in (one, other) if each.preemption_possibility is not None]
    return FlavorAssignmentAttempt(
        one.flavor, min(one.mode, other.mode), max(one.borrow, other.borrow), min(possibilities, default=None),
        sorted({*one.reasons, *other.reasons}), most_severe_reason(one.no_fit_reason, other.no_fit_reason))


def finalized(considered: Considered) -> list[FlavorAssignmentAttempt]:
    """All that were tried, by their flavors."""
    return [considered[flavor] for flavor in sorted(considered)]


def resolve_no_fit_reason(assignment: Assignment, cq: ClusterQueueSnapshot) -> None:
    """Say why nothing fits: of flavors that stand for each other the least bad reason, of groups
    and podsets, all of which are needed, the worst.
    """
    if assignment.representative_mode() != FlavorAssignmentMode.NO_FIT:
        return
    overall = ""
    for podset in assignment.pod_sets:
        if podset.representative_mode() == FlavorAssignmentMode.NO_FIT:
            attempts = podset.flavor_assignment_attempts
            overall = most_severe_reason(overall, _of_podset(attempts, cq) if attempts else NO_MATCHING_FLAVOR)
    assignment.no_fit_reason = overall


def _of_podset(attempts: Iterable[FlavorAssignmentAttempt], cq: ClusterQueueSnapshot) -> str:
    least: dict[int, str] = {}
    for place, attempt in enumerate(attempts):
        if attempt.mode != FlavorAssignmentMode.NO_FIT:
            continue
        groups = [index for index, group in enumerate(cq.resource_groups) if attempt.flavor in group.flavors]
        for index in groups or [-1 - place]:
            if index not in least or severity(attempt.no_fit_reason) < severity(least[index]):
                least[index] = attempt.no_fit_reason
    return max(least.values(), key=severity, default="")


def format_flavor_assignment_attempts_for_events(assignment: Assignment) -> str:
    """The flavors that were not as good as can be, by podset; nothing if all were."""
    parts = []
    for podset in assignment.pod_sets:
        told = [
            _told(attempt) for attempt in podset.flavor_assignment_attempts
            if attempt.mode != FlavorAssignmentMode.FIT or attempt.borrow]
        if told:
            parts.append(f"{podset.name}: {', '.join(told)}")
    return " | ".join(parts)


def _told(attempt: FlavorAssignmentAttempt) -> str:
    possibility = attempt.preemption_possibility
    parts = [str(attempt.mode) if possibility is None else f"preemptionMode={possibility}"]
    if attempt.borrow:
        parts.append(f"borrow={attempt.borrow}")
    return f"{attempt.flavor}({';'.join([*parts, *attempt.reasons])})"
