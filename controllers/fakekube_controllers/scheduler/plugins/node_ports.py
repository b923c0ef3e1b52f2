"""No two pods of a node have the same host port. Upstream: plugins/nodeports."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes, events
from fakekube_controllers.scheduler.framework.events import ClusterEventWithHint, QueueingHint
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, pod_info

ANY = "0.0.0.0"  # noqa: S104 - the API's word for every address


class NodePorts:
    """PreFilter and Filter."""

    name = "NodePorts"
    deferred = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that goes and had one of the ports, and a node that comes."""
        return [ClusterEventWithHint(events.ASSIGNED_POD_DELETE, self._after_pod_delete), ClusterEventWithHint(events.NODE_ADD)]

    def _after_pod_delete(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        taken = pod_info(old).ports if old is not None and old["spec"].get("nodeName") else ()
        conflict = any(_conflict(wanted, other) for wanted in pod.ports for other in taken)
        return events.QUEUE if conflict else events.SKIP

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """SKIP for a pod that asks for no host port."""
        return None if pod.ports else SKIP

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """The pods that have the ports are to go."""
        return None if node is None else [
            changes.delete_pod(other.pod, "which has the same host port", node) for other in node.pods.values()
            if any(_conflict(wanted, taken) for wanted in pod.ports for taken in other.ports)]

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        if node.used_ports and any(_conflict(wanted, taken) for wanted in pod.ports for taken in node.used_ports):
            return unschedulable("node(s) didn't have free ports for the requested pod ports")
        return None


def _conflict(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or ANY in (one[0], other[0]))
