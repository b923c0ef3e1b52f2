"""The reconciler of Jobs: which events make which Jobs sync, and when, and which pods are a Job's.

Events of pods, and updates of a Job that leave its generation alone, wait a second, so that pods
which end together are counted together. A Job that is new or deleted, or has a new spec, syncs at
once.
Upstream: pkg/controller/job/job_controller.go (NewController, updateJob, syncJob, getPodsForJob).
"""

from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.resources import JOBS, PODS
from fakekube.runtime import jobs
from fakekube.runtime.context import Context
from fakekube.runtime.owned import OwnedObjects, selector_of
from fakekube.runtime.ownwrites import OwnWrites
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.job import pods
from fakekube_controllers.job.backoff import Backoff
from fakekube_controllers.job.features import Features
from fakekube_controllers.job.finalizers import TrackingFinalizers
from fakekube_controllers.job.metrics import JobMetrics
from fakekube_controllers.job.orphans import OrphanPods
from fakekube_controllers.job.podsummaries import JobPods, PodSummaries
from fakekube_controllers.job.sync import SyncResult, sync
from fakekube_controllers.job.syncstate import SyncState
from fakekube_controllers.job.writer import Writer

if TYPE_CHECKING:
    from fakekube_controllers.job.schedulingobjects import SchedulingObjects

GATE, CONSISTENCY_GATE = "WorkloadWithJob", "StaleControllerConsistencyJob"
AUTOMATIC_MINOR = 36  # the minor number of the release in which Jobs of one shape become gangs
SYNC_PERIOD_SECONDS = 1.0
MANAGED_BY = "kubernetes.io/job-controller"


