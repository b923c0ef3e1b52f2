"""A cordoned node takes only pods that tolerate it. Upstream: plugins/nodeunschedulable."""

from fakekube_controllers.scheduler.framework.interface import State
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins import tolerations


class NodeUnschedulable:
    """Filter."""

    name = "NodeUnschedulable"

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if node.node is None or not node.node["spec"].get("unschedulable"):
            return None
        tolerated = pod.pod["spec"].get("tolerations") or ()
        if any(tolerations.tolerates(toleration, tolerations.UNSCHEDULABLE_TAINT) for toleration in tolerated):
            return None
        return unresolvable("node(s) were unschedulable")
