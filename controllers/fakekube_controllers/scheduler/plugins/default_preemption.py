"""Whether evicting pods of lower priority would make room.

Upstream: plugins/defaultpreemption, framework/preemption.

No pod is evicted: only the message of the pod's condition is computed, for the nodes where
preemption would not help.
"""

from collections.abc import Mapping
from typing import Any

from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import PostFilterResult
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, histogram, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unschedulable("No preemption victims found for incoming pod")


class DefaultPreemption:
    """PostFilter."""

    name = "DefaultPreemption"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle

    async def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """No nominated node, and why preemption finds none."""
        if pod.pod["spec"].get("preemptionPolicy") == "Never":
            return None, unschedulable("preemption: not eligible due to preemptionPolicy=Never.")
        rejections: list[Status] = []
        for name in snapshot.nodes:
            status = statuses.get(name)
            if status is None or status.code == Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                rejections.append(NOT_HELPFUL)
            elif not self._has_victims(state, pod, snapshot, name):
                rejections.append(NO_VICTIMS)
        if len(rejections) < len(snapshot.nodes):
            return None, unschedulable()
        return None, unschedulable(f"preemption: 0/{len(snapshot.nodes)} nodes are available: {histogram(rejections)}.")

    def _has_victims(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, name: str) -> bool:
        if min(snapshot.nodes[name].priorities, default=pod.priority) >= pod.priority:
            return False
        node = snapshot.nodes[name].copy()
        for info in [info for info in node.pods.values() if info.priority < pod.priority]:
            node.remove(info.uid)
        return self._handle.run_filter_plugins(state, pod, node) is None
