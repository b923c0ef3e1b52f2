"""Nodes are better whose resources the pod uses more evenly than before.

Upstream: plugins/noderesources/balanced_allocation.go.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.search import ResourceScore
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status
from fakekube_controllers.scheduler.framework.types import (
    BALANCE,
    COUNTER_BALANCE,
    COUNTER_SHARE,
    REQUESTED,
    SHARE,
    SHARE_UNIT,
    NodeInfo,
    PodInfo,
    Usage,
)
from fakekube_controllers.scheduler.plugins import arguments, resource_scores
from fakekube_controllers.scheduler.plugins.node_resources_fit import SCORED

NEUTRAL = 75  # the score of a pod that changes nothing


class NodeResourcesBalancedAllocation:
    """PreScore and Score."""

    name = "NodeResourcesBalancedAllocation"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        checked = arguments.checked(self.name, args, handle.enabled)
        self._names = [resource["name"] for resource in checked["resources"]]
        self._is_default = self._names == list(SCORED)

    def _is_best_effort(self, pod: PodInfo) -> bool:
        return not any(pod.requests.get(name, 0) for name in self._names)

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP for a pod that requests none of the resources: such pods would pile up."""
        return SKIP if self._is_best_effort(pod) else None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """More than 75 where the pod makes the use more even, less where it does the contrary."""
        return self._score(pod, node.requested, node.allocatable)

    def _score(self, pod: PodInfo, taken: Mapping[str, int], allocatable: Mapping[str, int]) -> int:
        return resource_scores.balance(resource_scores.amounts(self._names, pod.requests, taken, allocatable))

    def resource_score(self, pod: PodInfo, allocatable: Mapping[str, int]) -> ResourceScore | None:
        """The score as a function of usage, for nodes that have room for the pod."""
        if self._is_best_effort(pod):
            return ResourceScore(lambda _: 0, lambda _: 0)
        names = [*allocatable]

        def score(usage: Usage) -> int:
            return self._score(pod, dict(zip(names, usage[REQUESTED:], strict=True)), allocatable)

        shares = [pod.requests.get(name, 0) / has if (has := allocatable.get(name, 0)) else None for name in SCORED]
        if not self._is_default:
            return ResourceScore(score, lambda _: MAX_NODE_SCORE)
        if shares[0] is None or shares[1] is None:
            return ResourceScore(score, lambda _: NEUTRAL)
        score_of_two = self._score_of_two(pod, allocatable)
        more = shares[0] - shares[1]
        place = BALANCE if more > 0 else COUNTER_BALANCE
        more = abs(more)

        def bound(usage: Usage) -> int:
            if usage[SHARE] == -usage[COUNTER_SHARE] and usage[BALANCE] == -usage[COUNTER_BALANCE]:
                return score_of_two(usage)  # all are alike
            # the pod helps the more, the further the node leans to the other side
            leaning = (usage[place] - 2) / SHARE_UNIT
            gain = (abs(leaning) - abs(leaning + more)) * (MAX_NODE_SCORE / 2)
            half = MAX_NODE_SCORE // 2
            return half + (half + int(gain + MAX_NODE_SCORE + 1e-9) - MAX_NODE_SCORE + 1) // 2

        return ResourceScore(score_of_two, bound)

    @staticmethod
    def _score_of_two(pod: PodInfo, allocatable: Mapping[str, int]) -> Callable[[Usage], int]:
        """The score by cpu and memory, which a node has: step by step what ``balance`` computes."""
        names = [*allocatable]
        cpu_place, memory_place = REQUESTED + names.index("cpu"), REQUESTED + names.index("memory")
        cpu, memory = allocatable["cpu"], allocatable["memory"]
        more_cpu, more_memory = pod.requests.get("cpu", 0), pod.requests.get("memory", 0)
        half = MAX_NODE_SCORE // 2

        def evenness(taken_cpu: int, taken_memory: int) -> int:
            cpu_share = taken_cpu / cpu if taken_cpu < cpu else 1.0
            memory_share = taken_memory / memory if taken_memory < memory else 1.0
            return int((1 - abs((cpu_share - memory_share) / 2)) * MAX_NODE_SCORE)

        def score(usage: Usage) -> int:
            taken_cpu, taken_memory = usage[cpu_place], usage[memory_place]
            after = evenness(taken_cpu + more_cpu, taken_memory + more_memory)
            return half + (half + after - evenness(taken_cpu, taken_memory)) // 2

        return score
