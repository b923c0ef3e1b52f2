"""What 1.36 does otherwise with groups: it queues pods one by one, and puts a group together when
one of its pods is popped.

Permit plugins say whether a gang has enough pods (``permit.py``). Preemption for the group needs a
gate of its own, and does not know topology constraints; without that gate each pod evicts for
itself. Priorities of pods and groups need not agree.

Upstream: pkg/scheduler/schedule_one_podgroup.go of 1.36.
"""

from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.failure import UNSCHEDULABLE
from fakekube_controllers.scheduler.framework.handle import CLEAR_NOMINATED_NODE, NominatingInfo
from fakekube_controllers.scheduler.framework.placements import PodGroupAssignments
from fakekube_controllers.scheduler.framework.queued import (
    EntityKey,
    PodGroupInfo,
    QueuedEntityInfo,
    QueuedPodGroupInfo,
    QueuedPodInfo,
)
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unschedulable
from fakekube_controllers.scheduler.groups.algorithm import GroupAlgorithm
from fakekube_controllers.scheduler.groups.conditions import GroupConditions
from fakekube_controllers.scheduler.groups.consistency import different_schedulers
from fakekube_controllers.scheduler.groups.cycle import GANG_SCHEDULING, Attempt, GroupCycles, PodScheduler
from fakekube_controllers.scheduler.groups.entities import topology_key_of
from fakekube_controllers.scheduler.groups.groups import Groups
from fakekube_controllers.scheduler.groups.members import MemberQueue
from fakekube_controllers.scheduler.groups.permit import PermitPlacer, PermitResult
from fakekube_controllers.scheduler.groups.results import (
    GroupResult,
    PodResult,
    Results,
    complete,
    group_unschedulable,
    with_reasons,
)
from fakekube_controllers.scheduler.groups.states import GroupStates

PREEMPTION_GATE = "WorkloadAwarePreemption"
NO_PREEMPTION = unschedulable("default preemption plugin is not registered, workload aware preemption is disabled")
CONSTRAINED = unschedulable("workload aware preemption is not supported for pod groups with scheduling constraints")
GANG = (GANG_SCHEDULING,)  # what a pod waits for that fits while its group does not


class Groups136(Groups):
    """Follows the groups, and tries them, as 1.36 does."""

    def _install(self, ctx: Context, scheduler: PodScheduler, conditions: GroupConditions) -> None:
        self._members = scheduler.queue.groups = MemberQueue(scheduler.queue, self.states)
        self._cycles = GroupCycles136(ctx, scheduler, self.states, conditions)

    def _group_changed(self, before: EntityKey | None, now: EntityKey | None) -> None:
        """Pods that wait for a group hear of it as of any event."""

    def group_to_schedule(self, queued: QueuedEntityInfo) -> QueuedPodGroupInfo | None:
        """The group of a member that was popped."""
        return self._members.whole_group(queued) if isinstance(queued, QueuedPodInfo) else None

    async def schedule(self, queued: QueuedPodGroupInfo) -> None:
        """One attempt on a group. What is left of it was queued again pod by pod."""
        await self._cycles.attempt(queued)


class GroupCycles136(GroupCycles):
    """Schedules groups for one scheduler, as 1.36 does."""

    def __init__(self, ctx: Context, scheduler: PodScheduler, states: GroupStates, conditions: GroupConditions) -> None:
        super().__init__(ctx, scheduler, states, conditions)
        self._preempts = ctx.enabled(PREEMPTION_GATE)

    def _changed(self, info: PodGroupInfo) -> str:
        """Only placements need the object."""
        group = self._states.group(info.key)
        if group is not None:
            info.group = group
        elif self._uses_placements:
            return f'podgroup.scheduling.k8s.io "{info.key.name}" not found'
        return ""

    def _inconsistency(self, root: PodGroupInfo) -> str | None:
        return different_schedulers(root, self._scheduler.profiles)

    async def _fail(self, root: PodGroupInfo, message: str, *, writes_conditions: bool = True) -> Status:
        """Groups are not told."""
        return await super()._fail(root, message, writes_conditions=False)

    async def _run(self, attempt: Attempt, *, asks_post_filter: bool = True) -> Results:
        placer = PermitPlacer(
            attempt.algorithm, attempt.snapshot, attempt.state, self._scheduler.shared.extenders,
            asks_post_filter=asks_post_filter)
        algorithm = GroupAlgorithm(
            placer, self._states, uses_placements=self._uses_placements, unavailable=unschedulable)
        return await algorithm.run(attempt.root)

    async def _conclude(self, attempt: Attempt, results: Results) -> None:
        """Make room where the group does not fit, then give every pod a result: those that were not
        tried have that of the group.
        """
        result = results[attempt.root.key]
        if self._preempts and result.status is not None and result.status.code == Code.UNSCHEDULABLE:
            status = await self._preempt(attempt)
            if status.code == Code.SUCCESS:
                result.waits_for_preemption = True
            elif status.is_rejection:
                result.status = with_reasons(result.status, status.message)
            else:
                result.status = status
        complete(attempt.root, results)

    async def _preempt(self, attempt: Attempt) -> Status:
        plugins = attempt.algorithm.framework.pod_group_post_filter_plugins
        plugin = next((plugin for plugin in plugins if plugin.name == "DefaultPreemption"), None)
        if plugin is None:
            return NO_PREEMPTION
        if topology_key_of(attempt.root.group) is not None:
            return CONSTRAINED

        async def schedule() -> tuple[PodGroupAssignments | None, Status | None]:
            tried = await self._run(attempt._replace(state=CycleState()), asks_post_filter=False)
            return None, tried[attempt.root.key].status

        status: Status
        _, status = await plugin.pod_group_post_filter(attempt.state, attempt.root, attempt.snapshot, schedule)
        return status

    async def _reject(
        self, algorithm: Algorithm, result: GroupResult, pod: PodResult, waits_for_others: FitError | None,
    ) -> None:
        status = result.status
        if result.is_error or status is None:
            await super()._reject(algorithm, result, pod, waits_for_others)
            return
        message, error = status.message, FitError({}, 0, plugins=GANG)
        nominating_info: NominatingInfo | None = CLEAR_NOMINATED_NODE
        if pod.fits and result.waits_for_preemption:
            nominating_info = NominatingInfo(pod.node_name)
        elif isinstance(pod, PermitResult) and (pod.fits or (pod.requires_preemption and not result.waits_for_preemption)):
            message = group_unschedulable(*(pod.permit.reasons if pod.permit is not None else ("",))).message
        elif pod.status is not None:
            message, error = pod.status.message, pod.fit_error or FitError({}, 0, plugins=(pod.status.plugin or GANG[0],))
            nominating_info = pod.nominating_info
        await self._scheduler.failures.handle(
            algorithm.framework.recorder, pod.queued, UNSCHEDULABLE, message, error, nominating_info)
