"""The plugins that were other ones before 1.37, in place of those of today.

Upstream: pkg/scheduler/framework/plugins of 1.36 and 1.35.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.interface import PluginFactory, PostFilterResult
from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.groups.entities import group_key_of, priority_of
from fakekube_controllers.scheduler.plugins.default_preemption import WHOLE_CLUSTER, DefaultPreemption
from fakekube_controllers.scheduler.plugins.gang_permit import GangPermit
from fakekube_controllers.scheduler.plugins.gang_workload import GangWorkload
from fakekube_controllers.scheduler.preemption import groups
from fakekube_controllers.scheduler.preemption.executor import Preemptor
from fakekube_controllers.scheduler.preemption.victims import Units

PREEMPTION_GATE, PLACEMENTS_GATE = "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling"
CONSTRAINED = unschedulable("preemption: not eligible due to placement-based pod group scheduling limitation")
FOR_GROUPS = unschedulable("preemption: not eligible due to workload aware preemption enabled")


class WholeGroups(Units):
    """Units of a preemption for a group: only such a preemption keeps a group together."""

    def _is_whole(self, group: ReadOnlyTree) -> bool:
        return bool(group["spec"].get("disruptionMode") == "PodGroup")

    def priority_of(self, pod: ReadOnlyTree) -> int:
        """That of a group that is disrupted as a whole, else the pod's own."""
        spec = next((group["spec"] for _, group in self._ancestors(pod) if self._is_whole(group)), pod["spec"])
        return int(spec.get("priority") or 0)


class PodPreemption(DefaultPreemption):
    """DefaultPreemption of 1.35 and 1.36.

    A pod evicts pods, whatever groups they are in. For groups there is preemption with a gate
    alone; without it each pod of a group evicts for itself.
    """

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Arguments as today."""
        super().__init__(args, handle)
        self._preempts_for_groups, self._uses_placements = handle.enabled(PREEMPTION_GATE), handle.enabled(PLACEMENTS_GATE)

    def _units(self) -> Units:
        return Units(None)

    def _group_of(self, pod: PodInfo) -> ReadOnlyTree | None:
        known, key = self._handle.groups, group_key_of(pod.pod)
        return known.group(key) if known is not None and key is not None else None

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Whether evictions for the pod, or for its group, are still to be asked for."""
        if self._preempts_for_groups and group_key_of(pod.pod) is not None:
            group = self._group_of(pod)
            if group is not None and self._executor.is_preempting(meta.uid_of(group)):
                return unresolvable("waiting for the preemption for this pod group to be finished")
        elif self._executor.is_preempting(pod.uid):
            return unresolvable("waiting for the preemption for this pod to be finished")
        return None

    async def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """The node that the pod is to have, while its pods of lower priority go; else why not."""
        if group_key_of(pod.pod) is not None:
            group = self._group_of(pod)
            if self._uses_placements and group is None:
                return None, unschedulable("preemption: pod group for pod not found")
            if self._uses_placements and group is not None and group["spec"].get("schedulingConstraints") is not None:
                return None, CONSTRAINED
            if self._preempts_for_groups:
                return None, FOR_GROUPS
        result, status = await super().post_filter(state, pod, snapshot, statuses)
        return result, None if status is not None and status.code == Code.SUCCESS else status

    async def pod_group_post_filter(
        self, state: CycleState, group: PodGroupInfo, snapshot: Snapshot, schedule: PodGroupSchedulingFunc,
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        """SUCCESS where others go so that the group fits; else why not. Nothing is nominated."""
        attempt = groups.GroupAttempt(self._handle, group, snapshot, WholeGroups(self._handle.groups), has_policy=False)
        why_not = groups.not_eligible(attempt)
        if why_not:
            return {}, unschedulable(why_not)
        units = groups.units_of_all_nodes(attempt)
        if isinstance(units, Status):
            return {}, units
        room = await groups.make_room(attempt, units, self._budgets.list(), schedule, tries_again=True)
        if isinstance(room, Status):
            return {}, room
        waiting = tuple(queued.info.uid for queued in group.unscheduled_pods)
        preemptor = Preemptor(EntityType.POD_GROUP, group.group, priority_of(group.group), waiting)
        self._executor.start(preemptor, [pod for victim in room.victims for pod in victim.pods], WHOLE_CLUSTER)
        return {}, Status(Code.SUCCESS)


def plugins_of_1_36() -> dict[str, PluginFactory]:
    """Those of 1.36 that are other ones, by name."""
    return {"DefaultPreemption": PodPreemption, "GangScheduling": GangPermit}


def plugins_of_1_35() -> dict[str, PluginFactory]:
    """Those of 1.35 that are other ones, by name."""
    return {"DefaultPreemption": PodPreemption, "GangScheduling": GangWorkload}
