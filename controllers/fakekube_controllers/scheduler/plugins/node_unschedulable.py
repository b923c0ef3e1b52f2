"""A cordoned node takes only pods that tolerate it. Upstream: plugins/nodeunschedulable."""

from collections.abc import Mapping, Sequence
from typing import Any

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
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields
from fakekube_controllers.scheduler.plugins.tolerations import tolerations_of

NODE_CHANGE = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
TOLERATION = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION)


class NodeUnschedulable:
    """Filter."""

    name = "NodeUnschedulable"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._handle = handle

    def sign_pod(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return encoded_fields(pod, "tolerations")

    def node_fields(self, pod: PodInfo) -> None:
        """None: spec.unschedulable, for all pods."""

    def sign_node(self, node_fields: None, node: NodeInfo) -> bool:
        """Whether it is cordoned."""
        return node.node is not None and bool(node.node["spec"].get("unschedulable"))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that is added or uncordoned, and a toleration for those that are not."""
        return [ClusterEventWithHint(NODE_CHANGE, self._after_node_change),
                ClusterEventWithHint(TOLERATION, self._after_toleration)]

    def _after_node_change(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        if new is None or new["spec"].get("unschedulable"):
            return events.SKIP
        return events.QUEUE if old is None or old["spec"].get("unschedulable") else events.SKIP

    def _after_toleration(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        if new is None or meta.uid_of(new) != pod.uid:
            return events.SKIP
        return events.QUEUE if self._tolerates(new) else events.SKIP

    def _tolerates(self, pod: ReadOnlyTree) -> bool:
        return any(placement.tolerates(each, placement.UNSCHEDULABLE_TAINT) for each in tolerations_of(pod, self._handle))

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if node.node is None or not node.node["spec"].get("unschedulable"):
            return None
        return None if self._tolerates(pod.pod) else unresolvable("node(s) were unschedulable")

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The node is to be uncordoned."""
        return None if node is None else [changes.uncordon(node)]
