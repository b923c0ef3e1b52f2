"""Resources: what a pod requests must be free on the node, and nodes with more left are better.

Upstream: plugins/noderesources/fit.go, least_allocated.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.search import ResourceScore, Usage
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import (
    NON_ZERO_CPU,
    NON_ZERO_MEMORY,
    PODS,
    REQUESTED,
    SHARE,
    SHARE_UNIT,
    NodeInfo,
    PodInfo,
    Resources,
    allocatable_of,
    pod_info,
)

SCORED = ("cpu", "memory")
NODE_CHANGE = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
ASSIGNED_SCALE_DOWN = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN)
TARGET_SCALE_DOWN = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_SCALE_DOWN)


class NodeResourcesFit:
    """Filter and Score (least allocated of cpu and memory)."""

    name = "NodeResourcesFit"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""

    def resource_score(self, pod: PodInfo, allocatable: Resources) -> ResourceScore | None:
        """The score by usage, of one node and of many: for many, the least sum of both shares is a
        closer bound than the least of each.
        """
        room, requests = allocatable, pod.requests
        for name, asked in requests.items():
            if asked > room.get(name, 0):
                return None
        cpu, memory, free = room.get("cpu", 0), room.get("memory", 0), 2 * SHARE_UNIT
        limits = [(PODS, room.get("pods", 0) - 1)]
        for place, (name, has) in enumerate(allocatable.items(), REQUESTED):
            if asked := requests.get(name, 0):
                limits.append((place, has - asked))
                if name in SCORED:
                    free -= asked * SHARE_UNIT // has
        cpu_left, memory_left = cpu - pod.non_zero_requests["cpu"], memory - pod.non_zero_requests["memory"]

        def score(usage: Usage) -> int:
            for place, limit in limits:
                if usage[place] > limit:
                    return -1
            left = cpu_left - usage[NON_ZERO_CPU]
            total = left * MAX_NODE_SCORE // cpu if left > 0 and cpu else 0
            left = memory_left - usage[NON_ZERO_MEMORY]
            if left > 0 and memory:
                total += left * MAX_NODE_SCORE // memory
            most = (free - usage[SHARE]) * MAX_NODE_SCORE // SHARE_UNIT
            return total >> 1 if total < most else most >> 1

        return ResourceScore(score, score)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that comes or has more, a pod of a node that goes or asks for less, and the pod
        itself asking for less.
        """
        return [
            ClusterEventWithHint(events.ASSIGNED_POD_DELETE, self._after_pod_delete),
            ClusterEventWithHint(NODE_CHANGE, self._after_node_change),
            ClusterEventWithHint(ASSIGNED_SCALE_DOWN, self._after_scale_down),
            ClusterEventWithHint(TARGET_SCALE_DOWN, self._after_own_scale_down)]

    def _after_pod_delete(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        had_room = old is not None and (old["spec"].get("nodeName") or (old.get("status") or {}).get("nominatedNodeName"))
        return events.QUEUE if had_room else events.SKIP

    def _after_node_change(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        if new is None:
            return events.SKIP
        room = allocatable_of(new)
        if room.get("pods", 0) < 1 or any(asked > room.get(name, 0) for name, asked in pod.requests.items()):
            return events.SKIP
        if old is not None:
            before = allocatable_of(old)
            if not any(room.get(name, 0) > before.get(name, 0) for name in ("pods", *pod.requests)):
                return events.SKIP
        return events.QUEUE

    def _after_scale_down(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        if old is None or new is None:
            return events.SKIP
        before, now = pod_info(old).requests, pod_info(new).requests
        return events.QUEUE if any(before.get(name, 0) > now.get(name, 0) for name in pod.requests) else events.SKIP

    def _after_own_scale_down(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        return events.QUEUE if new is not None and meta.uid_of(new) == pod.uid else events.SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        reasons: list[str] = []
        unresolvable = False
        if len(node.pods) + 1 > node.allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for name, asked in pod.requests.items():
            room = node.allocatable.get(name, 0)
            if asked and asked > room - node.requested.get(name, 0):
                reasons.append(f"Insufficient {name}")
                unresolvable = unresolvable or asked > room
        if not reasons:
            return None
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE, tuple(reasons))

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The share of cpu and memory that is left with the pod there, by non-zero requests."""
        total = 0
        for name, asked in pod.non_zero_requests.items():
            room = node.allocatable.get(name, 0)
            taken = node.non_zero_requested[name] + asked
            total += (room - taken) * MAX_NODE_SCORE // room if room and taken <= room else 0
        return total // 2
