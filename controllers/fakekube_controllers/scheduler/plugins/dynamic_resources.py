"""What the plugin for devices adds to the message of a pod that was rejected before it was asked.

Upstream: plugins/dynamicresources. Left out: the allocation of devices. Only this much can be seen
of it in a cluster without any: its PostFilter looks for the state that its PreFilter leaves, and
fails with "not found" where another PreFilter plugin has rejected the pod already; that text takes
the place of what preemption says.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.framework.events import ClusterEventWithHint
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.interface import PostFilterResult
from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, error, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.plugins.releases import minor_version

NOT_FOUND = "not found"
NO_CLAIMS, SILENT_SINCE = "no new claims to deallocate", 37
CLAIMS_RELEASED = "deallocation and deletion of ResourceClaims completed"


class DynamicResources:
    """PreFilter and PostFilter."""

    name = "DynamicResources"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._nothing = unschedulable(*(() if minor_version(handle.version) >= SILENT_SINCE else (NO_CLAIMS,)))
        self._uses_placements = handle.enabled("TopologyAwareWorkloadScheduling")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """None: it rejects no pod."""
        return []

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """Leave a state."""
        state[self.name] = True
        if state.pod_group is not None:
            state.pod_group[self.name] = True
        return SKIP

    async def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """An error where the state is missing, else nothing to say."""
        return None, self._nothing if self.name in state else error(NOT_FOUND)

    async def pod_group_post_filter(
        self, state: CycleState, group: PodGroupInfo, snapshot: Snapshot, schedule: PodGroupSchedulingFunc,
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        """Claims are given back, of which there are none; an error where no pod was tried.

        Trees and groups with topology constraints are left alone, as upstream.
        """
        if group.key.type is EntityType.COMPOSITE_POD_GROUP or (
                self._uses_placements and group.group["spec"].get("schedulingConstraints") is not None):
            return {}, unschedulable()
        return {}, unschedulable(CLAIMS_RELEASED) if self.name in state else error(NOT_FOUND)
