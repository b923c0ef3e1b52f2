"""A pod with scheduling gates is not scheduled. Upstream: plugins/schedulinggates."""

from fakekube_controllers.scheduler.framework.status import Status, unresolvable
from fakekube_controllers.scheduler.framework.types import PodInfo


class SchedulingGates:
    """PreEnqueue."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Which gates hold the pod, or None."""
        gates = [gate["name"] for gate in pod.pod["spec"].get("schedulingGates") or ()]
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else None
