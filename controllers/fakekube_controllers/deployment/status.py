"""What the status of a Deployment says, and whether it makes progress.

Upstream: pkg/controller/deployment/{sync,progress}.go.
"""

from collections.abc import Sequence

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.deployment import facts

AVAILABLE, PROGRESSING, FAILURE = "Available", "Progressing", "ReplicaFailure"
NEW_SET_AVAILABLE, TIMED_OUT, PAUSED = "NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused"


def condition(kind: str, status: str, reason: str, message: str, now: float) -> Tree:
    """A condition that came about now."""
    at = times.format_time(now)
    return {"type": kind, "status": status, "lastUpdateTime": at, "lastTransitionTime": at, "reason": reason,
            "message": message}


def calculate(
    deployment: ReadOnlyTree, sets: Sequence[ReadOnlyTree], new: ReadOnlyTree | None, now: float, *, terminating: bool,
) -> Tree:
    """The status for these sets; ``terminating``: whether terminating pods are told."""
    available = facts.total_counted(sets, "availableReplicas")
    numbers = {
        "observedGeneration": meta.generation_of(deployment),
        "replicas": facts.total_counted(sets, "replicas"),
        "updatedReplicas": facts.counted(new, "replicas") if new else 0,
        "readyReplicas": facts.total_counted(sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, facts.total(sets) - available),
    }
    status: Tree = {name: number for name, number in numbers.items() if number}
    if terminating and (leaving := _terminating(sets)) is not None:
        status["terminatingReplicas"] = leaving
    before = deployment.get("status") or meta.EMPTY
    for name in ("collisionCount", "conditions"):
        if name in before:
            status[name] = before[name]
    if available >= facts.wanted(deployment) - facts.max_unavailable(deployment):
        verdict = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        verdict = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    facts.set_condition(status, condition(AVAILABLE, *verdict, now))
    return status


def _terminating(sets: Sequence[ReadOnlyTree]) -> int | None:
    """How many pods are on their way out; None when a set that was reconciled does not say."""
    found = 0
    for one in sets:
        status = one.get("status") or meta.EMPTY
        if "terminatingReplicas" not in status and status.get("observedGeneration"):
            return None
        found += status.get("terminatingReplicas", 0)
    return found


def note_progress(
    deployment: ReadOnlyTree, sets: Sequence[ReadOnlyTree], new: ReadOnlyTree | None, status: Tree, now: float,
) -> None:
    """Put into a fresh status how the rollout goes, and what keeps its sets from having their pods.
    """
    if facts.has_deadline(deployment):
        _note_progress(deployment, new, status, now)
    else:
        facts.remove_condition(status, PROGRESSING)
    failure = _failure([new] if new else []) or _failure(sets)
    if failure is not None:
        facts.set_condition(status, {**failure, "lastUpdateTime": failure["lastTransitionTime"]})
    else:
        facts.remove_condition(status, FAILURE)


def _note_progress(deployment: ReadOnlyTree, new: ReadOnlyTree | None, status: Tree, now: float) -> None:
    before = deployment.get("status") or meta.EMPTY
    current = conditions.find(before.get("conditions"), PROGRESSING)
    if (current is not None and current.get("reason") == NEW_SET_AVAILABLE
            and status.get("replicas", 0) == status.get("updatedReplicas", 0)):
        return
    what = f'ReplicaSet "{meta.name_of(new)}"' if new else f'Deployment "{meta.name_of(deployment)}"'
    if facts.is_complete(deployment, status):
        text = f"{what} has successfully progressed."
        facts.set_condition(status, condition(PROGRESSING, "True", NEW_SET_AVAILABLE, text, now))
    elif _is_progress(before, status):
        fresh = condition(PROGRESSING, "True", "ReplicaSetUpdated", f"{what} is progressing.", now)
        if current is not None:  # every step counts, so that the deadline begins anew
            fresh["lastTransitionTime"] = conditions.transition_time(current, "True", fresh["lastTransitionTime"])
            facts.remove_condition(status, PROGRESSING)
        facts.set_condition(status, fresh)
    elif _is_over_time(deployment, status, now):
        text = f"{what} has timed out progressing."
        facts.set_condition(status, condition(PROGRESSING, "False", TIMED_OUT, text, now))


def _is_progress(before: ReadOnlyTree, status: ReadOnlyTree) -> bool:
    """Whether there are more new pods, ready pods or available pods than before, or fewer old ones.
    """
    old_before = before.get("replicas", 0) - before.get("updatedReplicas", 0)
    old_now = status.get("replicas", 0) - status.get("updatedReplicas", 0)
    more = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old_now < old_before or any(status.get(name, 0) > before.get(name, 0) for name in more)


def _is_over_time(deployment: ReadOnlyTree, status: ReadOnlyTree, now: float) -> bool:
    current = conditions.find(status.get("conditions"), PROGRESSING)
    if current is None or current.get("reason") == NEW_SET_AVAILABLE:
        return False
    return current.get("reason") == TIMED_OUT or _deadline(deployment, current) < now


def _deadline(deployment: ReadOnlyTree, current: ReadOnlyTree) -> float:
    return times.parse_time(current["lastUpdateTime"]) + float(deployment["spec"]["progressDeadlineSeconds"])


def seconds_until_deadline(deployment: ReadOnlyTree, status: ReadOnlyTree, now: float) -> float | None:
    """How long the rollout may still stand still; None when nobody waits for it."""
    current = meta.find_condition(deployment, PROGRESSING)
    if current is None or not facts.has_deadline(deployment):
        return None
    if facts.is_complete(deployment, status) or current.get("reason") == TIMED_OUT:
        return None
    return _deadline(deployment, current) - now


def _failure(sets: Sequence[ReadOnlyTree]) -> Tree | None:
    found = (meta.find_condition(one, FAILURE) for one in sets)
    return next((failure for failure in found if failure is not None), None)


def paused_condition(deployment: ReadOnlyTree, now: float) -> Tree | None:
    """The condition that a Deployment needs because it was paused or resumed; None when there is
    nothing to say.
    """
    if not facts.has_deadline(deployment):
        return None
    current = meta.find_condition(deployment, PROGRESSING)
    reason = (current or meta.EMPTY).get("reason")
    paused = deployment["spec"].get("paused", False)
    if reason == TIMED_OUT or paused == (reason == PAUSED):
        return None
    if paused:
        return condition(PROGRESSING, "Unknown", PAUSED, "Deployment is paused", now)
    return condition(PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed", now)
