"""nodeSelector and node affinity. Upstream: plugins/nodeaffinity, component-helpers/scheduling/corev1/nodeaffinity."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE, Snapshot, State
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

Requirement = Mapping[str, Any]
REASON = "node(s) didn't match Pod's node affinity/selector"


class NodeAffinity:
    """PreFilter (nodes that are named), Filter (what is required) and Score (what is preferred)."""

    name = "NodeAffinity"
    weight = 2

    def pre_filter(self, state: State, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """The only nodes that every term names, SKIP when nothing is required, or None."""
        required = _affinity(pod.pod["spec"]).get("requiredDuringSchedulingIgnoredDuringExecution")
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
        preferred = _affinity(pod.pod["spec"]).get("preferredDuringSchedulingIgnoredDuringExecution")
        return None if preferred else SKIP

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        spec = pod.pod["spec"]
        labels = _labels(node)
        selector = spec.get("nodeSelector")
        if selector and any(labels.get(key) != value for key, value in selector.items()):
            return unresolvable(REASON)
        required = _affinity(spec).get("requiredDuringSchedulingIgnoredDuringExecution")
        if required is not None and not any(_term_matches(term, node) for term in required.get("nodeSelectorTerms") or ()):
            return unresolvable(REASON)
        return None

    def score(self, state: State, pod: PodInfo, node: NodeInfo) -> int:
        """The weights of the preferred terms that match, together."""
        preferred = _affinity(pod.pod["spec"]).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        return sum(term["weight"] for term in preferred if _term_matches(term["preference"], node))

    def normalize_score(self, state: State, pod: PodInfo, scores: dict[str, int]) -> None:
        """The most preferred node is best."""
        best = max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = MAX_NODE_SCORE * score // best if best else 0


def _affinity(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return found


def _labels(node: NodeInfo) -> Mapping[str, str]:
    found: Mapping[str, str] = (node.node or {"metadata": {}})["metadata"].get("labels") or {}
    return found


def _term_matches(term: Mapping[str, Any], node: NodeInfo) -> bool:
    """An empty term matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels = _labels(node)
    return _all_match(expressions, labels) and _all_match(fields, {"metadata.name": node.name})


def _all_match(requirements: Sequence[Requirement], values: Mapping[str, str]) -> bool:
    return all(_matches(requirement, values) for requirement in requirements)


def _matches(requirement: Requirement, values: Mapping[str, str]) -> bool:
    key: str = requirement["key"]
    operator: str = requirement["operator"]
    wanted: list[str] = list(requirement.get("values") or [])
    value: str | None = values.get(key)
    if operator in ("In", "NotIn"):
        return (value in wanted) == (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    if value is None or len(wanted) != 1:
        return False
    try:
        have, limit = int(value), int(wanted[0])
    except ValueError:
        return False
    return have > limit if operator == "Gt" else have < limit
