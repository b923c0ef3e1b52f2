"""nodeSelector and node affinity.

Upstream: plugins/nodeaffinity, component-helpers/scheduling/corev1/nodeaffinity.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta, placement, strconv
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes, events
from fakekube_controllers.scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields
from fakekube_controllers.scheduler.plugins import arguments

REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
NAME = "metadata.name "  # with a blank, which no label key has
REASON = "node(s) didn't match Pod's node affinity/selector"
ENFORCED = "node(s) didn't match scheduler-enforced node affinity"

NODE_CHANGE = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)


class NodeAffinity:
    """PreFilter (nodes that are named), Filter (what is required) and Score (what is preferred)."""

    name = "NodeAffinity"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """``addedAffinity`` holds for every pod beside its own."""
        checked = arguments.checked(self.name, args, handle.enabled)
        self._added: Mapping[str, Any] = checked.get("addedAffinity") or {}
        self._added_keys = _label_keys(self._added)

    def sign_pod(self, pod: PodInfo) -> bytes:
        """Its node selector and its affinity."""
        return encoded_fields(pod, "nodeSelector", "affinity")

    def node_fields(self, pod: PodInfo) -> tuple[str, ...]:
        """The keys of the labels that it mentions, sorted; NAME stands for names of nodes."""
        spec = pod.pod["spec"]
        keys = dict.fromkeys(spec.get("nodeSelector") or ())
        affinity = placement.node_affinity(spec)
        if affinity:
            keys.update(_label_keys(affinity))
        keys.update(self._added_keys)
        return tuple(sorted(keys)) if keys else ()

    def sign_node(self, node_fields: tuple[str, ...], node: NodeInfo) -> Hashable:
        """The values of those labels."""
        labels = _labels(node)
        return tuple([node.name if key == NAME else labels.get(key) for key in node_fields])

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that the pod selects, and did not before."""
        return [ClusterEventWithHint(NODE_CHANGE, self._after_node_change)]

    def _after_node_change(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        if new is None or not self._added_takes(meta.name_of(new), meta.labels_of(new)) or not _selects(pod, new):
            return events.SKIP
        return events.QUEUE if old is None or not _selects(pod, old) else events.SKIP

    def _added_takes(self, name: str, labels: Mapping[str, str]) -> bool:
        required = self._added.get(REQUIRED)
        return required is None or any(
            placement.term_matches(term, name, labels) for term in required.get("nodeSelectorTerms") or ())

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """The only nodes that every term names, SKIP when nothing is required, or None."""
        required = placement.node_affinity(pod.pod["spec"]).get(REQUIRED)
        if required is None:
            return None if pod.pod["spec"].get("nodeSelector") or self._added.get(REQUIRED) is not None else SKIP
        names: dict[str, None] = {}
        for term in required.get("nodeSelectorTerms") or ():
            listed = [
                field["values"] for field in term.get("matchFields") or ()
                if field["key"] == "metadata.name" and field["operator"] == "In"
            ]
            if not listed:
                return None
            names.update(dict.fromkeys(name for name in listed[0] if all(name in values for values in listed)))
        if not names and required.get("nodeSelectorTerms"):
            return unresolvable("pod affinity terms conflict")
        return list(names) or None

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP when nothing is preferred."""
        preferred = placement.node_affinity(pod.pod["spec"]).get(PREFERRED) or self._added.get(PREFERRED)
        return None if preferred else SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        labels = _labels(node)
        if self._added and not self._added_takes(node.name, labels):
            return unresolvable(ENFORCED)
        return None if placement.selects(pod.pod["spec"], node.name, labels) else unresolvable(REASON)

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The labels that the pod selects: by the term for which the fewest are to change."""
        if node is None:
            return None
        spec, own, target = pod.pod["spec"], _labels(node), changes.node_target(node)
        wanted = [changes.set_label(target, key, value)
                  for key, value in (spec.get("nodeSelector") or {}).items() if own.get(key) != value]
        for affinity in (placement.node_affinity(spec), self._added):
            required = affinity.get(REQUIRED)
            if required is not None:
                terms = [label_changes(term, node) for term in required.get("nodeSelectorTerms") or ()]
                possible: list[list[Change]] = [each for each in terms if each is not None]
                if not possible:
                    return None
                fewest = min(len(each) for each in possible)
                wanted += next(each for each in possible if len(each) == fewest)
        return wanted

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The weights of the preferred terms that match, together."""
        preferred = (
            *(placement.node_affinity(pod.pod["spec"]).get(PREFERRED) or ()), *(self._added.get(PREFERRED) or ()))
        labels = _labels(node)
        return sum(
            term.get("weight", 0) for term in preferred
            if placement.term_matches(term.get("preference") or {}, node.name, labels))

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """The most preferred node is best."""
        best = max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = MAX_NODE_SCORE * score // best if best else 0


def _labels(node: NodeInfo) -> Mapping[str, str]:
    found: Mapping[str, str] = (node.node or {"metadata": {}})["metadata"].get("labels") or {}
    return found


def _label_keys(affinity: Mapping[str, Any]) -> dict[str, None]:
    """The keys of the labels that a node affinity mentions, and NAME where it names nodes."""
    terms = [*((affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ())]
    terms += [each.get("preference") or {} for each in affinity.get(PREFERRED) or ()]
    keys: dict[str, None] = {}
    for term in terms:
        keys.update((each["key"], None) for each in term.get("matchExpressions") or ())
        if term.get("matchFields"):
            keys[NAME] = None
    return keys


def _selects(pod: PodInfo, node: ReadOnlyTree) -> bool:
    return placement.selects(pod.pod["spec"], meta.name_of(node), meta.labels_of(node))


def label_changes(term: Mapping[str, Any], node: NodeInfo) -> list[Change] | None:
    """What labels are to change for a term to match; None where they cannot make it match."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return None
    if fields and not placement.term_matches({"matchFields": fields}, node.name, {}):
        return None
    own, target = _labels(node), changes.node_target(node)
    found: list[Change] = []
    for each in expressions:
        if placement.term_matches({"matchExpressions": [each]}, node.name, own):
            continue
        key, operator, values = each["key"], each["operator"], each.get("values") or [""]
        if operator in ("NotIn", "DoesNotExist"):
            found.append(changes.remove_label(target, key))
        elif operator in ("Gt", "Lt"):
            limit = strconv.whole(values[0])
            if limit is None:
                return None
            found.append(changes.set_label(target, key, str(limit + 1 if operator == "Gt" else limit - 1)))
        else:
            found.append(changes.set_label(target, key, values[0]))
    return found
