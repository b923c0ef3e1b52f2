"""What a pod is to the controller that made it: alive, finished, ready, available; and which go
first when there are too many.

Upstream: pkg/controller/controller_utils.go (ActivePods, ActivePodsWithRanks),
pkg/api/v1/pod/util.go.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.pods import FINISHED_PHASES, sidecars

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

Pod = Mapping[str, Any]

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def phase(pod: Pod) -> str:
    """The pod's phase, Pending when it says nothing."""
    text: str = (pod.get("status") or meta.EMPTY).get("phase", "Pending")
    return text


def is_terminating(pod: Pod) -> bool:
    """Whether the pod is being deleted, finished or not."""
    return "deletionTimestamp" in pod["metadata"]


def is_finished(pod: Pod) -> bool:
    """Whether the pod's phase is terminal."""
    return phase(pod) in FINISHED_PHASES


def is_active(pod: Pod) -> bool:
    """Neither finished nor on its way out."""
    return not is_finished(pod) and not is_terminating(pod)


def is_ready(pod: Pod) -> bool:
    """Whether the condition Ready is True."""
    return meta.is_condition_true(pod, "Ready")


def ready_since(pod: Pod) -> float:
    """Since when the pod is ready, in Unix seconds; 0 when it is not, or does not say."""
    condition = meta.find_condition(pod, "Ready")
    if condition is None or condition.get("status") != "True" or not condition.get("lastTransitionTime"):
        return 0.0
    return times.parse_time(condition["lastTransitionTime"])


def is_available(pod: Pod, min_ready_seconds: int, now: float) -> bool:
    """Whether the pod has been ready for so long."""
    if not is_ready(pod):
        return False
    since = ready_since(pod)
    return not min_ready_seconds or (since > 0 and since + min_ready_seconds <= now)


def seconds_until_available(pods: Iterable[Pod], min_ready_seconds: int, now: float) -> float | None:
    """How long until the next of the ready pods becomes available; None when no time would change
    anything.
    """
    waits = [since + min_ready_seconds - now for pod in pods if (since := ready_since(pod)) > 0]
    return min((wait for wait in waits if wait > 0), default=None)


def restarts(pod: Pod) -> tuple[int, int]:
    """How often the container that was restarted most was, and likewise of the sidecars."""
    status = pod.get("status") or meta.EMPTY
    names = [container["name"] for container in sidecars(pod["spec"])]
    most = max((s.get("restartCount", 0) for s in status.get("containerStatuses") or ()), default=0)
    beside = (s for s in status.get("initContainerStatuses") or () if s.get("name") in names)
    return most, max((s.get("restartCount", 0) for s in beside), default=0)


def rank(pod: Pod) -> tuple[Any, ...]:
    """Sorts the pods to delete first to the front: the further a pod got, the later it goes."""
    most, beside = restarts(pod)
    return (*_progress(pod), -ready_since(pod), -most, -beside, -_created(pod), meta.name_of(pod))


def ranked_for_deletion(pods: Sequence[Pod], active_on_node: Mapping[str, int], now: float, *, costs: bool) -> list[Pod]:
    """The pods of a ReplicaSet, those to delete first at the front.

    ``active_on_node`` is how many active pods of the ReplicaSet and its siblings are on each node,
    ``costs`` whether the annotation of a pod's deletion cost counts. Ages are compared by orders of
    magnitude, and those that are alike are in the order of their uids.
    """
    def compare(one: Pod, other: Pod) -> int:
        for mine, theirs in zip(first[meta.uid_of(one)], first[meta.uid_of(other)], strict=True):
            if mine != theirs:
                return -1 if mine < theirs else 1
        if difference := _by_age(ready_since(one), ready_since(other), one, other):
            return difference
        if restarts(one) != restarts(other):
            return -1 if restarts(one) > restarts(other) else 1
        if difference := _by_age(_created(one), _created(other), one, other):
            return difference
        return -1 if meta.name_of(one) < meta.name_of(other) else 1

    def _by_age(mine: float, theirs: float, one: Pod, other: Pod) -> int:
        if mine == theirs:
            return 0
        if not mine or not theirs:
            return -1 if not mine else 1
        younger = _magnitude(now - mine) - _magnitude(now - theirs)
        return younger or (-1 if meta.uid_of(one) < meta.uid_of(other) else 1)

    first = {
        meta.uid_of(pod): (
            *_progress(pod), deletion_cost(pod) if costs else 0, -active_on_node.get(pod["spec"].get("nodeName", ""), 0))
        for pod in pods
    }
    return sorted(pods, key=cmp_to_key(compare))


def deletion_cost(pod: Pod) -> int:
    """What the annotation says; 0 for none, and for what is no 32-bit number."""
    text = meta.annotations_of(pod).get(DELETION_COST, "0")
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdecimal() or (len(digits) > 1 and digits[0] == "0") or text == "-0":
        return 0
    number = int(text)
    return number if -(2**31) <= number < 2**31 else 0


def _progress(pod: Pod) -> tuple[bool, int, bool]:
    return bool(pod["spec"].get("nodeName")), _PHASES.get(phase(pod), 0), is_ready(pod)


def _created(pod: Pod) -> float:
    return times.parse_time(pod["metadata"]["creationTimestamp"])


def _magnitude(seconds: float) -> int:
    return int(math.log2(seconds * 1e9)) if seconds > 0 else -1
