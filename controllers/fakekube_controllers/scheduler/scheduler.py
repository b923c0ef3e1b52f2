"""The scheduler as a component: its ears, its loop, and what it writes to pods.

Upstream: pkg/scheduler/{scheduler.go,eventhandlers.go,schedule_one.go}.
"""

from collections.abc import Sequence
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.pod_resources import POD_LEVEL_RESIZE_GATE, RESIZE_GATE, Options, is_pod_level
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.reconcile import Result
from fakekube_controllers.scheduler.cache import Cache, Snapshot
from fakekube_controllers.scheduler.cycle import Framework, SchedulingError
from fakekube_controllers.scheduler.framework.events import Event, matters
from fakekube_controllers.scheduler.framework.interface import QueuedPod, State
from fakekube_controllers.scheduler.framework.status import FitError
from fakekube_controllers.scheduler.plugins.registry import default_plugins
from fakekube_controllers.scheduler.queue import SchedulingQueue

SCHEDULER_NAME = "default-scheduler"
CYCLE = "cycle"
OBSERVED_GENERATION = "PodObservedGenerationTracking"
EVENT_TEXT_LIMIT, CUT_OFF = 1024, " ..."


class Scheduler:
    """A component for the manager. Option of the context: ``scheduler_plugins``, a function from a client to plugins."""

    name = "scheduler"
    user_agent = "kube-scheduler"
    user: UserInfo | None = None

    async def start(self, ctx: Context) -> None:
        """Watch pods and nodes, and begin to schedule."""
        self.ctx, self.client = ctx, ctx.client
        self.recorder = ctx.recorder(SCHEDULER_NAME)
        self.framework = Framework(ctx.options.get("scheduler_plugins", default_plugins)(ctx.client))
        counted = Options(
            use_status_resources=ctx.enabled(RESIZE_GATE), pod_level_status=ctx.enabled(POD_LEVEL_RESIZE_GATE),
            pod_level=is_pod_level)
        self.cache, self.snapshot = Cache(counted), Snapshot()
        self._cycles = ctx.queue("scheduler")
        self.queue = SchedulingQueue(
            ctx.clock, self.framework.queue_sort, self.framework.pre_enqueue, lambda: self._cycles.add(CYCLE),
            self.framework.hints, counted)
        ctx.add_handler(NODES, self._node_seen, self._node_changed, self._node_gone)
        ctx.add_handler(PODS, self._pod_seen, lambda _, new: self._pod_seen(new), self._pod_gone)
        Worker(ctx, self._cycles, self._schedule_one).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    # events

    def _node_seen(self, node: Tree) -> None:
        self.cache.set_node(node)
        self.queue.move(Event(node))

    def _node_changed(self, old: Tree, new: Tree) -> None:
        self.cache.set_node(new)
        if matters(old, new):
            self.queue.move(Event(new, old))

    def _node_gone(self, node: Tree) -> None:
        self.cache.drop_node(meta.name_of(node))

    def _pod_seen(self, pod: Tree) -> None:
        uid, node = meta.uid_of(pod), pod["spec"].get("nodeName")
        if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            self._let_go(pod, uid)
        elif node:
            self.queue.remove(uid)
            if self.cache.place(pod, node):
                self.queue.move(Event(pod=pod))
        elif self._is_mine(pod) and not meta.is_deleting(pod) and not self.cache.is_assumed(uid):
            self.queue.add(pod)
        elif meta.is_deleting(pod):
            self.queue.remove(uid)

    def _pod_gone(self, pod: Tree) -> None:
        self._let_go(pod, meta.uid_of(pod))

    def _let_go(self, pod: Tree, uid: str) -> None:
        """A pod needs no room any more: others may fit now."""
        self.queue.remove(uid)
        if self.cache.forget(uid):
            self.queue.move(Event(pod=pod))

    @staticmethod
    def _is_mine(pod: Tree) -> bool:
        return bool(pod["spec"].get("schedulerName", SCHEDULER_NAME) == SCHEDULER_NAME)

    # cycles

    async def _schedule_one(self, _: str) -> Result | None:
        queued = self.queue.pop()
        if queued is None:
            return None
        self._cycles.add(CYCLE)  # one cycle a turn, so that everybody else gets one too
        state: State = {}
        pod = queued.info
        ACTING.set(Acting(self.name, meta.key_of(pod.pod), pod.pod["metadata"]["resourceVersion"]))
        try:
            self.cache.update_snapshot(self.snapshot)
            node_name = self.framework.schedule(state, pod, self.snapshot)
        except FitError as error:
            await self._reject(queued, "Unschedulable", str(error), error.plugins)
            return None
        except SchedulingError as error:
            await self._reject(queued, "SchedulerError", str(error))
            return None
        self.cache.assume(pod, node_name)
        status = self.framework.reserve(state, pod, node_name)
        if status is None:
            status = await self.framework.bind(state, pod, node_name)
            if status is None:
                self._tell_bound(pod.pod, node_name)
                return None
            self.framework.unreserve(state, pod, node_name)
        self.cache.forget(pod.uid)
        reason = "Unschedulable" if status.is_rejection else "SchedulerError"
        await self._reject(queued, reason, status.message, (status.plugin,) if status.plugin else ())
        return None

    def _tell_bound(self, pod: Any, node_name: str) -> None:
        text = f"Successfully assigned {meta.namespace_of(pod)}/{meta.name_of(pod)} to {node_name}"
        self.recorder.report(pod, "Normal", "Scheduled", "Binding", text)

    async def _reject(self, queued: QueuedPod, reason: str, message: str, plugins: Sequence[str] = ()) -> None:
        pod = queued.info.pod
        uid = queued.info.uid
        self.recorder.report(pod, "Warning", "FailedScheduling", "Scheduling", _cut(message))
        try:
            await self._write_condition(pod, reason, message)
        except APIError as error:
            if error.code == 404:
                self.queue.remove(uid)
                return
            reason = "SchedulerError"
        self.queue.give_back(uid, rejected_by=plugins, error=reason == "SchedulerError")

    async def _write_condition(self, pod: Any, reason: str, message: str) -> None:
        present = meta.find_condition(pod, "PodScheduled") or {}
        if (present.get("status"), present.get("reason"), present.get("message")) == ("False", reason, message):
            return
        since = present.get("lastTransitionTime") if present.get("status") == "False" else None
        condition = {
            "type": "PodScheduled", "status": "False", "reason": reason, "message": message, "lastProbeTime": None,
            "lastTransitionTime": since or times.format_time(self.ctx.clock.time()),
        }
        if self.ctx.enabled(OBSERVED_GENERATION):
            condition["observedGeneration"] = meta.generation_of(pod)
        body = {"status": {"conditions": [condition]}}
        await self.client.patch(PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic", subresource="status")


def _cut(message: str) -> str:
    return message if len(message) <= EVENT_TEXT_LIMIT else message[: EVENT_TEXT_LIMIT - len(CUT_OFF)] + CUT_OFF
