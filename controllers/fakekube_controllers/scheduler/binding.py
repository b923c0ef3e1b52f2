"""The binding of pods that have a node: beside the scheduling cycles, each at its own pace.

Upstream: pkg/scheduler/schedule_one.go (bindingCycle, handleBindingCycleError).
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt, attempt_async
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.event_handlers import DRAFT_GATE
from fakekube_controllers.scheduler.failure import SCHEDULER_ERROR, UNSCHEDULABLE, FailureHandler
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.extender import ExtenderError
from fakekube_controllers.scheduler.framework.handle import CLEAR_NOMINATED_NODE, NominatingInfo
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, error
from fakekube_controllers.scheduler.metrics import SchedulerMetrics
from fakekube_controllers.scheduler.queue import SchedulingQueue
from fakekube_controllers.scheduler.runtime import Framework, Shared

if TYPE_CHECKING:
    from fakekube.util.activity import Activity

log = logging.getLogger(__name__)

EXPECTATION_GATE = "NominatedNodeNameForExpectation"


@dataclass(slots=True)
class Binding:
    """A pod that is assumed on a node.

    ``started``: when its cycle began (Unix seconds). ``is_nominated``: its status was made to name
    the node.
    """

    framework: Framework
    queued: QueuedPodInfo
    state: CycleState
    node_name: str
    started: float
    is_nominated: bool = False


class PodInPreBind:
    """The binding of a pod whose PreBind plugins run: it can be cancelled until they are done."""

    def __init__(self) -> None:
        self.task = asyncio.current_task()
        self.message = ""

    def cancel(self, message: str) -> bool:
        """End it. False when that comes too late."""
        if self.task is None or self.message:
            return False
        self.message = message
        self.task.cancel()
        return True


class BindingCycles:
    """The bindings of one scheduler that are under way."""

    def __init__(
        self, ctx: Context, shared: Shared, cache: Cache, queue: SchedulingQueue, failures: FailureHandler,
        metrics: SchedulerMetrics,
    ) -> None:
        self._ctx, self._shared, self._cache, self._queue, self._failures = ctx, shared, cache, queue, failures
        self._activity: Activity = ctx.activity
        self._metrics = metrics
        self._expects = ctx.enabled(EXPECTATION_GATE)
        # 1.35 looks at the pod as it was before it was nominated, and so leaves the nomination
        self._after_failure = CLEAR_NOMINATED_NODE if ctx.version != "1.35" or ctx.enabled(DRAFT_GATE) else None
        self._in_pre_bind: dict[str, PodInPreBind] = {}

    def start(self, binding: Binding) -> None:
        """Bind a pod from now on; what needs not wait is done when this returns."""
        self._ctx.tasks.spawn_eagerly(self._run(binding), f"binding {meta.name_of(binding.queued.info.pod)}")

    def cancel_pod_in_pre_bind(self, uid: str, message: str) -> bool:
        """End a binding whose PreBind plugins still run. Whether there was one."""
        binding = self._in_pre_bind.get(uid)
        return binding is not None and binding.cancel(message)

    async def _run(self, binding: Binding) -> None:
        with self._activity.busy():
            queued = binding.queued
            status, raised = await attempt_async(self._bind, binding)
            if raised is not None:
                status = error(repr(raised))
                self._shared.waiting_pods.remove(queued.info.uid)
            if status is None:
                return
            self.unreserve_and_forget(binding)
            if not status.is_rejection:
                self._queue.move_all_to_active_or_backoff(events.ASSIGNED_POD_DELETE, queued.info.pod, None)
            await self.fail(binding, status)
            if status.is_rejection:
                self._queue.move_all_to_active_or_backoff(
                    events.ASSIGNED_POD_DELETE, queued.info.pod, None, but=queued.info.uid)

    def unreserve_and_forget(self, binding: Binding) -> None:
        """The pod does not go to its node after all."""
        queued = binding.queued
        binding.framework.run_unreserve_plugins(binding.state, queued.info, binding.node_name)
        self._cache.forget_pod(queued.info.uid)

    async def fail(self, binding: Binding, status: Status) -> None:
        """A pod with a node was rejected, or something went wrong."""
        recorder, queued, nominated = binding.framework.recorder, binding.queued, binding.is_nominated
        self._metrics.failed(binding.framework.profile_name, binding.started, is_rejection=status.is_rejection)
        if not status.is_rejection:
            await self._failures.handle(
                recorder, queued, SCHEDULER_ERROR, status.message, nominating_info=self._after_failure, is_nominated=nominated)
            return
        plugins = (status.plugin,) if status.plugin else ()
        fit_error = FitError({"": status}, 1, plugins=plugins, pending_plugins=plugins if status.code == Code.PENDING else ())
        await self._failures.handle(
            recorder, queued, UNSCHEDULABLE, str(fit_error), fit_error, self._after_failure, is_nominated=nominated)

    async def _bind(self, binding: Binding) -> Status | None:
        """What went wrong, or None."""
        framework, queued, state, node_name = binding.framework, binding.queued, binding.state, binding.node_name
        pod = queued.info
        waiting = self._shared.waiting_pods.get(pod.uid)
        pre_flight = framework.run_pre_bind_pre_flights(state, pod, node_name)
        if pre_flight is not None and pre_flight.code != Code.SKIP:
            return pre_flight
        if self._expects and (pre_flight is None or waiting is not None):
            binding.is_nominated = True
            await self._failures.update_pod(pod.pod, NominatingInfo(node_name))
        if waiting is not None:
            began = self._ctx.clock.time()
            rejection = await waiting.wait()
            self._metrics.waited(rejection.code.text if rejection is not None else "Success", self._ctx.clock.time() - began)
            self._shared.waiting_pods.remove(pod.uid)
            if rejection is not None:
                if rejection.is_rejection:
                    return rejection
                return Status(Code.ERROR, (f"waiting on permit for pod: {rejection.message}",), rejection.plugin)
        self._queue.done(pod.uid)
        if pre_flight is None:
            status = await self._pre_bind(binding)
            if status is not None:
                return status
        status = await self._extenders_bind(binding)
        if status is None:
            status = await framework.run_bind_plugins(state, pod, node_name)
        if status is not None and status.code != Code.SUCCESS:
            return status
        text = f"Successfully assigned {meta.namespace_of(pod.pod)}/{meta.name_of(pod.pod)} to {node_name}"
        framework.recorder.report(pod.pod, "Normal", "Scheduled", "Binding", text)
        self._metrics.bound(queued, framework.profile_name, binding.started)
        _, raised = attempt(framework.run_post_bind_plugins, state, pod, node_name)
        if raised is not None:
            log.error("after the binding of %s", queued.key, exc_info=raised)
        self._queue.activate(state.pods_to_activate)
        return None

    async def _pre_bind(self, binding: Binding) -> Status | None:
        uid = binding.queued.info.uid
        under_way = self._in_pre_bind[uid] = PodInPreBind()
        try:
            return await binding.framework.run_pre_bind_plugins(binding.state, binding.queued.info, binding.node_name)
        except asyncio.CancelledError:
            if not under_way.message:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            return error(under_way.message)
        finally:
            del self._in_pre_bind[uid]

    async def _extenders_bind(self, binding: Binding) -> Status | None:
        """SUCCESS or an error where an extender is the one that binds, else None."""
        for extender in self._shared.extenders:
            if extender.is_binder and extender.is_interested(binding.queued.info):
                try:
                    await extender.bind(binding.queued.info, binding.node_name)
                except ExtenderError as failure:
                    if extender.is_ignorable:
                        continue
                    return error(str(failure))
                return Status(Code.SUCCESS)
        return None