class JobReconciler:
    """Reconciles one Job. The back-off of failed pods does not survive a stop, as upstream."""

    children: OwnedObjects
    orphans: OrphanPods
    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.jobs, self.pods = ctx, ctx.lister(JOBS), ctx.lister(PODS)
        self.features, self.metrics = Features.of(ctx.gates, ctx.version), JobMetrics(ctx.metrics)
        self.expectations, self.finalizers = Expectations(ctx.clock), TrackingFinalizers(ctx.client)
        self.own_writes = OwnWrites(ctx, CONSISTENCY_GATE, JOBS, PODS)
        self.writer = Writer(
            ctx.client, ctx.recorder("job-controller"), self.expectations, self.finalizers, self.metrics, self.own_writes)
        self.scheduling = _scheduling_objects(ctx, self.writer) if ctx.enabled(GATE) else None
        self.summaries: dict[str, PodSummaries] = {}  # by the uid of a Job that has not finished

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Add the handlers of Jobs and pods."""
        self.queue = queue
        self.ctx.add_handler(JOBS, self._job_added, self._job_updated, self._job_deleted)
        self.children = OwnedObjects(
            self.ctx, JOBS, queue, self.expectations, delay_seconds=SYNC_PERIOD_SECONDS,
            finalizers=[pods.TRACKING_FINALIZER])
        self.orphans = OrphanPods(self.ctx, self.children, self.finalizers, self.metrics, self._is_external)

    # events

    def _job_added(self, job: Tree) -> None:
        self.queue.add(meta.key_of(job))
        if self._is_external(job):
            self.metrics.external(job["spec"]["managedBy"])

    def _job_updated(self, old: Tree, job: Tree) -> None:
        if jobs.is_finished(job):
            self.orphans.release_pods_of(job)
        if meta.generation_of(old) != meta.generation_of(job):
            self.queue.add(meta.key_of(job))
        else:
            self.queue.add_after(meta.key_of(job), SYNC_PERIOD_SECONDS)

    def _job_deleted(self, job: Tree) -> None:
        self.queue.add(meta.key_of(job))
        self.summaries.pop(meta.uid_of(job), None)
        self.orphans.release_pods_of(job)
        # at once: a Job of the same name may be there before the next sync
        self.writer.backoffs.pop(meta.key_of(job), None)
        self.own_writes.forget(meta.key_of(job))

    def _is_external(self, job: Tree) -> bool:
        """Whether another controller manages the Job."""
        return self.features.managed_by and job["spec"].get("managedBy", MANAGED_BY) != MANAGED_BY

    # work

    async def reconcile(self, request: Request) -> Result | None:
        """Sync one Job; the result says when to sync again without an event.

        Raises APIError and ClaimFailed, UnsupportedWorkload with workload-aware scheduling, and
        ExpectedError while its cache is behind its own writes.
        """
        self.own_writes.check_seen(request)
        cached = self.jobs.get(request.namespace, request.name)
        if cached is None:
            self.writer.forget(request)
            return None
        if self._is_external(cached):
            return None
        if jobs.is_finished(cached):
            self.writer.backoffs.pop(request, None)
            self.summaries.pop(meta.uid_of(cached), None)
            return None
        if cached["spec"].get("completionMode", "NonIndexed") not in ("NonIndexed", "Indexed"):
            self.writer.event(cached, "Warning", "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
            return None
        started, result, failed = self.ctx.clock.time(), SyncResult(), True
        try:
            result = await self._sync(request, cached)
            if result.error is not None:
                raise result.error
            failed = False
        finally:
            self.metrics.synced(cached, result.action, self.ctx.clock.time() - started, failed=failed)
        if result.requeue_seconds is None:
            return None
        return Result.after(max(result.requeue_seconds, 0.0))

    async def _sync(self, key: Request, cached: Tree) -> SyncResult:
        satisfied = self.expectations.satisfied(key)
        status: Tree = orjson.loads(orjson.dumps(cached.get("status") or {}))
        status.setdefault("uncountedTerminatedPods", {})
        job: Tree = {**cached, "metadata": {**cached["metadata"]}, "status": status}
        expected_removals = self.finalizers.expected(key)
        claimed = await self._claim(job)
        group = "" if self.scheduling is None else await self.scheduling.ensure(job, claimed.pods)
        state = SyncState(
            job, claimed, self.ctx.clock.time(), expected_removals,
            self.writer.backoffs.get(key, Backoff()), self.features, cached.get("status") or {}, group)
        return await sync(state, self.writer, satisfied=satisfied)

    async def _claim(self, job: Tree) -> JobPods:
        """The Job's pods: those that it controls and selects, and those that it adopts.

        Raises ClaimFailed.
        """
        uid, selector = meta.uid_of(job), selector_of(job)
        known = self.summaries.get(uid)
        if known is None or known.selector != selector:
            known = self.summaries[uid] = PodSummaries(selector)
        controlled = self.pods.controlled_by(uid)
        summaries = known.of(controlled)
        orphans = self.pods.orphans(meta.namespace_of(job))
        if not orphans and all(summary.selected for summary in summaries):
            return JobPods(controlled, summaries)
        unselected = [pod for pod, summary in zip(controlled, summaries, strict=True) if not summary.selected]
        adopted = [_as_adopted(pod) for pod in await self.children.claim(job, [*unselected, *orphans])]
        selected = [(pod, summary) for pod, summary in zip(controlled, summaries, strict=True) if summary.selected]
        selected += [(pod, known.summarize(pod)) for pod in adopted]
        return JobPods([pod for pod, _ in selected], [summary for _, summary in selected])


def _as_adopted(pod: Tree) -> Tree:
    """A pod that was adopted just now, with the finalizer that the cache does not show yet."""
    return pod if pods.is_tracked(pod) else meta.with_finalizer(pod, pods.TRACKING_FINALIZER)


def _scheduling_objects(ctx: Context, writer: Writer) -> "SchedulingObjects":
    """What makes Workloads and PodGroups in this release."""
    if ctx.version and int(ctx.version.split(".")[1]) <= AUTOMATIC_MINOR:
        from fakekube_controllers.job.automaticgang import AutomaticGangs

        return AutomaticGangs(ctx, writer)
    from fakekube_controllers.job.schedulingmanager import SchedulingManager

    return SchedulingManager(ctx, writer)
