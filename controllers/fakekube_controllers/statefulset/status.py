"""What the status of a StatefulSet says.

Upstream: stateful_set_control.go (updateStatus), stateful_set_utils.go.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.conditions import Status, find, set_condition
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import pods
from fakekube.runtime.pods import Pod
from fakekube_controllers.statefulset import identity

ALWAYS = ("replicas", "availableReplicas")
COMPARED = (
    "replicas", "currentReplicas", "readyReplicas", "updatedReplicas", "availableReplicas", "currentRevision",
    "updateRevision", "conditions",
)

Counts = dict[str, int]


def count(owner: ReadOnlyTree, found: Iterable[Pod], current: str, update: str, now: float) -> Counts:
    """How many pods there are, are ready, are available, and are of the two revisions."""
    counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"), 0)
    min_ready = owner["spec"].get("minReadySeconds", 0)
    for pod in found:
        if not identity.is_created(pod):
            continue
        counts["replicas"] += 1
        if identity.is_running_and_ready(pod):
            counts["readyReplicas"] += 1
            counts["availableReplicas"] += pods.is_available(pod, min_ready, now)
        if not pods.is_terminating(pod):
            counts["currentReplicas"] += identity.revision_of(pod) == current
            counts["updatedReplicas"] += identity.revision_of(pod) == update
    return counts


def complete(owner: ReadOnlyTree, status: Tree, *, any_strategy: bool, now: str) -> None:
    """Once all pods are new and ready, the new revision is the current one.

    ``any_strategy``: not of rolling updates alone.
    """
    wanted, kind = owner["spec"].get("replicas", 1), owner["spec"]["updateStrategy"].get("type")
    if kind != "RollingUpdate" and not any_strategy:
        return
    if any(status[name] != wanted for name in ("updatedReplicas", "readyReplicas", "replicas")):
        return
    status["currentReplicas"], status["currentRevision"] = status["updatedReplicas"], status["updateRevision"]
    if kind == "Recreate" and find(status.get("conditions"), "Progressing") is not None:
        note_progress(status, "False", "RecreateCompleted", "All pods recreated successfully", now)


def note_progress(status: Tree, value: Status, reason: str, message: str, now: str) -> None:
    """Set the condition Progressing, of which only the strategy Recreate tells."""
    conditions = list(status.get("conditions") or ())
    set_condition(conditions, "Progressing", value, now=now, reason=reason, message=message)
    status["conditions"] = conditions


def is_changed(owner: ReadOnlyTree, status: Mapping[str, Any]) -> bool:
    """Whether there is something to write."""
    before = owner.get("status") or meta.EMPTY
    if status["observedGeneration"] > before.get("observedGeneration", 0):
        return True
    return any((before.get(name) or None) != (status.get(name) or None) for name in COMPARED)


def as_written(status: Mapping[str, Any]) -> Tree:
    """The status without what says nothing."""
    return {name: value for name, value in status.items() if value or name in ALWAYS or name == "collisionCount"}
