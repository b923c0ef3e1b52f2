"""Taints that a pod does not tolerate reject it, or lower the score.

Upstream: plugins/tainttoleration.
"""

from collections.abc import Sequence
from operator import attrgetter

import orjson

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields

_taints = attrgetter("taints")
EFFECTS = ("NoSchedule", "NoExecute")


class TaintToleration:
    """Filter (NoSchedule and NoExecute) and Score (fewer PreferNoSchedule taints are better)."""

    name = "TaintToleration"
    weight = 3

    def sign_pod(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return encoded_fields(pod, "tolerations")

    def node_fields(self, pod: PodInfo) -> None:
        """None: the taints, for all pods."""

    def sign_node(self, node_fields: None, node: NodeInfo) -> bytes:
        """Its taints."""
        return orjson.dumps(node.taints) if node.taints else b""

    def is_schedulable_after(self, pod: PodInfo, event: ClusterEvent) -> bool:
        """A node whose taints are tolerated and were not before."""
        return event.node is not None and _tolerates(pod, event.node) and (event.old is None or not _tolerates(pod, event.old))

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if not node.taints or placement.untolerated(node.taints, pod.pod["spec"].get("tolerations") or (), EFFECTS) is None:
            return None
        return unresolvable("node(s) had untolerated taint(s)")

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP when no node has a taint."""
        return None if any(map(_taints, nodes)) else SKIP

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The number of PreferNoSchedule taints that are not tolerated."""
        tolerated = [t for t in pod.pod["spec"].get("tolerations") or () if t.get("effect") in (None, "", "PreferNoSchedule")]
        return sum(
            taint["effect"] == "PreferNoSchedule" and not any(placement.tolerates(t, taint) for t in tolerated)
            for taint in node.taints)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """The fewest taints give 100."""
        worst = max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = MAX_NODE_SCORE if worst == 0 else MAX_NODE_SCORE - MAX_NODE_SCORE * score // worst


def _tolerates(pod: PodInfo, node: ReadOnlyTree) -> bool:
    tolerated = pod.pod["spec"].get("tolerations") or ()
    return placement.untolerated(node["spec"].get("taints") or (), tolerated, EFFECTS) is None
