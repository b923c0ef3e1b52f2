"""One group's attempt, from the queue to the binding of its pods.

Upstream: scheduleOnePodGroup, podGroupCycle and submitPodGroupAlgorithmResult of
pkg/scheduler/schedule_one_podgroup.go.
"""

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fakekube.apimachinery import meta
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt_async
from fakekube_controllers.scheduler.binding import Binding
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.failure import SCHEDULER_ERROR, UNSCHEDULABLE, FailureHandler
from fakekube_controllers.scheduler.framework.handle import CLEAR_NOMINATED_NODE
from fakekube_controllers.scheduler.framework.placements import PodGroupAssignments, ProposedAssignment
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo, QueuedPodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status
from fakekube_controllers.scheduler.groups.algorithm import ALL_NODES, GroupAlgorithm
from fakekube_controllers.scheduler.groups.conditions import GroupConditions
from fakekube_controllers.scheduler.groups.consistency import inconsistency
from fakekube_controllers.scheduler.groups.placer import SnapshotPlacer
from fakekube_controllers.scheduler.groups.results import (
    GroupResult,
    PodResult,
    Results,
    complete,
    failed,
    group_unschedulable,
    with_reasons,
)
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.queue import SchedulingQueue
from fakekube_controllers.scheduler.runtime import Framework, Shared

if TYPE_CHECKING:
    from fakekube.runtime.why import Answer

GANG_SCHEDULING = "GangScheduling"  # the plugin
PLACEMENTS_GATE, POLICY_GATE = "TopologyAwareWorkloadScheduling", "PodGroupPreemptionPolicy"


class PodScheduler(Protocol):
    """What groups need of the scheduler; profiles and algorithms are by the scheduler's name."""

    profiles: dict[str, Framework]
    algorithms: dict[str, Algorithm]
    shared: Shared
    cache: Cache
    queue: SchedulingQueue
    failures: FailureHandler

    def is_skipped(self, framework: Framework, queued: QueuedPodInfo) -> bool:
        """Whether a pod is not to be tried."""

    def why_group(self, kind: EntityType, group: ReadOnlyTree) -> "Answer":
        """Why a group is not scheduled."""

    async def prepare_for_binding(self, binding: Binding) -> None:
        """Assume a pod on its node, and bind it."""


class Attempt(NamedTuple):
    """What one attempt on a root group works with; ``state`` is that of the group."""

    algorithm: Algorithm
    snapshot: Snapshot
    state: CycleState
    root: PodGroupInfo


