"""No two pods of a node have the same host port. Upstream: plugins/nodeports."""

from collections.abc import Sequence

from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.interface import CycleState, Snapshot
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, pod_info

ANY = "0.0.0.0"  # noqa: S104 - the API's word for every address


class NodePorts:
    """PreFilter and Filter."""

    name = "NodePorts"
    deferred = True

    def is_schedulable_after(self, pod: PodInfo, event: ClusterEvent) -> bool:
        """A node that comes, or a pod that goes and had one of the ports."""
        if event.pod is None:
            return event.node is not None and event.old is None
        taken = pod_info(event.pod).ports
        return any(_conflict(wanted, other) for wanted in pod.ports for other in taken)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """SKIP for a pod that asks for no host port."""
        return None if pod.ports else SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        for other in node.pods.values():
            if other.ports and any(_conflict(wanted, taken) for wanted in pod.ports for taken in other.ports):
                return unschedulable("node(s) didn't have free ports for the requested pod ports")
        return None


def _conflict(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or ANY in (one[0], other[0]))
