"""The condition ``PodsReady`` of a Workload.

Upstream: generatePodsReadyCondition in pkg/controller/jobframework/reconciler.go.
"""

from typing import NamedTuple

from fakekube.apimachinery.conditions import Status
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.workload import reasons, states


class PodsReady(NamedTuple):
    """Status, reason and message."""

    status: Status
    reason: str
    message: str


WAIT_FOR_START = PodsReady("False", reasons.WAIT_FOR_START, "Not all pods are ready or succeeded")
WAIT_FOR_RECOVERY = PodsReady("False", reasons.WAIT_FOR_RECOVERY, "At least one pod has failed, waiting for recovery")
STARTED = PodsReady("True", reasons.STARTED, "All pods reached readiness and the workload is running")
RECOVERED = STARTED._replace(reason=reasons.RECOVERED)


def pods_ready_condition(workload: ReadOnlyTree, *, pods_ready: bool) -> PodsReady:
    """What it is to be. ``pods_ready``: what the job says; only an admitted one is asked."""
    present = states.condition(workload, reasons.PODS_READY)
    reason = "" if present is None else present["reason"]
    if not states.is_admitted(workload):
        return WAIT_FOR_START
    if pods_ready:
        return RECOVERED if reason in (reasons.WAIT_FOR_RECOVERY, reasons.RECOVERED) else STARTED
    was_ready = present is not None and present["status"] == "True"
    return WAIT_FOR_RECOVERY if was_ready or reason == reasons.WAIT_FOR_RECOVERY else WAIT_FOR_START


def is_set(workload: ReadOnlyTree, wanted: PodsReady) -> bool:
    """Whether it is so already, in whatever words."""
    present = states.condition(workload, reasons.PODS_READY)
    return present is not None and (present["status"], present["reason"]) == wanted[:2]
