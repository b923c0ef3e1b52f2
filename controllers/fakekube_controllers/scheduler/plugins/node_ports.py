"""A host port is taken once. Upstream: plugins/nodeports."""

from collections.abc import Sequence

from fakekube_controllers.scheduler.framework.interface import Snapshot, State
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

ANY = "0.0.0.0"  # noqa: S104 - the API's word for every address


class NodePorts:
    """PreFilter and Filter."""

    name = "NodePorts"

    def sign(self, pod: PodInfo) -> tuple[tuple[str, str, int], ...]:
        """Its host ports."""
        return pod.ports

    def pre_filter(self, state: State, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """SKIP for a pod that asks for no host port."""
        return None if pod.ports else SKIP

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        for address, protocol, port in pod.ports:
            for other in node.pods.values():
                for taken_address, taken_protocol, taken_port in other.ports:
                    same = (protocol, port) == (taken_protocol, taken_port)
                    if same and (ANY in (address, taken_address) or address == taken_address):
                        return unschedulable("node(s) didn't have free ports for the requested pod ports")
        return None
