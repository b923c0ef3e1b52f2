"""One reconcile of a job of any kind: the order of decisions.

Upstream: ReconcileGenericJob in pkg/controller/jobframework/reconciler.go.
"""

import logging
from datetime import timedelta

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, podset
from fakekube_controllers.kueue.jobframework import (
    ancestors,
    construction,
    ensuring,
    measures,
    objects,
    pods_ready,
    priorities,
    starting,
    stopping,
    waking,
)
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.job import (
    NO_MATCHING_WORKLOAD,
    NOT_ADMITTED,
    WORKLOAD_DELETED,
    WORKLOAD_EVICTED,
    ComposableJob,
    GenericJob,
    UnretryableError,
)
from fakekube_controllers.kueue.workload import finish, patching, podsetcounts, reasons, reservation, states

log = logging.getLogger(__name__)

CATCH_UP = timedelta(milliseconds=5)
SUSPENDED_AGAIN_SECONDS = 1.0
NESTED_TOO_DEEP = f"Terminated search for Kueue-managed Job because ancestor depth exceeded limit of {names.MAX_ANCESTORS}"


class JobReconciler:
    """Reconciles the jobs of one kind."""

    def __init__(self, integration: Integration, options: Options, ctx: Context) -> None:
        self.integration, self.options, self.configuration = integration, options, options.configuration
        self.features = options.configuration.features
        self._has_keys_of_jobs = integration.controllers is None
        self.framework = Framework(ctx, options.configuration, integration.name, integration.resource)
        self._suspended_at: dict[ObjectKey, float] = {}
        if options.kueue is not None:
            options.kueue.jobs[integration.resource.api_version, integration.resource.kind] = self.framework.jobs

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Hear of what the kind wants to hear of."""
        if self.integration.watch is not None:
            self.integration.watch(self.framework, queue)
        if self._has_keys_of_jobs:
            waking.watch_what_jobs_wait_for(self.framework, queue)

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a job a step forward."""
        return await self.reconcile_generic_job(request, self.integration.job_class()(self.features))

    async def reconcile_generic_job(self, key: ObjectKey, job: GenericJob) -> Result | None:
        """Bring a job a step forward that was made, and not read, elsewhere.

        Raises APIError, and what the steps raise, for the job to be looked at again.
        """
        if not self.framework.shows_all_written(key):
            return Result(requeue_after=CATCH_UP)
        try:
            return await self._reconcile(key, job)
        except UnretryableError as error:
            log.debug("%s %s: %s", self.integration.name, key, error)
        except (ensuring.WorkloadsChange, priorities.WorkloadPriorityClassNotFound) as error:
            if not self._has_keys_of_jobs:
                raise
            log.debug("%s %s waits: %s", self.integration.name, key, error)
        return None

    async def _reconcile(self, key: ObjectKey, job: GenericJob) -> Result | None:
        framework = self.framework
        should_finalize = await job.load(framework, key)
        if job.skip():
            return None
        if should_finalize:
            await self._finalize(key, job)
            return None
        namespace = framework.namespaces.get("", meta.namespace_of(job.obj))
        if namespace is None or not self.configuration.managed_jobs_namespace_selector.matches(meta.labels_of(namespace)):
            return None
        ancestor = None if job.is_top_level() else await self._ancestor(job)
        has_queue = any(each is not None and objects.queue_name(each) for each in (job.obj, ancestor))
        if not self.configuration.manage_jobs_without_queue_name and not has_queue:
            return None
        if ancestor is not None:
            return await self._reconcile_child(key, job, ancestor)
        workload = await ensuring.ensure_one_workload(framework, job)
        if workload is None:
            await self._reconcile_without_workload(key, job)
            return None
        return await self._reconcile_workload(key, job, workload)

    async def _finalize(self, key: ObjectKey, job: GenericJob) -> None:
        await stopping.finalize_workloads(self.framework, job, key)
        if meta.is_deleting(job.obj):
            await job.finalize(self.framework)
        else:
            self.framework.forget(key)
            self._suspended_at.pop(key, None)

    async def _ancestor(self, job: GenericJob) -> ReadOnlyTree | None:
        try:
            return await ancestors.find_ancestor_job_managed_by_kueue(
                self.framework.client, self.options.integrations, job.obj,
                manage_jobs_without_queue_name=self.configuration.manage_jobs_without_queue_name)
        except ancestors.ChainLimitReached:
            self.framework.event(job.obj, "Warning", "JobNestingTooDeep", NESTED_TOO_DEEP)
            raise

    async def _reconcile_child(self, key: ObjectKey, job: GenericJob, ancestor: ReadOnlyTree) -> Result | None:
        """A job below one that is managed waits for that.

        It is suspended once a second at most: a controller above that resumes its jobs, and writes
        its status each time, would otherwise never be quiet long enough to be suspended itself.
        """
        if not stopping.should_suspend_child_job(self.framework, job, ancestor):
            self._suspended_at.pop(key, None)
            return None
        now = self.framework.clock.time()
        left = self._suspended_at.get(key, 0.0) + SUSPENDED_AGAIN_SECONDS - now
        if left > 0:
            return Result.after(left)
        await job.patch(self.framework, job.suspend)
        self._suspended_at[key] = now
        self.framework.event(job.obj, "Normal", "Suspended", "Kueue managed child job suspended")
        return None

    async def _reconcile_without_workload(self, key: ObjectKey, job: GenericJob) -> None:
        """Make the Workload, unless the job has ended, or its pods still run."""
        framework = self.framework
        if job.is_on_hold():
            return
        if job.finished() is not None:
            await job.finalize(framework)
            return
        prebuilt = objects.prebuilt_workload_name(job.obj, self.features)
        if prebuilt:
            await stopping.stop_job(framework, job, None, NO_MATCHING_WORKLOAD, "missing workload")
        if job.is_active() and not objects.is_elastic(job.obj, self.features):
            return
        if prebuilt:
            raise ensuring.PrebuiltWorkloadNotFound(f"prebuilt workload not found: {prebuilt}")
        workload = await construction.construct_workload(framework, job)
        await construction.prepare_workload(framework, job, workload)
        created = await framework.client.create(names.WORKLOADS, workload, shared=True)
        framework.wrote(key, names.WORKLOADS, created)
        framework.event(job.obj, "Normal", "CreatedWorkload", f"Created Workload: {meta.key_of(created)}")
        measures.count_created(self.framework, self.options.kueue, job)

    async def _reconcile_workload(self, key: ObjectKey, job: GenericJob, workload: ReadOnlyTree) -> Result | None:
        framework = self.framework
        conditions = job.custom_workload_conditions(workload)
        if conditions:
            await self._write_conditions(key, job, workload, conditions)
            return None
        active = job.is_workload_active()
        if active is not None and states.is_active(workload) != active:
            changed = {**workload, "spec": {**workload["spec"], "active": active}}
            workload = await framework.update_workload(key, changed)
        if states.is_finished(workload):
            await job.finalize(framework)
            self._say_finished(job, workload)
            framework.wrote(key, names.WORKLOADS, await finish.remove_finalizer(framework.client, workload))
            return None
        if meta.is_deleting(workload):
            await stopping.stop_job(framework, job, workload, WORKLOAD_DELETED, "Workload is deleted")
            framework.wrote(key, names.WORKLOADS, await finish.remove_finalizer(framework.client, workload))
            return None
        if job.is_on_hold():
            if states.has_quota_reservation(workload):
                await self._release(key, workload, reasons.ON_HOLD, "Job is on hold")
            return None
        finished = job.finished()
        if finished is not None:
            await self._finish(key, workload, reasons.SUCCEEDED if finished.success else reasons.FAILED, finished.message)
            self._say_finished(job, workload)
            await job.finalize(framework)
            return None
        if await self._update_reclaimable_pods(key, job, workload) or await self._update_pods_ready(key, job, workload):
            return None
        if states.is_evicted(workload):
            return await self._reconcile_evicted(key, job, workload)
        if job.is_suspended():
            await self._reconcile_suspended(key, job, workload)
        elif not states.is_admitted(workload) and not objects.is_elastic(job.obj, self.features):
            await stopping.stop_job(framework, job, workload, NOT_ADMITTED, "Not admitted by cluster queue")
        return None

    def _say_finished(self, job: GenericJob, workload: ReadOnlyTree) -> None:
        message = f"Workload '{meta.key_of(workload)}' is declared finished"
        self.framework.event(job.obj, "Normal", "FinishedWorkload", message)

    async def _finish(self, key: ObjectKey, workload: ReadOnlyTree, reason: str, message: str) -> None:
        try:
            written = await finish.finish(
                self.framework.client, workload, reason, message, now=self.framework.clock.time(), features=self.features)
        except APIError as error:
            if error.code != stopping.NOT_FOUND:
                raise
            return
        self.framework.wrote(key, names.WORKLOADS, written)

    async def _write_conditions(
        self, key: ObjectKey, job: GenericJob, workload: ReadOnlyTree, conditions: list[Tree],
    ) -> None:
        now = self.framework.clock.time()

        def update(changed: Tree) -> bool:
            for each in conditions:
                reservation.set_condition(changed, each["type"], each["status"], each["reason"], each["message"], now=now)
            return True

        manager = f"{names.KUEUE_NAME}-{job.resource.kind.lower()}-controller"
        written = await patching.patch_status(self.framework.client, workload, manager, update, features=self.features)
        self.framework.wrote(key, names.WORKLOADS, written)

    async def _update_reclaimable_pods(self, key: ObjectKey, job: GenericJob, workload: ReadOnlyTree) -> bool:
        """Whether there was something to write."""
        pods = job.reclaimable_pods() if self.features.ReclaimablePods else None
        if pods is None:
            return False
        pods = podsetcounts.limit_reclaimable_pods_to_pod_set_sizes(workload, pods)
        if podsetcounts.reclaimable_pods_are_equal(pods, states.status_of(workload).get("reclaimablePods") or ()):
            return False
        written = await patching.update_reclaimable_pods(self.framework.client, workload, pods, features=self.features)
        self.framework.wrote(key, names.WORKLOADS, written)
        return True

    async def _update_pods_ready(self, key: ObjectKey, job: GenericJob, workload: ReadOnlyTree) -> bool:
        """The same, of the condition."""
        if self.configuration.wait_for_pods_ready is None:
            return False
        admitted, is_of_set = states.is_admitted(workload), names.JOB_OWNER_GVK_ANNOTATION in meta.annotations_of(workload)
        if admitted and is_of_set and starting.runs_elsewhere(self.framework, workload):
            return False  # MultiKueue tells of pods that are shown nowhere here
        ready = admitted and job.pods_ready()
        condition = pods_ready.pods_ready_condition(workload, pods_ready=ready)
        if pods_ready.is_set(workload, condition):
            return False
        status, reason, message = condition
        written = await patching.set_condition_and_update(
            self.framework.client, workload, reasons.PODS_READY, status, reason, message,
            manager_prefix=names.JOB_CONTROLLER_NAME, now=self.framework.clock.time(), features=self.features)
        self.framework.wrote(key, names.WORKLOADS, written)
        if status == "True":
            measures.count_ready(self.framework, self.options.kueue, workload)
        return True

    async def _reconcile_evicted(self, key: ObjectKey, job: GenericJob, workload: ReadOnlyTree) -> Result | None:
        """Stop the job, and give its quota back once no pod of it is left."""
        evicted = states.condition(workload, reasons.EVICTED)
        assert evicted is not None, "it is evicted"
        reason, message = evicted["reason"], evicted.get("message", "")
        await stopping.stop_job(self.framework, job, workload, WORKLOAD_EVICTED, message)
        if states.has_quota_reservation(workload) and not job.is_active():
            requeued = reason in (reasons.EVICTED_BY_PREEMPTION, reasons.EVICTED_DUE_TO_NODE_FAILURES)
            if self.features.SkipReassignmentForPodOwnedWorkloads and states.owned_by_single_pod(workload):
                requeued = False
            why = states.unadmitted_workload_reason_with_fallback(reasons.PENDING_EVALUATION, reasons.PENDING, self.features)
            await self._release(key, workload, why, message, requeued=(reason, requeued))
        return await self._delete_after_deactivation(job, workload, evicted)

    async def _release(
        self, key: ObjectKey, workload: ReadOnlyTree, reason: str, message: str, *, requeued: tuple[str, bool] | None = None,
    ) -> None:
        """Take the quota of a Workload back. ``requeued``: why it was evicted, and whether it is
        queued again.
        """
        now = self.framework.clock.time()

        def update(changed: Tree) -> bool:
            updated = requeued is not None and reservation.set_requeued_condition(
                changed, requeued[0], message, requeued[1], now=now)
            return reservation.unset_quota_reservation_with_condition(
                changed, reason, message, now=now, features=self.features) or updated

        written = await patching.patch_admission_status(self.framework.client, workload, update, features=self.features)
        self.framework.wrote(key, names.WORKLOADS, written)

    async def _delete_after_deactivation(
        self, job: GenericJob, workload: ReadOnlyTree, evicted: ReadOnlyTree,
    ) -> Result | None:
        """Delete a job that Kueue deactivated, after as long as the configuration says."""
        retention = self.configuration.workload_retention.after_deactivated_by_kueue_seconds
        if retention is None or states.is_active(workload) or not states.is_evicted_due_to_deactivation_by_kueue(workload):
            return None
        left = times.parse_time(evicted["lastTransitionTime"]) + retention - self.framework.clock.time()
        if left > 0:
            return Result.after(left)
        name, namespace = meta.name_of(job.obj), meta.namespace_of(job.obj)
        if await self.framework.client.delete(
            job.resource, name, namespace, propagation_policy="Background", missing_ok=True) is not None:
            self.framework.event(job.obj, "Normal", "Deleted", "Deleted job: deactivation retention period expired")
            await job.finalize(self.framework)
        return None

    async def _reconcile_suspended(self, key: ObjectKey, job: GenericJob, workload: ReadOnlyTree) -> None:
        """Start a job that is admitted; else let its Workload wait in the queue that it names."""
        if states.is_admitted(workload):
            try:
                await starting.start_job(self.framework, job, workload)
            except podset.PermanentError as error:
                await self._finish(key, workload, starting.FAILED_TO_START, str(error))
            return
        if states.has_quota_reservation(workload):
            self._report_checks(job, workload)
        queue = objects.queue_name(job.obj)
        if job.follows_queue_name() and workload["spec"].get("queueName", "") != queue:
            spec = {**workload["spec"]}
            construction.put_queue_name(spec, queue)
            await self.framework.update_workload(key, {**workload, "spec": spec})

    def _report_checks(self, job: GenericJob, workload: ReadOnlyTree) -> None:
        checks = states.status_of(workload).get("admissionChecks") or ()
        texts = [f"{each['name']}: {each['message']}" for each in checks if each["state"] == "Pending" and each.get("message")]
        if texts:
            for obj in job.members() if isinstance(job, ComposableJob) else [job.obj]:
                self.framework.event(obj, "Normal", "UpdatedAdmissionCheck", "; ".join(texts))
