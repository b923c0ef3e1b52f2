"""The scheduler as a reconciler: one scheduling cycle after the other.

The controller's queue holds one key while there is something to be scheduled; what is next, the
scheduling queue decides. ``event_handlers.py`` feeds it, ``cycle.py`` chooses a node,
``binding.py`` binds, ``failure.py`` tells of pods that got none.

Upstream: pkg/scheduler/{scheduler.go,schedule_one.go}.
"""

from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.pod_resources import POD_LEVEL_RESIZE_GATE, RESIZE_GATE, Options, is_pod_level
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt, attempt_async
from fakekube.runtime.reconcile import Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.scheduler.binding import Binding, BindingCycles
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.cycle import Algorithm, SchedulingError
from fakekube_controllers.scheduler.event_handlers import DRAFT_GATE, GROUPS_GATE, EventHandlers
from fakekube_controllers.scheduler.failure import SCHEDULER_ERROR, UNSCHEDULABLE, FailureHandler
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.handle import CLEAR_NOMINATED_NODE, NominatingInfo
from fakekube_controllers.scheduler.framework.queued import EntityType, QueuedPodInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status
from fakekube_controllers.scheduler.framework.status import error as status_error
from fakekube_controllers.scheduler.inflight import InFlight
from fakekube_controllers.scheduler.metrics import SchedulerMetrics
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.profiles import setup_of
from fakekube_controllers.scheduler.queue import ProfileQueueing, SchedulingQueue
from fakekube_controllers.scheduler.runtime import Framework, Shared
from fakekube_controllers.scheduler.sampling import Sampling, SearchStart
from fakekube_controllers.scheduler.waiting import Changes, WaitingPod

if TYPE_CHECKING:
    from fakekube.runtime.why import Answer
    from fakekube_controllers.scheduler.groups.releases import ScheduledGroups

CYCLE = "cycle"  # the key
POP_FROM_BACKOFF_GATE = "SchedulerPopFromBackoffQ"


