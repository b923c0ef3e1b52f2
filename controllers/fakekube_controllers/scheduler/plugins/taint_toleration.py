"""Taints keep pods away, or put them off. Upstream: plugins/tainttoleration."""

from collections.abc import Sequence
from operator import attrgetter

import orjson

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.events import Event
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, State
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, spelled

_taints = attrgetter("taints")
EFFECTS = ("NoSchedule", "NoExecute")


class TaintToleration:
    """Filter (NoSchedule and NoExecute) and Score (fewer PreferNoSchedule taints are better)."""

    name = "TaintToleration"
    weight = 3

    def sign(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return spelled(pod, "tolerations")

    def aspect(self, pod: PodInfo) -> None:
        """The same of all nodes."""

    def sign_node(self, aspect: None, node: NodeInfo) -> bytes:
        """Its taints."""
        return orjson.dumps(node.taints) if node.taints else b""

    def may_help(self, pod: PodInfo, event: Event) -> bool:
        """A node whose taints are tolerated, and were not before."""
        return event.node is not None and _tolerates(pod, event.node) and (event.old is None or not _tolerates(pod, event.old))

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if not node.taints or placement.untolerated(node.taints, pod.pod["spec"].get("tolerations") or (), EFFECTS) is None:
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


def _tolerates(pod: PodInfo, node: ReadOnlyTree) -> bool:
    tolerated = pod.pod["spec"].get("tolerations") or ()
    return placement.untolerated(node["spec"].get("taints") or (), tolerated, EFFECTS) is None
