"""What becomes of a pod that got no node: it goes back into the queue, and is told why, by an Event
and a condition.

Upstream: pkg/scheduler/schedule_one.go (handleSchedulingFailure, updatePod).
"""

import logging
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS
from fakekube.client.transport import TransportError
from fakekube.runtime.context import Context
from fakekube.runtime.podconditions import condition_patch, pod_condition
from fakekube_controllers.scheduler.diagnoses import Diagnoses, Diagnosis
from fakekube_controllers.scheduler.framework.handle import NominatingInfo, NominatingMode
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo
from fakekube_controllers.scheduler.framework.status import FitError, counted
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.queue import SchedulingQueue

if TYPE_CHECKING:
    from fakekube.client.recorder import Recorder

log = logging.getLogger(__name__)

EVENT_TEXT_LIMIT, CUT_OFF = 1024, " ..."
UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"


class FailureHandler:
    """Handles the failures of one scheduler."""

    def __init__(self, ctx: Context, queue: SchedulingQueue, nominator: Nominator) -> None:
        self._ctx, self._client, self._queue, self._nominator = ctx, ctx.client, queue, nominator
        self._pods = ctx.lister(PODS)
        self.diagnoses = Diagnoses()

    async def handle(
        self, recorder: "Recorder", queued: QueuedPodInfo, reason: str, message: str, error: FitError | None = None,
        nominating_info: NominatingInfo | None = None, *, is_nominated: bool = False,
    ) -> None:
        """Put a pod back into the queue, and tell why.

        ``reason``: Unschedulable or SchedulerError. ``error``: which plugins rejected it; None: it
        is tried again after its back-off. ``nominating_info``: what becomes of its nomination;
        ``is_nominated``: its status names a node though the cache may not show it yet.
        """
        pod = queued.info.pod
        self.diagnoses.record(queued.info.uid, Diagnosis(
            queued.attempts, self._ctx.clock.time(), reason, message, counted(error.statuses) if error is not None else ()))
        queued.unschedulable_plugins = dict.fromkeys(error.plugins) if error is not None else {}
        queued.pending_plugins = dict.fromkeys(error.pending_plugins) if error is not None else {}
        for name in queued.pending_plugins:
            queued.unschedulable_plugins.pop(name, None)
        cached = self._pods.get(meta.namespace_of(pod), meta.name_of(pod))
        if cached is None or cached["spec"].get("nodeName"):
            self._queue.done(queued.info.uid)
        elif meta.uid_of(cached) != queued.info.uid:
            self._queue.done(queued.info.uid)
            return
        else:
            self._queue.add_unschedulable_if_not_present(queued, cached)
            pod = cached
        self._nominator.add_nominated_pod(queued.info, nominating_info)
        recorder.report(pod, "Warning", "FailedScheduling", "Scheduling", _truncated(message))
        await self.update_pod(pod, nominating_info, reason, message, is_nominated=is_nominated)

    async def update_pod(
        self, pod: ReadOnlyTree, nominating_info: NominatingInfo | None, reason: str = "", message: str = "", *,
        is_nominated: bool = False,
    ) -> None:
        """Write the condition PodScheduled (with a ``reason``) and the nomination to a pod.

        Nothing is written where both stand there; what cannot be written is logged.
        """
        status: Tree = {}
        if reason:
            present = meta.find_condition(pod, "PodScheduled") or {}
            if (present.get("status"), present.get("reason"), present.get("message")) != ("False", reason, message):
                condition = pod_condition(self._ctx, pod, "PodScheduled", "False", reason=reason, message=message)
                status |= condition_patch(pod, condition)
        if nominating_info is not None and nominating_info.mode is NominatingMode.OVERRIDE:
            name = nominating_info.nominated_node_name
            if is_nominated or name != ((pod.get("status") or {}).get("nominatedNodeName") or ""):
                status["nominatedNodeName"] = name or None
        if not status:
            return
        try:
            await self._client.patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), {"status": status}, type="strategic", subresource="status")
        except (APIError, TransportError) as error:
            log.debug("the status of pod %s/%s was not written: %s", meta.namespace_of(pod), meta.name_of(pod), error)


def _truncated(message: str) -> str:
    return message if len(message) <= EVENT_TEXT_LIMIT else message[: EVENT_TEXT_LIMIT - len(CUT_OFF)] + CUT_OFF
