"""Room on the node: what is asked for must be left, and emptier nodes are better.

Upstream: plugins/noderesources/fit.go, least_allocated.go.
"""

from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, State
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo


class NodeResourcesFit:
    """Filter and Score (least allocated of cpu and memory)."""

    name = "NodeResourcesFit"
    weight = 1

    def sign(self, pod: PodInfo) -> tuple[tuple[str, int], ...]:
        """What it asks for."""
        return (*pod.requests.items(), *pod.weighed.items())

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
