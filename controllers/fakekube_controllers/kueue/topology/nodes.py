"""Which nodes a pod may be on, by taints, node selector and affinity, and how many are left out for
what reason.

Upstream: pkg/cache/scheduler/scheduling_simulator_default.go, simulator, tasExclusionStats.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fakekube.apimachinery import placement
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.topology.domains import Domain

SCHEDULING_EFFECTS = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class PodRequirements:
    """What a pod's spec, with what flavors and checks add, says of nodes.

    ``affinity`` is the list of required terms, None for none; ``preferred`` the preferred ones.
    """

    tolerations: Sequence[Mapping[str, str]]
    selector: Mapping[str, str]
    affinity: Sequence[ReadOnlyTree] | None
    preferred: Sequence[ReadOnlyTree]


@dataclass(slots=True)
class ExclusionStats:
    """How many nodes there are, and how many were left out by which reason, as texts tell it."""

    total_nodes: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: "ExclusionStats") -> None:
        """Count what another one counted."""
        self.total_nodes += other.total_nodes
        self.reasons.update(other.reasons)

    def text(self) -> str:
        """What messages end with; nothing where no node was left out."""
        if not self.reasons:
            return ""
        listed = ", ".join(sorted(f"{reason}: {number}" for reason, number in self.reasons.items()))
        return f". Total nodes: {self.total_nodes}; excluded: {listed}"


def find_feasible(leaves: Iterable[Domain], wanted: PodRequirements, stats: ExclusionStats) -> list[tuple[Domain, int]]:
    """The leaves whose nodes take the pod, each with the sum of the weights of preferred terms."""
    found = []
    for leaf in leaves:
        stats.total_nodes += 1
        reason = _reason(leaf.node, wanted)
        if reason:
            stats.reasons[reason] += 1
        else:
            found.append((leaf, _score(leaf.node, wanted.preferred)))
    return found


def _reason(node: ReadOnlyTree | None, wanted: PodRequirements) -> str:
    if node is None:
        return ""
    taints = (node.get("spec") or {}).get("taints")
    taint = placement.untolerated(taints, wanted.tolerations, SCHEDULING_EFFECTS) if taints else None
    if taint is not None:
        return f"taint {go_quote(taint_text(taint))}"
    labels = node["metadata"].get("labels") or {}
    if wanted.selector and any(labels.get(name) != value for name, value in wanted.selector.items()):
        return "nodeSelector"
    if wanted.affinity is None:
        return ""
    name = node["metadata"]["name"]
    return "" if any(placement.term_matches(term, name, labels) for term in wanted.affinity) else "affinity"


def _score(node: ReadOnlyTree | None, preferred: Sequence[ReadOnlyTree]) -> int:
    if node is None or not preferred:
        return 0
    name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
    return sum(each["weight"] for each in preferred if placement.term_matches(each["preference"], name, labels))


def taint_text(taint: Mapping[str, str]) -> str:
    """A taint as upstream writes it: ``key=value:effect``."""
    key, value, effect = taint["key"], taint.get("value") or "", taint.get("effect") or ""
    if not effect:
        return f"{key}={value}:" if value else key
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"
