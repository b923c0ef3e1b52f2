"""A pod with spec.nodeName goes to no other node. Upstream: plugins/nodename."""

from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.interface import CycleState, Snapshot
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo


class NodeName:
    """PreFilter and Filter."""

    name = "NodeName"

    def sign_pod(self, pod: PodInfo) -> str:
        """The node that it names."""
        return pod.pod["spec"].get("nodeName") or ""

    def node_fields(self, pod: PodInfo) -> bool:
        """Whether it names one."""
        return bool(pod.pod["spec"].get("nodeName"))

    def sign_node(self, node_fields: bool, node: NodeInfo) -> str:
        """Its name, for pods that name a node."""
        return node.name if node_fields else ""

    def is_schedulable_after(self, pod: PodInfo, event: ClusterEvent) -> bool:
        """That node is added."""
        return event.node is not None and event.old is None and meta.name_of(event.node) == pod.pod["spec"].get("nodeName")

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """SKIP for a pod that names no node."""
        return None if pod.pod["spec"].get("nodeName") else SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        wanted = pod.pod["spec"].get("nodeName")
        if wanted and wanted != node.name:
            return unresolvable("node(s) didn't match the requested node name")
        return None
