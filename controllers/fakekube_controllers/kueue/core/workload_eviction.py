"""Workloads with quota that may not keep it: deactivated, rejected by a check, in a stopped queue,
not ready in time, or running for too long.

Upstream: reconcileCheckBasedEviction and its like in pkg/controller/core/workload_controller.go.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from fakekube.apimachinery import field_errors, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.recorder import Recorder
from fakekube.runtime.reconcile import Result
from fakekube_controllers.kueue import patches
from fakekube_controllers.kueue.core.local_queue import stop_policy
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.workload import admissionchecks, evict, reasons, requeue, reservation, states

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

Patch = Callable[[ReadOnlyTree, patches.Update], Awaitable[Tree | None]]
"""Writes what an update changes of a Workload."""
DRAIN = "HoldAndDrain"


class WorkloadEviction:
    """Evicts Workloads, or takes their quota back."""

    def __init__(self, kueue: "Kueue", recorder: Recorder, patch: Patch) -> None:
        self._kueue, self._recorder, self._patch = kueue, recorder, patch

    @property
    def _now(self) -> float:
        return self._kueue.clock.time()

    async def _evict(
        self, workload: ReadOnlyTree, reason: str, message: str, underlying_cause: str = "", *,
        prepare: Callable[[Tree], object] | None = None,
    ) -> None:
        kueue = self._kueue
        await evict.evict(
            kueue.client, self._recorder, workload, reason, message, underlying_cause, now=self._now,
            features=kueue.features, metrics=kueue.metrics, custom_prepare=prepare,
            expose_local_queue_metrics=kueue.should_expose_local_queue_metrics_for_workload(workload))

    async def _unset(self, workload: ReadOnlyTree, reason: str, message: str) -> None:
        """Take the quota back from a Workload that is not admitted yet."""
        features = self._kueue.features
        shown = states.unadmitted_workload_reason_with_fallback(reason, reasons.INADMISSIBLE, features)
        await self._patch(workload, partial(
            reservation.unset_quota_reservation_with_condition, reason=shown, message=message, now=self._now,
            features=features))

    async def deactivate(self, workload: ReadOnlyTree) -> Result | None:
        """Evict a Workload that is not active, and forget how often it was requeued."""
        target = states.condition(workload, reasons.DEACTIVATION_TARGET)
        evicts = not states.is_evicted(workload)
        if not evicts and states.status_of(workload).get("requeueState") is None:
            return None

        def prepare(changed: Tree) -> bool:
            if target is not None:
                reservation.remove_condition(changed, reasons.DEACTIVATION_TARGET)
            changed["status"].pop("requeueState", None)
            return True

        if not evicts:
            await patches.patch_status(self._kueue.client, WORKLOADS, workload, prepare)
            return Result()
        cause = target["reason"] if target is not None else ""
        message = "The workload is deactivated" + (f" due to {target['message']}" if target is not None else "")
        await self._evict(workload, reasons.DEACTIVATED, message, cause, prepare=prepare)
        return Result()

    async def after_reservation(self, workload: ReadOnlyTree) -> Result | None:
        """What may end the quota of a Workload; when to look again, if time may."""
        if await self._by_checks(workload) or await self._by_local_queue(workload) or await self._by_cluster_queue(workload):
            return None
        waits = [await self._by_pods_ready(workload), await self._by_execution_time(workload)]
        left = min((seconds for seconds in waits if seconds), default=0.0)
        return Result.after(left) if left else None

    async def _by_checks(self, workload: ReadOnlyTree) -> bool:
        if states.is_evicted(workload):
            return False
        rejected, retried = admissionchecks.rejected_checks(workload), admissionchecks.retry_checks(workload)
        if rejected:
            message = _checks_message(rejected, reasons.CHECK_REJECTED)
            written = await self._patch(workload, partial(
                reservation.set_deactivation_target, reason=reasons.EVICTED_BY_ADMISSION_CHECK, message=message, now=self._now))
            self._recorder.report(
                written or workload, "Warning", "AdmissionCheckRejected", "AdmissionCheckRejected",
                reservation.truncate_event_message(f"Deactivated due to {message}"))
        elif retried:
            message = f"Evicted due to {_checks_message(retried, reasons.CHECK_RETRY)}"
            await self._evict(workload, reasons.EVICTED_BY_ADMISSION_CHECK, message)
        return bool(rejected or retried)

    async def _by_local_queue(self, workload: ReadOnlyTree) -> bool:
        local_queue, name = self._kueue.objects.local_queue_of(workload), states.spec_of(workload).get("queueName", "")
        policy = stop_policy(local_queue) if local_queue is not None else "None"
        if states.is_admitted(workload):
            return await self._drain(
                workload, policy, reasons.EVICTED_BY_LOCAL_QUEUE_STOPPED, "The LocalQueue is stopped")
        return await self._take_back(workload, local_queue, policy, f"LocalQueue {name}")

    async def _by_cluster_queue(self, workload: ReadOnlyTree) -> bool:
        name, _ = self._kueue.queues.cluster_queue_for_workload(workload)
        cluster_queue = self._kueue.objects.cluster_queues.get("", name)
        policy = stop_policy(cluster_queue) if cluster_queue is not None else "None"
        if states.is_admitted(workload):
            return await self._drain(
                workload, policy, reasons.EVICTED_BY_CLUSTER_QUEUE_STOPPED, "The ClusterQueue is stopped")
        return await self._take_back(workload, cluster_queue, policy, f"ClusterQueue {name}")

    async def _drain(self, workload: ReadOnlyTree, policy: str, reason: str, message: str) -> bool:
        if policy != DRAIN or states.is_evicted(workload):
            return False
        await self._evict(workload, reason, message)
        return True

    async def _take_back(self, workload: ReadOnlyTree, queue: ReadOnlyTree | None, policy: str, called: str) -> bool:
        if queue is None or meta.is_deleting(queue):
            await self._unset(workload, reasons.MISCONFIGURED, f"{called} is terminating or missing")
        elif policy != "None":
            await self._unset(workload, reasons.SUSPENDED, f"{called} is stopped")
        else:
            return False
        return True

    async def _by_pods_ready(self, workload: ReadOnlyTree) -> float:
        """Evict a Workload whose pods were not ready in time; else how many seconds it has left."""
        waits = self._kueue.configuration.wait_for_pods_ready
        if waits is None or not states.is_active(workload) or states.is_evicted(workload):
            return 0.0
        cause, left = self._admitted_not_ready(workload)
        if not cause or left > 0:
            return left
        strategy, state = waits.requeuing_strategy, states.status_of(workload).get("requeueState") or meta.EMPTY
        limit = strategy.backoff_limit_count
        if limit is not None and (state.get("count") or 0) + 1 > limit:
            await self._patch(workload, partial(
                reservation.set_deactivation_target, reason=reasons.REQUEUING_LIMIT_EXCEEDED,
                message="exceeding the maximum number of re-queuing retries", now=self._now))
            return 0.0
        key = states.reference_text(meta.key_of(workload))
        await self._evict(
            workload, reasons.EVICTED_BY_PODS_READY_TIMEOUT, f"Exceeded the PodsReady timeout {key}", cause,
            prepare=partial(
                requeue.update_requeue_state, backoff_base_seconds=strategy.backoff_base_seconds,
                backoff_max_seconds=strategy.backoff_max_seconds, now=self._now, jitter=self._kueue.ctx.rng.uniform(0, 1)))
        return 0.0

    def _admitted_not_ready(self, workload: ReadOnlyTree) -> tuple[str, float]:
        """What the pods of an admitted Workload wait for, and how many seconds they may."""
        waits = self._kueue.configuration.wait_for_pods_ready
        admitted, ready = (states.condition(workload, type_) for type_ in (reasons.ADMITTED, reasons.PODS_READY))
        if waits is None or admitted is None or admitted["status"] != "True":
            return "", 0.0
        if ready is not None and ready["status"] == "True":
            return "", 0.0
        if ready is None or ready["reason"] in (reasons.WAIT_FOR_START, reasons.PODS_READY):
            return reasons.WAIT_FOR_START, max(0.0, self._left(admitted, waits.timeout_seconds))
        if ready["reason"] == reasons.WAIT_FOR_RECOVERY and waits.recovery_timeout_seconds is not None:
            return reasons.WAIT_FOR_RECOVERY, max(0.0, self._left(ready, waits.recovery_timeout_seconds))
        return "", 0.0

    def _left(self, since: Tree, seconds: float) -> float:
        return times.parse_time(since["lastTransitionTime"]) + seconds - self._now

    async def _by_execution_time(self, workload: ReadOnlyTree) -> float:
        """Deactivate a Workload that has run for too long; else how many seconds it has left."""
        admitted, most = states.condition(workload, reasons.ADMITTED), states.spec_of(workload).get("maximumExecutionTimeSeconds")
        if admitted is None or admitted["status"] != "True" or most is None:
            return 0.0
        past = states.status_of(workload).get("accumulatedPastExecutionTimeSeconds") or 0
        left = self._left(admitted, most - past)
        if left > 0:
            return left
        if states.is_true(workload, reasons.DEACTIVATION_TARGET):
            return 0.0

        def update(changed: Tree) -> bool:
            changed["status"].pop("accumulatedPastExecutionTimeSeconds", None)
            return reservation.set_deactivation_target(
                changed, reasons.MAXIMUM_EXECUTION_TIME_EXCEEDED, "exceeding the maximum execution time", now=self._now)

        written = await self._patch(workload, update)
        reason = reasons.MAXIMUM_EXECUTION_TIME_EXCEEDED
        self._recorder.report(
            written or workload, "Warning", reason, reason, f"The maximum execution time ({most}s) exceeded")
        return 0.0


def _checks_message(checks: Sequence[Tree], state: str) -> str:
    """``AdmissionCheck in Retry state: "name" (message)``."""
    parts = []
    for check in sorted(checks, key=lambda each: str(each["name"])):
        message = check.get("message", "")
        parts.append(field_errors.go_quote(check["name"]) + (f" ({message})" if message else ""))
    noun = "AdmissionChecks" if len(checks) > 1 else "AdmissionCheck"
    return f"{noun} in {state} state: {'; '.join(parts)}"
