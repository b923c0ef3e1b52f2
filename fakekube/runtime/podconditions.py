"""Conditions that controllers other than the kubelet set in a pod's status.

Upstream: pkg/api/v1/pod/util.go (UpdatePodCondition, CalculatePodConditionObservedGeneration).
"""

from typing import Literal, Protocol

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util.clock import Clock

OBSERVED_GENERATION = "PodObservedGenerationTracking"
"""The gate by which statuses say of which generation of the pod they speak."""
DISRUPTION_TARGET = "DisruptionTarget"


class ClockAndGates(Protocol):
    """What conditions depend on; a ``Context`` is one."""

    @property
    def clock(self) -> Clock:
        """The time."""

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""


def pod_condition(
    ctx: ClockAndGates, pod: ReadOnlyTree, type: str, status: Literal["True", "False"], *, reason: str = "",  # noqa: A002
    message: str = "",
) -> Tree:
    """The condition as it is to stand in the pod's status from now on; its transition is now unless
    the status is as it was.
    """
    now = times.format_time(ctx.clock.time())
    condition: Tree = {
        "type": type, "status": status, "lastProbeTime": None,
        "lastTransitionTime": conditions.transition_time(meta.find_condition(pod, type), status, now),
    }
    if ctx.enabled(OBSERVED_GENERATION):
        condition["observedGeneration"] = meta.generation_of(pod)
    return condition | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})


def condition_patch(pod: ReadOnlyTree, condition: Tree) -> Tree:
    """What to put into the ``status`` of a strategic merge patch that sets a condition: it comes
    last if it is new.
    """
    present = [each["type"] for each in (pod.get("status") or {}).get("conditions") or ()]
    kept = [*present, *(() if condition["type"] in present else (condition["type"],))]
    return {"conditions": [condition], "$setElementOrder/conditions": [{"type": each} for each in kept]}
