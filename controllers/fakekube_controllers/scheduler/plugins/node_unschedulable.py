"""A cordoned node takes only pods that tolerate it. Upstream: plugins/nodeunschedulable."""

from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.events import Event
from fakekube_controllers.scheduler.framework.interface import State
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, spelled


class NodeUnschedulable:
    """Filter."""

    name = "NodeUnschedulable"

    def sign(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return spelled(pod, "tolerations")

    def aspect(self, pod: PodInfo) -> None:
        """The same of all nodes."""

    def sign_node(self, aspect: None, node: NodeInfo) -> bool:
        """Whether it is cordoned."""
        return node.node is not None and bool(node.node["spec"].get("unschedulable"))

    def may_help(self, pod: PodInfo, event: Event) -> bool:
        """A node that is not cordoned, or no longer."""
        if event.node is None or event.node["spec"].get("unschedulable"):
            return False
        return event.old is None or bool(event.old["spec"].get("unschedulable"))

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if node.node is None or not node.node["spec"].get("unschedulable"):
            return None
        tolerated = pod.pod["spec"].get("tolerations") or ()
        if any(placement.tolerates(toleration, placement.UNSCHEDULABLE_TAINT) for toleration in tolerated):
            return None
        return unresolvable("node(s) were unschedulable")
