"""A cordoned node takes only pods that tolerate it. Upstream: plugins/nodeunschedulable."""

from fakekube.runtime import placement
from fakekube_controllers.scheduler.framework.interface import State
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, spelled


class NodeUnschedulable:
    """Filter."""

    name = "NodeUnschedulable"

    def sign(self, pod: PodInfo) -> bytes:
        """Its tolerations."""
        return spelled(pod, "tolerations")

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if node.node is None or not node.node["spec"].get("unschedulable"):
            return None
        tolerated = pod.pod["spec"].get("tolerations") or ()
        if any(placement.tolerates(toleration, placement.UNSCHEDULABLE_TAINT) for toleration in tolerated):
            return None
        return unresolvable("node(s) were unschedulable")
