"""A pod with scheduling gates is not scheduled. Upstream: plugins/schedulinggates."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.events import (
    QUEUE,
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

ELIMINATED = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)


class SchedulingGates:
    """PreEnqueue."""

    name = "SchedulingGates"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """The pod's gates go."""
        return [ClusterEventWithHint(ELIMINATED, self._after_update)]

    def _after_update(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        return QUEUE if new is not None and meta.uid_of(new) == pod.uid else SKIP

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Which gates hold the pod, or None."""
        gates = [gate["name"] for gate in pod.pod["spec"].get("schedulingGates") or ()]
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The gates are to go."""
        return [changes.lift_gate(pod.pod, gate["name"]) for gate in pod.pod["spec"].get("schedulingGates") or ()]
