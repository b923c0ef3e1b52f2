"""One reconcile of a Workload: what is to be done about it outside of the scheduling cycle.

The steps stand in ``reconcile`` in their order; the first that writes ends it, and the event of the
write brings the next. Upstream: Reconcile of pkg/controller/core/workload_controller.go. Left out:
device claims, ConcurrentAdmission.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import LIMIT_RANGES, RUNTIME_CLASSES
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.core import workload_conditions as conditions
from fakekube_controllers.kueue.core.local_queue import stop_policy
from fakekube_controllers.kueue.core.workload_eviction import WorkloadEviction
from fakekube_controllers.kueue.core.workloads import WorkloadEvents
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from fakekube_controllers.kueue.workload import admissionchecks, finish, patching, reasons, requeue, reservation, states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.patches import Update

Step = Callable[[ReadOnlyTree], Awaitable[Result | None]]
DONE = Result()
"""Of a step: nothing is left to do until something happens."""


class WorkloadReconciler:
    """Reconciles one Workload."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        self.kueue, self.ctx = kueue, ctx
        self.recorder = kueue.recorder(names.WORKLOAD_CONTROLLER_NAME)
        self._events = WorkloadEvents(kueue, watchers)
        self._eviction = WorkloadEviction(kueue, self.recorder, self._patch)

    # -- events -----------------------------------------------------------------------------------

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow Workloads, their queues, and what changes the requests of pods."""
        self.queue = queue
        add = self.ctx.add_handler
        add(WORKLOADS, self._added, self._updated, self._deleted)
        add(CLUSTER_QUEUES, self._of_cluster_queue, self._cluster_queue_updated, self._of_cluster_queue)
        add(LOCAL_QUEUES, self._of_local_queue, self._local_queue_updated, self._of_local_queue)
        for resource, changed in ((LIMIT_RANGES, self._limit_range_changed), (RUNTIME_CLASSES, self._runtime_class_changed)):
            add(resource, changed, partial(_new_of, changed), changed)

    def _enqueue(self, workload: ReadOnlyTree) -> None:
        self.queue.add(Request(*meta.key_of(workload)))

    def _added(self, workload: ReadOnlyTree) -> None:
        self._enqueue(workload)
        self._events.add(workload)

    def _updated(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        self._enqueue(new)  # before the scheduler may be told: what is to be said is said first
        self._events.update(old, new)

    def _deleted(self, workload: ReadOnlyTree) -> None:
        self._events.delete(workload)

    def _of_cluster_queue(self, cluster_queue: ReadOnlyTree) -> None:
        for local_queue in self.kueue.objects.local_queues_of(meta.name_of(cluster_queue)):
            self._of_local_queue(local_queue)

    def _cluster_queue_updated(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        before, after = states.spec_of(old), states.spec_of(new)
        if meta.is_deleting(new) or any(
            before.get(field) != after.get(field) for field in ("admissionChecksStrategy", "stopPolicy")
        ):
            self._of_cluster_queue(new)

    def _of_local_queue(self, local_queue: ReadOnlyTree) -> None:
        for workload in self.kueue.objects.raw_workloads_of(meta.key_of(local_queue)):
            self._enqueue(workload)

    def _local_queue_updated(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if meta.is_deleting(new) or stop_policy(old) != stop_policy(new):
            self._of_local_queue(new)

    def _limit_range_changed(self, limit_range: ReadOnlyTree) -> None:
        for workload in self.kueue.objects.workloads.list(meta.namespace_of(limit_range)):
            self._requests_changed(workload)

    def _runtime_class_changed(self, runtime_class: ReadOnlyTree) -> None:
        name = meta.name_of(runtime_class)
        for workload in self.kueue.objects.workloads.list():
            podsets = states.spec_of(workload).get("podSets") or ()
            if any(podset["template"].get("spec", meta.EMPTY).get("runtimeClassName") == name for podset in podsets):
                self._requests_changed(workload)

    def _requests_changed(self, workload: ReadOnlyTree) -> None:
        """Queue a pending Workload anew: it may ask for something else now."""
        if not states.has_quota_reservation(workload):
            self.kueue.queues.add_or_update_workload(self.kueue.objects.adjusted(workload))

    # -- reconcile --------------------------------------------------------------------------------

    async def reconcile(self, request: Request) -> Result | None:
        """Do the next step. Raises APIError, but for a Workload that is gone."""
        workload = self.kueue.objects.workloads.get(*request)
        if workload is None:
            return None
        try:
            return await self._reconcile(workload)
        except APIError as error:
            if error.code != 404:
                raise
            return None

    async def _reconcile(self, workload: ReadOnlyTree) -> Result | None:
        if _is_orphaned(workload, finishes=self.kueue.features.FinishOrphanedWorkloads):
            workload = await finish.finalize_orphaned_workload(
                self.kueue.client, workload, can_finish=True, now=self._now, features=self.kueue.features)
            if not self.kueue.features.FinishOrphanedWorkloads or meta.is_deleting(workload):
                return None
        if states.is_finished(workload):
            return await self._see_to_retention(workload)
        steps: tuple[Step, ...] = (
            self._take_over_retry_time, self._reject_devices,
            self._requeue if states.is_active(workload) else self._eviction.deactivate, self._after_stop_of_local_queue,
            self._gate, self._check)
        for step in steps:
            result = await step(workload)
            if result is not None:
                return result
        return await self._decide(workload)

    @property
    def _now(self) -> float:
        return self.kueue.clock.time()

    async def _patch(self, workload: ReadOnlyTree, update: "Update") -> Tree | None:
        return await patching.patch_admission_status(self.kueue.client, workload, update, features=self.kueue.features)

    async def _see_to_retention(self, workload: ReadOnlyTree) -> Result | None:
        """Delete what is finished, once it was kept for long enough."""
        kept_seconds = self.kueue.configuration.workload_retention.after_finished_seconds
        finished = states.condition(workload, reasons.FINISHED)
        if kept_seconds is None or finished is None:
            return None
        left = times.parse_time(finished["lastTransitionTime"]) + kept_seconds - self._now
        if left > 0:
            return Result.after(left)
        if await finish.delete(self.kueue.client, workload):
            self.recorder.report(
                workload, "Normal", "Deleted", "Deleted", "Deleted finished workload due to elapsed retention")
        return None

    async def _take_over_retry_time(self, workload: ReadOnlyTree) -> Result | None:
        """Let a Workload wait for as long as its checks want."""
        requeue_at = admissionchecks.needs_requeue_at_update(workload, now=self._now)
        if requeue_at is None:
            return None

        def update(changed: Tree) -> bool:
            requeue.set_requeue_state(changed, requeue_at, increment_count=False)
            return True

        await self._patch(workload, update)
        return DONE

    async def _reject_devices(self, workload: ReadOnlyTree) -> Result | None:
        """Say of a Workload with device claims that there is no quota for them."""
        message = states.why_devices_are_rejected(workload, self.kueue.features)
        if message is None or states.status(workload) != states.PENDING:
            return None
        features = self.kueue.features
        reason = states.unadmitted_workload_reason_with_fallback(reasons.MISCONFIGURED, reasons.INADMISSIBLE, features)

        def update(changed: Tree) -> bool:
            told = reservation.unset_quota_reservation_with_condition(
                changed, reason, message, now=self._now, features=features)
            return reservation.set_requeued_condition(changed, reasons.INADMISSIBLE, message, False, now=self._now) or told

        await self._patch(workload, update)
        return DONE

    async def _requeue(self, workload: ReadOnlyTree) -> Result | None:
        """Deactivate what is to be; let what was evicted wait for its time, and queue it again."""
        if states.is_true(workload, reasons.DEACTIVATION_TARGET):
            await self.kueue.client.update(WORKLOADS, {**workload, "spec": {**workload["spec"], "active": False}})
            return DONE
        requeue_at = (states.status_of(workload).get("requeueState") or meta.EMPTY).get("requeueAt")
        if requeue_at is not None:
            left = times.parse_time(requeue_at) - self._now
            if left > 0:
                return Result.after(left)
            if states.status(workload) == states.PENDING:
                await self._end_backoff(workload)
                return DONE
        if states.condition(workload, reasons.REQUEUED) is None:
            return None
        written = await self._patch(workload, partial(conditions.set_requeued, now=self._now))
        return DONE if written is not None else None

    async def _end_backoff(self, workload: ReadOnlyTree) -> None:
        def update(changed: Tree) -> bool:
            changed["status"]["requeueState"].pop("requeueAt", None)
            return True

        written = await self._patch(workload, update)
        if written is not None and states.is_admissible(written, self.kueue.features):
            self.kueue.queues.add_or_update_workload(self.kueue.objects.adjusted(written))

    async def _after_stop_of_local_queue(self, workload: ReadOnlyTree) -> Result | None:
        local_queue = self.kueue.objects.local_queue_of(workload)
        if local_queue is None or stop_policy(local_queue) != "None":
            return None
        if not conditions.is_disabled_requeued_by(workload, reasons.EVICTED_BY_LOCAL_QUEUE_STOPPED):
            return None
        await self._patch(workload, partial(
            reservation.set_requeued_condition, reason=reasons.LOCAL_QUEUE_RESTARTED,
            message="The LocalQueue was restarted after being stopped", status=True, now=self._now))
        return DONE

    async def _gate(self, workload: ReadOnlyTree) -> Result | None:
        """Say of a Workload that is gated by others that it is, and when it is not any more."""
        features = self.kueue.features
        if not features.AdmissionGatedBy:
            return None
        gates, told = states.admission_gates(workload, features), conditions.has_admission_gated_condition(workload)
        if bool(gates) == told:
            return None
        reason, message = reasons.ADMISSION_GATED, f"Admission is gated by: {gates}"
        if not gates:
            reason = states.unadmitted_workload_reason_with_fallback(reasons.PENDING_EVALUATION, reasons.PENDING, features)
            message = "AdmissionGatedBy cleared, waiting for quota reservation"
        written = await self._patch(workload, partial(
            reservation.unset_quota_reservation_with_condition, reason=reason, message=message, now=self._now,
            features=features)) or workload
        if gates:
            self.recorder.report(
                written, "Normal", "AdmissionGated", "AdmissionGated", f"Workload admission is gated by: {gates}")
        else:
            self.recorder.report(
                written, "Normal", "AdmissionGateCleared", "AdmissionGateCleared",
                "Admission gate cleared, workload is now admissible")
        return DONE

    async def _check(self, workload: ReadOnlyTree) -> Result | None:
        """Give a Workload the checks of its ClusterQueue, and let it queue after a stop of that."""
        name, exists = self.kueue.queues.cluster_queue_for_workload(workload)
        if not exists:
            return None
        cluster_queue = self.kueue.objects.cluster_queues.get("", name)
        if cluster_queue is None:
            return DONE
        if stop_policy(cluster_queue) == "None" and (
            conditions.is_disabled_requeued_by(workload, reasons.EVICTED_BY_CLUSTER_QUEUE_STOPPED)
        ):
            await self._patch(workload, partial(
                reservation.set_requeued_condition, reason=reasons.CLUSTER_QUEUE_RESTARTED,
                message="The ClusterQueue was restarted after being stopped", status=True, now=self._now))
            return DONE
        wanted = admissionchecks.admission_checks_for_workload(workload, cluster_queue)
        synced = admissionchecks.sync_admission_check_conditions(
            admissionchecks.states_of(workload), wanted, now=self._now)
        if synced is None:
            return None
        status = {**states.status_of(workload), "admissionChecks": synced}
        if not synced:
            del status["admissionChecks"]
        await self.kueue.client.update_status(WORKLOADS, {**workload, "status": status})
        return DONE

    async def _decide(self, workload: ReadOnlyTree) -> Result | None:
        """Admit what has all it needs, or say what it waits for; stop what may not have its quota.
        """
        if not states.is_admitted(workload):
            workload = await self._sync_conditions(workload)
        if not states.has_quota_reservation(workload):
            return None
        return await self._eviction.after_reservation(workload)

    async def _sync_conditions(self, workload: ReadOnlyTree) -> ReadOnlyTree:
        kueue, now = self.kueue, self._now
        blocker = conditions.quota_reserved_condition(workload, kueue)
        if blocker is None and reservation.is_admitted_condition_synced(workload, kueue.features):
            return workload

        def update(changed: Tree) -> bool:
            updated = False
            if blocker is not None and not states.has_quota_reservation(changed):
                updated = reservation.set_condition(changed, reasons.QUOTA_RESERVED, "False", *blocker, now=now)
            return reservation.sync_admitted_condition(changed, now=now, features=kueue.features) or updated

        written = await self._patch(workload, update)
        if written is None:
            return workload
        if states.is_admitted(written):
            self._tell_of_admission(written)
        return written

    def _tell_of_admission(self, workload: ReadOnlyTree) -> None:
        reserved, admission = states.condition(workload, reasons.QUOTA_RESERVED), states.admission(workload)
        assert reserved is not None, "what is admitted has quota"
        assert admission is not None, "what is admitted has quota"
        since_reservation = self._now - times.parse_time(reserved["lastTransitionTime"])
        self.recorder.report(
            workload, "Normal", "Admitted", "Admitted",
            f"Admitted by ClusterQueue {admission['clusterQueue']}, wait time since reservation was {since_reservation:.0f}s")
        for cohort in self.kueue.cache.workload_ancestors(workload):
            self.kueue.metrics.count("cohort_subtree_admitted_workloads_total", cohort, states.priority_class_name(workload))
        self.kueue.metrics.admitted(
            workload, requeue.queued_wait_time(workload, now=self._now), checks_seconds=since_reservation,
            expose_local_queue_metrics=self.kueue.should_expose_local_queue_metrics_for_workload(workload))


def _new_of(changed: Callable[[ReadOnlyTree], object], _: ReadOnlyTree, new: ReadOnlyTree) -> None:
    changed(new)


def _is_orphaned(workload: ReadOnlyTree, *, finishes: bool) -> bool:
    """Whether nobody owns a Workload that is being deleted, or that was made for a job."""
    if meta.owners_of(workload):
        return False
    return meta.is_deleting(workload) or (finishes and bool(meta.labels_of(workload).get(names.JOB_UID_LABEL)))
