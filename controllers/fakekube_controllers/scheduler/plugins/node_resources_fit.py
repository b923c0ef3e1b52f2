"""Resources: what a pod requests must be free on the node, and nodes with more left are better.

Upstream: plugins/noderesources/fit.go, least_allocated.go.
"""

from collections.abc import Callable

from fakekube_controllers.scheduler.framework.events import ClusterEvent, allocatable_has_grown
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, allocatable_of

SCORED = ("cpu", "memory")
UNIT = 1 << 20  # the whole of a node, in shares of it

Capacity = tuple[tuple[str, int], ...]
"""A node's allocatable resources, in the order of their places in its usage."""


class NodeResourcesFit:
    """Filter and Score (least allocated of cpu and memory)."""

    name = "NodeResourcesFit"
    weight = 1

    def capacity(self, node: NodeInfo) -> Capacity:
        """Its allocatable resources."""
        return tuple(node.allocatable.items())

    def usage(self, node: NodeInfo) -> tuple[int, ...]:
        """Requested shares of cpu and memory, non-zero requests of both, the number of pods,
        requests by resource.
        """
        requested, non_zero, share = node.requested, node.non_zero_requested, 0
        for name in SCORED:
            if has := node.allocatable.get(name, 0):
                # pods may have more than a node that has shrunk
                share += min(requested.get(name, 0), has) * UNIT // has
        sums = [requested.get(name, 0) for name in node.allocatable]
        return (share, non_zero["cpu"], non_zero["memory"], len(node.pods), *sums)

    def score_bound(self, pod: PodInfo, capacity: Capacity) -> Callable[[tuple[int, ...]], int] | None:
        """The score by usage.

        For many nodes the least sum of both shares is a closer bound than the least of each.
        """
        room, requests = dict(capacity), pod.requests
        for name, asked in requests.items():
            if asked > room.get(name, 0):
                return None
        cpu, memory, free = room.get("cpu", 0), room.get("memory", 0), 2 * UNIT
        limits = [(3, room.get("pods", 0) - 1)]
        for place, (name, has) in enumerate(capacity, 4):
            if asked := requests.get(name, 0):
                limits.append((place, has - asked))
                if name in SCORED:
                    free -= asked * UNIT // has
        cpu_left, memory_left = cpu - pod.non_zero_requests["cpu"], memory - pod.non_zero_requests["memory"]

        def score(usage: tuple[int, ...]) -> int:
            for place, limit in limits:
                if usage[place] > limit:
                    return -1
            left = cpu_left - usage[1]
            total = left * MAX_NODE_SCORE // cpu if left > 0 and cpu else 0
            left = memory_left - usage[2]
            if left > 0 and memory:
                total += left * MAX_NODE_SCORE // memory
            most = (free - usage[0]) * MAX_NODE_SCORE // UNIT
            return total >> 1 if total < most else most >> 1

        return score

    def is_schedulable_after(self, pod: PodInfo, event: ClusterEvent) -> bool:
        """A node with enough for the pod that was added or has more now, or a pod that is gone."""
        if event.node is None:
            return event.pod is not None
        room = allocatable_of(event.node)
        if room.get("pods", 0) < 1 or any(asked > room.get(name, 0) for name, asked in pod.requests.items()):
            return False
        return event.old is None or allocatable_has_grown(event.old, event.node, pod.requests)

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

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """They are between 0 and 100 already."""
