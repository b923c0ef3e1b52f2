"""A cordoned node takes only pods that tolerate it. Upstream: plugins/nodeunschedulable."""

from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.interface import CycleState
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields


class NodeUnschedulable:
    """Filter."""

    name = "NodeUnschedulable"

    def sign_pod(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return encoded_fields(pod, "tolerations")

    def node_fields(self, pod: PodInfo) -> None:
        """None: spec.unschedulable, for all pods."""

    def sign_node(self, node_fields: None, node: NodeInfo) -> bool:
        """Whether it is cordoned."""
        return node.node is not None and bool(node.node["spec"].get("unschedulable"))

    def is_schedulable_after(self, pod: PodInfo, event: ClusterEvent) -> bool:
        """A node that is added or uncordoned."""
        if event.node is None or event.node["spec"].get("unschedulable"):
            return False
        return event.old is None or bool(event.old["spec"].get("unschedulable"))

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if node.node is None or not node.node["spec"].get("unschedulable"):
            return None
        tolerated = pod.pod["spec"].get("tolerations") or ()
        if any(placement.tolerates(toleration, placement.UNSCHEDULABLE_TAINT) for toleration in tolerated):
            return None
        return unresolvable("node(s) were unschedulable")
