"""What a pod of a Job is: alive, failed, finished, ready; and which go first when there are too
many.

Upstream: pkg/controller/job/job_controller.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import times
from fakekube.apimachinery.pods import sidecars
from fakekube.runtime.pods import Pod, is_active, is_finished, is_ready, is_terminating, phase, rank
from fakekube.util.durations import of_whole_seconds
from fakekube_controllers.job import TRACKING_FINALIZER, indexes

__all__ = [
    "TRACKING_FINALIZER", "Pod", "container_statuses", "finish_time", "is_active", "is_failed", "is_finished", "is_ready",
    "is_terminating", "is_tracked", "phase", "restarts", "surplus",
]



def is_tracked(pod: Pod) -> bool:
    """Whether the pod waits to be counted."""
    return TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())


def is_failed(pod: Pod, only_replace_failed: bool) -> bool:
    """Whether the pod counts as failed: unless only failed pods are replaced, one that is deleted
    while it runs does.
    """
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
    names = [container["name"] for container in sidecars(spec)]
    watched = [*(status.get("containerStatuses") or ())]
    watched += [s for s in status.get("initContainerStatuses") or () if s.get("name") in names]
    ends = [((s.get("state") or {}).get("terminated") or {}).get("finishedAt") for s in watched]
    if ends and all(ends):
        return max(times.parse_time(end) for end in ends if end)
    for condition in status.get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "False" and condition.get("lastTransitionTime"):
            return times.parse_time(condition["lastTransitionTime"])
    if is_terminating(pod):
        return times.parse_time(meta["deletionTimestamp"]) - of_whole_seconds(meta.get("deletionGracePeriodSeconds", 0))
    return times.parse_time(meta["creationTimestamp"])


def surplus(active: Sequence[Pod], wanted: int, completions: int | None) -> list[Pod]:
    """Which active pods to delete so that ``wanted`` stay.

    ``completions`` is given for indexed Jobs only.
    """
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
