"""A pod with spec.nodeName goes to no other node. Upstream: plugins/nodename."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import ClusterEventWithHint
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo


class NodeName:
    """PreFilter and Filter."""

    name = "NodeName"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""

    def sign_pod(self, pod: PodInfo) -> str:
        """The node that it names."""
        return pod.pod["spec"].get("nodeName") or ""

    def node_fields(self, pod: PodInfo) -> bool:
        """Whether it names one."""
        return bool(pod.pod["spec"].get("nodeName"))

    def sign_node(self, node_fields: bool, node: NodeInfo) -> str:
        """Its name, for pods that name a node."""
        return node.name if node_fields else ""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node is added."""
        return [ClusterEventWithHint(events.NODE_ADD)]

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """The node that the pod names, SKIP where it names none."""
        wanted = pod.pod["spec"].get("nodeName")
        return [wanted] if wanted else SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        wanted = pod.pod["spec"].get("nodeName")
        if wanted and wanted != node.name:
            return unresolvable("node(s) didn't match the requested node name")
        return None
