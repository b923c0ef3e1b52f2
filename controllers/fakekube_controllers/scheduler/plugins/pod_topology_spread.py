"""Pods that are alike are spread over topology domains.

Filter: with the pod a domain has no more than ``maxSkew`` pods over the one with the fewest. Score:
domains with fewer are better. Counts are kept from cycle to cycle.

Upstream: plugins/podtopologyspread (plugin.go, filtering.go, scoring.go).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import labels, meta, placement
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, SERVICES, STATEFUL_SETS
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.events import ClusterEventWithHint
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.search import FEASIBLE
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Code, Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields
from fakekube_controllers.scheduler.plugins import arguments, spread_constraints
from fakekube_controllers.scheduler.plugins.node_changes import NodeChanges
from fakekube_controllers.scheduler.plugins.spread_constraints import HARD, SOFT, Constraint, Constraints
from fakekube_controllers.scheduler.plugins.spread_hints import SpreadHints
from fakekube_controllers.scheduler.plugins.tolerations import DO_NOT_SCHEDULE, tolerations_of
from fakekube_controllers.scheduler.plugins.topology_counts import (
    HOSTNAME,
    Counts,
    CountsByKey,
    Includes,
    TopologyCounts,
    Weigh,
    is_terminating,
    labels_of,
    node_labels,
    selecting,
)

NOT_MATCHED = "node(s) didn't match pod topology spread constraints"
NO_LABEL = NOT_MATCHED + " (missing required label)"
MATCH_KEYS = "MatchLabelKeysInPodTopologySpread"


class HardState:
    """What the filter needs to know of each constraint: its counts, and by how much they differ
    where pods were added or removed since.
    """

    def __init__(self, constraints: Constraints, counts: Sequence[Counts], is_alike: Sequence[bool]) -> None:
        self.constraints, self.counts = constraints, counts
        self.is_alike = is_alike  # whether the constraint counts the pod itself
        self.changes: list[dict[str, int]] = [{} for _ in constraints]  # by domain
        self._least: list[int | None] = [None] * len(constraints)

    def clone(self) -> "HardState":
        """A copy that can be changed."""
        copied = HardState(self.constraints, self.counts, self.is_alike)
        copied.changes = [dict(each) for each in self.changes]
        return copied

    def add(self, number: int, domain: str, more: int) -> None:
        """A domain has so many pods more than was counted."""
        changes = self.changes[number]
        changes[domain] = changes.get(domain, 0) + more
        self._least[number] = None

    def count(self, number: int, domain: str) -> int:
        """How many pods a domain has."""
        return self.counts[number].domains.get(domain, 0) + self.changes[number].get(domain, 0)

    def least(self, number: int) -> int:
        """The fewest pods that a domain has; 0 while there are fewer domains than minDomains."""
        found = self._least[number]
        if found is None:
            found = self._least[number] = self._find_least(number)
        return found

    def _find_least(self, number: int) -> int:
        (domains, levels), changes = self.counts[number], self.changes[number]
        if not changes:
            return 0 if len(domains) < self.constraints[number].min_domains else min(levels, default=0)
        merged = {**domains, **{domain: domains.get(domain, 0) + more for domain, more in changes.items()}}
        return 0 if len(merged) < self.constraints[number].min_domains else min(merged.values(), default=0)


class SoftTerm(NamedTuple):
    """A constraint for the score: the pods by domain, or by node where the domain is a node.

    ``weight`` is larger the more domains there are.
    """

    constraint: Constraint
    pods: Mapping[str, int]
    by_node: bool
    weight: float


class SoftState(NamedTuple):
    """What the score needs. ``ignored``: nodes without all topology keys."""

    terms: Sequence[SoftTerm]
    ignored: frozenset[str]


class PodTopologySpread:
    """PreFilter, Filter, PreScore and Score."""

    name = "PodTopologySpread"
    counts_pods = True
    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        checked = arguments.checked(self.name, args, handle.enabled)
        self._handle = handle
        self._is_system_default = checked["defaultingType"] == "System"
        listed = spread_constraints.SYSTEM_DEFAULTS if self._is_system_default else checked.get("defaultConstraints") or ()
        self._defaults: Sequence[Mapping[str, Any]] = listed
        self._default_actions = frozenset(each["whenUnsatisfiable"] for each in listed)
        self._match_keys = handle.enabled(MATCH_KEYS)
        if self._defaults:
            self._selecting = spread_constraints.Selecting(
                *(handle.lister(each) for each in (SERVICES, REPLICATION_CONTROLLERS, REPLICA_SETS, STATEFUL_SETS)))
        self._snapshot = Snapshot()  # of the cycle
        self._changes = NodeChanges()
        self._counts = CountsByKey(self._changes)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        return SpreadHints(lambda pod: self.constraints(pod, HARD)).events()

    # constraints

    def constraints(self, pod: ReadOnlyTree, action: str) -> Constraints:
        """The pod's constraints with an action. Raises SelectorError."""
        own = pod["spec"].get("topologySpreadConstraints")
        if own:
            return spread_constraints.parsed(own, action, meta.labels_of(pod), match_keys=self._match_keys)
        if action not in self._default_actions:
            return ()
        selector = self._selecting.default_selector(pod)
        if selector.empty:
            return ()
        found = spread_constraints.parsed(self._defaults, action, meta.labels_of(pod), match_keys=self._match_keys)
        return tuple(each._replace(selector=selector) for each in found)

    def _includes(self, pod: PodInfo, constraint: Constraint, keys: Sequence[str]) -> Includes:
        """Whether a node counts: it has all the keys, and what the constraint honors."""
        spec, tolerated = pod.pod["spec"], tolerations_of(pod.pod, self._handle)

        def includes(node: ReadOnlyTree) -> bool:
            found = labels_of(node)
            if any(key not in found for key in keys):
                return False
            if constraint.honors_affinity and not placement.selects(spec, meta.name_of(node), found):
                return False
            taints = node["spec"].get("taints") or () if constraint.honors_taints else ()
            return placement.untolerated(taints, tolerated, DO_NOT_SCHEDULE) is None

        return includes

    def _count(self, pod: PodInfo, constraint: Constraint, keys: tuple[str, ...]) -> TopologyCounts:
        """The counts of a constraint, where only nodes with all the keys count."""
        namespace = meta.namespace_of(pod.pod)
        affinity = encoded_fields(pod, "nodeSelector", "affinity") if constraint.honors_affinity else b""
        tolerated = encoded_fields(pod, "tolerations") if constraint.honors_taints else None
        key = namespace, constraint.selector, constraint.topology_key, keys, affinity, tolerated
        return self._counts.get(key, lambda: TopologyCounts(
            constraint.topology_key, _weigh(namespace, constraint.selector), self._includes(pod, constraint, keys)))

    def _count_on_nodes(self, pod: PodInfo, constraint: Constraint) -> TopologyCounts:
        """The counts by node, whatever the node."""
        namespace = meta.namespace_of(pod.pod)
        return self._counts.get(
            (namespace, constraint.selector), lambda: TopologyCounts(None, _weigh(namespace, constraint.selector)))

    # Filter

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """SKIP for a pod without hard constraints."""
        self._snapshot = snapshot
        try:
            constraints = self.constraints(pod.pod, HARD)
        except labels.SelectorError as error:
            return Status(Code.ERROR, (f"get constraints from pod: {_obtaining('hard', error)}",))
        if not constraints:
            return SKIP
        self._changes.update(snapshot)
        keys = _keys(constraints)
        found = meta.labels_of(pod.pod)
        state[self.name] = HardState(
            constraints, [self._count(pod, each, keys).now for each in constraints],
            [each.selector.matches(found) for each in constraints])
        return None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is on a node."""
        self._update(state, pod, added, node, 1)
        return None

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is gone from a node."""
        self._update(state, pod, removed, node, -1)
        return None

    def _update(self, state: CycleState, pod: PodInfo, other: PodInfo, node: NodeInfo, more: int) -> None:
        found: HardState | None = state.get(self.name)
        if found is None or meta.namespace_of(other.pod) != meta.namespace_of(pod.pod):
            return
        own, keys = meta.labels_of(other.pod), _keys(found.constraints)
        for number, constraint in enumerate(found.constraints):
            if node.node is not None and constraint.selector.matches(own) and self._includes(pod, constraint, keys)(node.node):
                found.add(number, node_labels(node)[constraint.topology_key], more)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        found: HardState | None = state.get(self.name)
        if found is None:
            return None
        own = node_labels(node)
        for number, constraint in enumerate(found.constraints):
            domain = own.get(constraint.topology_key)
            if domain is None:
                return unresolvable(NO_LABEL)
            if found.count(number, domain) + found.is_alike[number] - found.least(number) > constraint.max_skew:
                return unschedulable(NOT_MATCHED)
        return None

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The node in a domain with room, or less pods in its domain."""
        from fakekube_controllers.scheduler.plugins.missing import spreading

        found: HardState | None = state.get(self.name)
        if node is None or found is None:
            return None
        keys = _keys(found.constraints)
        return spreading.missing(found, lambda each: self._includes(pod, each, keys), pod, node, self._snapshot)

    # one answer for nodes in the same domains, with as many pods

    def sign_pod(self, pod: PodInfo) -> None:
        """Nothing: the answers are never kept."""

    def node_fields(self, pod: PodInfo) -> tuple[str | TopologyCounts, ...]:
        """The topology keys; where a domain is one node, the counts that matter."""
        found: dict[str | TopologyCounts, None] = {}
        for action in (HARD, SOFT):
            constraints = self.constraints(pod.pod, action)
            if not constraints:
                continue
            self._changes.update(self._snapshot)
            keys = _keys(constraints)
            for each in constraints:
                if not self._counts.is_single_node(each.topology_key):
                    found[each.topology_key] = None
                else:
                    found[self._count(pod, each, keys) if action == HARD else self._count_on_nodes(pod, each)] = None
        return tuple(found)

    def sign_node(self, node_fields: tuple[str | TopologyCounts, ...], node: NodeInfo) -> tuple[str | int | None, ...]:
        """The labels, or the counts."""
        if not node_fields:
            return ()
        own = node_labels(node)
        return tuple([
            own.get(field) if isinstance(field, str) else field.by_node.get(node.name, 0) if HOSTNAME in own else None
            for field in node_fields])

    # Score

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP for a pod without soft constraints."""
        try:
            constraints = self.constraints(pod.pod, SOFT)
        except labels.SelectorError as error:
            return Status(Code.ERROR, (f"calculating preScoreState: {_obtaining('soft', error)}",))
        if not constraints:
            return SKIP
        self._changes.update(self._snapshot)
        keys = _keys(constraints) if pod.pod["spec"].get("topologySpreadConstraints") or not self._is_system_default else ()
        found = [(node.name, node_labels(node)) for node in nodes]
        ignored = frozenset(name for name, own in found if any(key not in own for key in keys))
        terms = []
        for constraint in constraints:
            key = constraint.topology_key
            if key == HOSTNAME:
                counts, size = self._count_on_nodes(pod, constraint), _count_feasible(state, nodes, ignored)
            else:
                counts = self._count(pod, constraint, keys)
                size = len(dict.fromkeys(own.get(key, "") for name, own in found if name not in ignored))
            by_node = key == HOSTNAME
            terms.append(SoftTerm(constraint, counts.by_node if by_node else counts.now.domains, by_node, math.log(size + 2)))
        state[SOFT] = SoftState(terms, ignored)
        return None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The fewer pods are in the node's domains the lower."""
        found: SoftState = state[SOFT]
        if node.name in found.ignored:
            return 0
        own, total = node_labels(node), 0.0
        for constraint, pods, by_node, weight in found.terms:
            domain = own.get(constraint.topology_key)
            if domain is not None:
                total += pods.get(node.name if by_node else domain, 0) * weight + (constraint.max_skew - 1)
        return int(total + 0.5)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """The lowest score gives the most; nodes without all topology keys get nothing."""
        found: SoftState = state[SOFT]
        counted = [score for name, score in scores.items() if name not in found.ignored]
        least, most = min(counted, default=0), max(counted, default=0)
        for name, score in scores.items():
            if name in found.ignored:
                scores[name] = 0
            elif most == 0:
                scores[name] = MAX_NODE_SCORE
            else:
                scores[name] = MAX_NODE_SCORE * (most + least - score) // most


def _keys(constraints: Constraints) -> tuple[str, ...]:
    """The topology keys, sorted."""
    return tuple(sorted(dict.fromkeys(each.topology_key for each in constraints)))


def _count_feasible(state: CycleState, nodes: Sequence[NodeInfo], ignored: frozenset[str]) -> int:
    """How many nodes fit and are not ignored."""
    counts: Mapping[str, int] = state.get(FEASIBLE, {})
    return sum(counts.get(node.name, 1) for node in nodes if node.name not in ignored)


def _weigh(namespace: str, selector: labels.Selector) -> Weigh:
    """Counts a pod of the namespace that the selector takes and that is not being deleted.

    A selector that takes everything counts nothing, as upstream.
    """
    if selector.empty:
        return lambda _: 0
    selects = selecting(selector)

    def weigh(info: PodInfo) -> int:
        metadata = info.pod["metadata"]
        if metadata.get("namespace", "") != namespace or is_terminating(info.pod):
            return 0
        return 1 if selects(metadata.get("labels") or {}) else 0

    return weigh


def _obtaining(kind: str, error: labels.SelectorError) -> str:
    return f"obtaining pod's {kind} topology spread constraints: {error}"
