"""Room on the node: what is asked for must be left, and emptier nodes are better.

Upstream: plugins/noderesources/fit.go, least_allocated.go.
"""

from collections.abc import Callable

from fakekube_controllers.scheduler.framework.events import Event, has_grown
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, State
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, allocatable_of

SCORED = ("cpu", "memory")
UNIT = 1 << 20  # shares of a node are counted in so many parts


Shape = tuple[tuple[str, int], ...]
"""What a node has, in the order in which its load tells what is requested of it."""


class NodeResourcesFit:
    """Filter and Score (least allocated of cpu and memory)."""

    name = "NodeResourcesFit"
    weight = 1

    def shape(self, node: NodeInfo) -> Shape:
        """What it has of everything."""
        return tuple(node.allocatable.items())

    def load(self, node: NodeInfo) -> tuple[int, ...]:
        """The share of cpu and memory that is requested, what scores count of both, pods, and each resource that it has."""
        requested, weighed, share = node.requested, node.weighed, 0
        for name in SCORED:
            if has := node.allocatable.get(name, 0):
                share += min(requested.get(name, 0), has) * UNIT // has  # pods may have more than a node that has shrunk
        return (share, weighed["cpu"], weighed["memory"], len(node.pods), *[requested.get(name, 0) for name in node.allocatable])

    def bound(self, pod: PodInfo, shape: Shape) -> Callable[[tuple[int, ...]], int] | None:
        """The score by a load. The sum of two shares tells more of many nodes than the least of each does."""
        room, requests = dict(shape), pod.requests
        for name, asked in requests.items():
            if asked > room.get(name, 0):
                return None
        cpu, memory, free = room.get("cpu", 0), room.get("memory", 0), 2 * UNIT
        limits = [(3, room.get("pods", 0) - 1)]
        for place, (name, has) in enumerate(shape, 4):
            if asked := requests.get(name, 0):
                limits.append((place, has - asked))
                if name in SCORED:
                    free -= asked * UNIT // has
        cpu_left, memory_left = cpu - pod.weighed["cpu"], memory - pod.weighed["memory"]

        def score(load: tuple[int, ...]) -> int:
            for place, limit in limits:
                if load[place] > limit:
                    return -1
            left = cpu_left - load[1]
            total = left * MAX_NODE_SCORE // cpu if left > 0 and cpu else 0
            left = memory_left - load[2]
            if left > 0 and memory:
                total += left * MAX_NODE_SCORE // memory
            most = (free - load[0]) * MAX_NODE_SCORE // UNIT
            return total >> 1 if total < most else most >> 1

        return score

    def may_help(self, pod: PodInfo, event: Event) -> bool:
        """A node with enough for the pod that came or has grown, or a pod that went."""
        if event.node is None:
            return True
        room = allocatable_of(event.node)
        if room.get("pods", 0) < 1 or any(asked > room.get(name, 0) for name, asked in pod.requests.items()):
            return False
        return event.old is None or has_grown(event.old, event.node, pod.requests)

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        reasons: list[str] = []
        hopeless = False
        if len(node.pods) + 1 > node.allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for name, asked in pod.requests.items():
            room = node.allocatable.get(name, 0)
            if asked and asked > room - node.requested.get(name, 0):
                reasons.append(f"Insufficient {name}")
                hopeless = hopeless or asked > room
        if not reasons:
            return None
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE, tuple(reasons))

    def score(self, state: State, pod: PodInfo, node: NodeInfo) -> int:
        """The share of cpu and memory that is left once the pod is there, as the scheduler counts what asks for nothing."""
        total = 0
        for name, asked in pod.weighed.items():
            room = node.allocatable.get(name, 0)
            taken = node.weighed[name] + asked
            total += (room - taken) * MAX_NODE_SCORE // room if room and taken <= room else 0
        return total // 2

    def normalize_score(self, state: State, pod: PodInfo, scores: dict[str, int]) -> None:
        """They are between 0 and 100 already."""
