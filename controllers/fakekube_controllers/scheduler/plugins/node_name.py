"""A pod that names its node goes nowhere else. Upstream: plugins/nodename."""

from fakekube_controllers.scheduler.framework.interface import State
from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo


class NodeName:
    """Filter."""

    name = "NodeName"

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        wanted = pod.pod["spec"].get("nodeName")
        if wanted and wanted != node.name:
            return unresolvable("node(s) didn't match the requested node name")
        return None
