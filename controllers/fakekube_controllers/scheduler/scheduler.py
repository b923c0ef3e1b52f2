"""The scheduler as a reconciler: its event handlers, one scheduling cycle after the other, and what
it writes to pods.

The controller's queue holds one key while there are active pods; which pod is next, the scheduling
queue decides. A pod that is assumed on a node and waits for its volumes has a key of its own.

Upstream: pkg/scheduler/{scheduler.go,eventhandlers.go,schedule_one.go}.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.conditions import transition_time
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.pod_resources import POD_LEVEL_RESIZE_GATE, RESIZE_GATE, Options, is_pod_level
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.scheduler.cache import Cache, Snapshot
from fakekube_controllers.scheduler.cycle import Framework, SchedulingError
from fakekube_controllers.scheduler.framework.events import ClusterEvent, node_scheduling_properties_changed
from fakekube_controllers.scheduler.framework.interface import CycleState, QueuedPodInfo
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status
from fakekube_controllers.scheduler.plugins.registry import default_plugins
from fakekube_controllers.scheduler.queue import SchedulingQueue

SCHEDULER_NAME = "default-scheduler"
CYCLE = "cycle"  # the key
OBSERVED_GENERATION = "PodObservedGenerationTracking"
EVENT_TEXT_LIMIT, CUT_OFF = 1024, " ..."
BIND_TIMEOUT_SECONDS = 600.0
BIND_TIMED_OUT = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'


class Binding(NamedTuple):
    """A pod that is assumed on a node until what it needs there is prepared, or until ``deadline``
    (Unix seconds).
    """

    queued: QueuedPodInfo
    state: CycleState
    node_name: str
    deadline: float


class Scheduler:
    """Schedules one pod each time.

    Option of the context: ``scheduler_plugins``, a function from a context to plugins.
    """

    cycles: WorkQueue[str]
    queue: SchedulingQueue

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.recorder = ctx.recorder(SCHEDULER_NAME)
        plugins = (ctx.options.get("scheduler_plugins") or default_plugins)(ctx)
        self.framework = Framework(plugins)
        self.watching = [plugin for plugin in plugins if hasattr(plugin, "watch")]
        self.bindings: dict[str, Binding] = {}  # by uid
        self.options = Options(
            use_status_resources=ctx.enabled(RESIZE_GATE), pod_level_status=ctx.enabled(POD_LEVEL_RESIZE_GATE),
            pod_level=is_pod_level)
        self.cache, self.snapshot = Cache(self.options), Snapshot()

    def setup(self, queue: WorkQueue[str]) -> None:
        """Add the handlers of nodes and pods."""
        self.cycles, framework = queue, self.framework
        self.queue = SchedulingQueue(
            self.ctx.clock, framework.queue_sort_plugin, framework.pre_enqueue_plugins, lambda: queue.add(CYCLE),
            framework.queueing_hints, self.options)
        self.ctx.add_handler(NODES, self._add_node, self._update_node, self._delete_node)
        self.ctx.add_handler(PODS, self._add_or_update_pod, lambda _, new: self._add_or_update_pod(new), self._delete_pod)
        for plugin in self.watching:
            plugin.watch(self.ctx, self._changed)

    # events

    def _changed(self, event: ClusterEvent) -> None:
        """What plugins watch has changed: pods may fit, or be ready to be bound."""
        self.queue.move_all_to_active_or_backoff(event)
        for uid in self.bindings:
            self.cycles.add(uid)

    def _add_node(self, node: Tree) -> None:
        self.cache.set_node(node)
        self.queue.move_all_to_active_or_backoff(ClusterEvent(node))

    def _update_node(self, old: Tree, new: Tree) -> None:
        self.cache.set_node(new)
        if node_scheduling_properties_changed(old, new):
            self.queue.move_all_to_active_or_backoff(ClusterEvent(new, old))

    def _delete_node(self, node: Tree) -> None:
        self.cache.remove_node(meta.name_of(node))

    def _add_or_update_pod(self, pod: Tree) -> None:
        uid, node = meta.uid_of(pod), pod["spec"].get("nodeName")
        if pods.is_finished(pod):
            self._release(pod, uid)
        elif node:
            self.queue.remove(uid)
            if self.cache.add_pod(pod, node):
                self.queue.move_all_to_active_or_backoff(ClusterEvent(pod=pod))
        elif self._is_responsible_for(pod) and not meta.is_deleting(pod) and not self.cache.is_assumed_pod(uid):
            self.queue.add(pod)
        elif meta.is_deleting(pod):
            self.queue.remove(uid)

    def _delete_pod(self, pod: Tree) -> None:
        self._release(pod, meta.uid_of(pod))

    def _release(self, pod: Tree, uid: str) -> None:
        """A pod uses nothing of its node any more: others may fit now."""
        if self.bindings and (binding := self.bindings.pop(uid, None)) is not None:
            self.framework.unreserve(binding.state, binding.queued.info, binding.node_name)
        self.queue.remove(uid)
        if self.cache.remove_pod(uid):
            self.queue.move_all_to_active_or_backoff(ClusterEvent(pod=pod))

    @staticmethod
    def _is_responsible_for(pod: Tree) -> bool:
        return bool(pod["spec"].get("schedulerName", SCHEDULER_NAME) == SCHEDULER_NAME)

    # cycles

    async def reconcile(self, request: str) -> Result | None:
        """Schedule the next pod of the queue, or go on with the binding of the pod with this uid.

        Upstream: ScheduleOne.
        """
        if request != CYCLE:
            binding = self.bindings.pop(request, None)
            if binding is not None:
                await self._bind(binding)
            return None
        queued = self.queue.pop()
        if queued is None:
            return None
        self.cycles.add(request)  # one pod a turn, so that other components get theirs
        state: CycleState = {}
        pod = queued.info
        ACTING.set(Acting(self.ctx.name, meta.key_of(pod.pod), pod.pod["metadata"]["resourceVersion"]))
        try:
            self.cache.update_snapshot(self.snapshot)
            node_name = self.framework.schedule(state, pod, self.snapshot)
        except FitError as error:
            await self._handle_failure(queued, "Unschedulable", str(error), error.plugins)
            return None
        except SchedulingError as error:
            await self._handle_failure(queued, "SchedulerError", str(error))
            return None
        self.cache.assume_pod(pod, node_name)
        status = self.framework.reserve(state, pod, node_name)
        if status is None:
            await self._bind(Binding(queued, state, node_name, self.ctx.clock.time() + BIND_TIMEOUT_SECONDS))
        else:
            await self._give_back(queued, status)
        return None

    async def _bind(self, binding: Binding) -> None:
        """Bind a pod to its node, or keep it for the next event where something is to be waited
        for.
        """
        queued, state, node_name, deadline = binding
        pod = queued.info
        status = await self.framework.bind(state, pod, node_name)
        if status is None:
            self._record_scheduled(pod.pod, node_name)
            return
        if status.code == Code.WAIT:
            left = deadline - self.ctx.clock.time()
            if left > 0:
                self.bindings[pod.uid] = binding
                self.cycles.add_after(pod.uid, left, daemon=True)
                return
            status = Status(Code.ERROR, (BIND_TIMED_OUT,))
        self.framework.unreserve(state, pod, node_name)
        await self._give_back(queued, status)

    async def _give_back(self, queued: QueuedPodInfo, status: Status) -> None:
        """The pod does not go to its node after all."""
        self.cache.remove_pod(queued.info.uid)
        reason = "Unschedulable" if status.is_rejection else "SchedulerError"
        await self._handle_failure(queued, reason, status.message, (status.plugin,) if status.plugin else ())

    def _record_scheduled(self, pod: Any, node_name: str) -> None:
        text = f"Successfully assigned {meta.namespace_of(pod)}/{meta.name_of(pod)} to {node_name}"
        self.recorder.report(pod, "Normal", "Scheduled", "Binding", text)

    async def _handle_failure(self, queued: QueuedPodInfo, reason: str, message: str, plugins: Sequence[str] = ()) -> None:
        pod = queued.info.pod
        uid = queued.info.uid
        self.recorder.report(pod, "Warning", "FailedScheduling", "Scheduling", _truncated(message))
        try:
            await self._update_condition(pod, reason, message)
        except APIError as error:
            if error.code == 404:
                self.queue.remove(uid)
                return
            reason = "SchedulerError"
        self.queue.add_unschedulable(uid, rejected_by=plugins, error=reason == "SchedulerError")

    async def _update_condition(self, pod: Any, reason: str, message: str) -> None:
        present = meta.find_condition(pod, "PodScheduled") or {}
        if (present.get("status"), present.get("reason"), present.get("message")) == ("False", reason, message):
            return
        now = times.format_time(self.ctx.clock.time())
        condition: Tree = {
            "type": "PodScheduled", "status": "False", "reason": reason, "message": message, "lastProbeTime": None,
            "lastTransitionTime": transition_time(present, "False", now),
        }
        if self.ctx.enabled(OBSERVED_GENERATION):
            condition["observedGeneration"] = meta.generation_of(pod)
        body = {"status": {"conditions": [condition]}}
        await self.client.patch(PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic", subresource="status")


def _truncated(message: str) -> str:
    return message if len(message) <= EVENT_TEXT_LIMIT else message[: EVENT_TEXT_LIMIT - len(CUT_OFF)] + CUT_OFF