class Scheduler:
    """Schedules one pod each time.

    Options of the context: see ``profiles.setup_of``.
    """

    cycles: WorkQueue[str]

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.options = Options(
            use_status_resources=ctx.enabled(RESIZE_GATE), pod_level_status=ctx.enabled(POD_LEVEL_RESIZE_GATE),
            pod_level=is_pod_level)
        self.cache = Cache(self.options)
        self.changes = Changes(ctx.clock, ctx.activity)
        self.in_flight = InFlight()
        self.shared = Shared(
            ctx, nominator=Nominator(is_in_flight=self.in_flight.has), changes=self.changes, spawn=self._spawn)
        self.profiles, self.backoff = setup_of(ctx, self.shared)
        start = SearchStart()
        self.algorithms = {
            name: Algorithm(framework, sampling=Sampling.of(framework.percentage_of_nodes_to_score, start))
            for name, framework in self.profiles.items()}
        self.pods = ctx.lister(PODS)
        self.groups: ScheduledGroups | None = None

    def setup(self, queue: WorkQueue[str]) -> None:
        """Add the handlers of nodes, pods and what plugins have registered."""
        self.cycles, first = queue, next(iter(self.profiles.values()))
        self.queue = SchedulingQueue(
            self.ctx.clock, first.queue_sort_plugins[0], self._wake,
            {name: ProfileQueueing.of_framework(framework) for name, framework in self.profiles.items()},
            self.shared.nominator, self.options, in_flight=self.in_flight, backoff=self.backoff,
            pops_from_backoff=self.ctx.enabled(POP_FROM_BACKOFF_GATE))
        self.metrics = SchedulerMetrics(self.ctx, self.queue.pending)
        self.failures = FailureHandler(self.ctx, self.queue, self.shared.nominator)
        self.bindings = BindingCycles(self.ctx, self.shared, self.cache, self.queue, self.failures, self.metrics)
        self.shared.activate = self.queue.activate
        self.shared.cancel_pod_in_pre_bind = self.bindings.cancel_pod_in_pre_bind
        are_groups_on = self.ctx.enabled(GROUPS_GATE) or self.ctx.enabled(DRAFT_GATE)
        if are_groups_on:
            # without the gate nothing of groups is loaded
            from fakekube_controllers.scheduler.groups.releases import groups_of

            self.groups = groups_of(self.ctx, self)
        EventHandlers(
            self.cache, self.queue, self.changes, self.options, is_responsible_for=self.profiles.__contains__,
            release=self._release, are_groups_on=are_groups_on,
        ).install(self.ctx, self._registered())
        self.ctx.why[PODS.group_resource] = self._why

    def _why(self, pod: ReadOnlyTree) -> "Answer":
        from fakekube_controllers.scheduler.why.answers import Answers

        return Answers(self.ctx, self).pod(pod)

    def why_group(self, kind: EntityType, group: ReadOnlyTree) -> "Answer":
        """Why a group is not scheduled."""
        from fakekube_controllers.scheduler.why.answers import Answers

        return Answers(self.ctx, self).group(kind, group)

    def _registered(self) -> Iterator[ClusterEvent]:
        for framework in self.profiles.values():
            for registered in framework.events().values():
                yield from [each.event for each in registered]

    def _wake(self) -> None:
        self.cycles.add(CYCLE)

    def _spawn(self, coro: Coroutine[Any, Any, object], name: str) -> None:
        async def run() -> None:
            with self.ctx.activity.busy():
                await coro

        self.ctx.tasks.spawn_eagerly(run(), name)

    def _release(self, uid: str) -> None:
        """An assumed pod is deleted."""
        waiting = self.shared.waiting_pods.get(uid)
        if waiting is None or not waiting.reject("", "removed"):
            self.cache.remove_pod(uid)

    async def reconcile(self, request: str) -> Result | None:
        """Schedule what is next in the queue. Upstream: ScheduleOne."""
        queued = self.queue.pop()
        if queued is None:
            return None
        self.cycles.add(request)  # one entity a turn, so that other components get theirs
        group = self.groups.group_to_schedule(queued) if self.groups is not None else None
        if group is not None and self.groups is not None:
            await self.groups.schedule(group)
        elif isinstance(queued, QueuedPodInfo):
            await self._schedule_pod(queued)
        return None

    async def _schedule_pod(self, queued: QueuedPodInfo) -> None:
        pod = queued.info
        framework = self.profiles[pod.pod["spec"].get("schedulerName", "")]
        ACTING.set(Acting(self.ctx.name, meta.key_of(pod.pod), pod.pod["metadata"]["resourceVersion"]))
        if self.is_skipped(framework, queued):
            self.queue.done(pod.uid)
            return
        started = self.ctx.clock.time()
        state = CycleState()
        self.shared.snapshot = self.cache.snapshot()
        algorithm, snapshot = self.algorithms[framework.profile_name], self.shared.snapshot
        if self.shared.extenders:
            from fakekube_controllers.scheduler import extending

            found, raised = await attempt_async(extending.schedule, algorithm, self.shared.extenders, state, pod, snapshot)
        else:
            found, raised = attempt(algorithm.schedule, state, pod, snapshot)
        if raised is None:
            await self.prepare_for_binding(Binding(framework, queued, state, found, started))
            return
        self.metrics.failed(framework.profile_name, started, is_rejection=isinstance(raised, FitError))
        if isinstance(raised, FitError):
            await self._does_not_fit(framework, queued, state, raised)
        else:
            message = str(raised) if isinstance(raised, SchedulingError) else repr(raised)
            await self.failures.handle(
                framework.recorder, queued, SCHEDULER_ERROR, message, nominating_info=CLEAR_NOMINATED_NODE)

    def _reserve_and_permit(self, binding: Binding) -> Status | None:
        """Why the pod cannot have the node, or None; it may have to wait."""
        framework, queued, state, node_name = binding.framework, binding.queued, binding.state, binding.node_name
        status = framework.run_reserve_plugins(state, queued.info, node_name)
        if status is not None:
            return status
        seconds, status = framework.run_permit_plugins(state, queued.info, node_name)
        if status is None or status.code != Code.WAIT:
            return status
        clock, activity = self.ctx.clock, self.ctx.activity
        self.shared.waiting_pods.add(WaitingPod(queued.info, node_name, seconds, clock, activity))
        return None

    def is_skipped(self, framework: Framework, queued: QueuedPodInfo) -> bool:
        """Whether a pod is not to be tried: it is being deleted, or has a node."""
        pod = queued.info.pod
        if meta.is_deleting(pod):
            text = f"skip schedule deleting pod: {meta.namespace_of(pod)}/{meta.name_of(pod)}"
            framework.recorder.report(pod, "Warning", "FailedScheduling", "Scheduling", text)
            return True
        return self.cache.is_assumed_pod(queued.info.uid)

    async def _does_not_fit(self, framework: Framework, queued: QueuedPodInfo, state: CycleState, error: FitError) -> None:
        """Ask PostFilter plugins to make room, and tell why the pod has no node."""
        nominating_info: NominatingInfo | None = CLEAR_NOMINATED_NODE
        if error.num_all_nodes and framework.post_filter_plugins:
            statuses = error.statuses
            if error.pre_filter_status is not None:
                statuses = dict.fromkeys(self.shared.snapshot.nodes, error.pre_filter_status)
            found, raised = await attempt_async(
                framework.run_post_filter_plugins, state, queued.info, self.shared.snapshot, statuses)
            result, status = found if raised is None else (None, status_error(repr(raised)))
            error.post_filter_message = status.message if status is not None else ""
            nominating_info = result.nominating_info if result is not None else None
        await self.failures.handle(framework.recorder, queued, UNSCHEDULABLE, error.text(), error, nominating_info)

    async def prepare_for_binding(self, binding: Binding) -> None:
        """Assume the pod on its node, reserve what it takes there, ask Permit plugins, and bind."""
        pod, state = binding.queued.info, binding.state
        self.cache.assume_pod(pod, binding.node_name)
        self.shared.nominator.delete_nominated_pod_if_exists(pod.uid)
        status, raised = attempt(self._reserve_and_permit, binding)
        if raised is not None:
            status = status_error(repr(raised))
        if status is not None:
            self.bindings.unreserve_and_forget(binding)
            await self.bindings.fail(binding, status)
            return
        self.queue.activate(state.pods_to_activate)
        state.pods_to_activate = {}
        self.bindings.start(binding)
