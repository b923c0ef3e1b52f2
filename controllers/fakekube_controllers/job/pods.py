"""What a pod of a Job is: alive, failed, finished, ready; and which go first when there are too many.

Upstream: pkg/controller/job/job_controller.go, pkg/controller/controller_utils.go (ActivePods).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import times
from fakekube_controllers.job import indexes

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"

Pod = Mapping[str, Any]


def phase(pod: Pod) -> str:
    """The pod's phase, Pending when it says nothing."""
    text: str = (pod.get("status") or {}).get("phase", "Pending")
    return text


def is_terminating(pod: Pod) -> bool:
    """Whether the pod is being deleted, finished or not."""
    return "deletionTimestamp" in pod["metadata"]


def is_finished(pod: Pod) -> bool:
    """Whether the pod's phase is terminal."""
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Pod) -> bool:
    """Neither finished nor on its way out."""
    return not is_finished(pod) and not is_terminating(pod)


def is_ready(pod: Pod) -> bool:
    """Whether the condition Ready is True."""
    return any(c["type"] == "Ready" and c["status"] == "True" for c in (pod.get("status") or {}).get("conditions") or ())


def is_tracked(pod: Pod) -> bool:
    """Whether the pod waits to be counted."""
    return TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())


def is_failed(pod: Pod, only_replace_failed: bool) -> bool:
    """Whether the pod counts as failed: unless only failed pods are replaced, one that is deleted while it runs does."""
    if phase(pod) == "Failed":
        return True
    return not only_replace_failed and is_terminating(pod) and phase(pod) != "Succeeded"


def container_statuses(pod: Pod) -> list[Mapping[str, Any]]:
    """Statuses of the app containers, then of the init containers."""
    status = pod.get("status") or {}
    return [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]


def restarts(pod: Pod) -> int:
    """How often the pod's containers were restarted, all together."""
    return sum(status.get("restartCount", 0) for status in container_statuses(pod))


def finish_time(pod: Pod) -> float:
    """When the pod ended, in Unix seconds, from the best evidence that there is."""
    status, meta, spec = pod.get("status") or {}, pod["metadata"], pod.get("spec") or {}
    sidecars = [c["name"] for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    watched = [*(status.get("containerStatuses") or ())]
    watched += [s for s in status.get("initContainerStatuses") or () if s.get("name") in sidecars]
    ends = [((s.get("state") or {}).get("terminated") or {}).get("finishedAt") for s in watched]
    if ends and all(ends):
        return max(times.parse_time(end) for end in ends)
    for condition in status.get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "False" and condition.get("lastTransitionTime"):
            return times.parse_time(condition["lastTransitionTime"])
    if is_terminating(pod):
        return times.parse_time(meta["deletionTimestamp"]) - float(meta.get("deletionGracePeriodSeconds", 0))
    return times.parse_time(meta["creationTimestamp"])


def rank(pod: Pod) -> tuple[Any, ...]:
    """Sorts the pods to delete first to the front: the further a pod got, the later it goes."""
    status, meta = pod.get("status") or {}, pod["metadata"]
    ready_since = 0.0
    ready = is_ready(pod)
    for condition in status.get("conditions") or ():
        if condition["type"] == "Ready" and ready and condition.get("lastTransitionTime"):
            ready_since = times.parse_time(condition["lastTransitionTime"])
    most_restarts = max((s.get("restartCount", 0) for s in container_statuses(pod)), default=0)
    return (
        bool((pod.get("spec") or {}).get("nodeName")),
        {"Pending": 0, "Unknown": 1, "Running": 2}.get(phase(pod), 2),
        ready,
        -ready_since,
        -most_restarts,
        -times.parse_time(meta["creationTimestamp"]),
        meta["name"],
    )


def surplus(active: Sequence[Pod], wanted: int, completions: int | None) -> list[Pod]:
    """Which active pods to delete so that ``wanted`` stay. ``completions`` is given for indexed Jobs only."""
    excess = len(active) - wanted
    chosen: list[Pod] = []
    ordered = sorted(active, key=rank)
    if completions is not None:
        best: dict[int, Pod] = {}
        for pod in reversed(ordered):
            index = indexes.index_of(pod)
            if index is None or index >= completions or index in best:
                chosen.append(pod)
            else:
                best[index] = pod
        chosen.reverse()
    taken = {pod["metadata"]["uid"]: None for pod in chosen}
    for pod in ordered:
        if len(chosen) >= excess:
            break
        if pod["metadata"]["uid"] not in taken:
            chosen.append(pod)
    return chosen
