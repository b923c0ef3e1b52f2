"""What the status of a ReplicaSet says. Upstream: pkg/controller/replicaset/replica_set_utils.go.
"""

from collections.abc import Sequence

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.replicaset.podsummaries import PodSummary

FAILURE = "ReplicaFailure"
COUNTED = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
COMPARED = ("replicas", *COUNTED, "terminatingReplicas", "conditions")


def calculate(
    owner: ReadOnlyTree, active: Sequence[PodSummary], terminating: int | None, error: APIError | None, now: float,
) -> Tree:
    """The status for these pods; ``error`` is what kept their number from being right."""
    spec = owner["spec"]
    min_ready = spec.get("minReadySeconds", 0)
    status: Tree = {**(owner.get("status") or {}), "replicas": len(active)}
    numbers = (
        sum(pod.labelled for pod in active), sum(pod.ready for pod in active),
        sum(pod.is_available(min_ready, now) for pod in active),
    )
    for name, number in zip(COUNTED, numbers, strict=True):
        status[name] = number
        if not number:
            del status[name]
    status.pop("terminatingReplicas", None)
    if terminating is not None:
        status["terminatingReplicas"] = terminating
    _note_failure(status, len(active) - spec.get("replicas", 1), error, now)
    return status


def _note_failure(status: Tree, surplus: int, error: APIError | None, now: float) -> None:
    present = list(status.get("conditions") or ())
    failed = conditions.find(present, FAILURE) is not None
    if error is not None and not failed:
        status["conditions"] = [*present, {
            "type": FAILURE, "status": "True", "lastTransitionTime": times.format_time(now),
            "reason": "FailedCreate" if surplus < 0 else "FailedDelete", "message": str(error)}]
    elif error is None and failed:
        conditions.remove(present, FAILURE)
        status["conditions"] = present
        if not status["conditions"]:
            del status["conditions"]


def is_changed(owner: ReadOnlyTree, status: ReadOnlyTree) -> bool:
    """Whether there is something to write."""
    before = owner.get("status") or {}
    if before.get("observedGeneration", 0) != meta.generation_of(owner):
        return True
    return any(before.get(name) != status.get(name) for name in COMPARED)
