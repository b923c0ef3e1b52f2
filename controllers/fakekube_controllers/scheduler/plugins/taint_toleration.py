"""Taints that a pod does not tolerate reject it, or lower the score.

Upstream: plugins/tainttoleration.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import orjson

from fakekube.apimachinery import meta, placement
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
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields
from fakekube_controllers.scheduler.plugins.releases import minor_version
from fakekube_controllers.scheduler.plugins.tolerations import DO_NOT_SCHEDULE, tolerations_of

_taints = attrgetter("taints")
REASON = "node(s) had untolerated taint(s)"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
REASON_SINCE = 34  # releases before name the taint

NODE_CHANGE = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
TOLERATION = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION)


class TaintToleration:
    """Filter (NoSchedule and NoExecute) and Score (fewer PreferNoSchedule taints are better)."""

    name = "TaintToleration"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._handle = handle
        self._names_taint = minor_version(handle.version) < REASON_SINCE

    def sign_pod(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return encoded_fields(pod, "tolerations")

    def node_fields(self, pod: PodInfo) -> None:
        """None: the taints, for all pods."""

    def sign_node(self, node_fields: None, node: NodeInfo) -> bytes:
        """Its taints."""
        return orjson.dumps(node.taints) if node.taints else b""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node whose taints are tolerated and were not before, and a toleration."""
        return [ClusterEventWithHint(NODE_CHANGE, self._after_node_change),
                ClusterEventWithHint(TOLERATION, self._after_toleration)]

    def _after_node_change(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        helps = new is not None and self._tolerates(pod, new) and (old is None or not self._tolerates(pod, old))
        return events.QUEUE if helps else events.SKIP

    def _tolerates(self, pod: PodInfo, node: ReadOnlyTree) -> bool:
        taints = node["spec"].get("taints") or ()
        return placement.untolerated(taints, tolerations_of(pod.pod, self._handle), DO_NOT_SCHEDULE) is None

    def _after_toleration(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        return events.QUEUE if new is not None and meta.uid_of(new) == pod.uid else events.SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if not node.taints:
            return None
        taint = placement.untolerated(node.taints, tolerations_of(pod.pod, self._handle), DO_NOT_SCHEDULE)
        if taint is None:
            return None
        if self._names_taint:
            return unresolvable(f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}")
        return unresolvable(REASON)

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The taints are to go, or to be tolerated; that of a cordon goes with it."""
        if node is None or node.node is None:
            return None
        tolerated, is_cordoned = tolerations_of(pod.pod, self._handle), node.node["spec"].get("unschedulable")
        cordon = placement.UNSCHEDULABLE_TAINT["key"]
        return [
            changes.uncordon(node) if is_cordoned and taint["key"] == cordon else changes.remove_taint(node, taint)
            for taint in node.taints if placement.untolerated([taint], tolerated, DO_NOT_SCHEDULE) is not None]

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP when no node has a taint."""
        return None if any(map(_taints, nodes)) else SKIP

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The number of PreferNoSchedule taints that are not tolerated."""
        tolerated = [
            each for each in tolerations_of(pod.pod, self._handle) if each.get("effect") in (None, "", PREFER_NO_SCHEDULE)]
        return sum(
            taint["effect"] == PREFER_NO_SCHEDULE and not any(placement.tolerates(each, taint) for each in tolerated)
            for taint in node.taints)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """The fewest taints give 100."""
        worst = max(scores.values(), default=0)
        for name, score in scores.items():
            scores[name] = MAX_NODE_SCORE if worst == 0 else MAX_NODE_SCORE - MAX_NODE_SCORE * score // worst
