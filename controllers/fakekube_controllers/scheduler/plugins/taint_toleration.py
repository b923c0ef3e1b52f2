"""Taints keep pods away, or put them off. Upstream: plugins/tainttoleration."""

from collections.abc import Sequence
from operator import attrgetter

from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, State
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, spelled

_taints = attrgetter("taints")


class TaintToleration:
    """Filter (NoSchedule and NoExecute) and Score (fewer PreferNoSchedule taints are better)."""

    name = "TaintToleration"
    weight = 3

    def sign(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return spelled(pod, "tolerations")

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        taints = node.taints
        if not taints:
            return None
        tolerated = pod.pod["spec"].get("tolerations") or ()
        if placement.untolerated(taints, tolerated, ("NoSchedule", "NoExecute")) is None:
            return None
        return unresolvable("node(s) had untolerated taint(s)")

    def pre_score(self, state: State, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP when no node has a taint: all are equally good then."""
        return None if any(map(_taints, nodes)) else SKIP

    def score(self, state: State, pod: PodInfo, node: NodeInfo) -> int:
        """How many taints put the pod off."""
        tolerated = [t for t in pod.pod["spec"].get("tolerations") or () if t.get("effect") in (None, "", "PreferNoSchedule")]
        return sum(
            taint["effect"] == "PreferNoSchedule" and not any(placement.tolerates(t, taint) for t in tolerated)
            for taint in node.taints)

    def normalize_score(self, state: State, pod: PodInfo, scores: dict[str, int]) -> None:
        """None is best."""
        worst = max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = MAX_NODE_SCORE if worst == 0 else MAX_NODE_SCORE - MAX_NODE_SCORE * score // worst
