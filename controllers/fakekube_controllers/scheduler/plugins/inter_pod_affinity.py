"""Affinity and anti-affinity between pods, in both directions.

Filter: the pod's affinity, its anti-affinity, and that of the pods that are there already. Score:
what is preferred by either side. Counts are kept from cycle to cycle.

Upstream: plugins/interpodaffinity (plugin.go, filtering.go, scoring.go). Left out: the fast path
for topologies of single nodes (gate InterPodAffinityHostnameFastPath), which decides the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import NAMESPACES
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.events import ClusterEventWithHint
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins import affinity_hints, arguments
from fakekube_controllers.scheduler.plugins.existing_terms import ExistingTerms, Key, TermKind
from fakekube_controllers.scheduler.plugins.node_changes import NodeChanges
from fakekube_controllers.scheduler.plugins.pod_affinity_terms import NO_TERMS, Term, Terms, taking, terms_of, with_namespaces
from fakekube_controllers.scheduler.plugins.topology_counts import HOSTNAME, CountsByKey, Labels, TopologyCounts, node_labels

EXISTING_NOT_MATCHED = "node(s) didn't satisfy existing pods anti-affinity rules"
AFFINITY_NOT_MATCHED = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_NOT_MATCHED = "node(s) didn't match pod anti-affinity rules"
SCORE = "InterPodAffinityScore"

Domains = Mapping[str, int]
ByKey = Mapping[str, Sequence[Domains]]
"""Counts of matching pods by domain, of each term with a topology key."""

AFFINITY, ANTI_AFFINITY, EXISTING = range(3)

Field = str | TopologyCounts | Key
"""Of nodes: a label, the pods on each that some terms take, or the pods on each with a term."""


class FilterState:
    """What the filter needs to know: how often the pod's affinity, its anti-affinity and the
    anti-affinity of existing pods are matched, and by how much that differs where pods were added
    or removed since.

    A pod counts for the affinity when all its terms take it.
    """

    def __init__(self, pod: ReadOnlyTree, affinity: Sequence[Term], anti_affinity: Sequence[Term], own: Labels) -> None:
        self.pod, self.namespace_labels = pod, own
        self.affinity, self.anti_affinity = affinity, anti_affinity
        self.takes = taking(affinity)
        self.takes_anti = [(term.topology_key, taking([term])) for term in anti_affinity]
        self.counted: list[ByKey] = [{}, {}, {}]
        self.total = 0  # matches of the affinity, anywhere
        self._changes: dict[tuple[int, str, str], int] = {}

    def clone(self) -> "FilterState":
        """A copy that can be changed."""
        copied = FilterState(self.pod, self.affinity, self.anti_affinity, self.namespace_labels)
        copied.counted, copied.total, copied._changes = self.counted, self.total, dict(self._changes)
        return copied

    def count(self, which: int, key: str, domain: str) -> int:
        """How often one of the three is matched in a domain."""
        found = self._changes.get((which, key, domain), 0) if self._changes else 0
        for domains in self.counted[which].get(key, ()):
            found += domains.get(domain, 0)
        return found

    def keys(self, which: int) -> Iterable[str]:
        """The topology keys of the terms of one of the three."""
        if not self._changes:
            return self.counted[which]
        changed = [key for listed, key, _ in self._changes if listed == which]
        return dict.fromkeys([*self.counted[which], *changed])

    def change(self, other: PodInfo, node: NodeInfo, more: int) -> None:
        """A pod is on a node (1), or is not any more (-1)."""
        found = node_labels(node)
        for (term, _) in terms_of(other.pod).anti_affinity:
            if term.matches(self.pod, self.namespace_labels):
                self._change(EXISTING, term.topology_key, found, more)
        if self.affinity and self.takes(other.pod):
            for term in self.affinity:
                self.total += self._change(AFFINITY, term.topology_key, found, more)
        for key, takes in self.takes_anti:
            if takes(other.pod):
                self._change(ANTI_AFFINITY, key, found, more)

    def _change(self, which: int, key: str, found: Labels, more: int) -> int:
        domain = found.get(key)
        if domain is None:
            return 0
        place = which, key, domain
        self._changes[place] = self._changes.get(place, 0) + more
        return more


class Preference(NamedTuple):
    """What a match in a domain is worth."""

    topology_key: str
    domains: Domains
    weight: int


class InterPodAffinity:
    """PreFilter, Filter, PreScore and Score."""

    name = "InterPodAffinity"
    counts_pods = True
    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        checked = arguments.checked(self.name, args, handle.enabled)
        self._namespaces = handle.lister(NAMESPACES)
        self._worth: Mapping[TermKind, int] = {
            TermKind.AFFINITY: checked["hardPodAffinityWeight"], TermKind.ANTI_AFFINITY: 0, TermKind.PREFERRED_AFFINITY: 1,
            TermKind.PREFERRED_ANTI_AFFINITY: -1}
        self._ignores_existing = bool(checked.get("ignorePreferredTermsOfExistingPods"))
        self._snapshot = Snapshot()  # of the cycle
        self._changes, self._existing = NodeChanges(), ExistingTerms()
        self._counts = CountsByKey(self._changes)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        return affinity_hints.events_to_register()

    def _resolved(self, terms: Terms) -> list[Term]:
        return [with_namespaces(term, lambda selector: self._namespaces.list("", selector)) for term, _ in terms]

    def _namespace_labels(self, pod: ReadOnlyTree) -> Labels:
        namespace = self._namespaces.get("", meta.namespace_of(pod))
        return meta.labels_of(namespace) if namespace is not None else {}

    def _count(self, terms: Sequence[Term], key: str) -> TopologyCounts:
        """The pods that all the terms take, by domains of a topology key."""
        def make() -> TopologyCounts:
            takes = taking(terms)
            return TopologyCounts(key, lambda info: 1 if takes(info.pod) else 0)

        return self._counts.get((tuple(term[1:] for term in terms), key), make)

    # Filter

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """SKIP where neither the pod nor the anti-affinity of others has anything to say."""
        self._snapshot = snapshot
        try:
            terms = terms_of(pod.pod)
        except labels.SelectorError as error:
            return unresolvable(f"parsing pod: {error}")
        self._changes.update(snapshot)
        self._existing.update(self._changes)
        own = self._namespace_labels(pod.pod)
        existing: dict[str, list[Domains]] = {}
        for (kind, (term, _)), domains in self._existing.taking(pod.pod, meta.namespace_of(pod.pod), own):
            if kind == TermKind.ANTI_AFFINITY:
                existing.setdefault(term.topology_key, []).append(domains)
        if not existing and not terms.affinity and not terms.anti_affinity:
            return SKIP
        found = FilterState(pod.pod, self._resolved(terms.affinity), self._resolved(terms.anti_affinity), own)
        affinity: dict[str, list[Domains]] = {}
        for key in dict.fromkeys(term.topology_key for term in found.affinity):
            counts = self._count(found.affinity, key).now
            affinity[key] = [counts.domains]
            found.total += sum(level * number for level, number in counts.levels.items())
        anti_affinity: dict[str, list[Domains]] = {}
        for term in found.anti_affinity:
            anti_affinity.setdefault(term.topology_key, []).append(self._count([term], term.topology_key).now.domains)
        found.counted = [affinity, anti_affinity, existing]
        state[self.name] = found
        return None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is on a node."""
        found: FilterState | None = state.get(self.name)
        if found is not None:
            found.change(added, node, 1)
        return None

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is gone from a node."""
        found: FilterState | None = state.get(self.name)
        if found is not None:
            found.change(removed, node, -1)
        return None

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        found: FilterState | None = state.get(self.name)
        if found is None:
            return None
        own = node_labels(node)
        if found.affinity and not _matches_affinity(found, own):
            return unresolvable(AFFINITY_NOT_MATCHED)
        for which, text in ((ANTI_AFFINITY, ANTI_AFFINITY_NOT_MATCHED), (EXISTING, EXISTING_NOT_MATCHED)):
            for key in found.keys(which):
                domain = own.get(key)
                if domain is not None and found.count(which, key, domain) > 0:
                    return unschedulable(text)
        return None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """Pods that are wanted near, and none of those that are not."""
        from fakekube_controllers.scheduler.plugins.missing import affinity

        found: FilterState | None = state.get(self.name)
        return None if node is None or found is None else affinity.missing(found, node, self._snapshot)

    # one answer for nodes in the same domains, with as many pods

    def sign_pod(self, pod: PodInfo) -> None:
        """Nothing: the answers are never kept."""

    def node_fields(self, pod: PodInfo) -> tuple[Field, ...]:
        """The topology keys; where a domain is one node, the counts that matter."""
        found: dict[Field, None] = {}
        terms = terms_of(pod.pod)
        if terms is not NO_TERMS:
            affinity = self._resolved(terms.affinity)
            several = (*terms.anti_affinity, *terms.preferred_affinity, *terms.preferred_anti_affinity)
            for key in dict.fromkeys(term.topology_key for term in affinity):
                found[self._count(affinity, key) if self._counts.is_single_node(key) else key] = None
            for term in self._resolved(several):
                key = term.topology_key
                found[self._count([term], key) if self._counts.is_single_node(key) else key] = None
        own = self._namespace_labels(pod.pod)
        for existing, _ in self._existing.taking(pod.pod, meta.namespace_of(pod.pod), own):
            if existing[0] == TermKind.ANTI_AFFINITY or self._worth[existing[0]]:
                key = existing[1].term.topology_key
                found[existing if self._counts.is_single_node(key) else key] = None
        return tuple(found)

    def sign_node(self, node_fields: tuple[Field, ...], node: NodeInfo) -> tuple[str | int | None, ...]:
        """The labels, or the counts."""
        if not node_fields:
            return ()
        own = node_labels(node)
        signature: list[str | int | None] = []
        for field in node_fields:
            if isinstance(field, str):
                signature.append(own.get(field))
            elif HOSTNAME not in own:
                signature.append(None)
            elif isinstance(field, TopologyCounts):
                signature.append(field.by_node.get(node.name, 0))
            else:
                signature.append(self._existing.count(field, own[HOSTNAME]))
        return tuple(signature)

    # Score

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP where nothing is preferred."""
        found = self._preferences(pod, self._snapshot)
        if not found:
            return SKIP
        state[SCORE] = found
        return None

    def _preferences(self, pod: PodInfo, snapshot: Snapshot) -> list[Preference]:
        """What is preferred by the pod and by others, where there is something that matches."""
        try:
            terms = terms_of(pod.pod)
        except labels.SelectorError:
            return []  # PreFilter has rejected the pod
        if self._ignores_existing and not terms.prefers:
            return []
        self._changes.update(snapshot)
        self._existing.update(self._changes)
        found = [
            Preference(term.topology_key, self._count([term], term.topology_key).now.domains, sign * weighted.weight)
            for listed, sign in ((terms.preferred_affinity, 1), (terms.preferred_anti_affinity, -1))
            for weighted, term in zip(listed, self._resolved(listed), strict=True)]
        own = self._namespace_labels(pod.pod)
        for (kind, (term, weight)), domains in self._existing.taking(pod.pod, meta.namespace_of(pod.pod), own):
            if factor := self._worth[kind]:
                found.append(Preference(term.topology_key, domains, factor * weight))
        return [each for each in found if any(each.domains.values())]

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """What the matches in the node's domains are worth."""
        found: list[Preference] = state[SCORE]
        own, total = node_labels(node), 0
        for key, domains, weight in found:
            domain = own.get(key)
            if domain is not None:
                total += domains.get(domain, 0) * weight
        return total

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """The lowest gives 0, the highest 100."""
        least, most = min(scores.values(), default=0), max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = int(MAX_NODE_SCORE * ((score - least) / (most - least))) if most > least else 0


def _matches_affinity(found: FilterState, own: Labels) -> bool:
    """Whether pods that all terms take are in all domains of the node; a pod that takes itself may
    be the first.
    """
    matched = True
    for term in found.affinity:
        domain = own.get(term.topology_key)
        if domain is None:
            return False
        matched = matched and found.count(AFFINITY, term.topology_key, domain) > 0
    return matched or (found.total == 0 and found.takes(found.pod))
