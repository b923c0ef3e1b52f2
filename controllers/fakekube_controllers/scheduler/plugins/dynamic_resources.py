"""What the plugin for devices adds to the message of a pod that was rejected before it was asked.

Upstream: plugins/dynamicresources. Left out: the allocation of devices. Only this much can be seen
of it in a cluster without any: its PostFilter looks for the state that its PreFilter leaves, and
fails with "not found" where another PreFilter plugin has rejected the pod already; that text takes
the place of what preemption says.
"""

from collections.abc import Mapping

from fakekube_controllers.scheduler.framework.interface import CycleState, Snapshot
from fakekube_controllers.scheduler.framework.status import SKIP, Status
from fakekube_controllers.scheduler.framework.types import PodInfo

NOT_FOUND = "not found"


class DynamicResources:
    """PreFilter and PostFilter."""

    name = "DynamicResources"

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Leave a state."""
        state[self.name] = True
        return SKIP

    def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[str, str]:
        """No nominated node; a text where the state is missing."""
        return "", "" if self.name in state else NOT_FOUND
