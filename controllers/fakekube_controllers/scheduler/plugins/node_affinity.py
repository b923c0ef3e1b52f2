"""nodeSelector and node affinity. Upstream: plugins/nodeaffinity, component-helpers/scheduling/corev1/nodeaffinity."""

from collections.abc import Mapping, Sequence

from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, Snapshot, State
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, spelled

REASON = "node(s) didn't match Pod's node affinity/selector"


class NodeAffinity:
    """PreFilter (nodes that are named), Filter (what is required) and Score (what is preferred)."""

    name = "NodeAffinity"
    weight = 2

    def sign(self, pod: PodInfo) -> bytes:
        """Its node selector and its affinity."""
        return spelled(pod, "nodeSelector", "affinity")

    def pre_filter(self, state: State, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """The only nodes that every term names, SKIP when nothing is required, or None."""
        required = placement.node_affinity(pod.pod["spec"]).get("requiredDuringSchedulingIgnoredDuringExecution")
        if required is None:
            return None if pod.pod["spec"].get("nodeSelector") else SKIP
        names: dict[str, None] = {}
        for term in required.get("nodeSelectorTerms") or ():
            listed = [
                field["values"] for field in term.get("matchFields") or ()
                if field["key"] == "metadata.name" and field["operator"] == "In"
            ]
            if not listed:
                return None
            names.update(dict.fromkeys(name for name in listed[0] if all(name in values for values in listed)))
        return list(names) or unresolvable("pod affinity terms conflict")

    def pre_score(self, state: State, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP when nothing is preferred."""
        preferred = placement.node_affinity(pod.pod["spec"]).get("preferredDuringSchedulingIgnoredDuringExecution")
        return None if preferred else SKIP

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        return None if placement.selects(pod.pod["spec"], node.name, _labels(node)) else unresolvable(REASON)

    def score(self, state: State, pod: PodInfo, node: NodeInfo) -> int:
        """The weights of the preferred terms that match, together."""
        preferred = placement.node_affinity(pod.pod["spec"]).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        return sum(term["weight"] for term in preferred if placement.term_matches(term["preference"], node.name, _labels(node)))

    def normalize_score(self, state: State, pod: PodInfo, scores: dict[str, int]) -> None:
        """The most preferred node is best."""
        best = max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = MAX_NODE_SCORE * score // best if best else 0


def _labels(node: NodeInfo) -> Mapping[str, str]:
    found: Mapping[str, str] = (node.node or {"metadata": {}})["metadata"].get("labels") or {}
    return found