class GroupCycles:
    """Schedules groups for one scheduler. A release that does parts of it otherwise overrides them.
    """

    def __init__(self, ctx: Context, scheduler: PodScheduler, states: GroupStates, conditions: GroupConditions) -> None:
        self._ctx, self._scheduler, self._states, self._conditions = ctx, scheduler, states, conditions
        self._uses_placements, self._has_policy = ctx.enabled(PLACEMENTS_GATE), ctx.enabled(POLICY_GATE)

    async def attempt(self, queued: QueuedPodGroupInfo) -> Status | None:
        """One attempt on a root group: None, or why it failed as a whole."""
        scheduler, root = self._scheduler, queued.root
        ACTING.set(Acting(self._ctx.name, meta.key_of(root.group), root.group["metadata"]["resourceVersion"]))
        changed = self._changed(root)
        if changed:
            return await self._fail(root, changed, writes_conditions=False)
        wrong = self._inconsistency(root)
        if wrong:
            return await self._fail(root, wrong)
        self._leave_out_skipped(root)
        first = next((pod for leaf in root.leaves() for pod in leaf.unscheduled_pods), None)
        if first is None:
            return None
        started = self._ctx.clock.time()
        algorithm = scheduler.algorithms[first.info.pod["spec"].get("schedulerName", "")]
        snapshot = scheduler.shared.snapshot = scheduler.cache.snapshot()
        state = CycleState()
        attempt = Attempt(algorithm, snapshot, state, root)
        results = await self._run(attempt)
        status = results[root.key].status
        await self._conclude(attempt, results)
        await self._submit(algorithm, results, started)
        return status

    def _inconsistency(self, root: PodGroupInfo) -> str | None:
        placed = [each.info.pod for each in self._states.all_placed(root.key)]
        return inconsistency(root, placed, self._scheduler.profiles, has_policy=self._has_policy)

    async def _run(self, attempt: Attempt) -> Results:
        placer = SnapshotPlacer(attempt.algorithm, attempt.snapshot, attempt.state, self._scheduler.shared.extenders)
        return await GroupAlgorithm(placer, self._states, uses_placements=self._uses_placements).run(attempt.root)

    async def _conclude(self, attempt: Attempt, results: Results) -> None:
        """Give every pod a result, and make room where the group does not fit."""
        complete(attempt.root, results)
        status = results[attempt.root.key].status
        if status is not None and status.is_rejection:
            await self._make_room(attempt, results)

    def _changed(self, info: PodGroupInfo) -> str:
        """How the tree differs from what is known of it now; empty where it does not.

        The objects are brought up to date.
        """
        group = self._states.group(info.key)
        if group is None:
            return f"{info.key.type} {info.key.namespace}/{info.key.name} not found"
        children = self._states.children(info.key)
        if len(children) != len(info.children):
            return (f"different number of children in composite pod group between snapshot ({len(children)}) "
                    f"and queued entity ({len(info.children)})")
        info.group = group
        return next((text for child in info.children if (text := self._changed(child))), "")

    def _leave_out_skipped(self, root: PodGroupInfo) -> None:
        """Pods that are being deleted or have a node already are not tried."""
        scheduler = self._scheduler
        for leaf in root.leaves():
            kept = []
            for queued in leaf.unscheduled_pods:
                framework = scheduler.profiles[queued.info.pod["spec"].get("schedulerName", "")]
                if scheduler.is_skipped(framework, queued):
                    scheduler.queue.done(queued.info.uid)
                else:
                    kept.append(queued)
            leaf.unscheduled_pods = kept

    async def _fail(self, root: PodGroupInfo, message: str, *, writes_conditions: bool = True) -> Status:
        """Nothing was tried: every pod and group has the same error."""
        scheduler = self._scheduler
        for queued in [pod for leaf in root.leaves() for pod in leaf.unscheduled_pods]:
            framework = scheduler.profiles.get(queued.info.pod["spec"].get("schedulerName", ""))
            if framework is None:
                scheduler.queue.done(queued.info.uid)
                continue
            await scheduler.failures.handle(
                framework.recorder, queued, SCHEDULER_ERROR, message, nominating_info=CLEAR_NOMINATED_NODE)
        if writes_conditions:
            for leaf in root.leaves():
                await self._conditions.write(leaf, failed(message))
        return failed(message)

    async def _make_room(self, attempt: Attempt, results: Results) -> None:
        """Ask the plugins that may evict others, and note what they say."""
        root = attempt.root

        async def schedule() -> tuple[PodGroupAssignments | None, Status | None]:
            tried = await self._run(attempt._replace(state=CycleState()))
            proposed = [
                ProposedAssignment(pod.queued.info, pod.node_name, pod.state)
                for each in tried.values() for pod in each.pods if pod.fits]
            return PodGroupAssignments(ALL_NODES, proposed), tried[root.key].status

        found, raised = await attempt_async(
            attempt.algorithm.framework.run_pod_group_post_filter_plugins, attempt.state, root, attempt.snapshot, schedule)
        nominations, status = found if raised is None else ({}, failed(repr(raised)))
        # the reason is there once for each group that has the status: children have their parent's
        holders = Counter(id(result.status) for result in results.values())
        for result in results.values():
            if status.code == Code.ERROR:
                result.status = status
                continue
            if result.status is not None and status.message:
                reasons = (status.message,) * holders[id(result.status)]
                result.status = with_reasons(result.status, *reasons)
            result.waits_for_preemption = status.code == Code.SUCCESS
            for pod in result.pods if result.waits_for_preemption else ():
                pod.nominating_info = nominations.get(pod.queued.info.uid, pod.nominating_info)

    async def _submit(self, algorithm: Algorithm, results: Results, started: float) -> None:
        """Bind what can be bound, tell the others why not, and write the groups' conditions."""
        waits_for_others = None
        if any(pod.fit_error is not None for result in results.values() for pod in result.pods):
            waits_for_others = FitError({}, 0, plugins=(GANG_SCHEDULING,))
        for result in results.values():
            if result.info.key.type is EntityType.COMPOSITE_POD_GROUP:
                continue
            for pod in result.pods:
                if pod.fits and result.succeeded:
                    pod.state.pod_group = None
                    await self._scheduler.prepare_for_binding(
                        Binding(algorithm.framework, pod.queued, pod.state, pod.node_name, started))
                else:
                    await self._reject(algorithm, result, pod, waits_for_others)
            await self._conditions.write(result.info, result.status)

    async def _reject(
        self, algorithm: Algorithm, result: GroupResult, pod: PodResult, waits_for_others: FitError | None,
    ) -> None:
        """Tell why a pod is not bound.

        One without a rejection of its own has ``waits_for_others``: what helps those that fit no
        node helps it. Where there are none of these, any event may.
        """
        reason, nominating_info = UNSCHEDULABLE, pod.nominating_info
        if result.is_error:
            assert result.status is not None, "it is an error"
            own = pod.status is not None and not pod.status.is_rejection
            status = pod.status if own and pod.status is not None else result.status
            reason, nominating_info = SCHEDULER_ERROR, CLEAR_NOMINATED_NODE
            message, fit_error = status.message, None
        elif pod.status is not None:
            message, fit_error = pod.status.message, pod.fit_error or waits_for_others
        else:
            assert result.status is not None, "it failed"
            message, fit_error = result.status.message, waits_for_others
            if not result.waits_for_preemption:
                message = group_unschedulable(message).message
        await self._scheduler.failures.handle(
            algorithm.framework.recorder, pod.queued, reason, message, fit_error, nominating_info)
