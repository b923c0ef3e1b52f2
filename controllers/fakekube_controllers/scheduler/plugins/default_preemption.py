"""Whether evicting pods of lower priority would make room. Upstream: plugins/defaultpreemption, framework/preemption.

Nobody is evicted yet: the text of the pod's condition says what the real scheduler would have found.
"""

from collections.abc import Mapping, Sequence

from fakekube_controllers.scheduler.framework.interface import Filter, Snapshot, State
from fakekube_controllers.scheduler.framework.status import Code, Status, histogram, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unschedulable("No preemption victims found for incoming pod")


class DefaultPreemption:
    """PostFilter."""

    name = "DefaultPreemption"

    def __init__(self, filters: Sequence[Filter]) -> None:
        self._filters = filters

    def post_filter(
        self, state: State, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[str, str]:
        """No node, and why preemption finds none."""
        if pod.pod["spec"].get("preemptionPolicy") == "Never":
            return "", "preemption: not eligible due to preemptionPolicy=Never."
        found: list[Status] = []
        for name in snapshot.nodes:
            status = statuses.get(name)
            if status is None or status.code == Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                found.append(NOT_HELPFUL)
            elif not self._has_victims(state, pod, snapshot, name):
                found.append(NO_VICTIMS)
        if len(found) < len(snapshot.nodes):
            return "", ""
        return "", f"preemption: 0/{len(snapshot.nodes)} nodes are available: {histogram(found)}."

    def _has_victims(self, state: State, pod: PodInfo, snapshot: Snapshot, name: str) -> bool:
        if min(snapshot.nodes[name].priorities, default=pod.priority) >= pod.priority:
            return False
        node = snapshot.nodes[name].copy()
        for info in [info for info in node.pods.values() if info.priority < pod.priority]:
            node.remove(info.uid)
        return all(plugin.filter(state, pod, node) is None for plugin in self._filters)
