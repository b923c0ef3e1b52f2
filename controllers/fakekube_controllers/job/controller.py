"""The Job controller's ears: which events make which Jobs be looked at, and when.

Pod events, and updates of a Job that leave its generation alone, wait a second, so that pods which end together are
counted together; a new Job, a deleted one and a changed spec are looked at now. A second queue takes the tracking
finalizer off pods that no Job will count any more.
Upstream: pkg/controller/job/job_controller.go (NewController, addPod, updatePod, deletePod, syncOrphanPod).
"""

from datetime import timedelta

import orjson

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.resources import JOBS, PODS
from fakekube.runtime import jobs
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.ownership import ControllerRefManager, recheck_deletion
from fakekube.runtime.reconcile import Result
from fakekube.workqueue.ratelimit import ExponentialBackoff
from fakekube_controllers.job import pods
from fakekube_controllers.job.backoff import Backoff
from fakekube_controllers.job.features import Features
from fakekube_controllers.job.metrics import JobMetrics
from fakekube_controllers.job.podsummaries import JobPods, PodSummaries
from fakekube_controllers.job.sync import SyncResult, sync
from fakekube_controllers.job.syncstate import SyncState
from fakekube_controllers.job.writer import Writer

SYNC_PERIOD_SECONDS = 1.0
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0
MANAGED_BY = "kubernetes.io/job-controller"


class JobController:
    """A component for the manager. It keeps no state over a stop: back-off of failed pods is forgotten, as upstream."""

    name = "job"
    user_agent = "kube-controller-manager"
    user: UserInfo | None = None

    async def start(self, ctx: Context) -> None:
        """Register with the caches of Jobs and Pods and start to work."""
        self.ctx = ctx
        self.jobs, self.pods = ctx.lister(JOBS), ctx.lister(PODS)
        self.features, self.metrics = Features.of(ctx.gates, ctx.version), JobMetrics(ctx.metrics)
        self.writer = Writer(ctx.client, ctx.recorder("job-controller"), Expectations(ctx.clock), self.metrics)
        self.summaries: dict[str, PodSummaries] = {}  # by the uid of the Job, while it goes on
        limiter: ExponentialBackoff[ObjectKey] = ExponentialBackoff(MIN_RETRY_SECONDS, MAX_RETRY_SECONDS)
        self.queue, self.orphans = ctx.queue("job", limiter=limiter), ctx.queue("job_orphan_pod")
        ctx.add_handler(JOBS, self._job_added, self._job_updated, self._job_deleted)
        ctx.add_handler(PODS, self._pod_added, self._pod_updated, self._pod_deleted)
        self.worker = Worker(ctx, self.queue, self._sync)
        self.worker.start()
        Worker(ctx, self.orphans, self._sync_orphan).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    # events

    def _job_added(self, job: Tree) -> None:
        self.queue.add(meta.key_of(job))
        if self._is_external(job):
            self.metrics.external(job["spec"]["managedBy"])

    def _job_updated(self, old: Tree, job: Tree) -> None:
        if jobs.is_finished(job):
            self._release_left_overs(job)
        if old["metadata"].get("generation") != job["metadata"].get("generation"):
            self.queue.add(meta.key_of(job))
        else:
            self.queue.add_after(meta.key_of(job), SYNC_PERIOD_SECONDS)

    def _job_deleted(self, job: Tree) -> None:
        self.queue.add(meta.key_of(job))
        self.summaries.pop(meta.uid_of(job), None)
        self._release_left_overs(job)

    def _release_left_overs(self, job: Tree) -> None:
        for pod in self.pods.controlled_by(meta.uid_of(job)):
            self._enqueue_orphan(pod)

    def _enqueue_orphan(self, pod: Tree) -> None:
        """Let a pod go that no Job will count any more, unless it has been let go and the cache is yet to show it."""
        if pods.is_tracked(pod) and not self.writer.is_removal_expected(pod):
            self.orphans.add(meta.key_of(pod))

    def _pod_added(self, pod: Tree) -> None:
        self.metrics.tracking(None, pod)
        owner = meta.controller_of(pod)
        if pods.is_terminating(pod):
            self._pod_deleted(pod, final=False)
            return
        if owner is None:
            self._enqueue_orphan(pod)
            self._enqueue_matching(pod)
        elif (job := self._job_named(pod, owner)) is not None:
            key = meta.key_of(job)
            self.writer.expectations.creation_observed(key)
            self.queue.add_after(key, SYNC_PERIOD_SECONDS)

    def _pod_updated(self, old: Tree, pod: Tree) -> None:
        if meta.resource_version_of(old) == meta.resource_version_of(pod):
            return
        self.metrics.tracking(old, pod)
        before, now = meta.controller_of(old), meta.controller_of(pod)
        owner = before or now
        if owner is not None and pods.is_tracked(old) and not pods.is_tracked(pod):
            self.writer.finalizer_removal_observed(pod, owner["name"])
        if pods.is_terminating(pod) and not pods.is_terminating(old):
            self._pod_deleted(pod, final=False)
            return
        if before is not None and before != now and (former := self._job_named(pod, before)) is not None:
            self.queue.add_after(meta.key_of(former), SYNC_PERIOD_SECONDS)
        if now is not None:
            if (job := self._job_named(pod, now)) is not None:
                self.queue.add_after(meta.key_of(job), SYNC_PERIOD_SECONDS)
            return
        self._enqueue_orphan(pod)
        if before is not None or old["metadata"].get("labels") != pod["metadata"].get("labels"):
            self._enqueue_matching(pod)

    def _pod_deleted(self, pod: Tree, *, final: bool = True) -> None:
        if final:
            self.metrics.tracking(pod, None)
        owner = meta.controller_of(pod)
        job = self._job_named(pod, owner) if owner is not None else None
        if job is None or jobs.is_finished(job):
            self._enqueue_orphan(pod)
        if owner is None or job is None:
            return
        key = meta.key_of(job)
        self.writer.expectations.deletion_observed(key, meta.uid_of(pod))
        if final or not pods.is_tracked(pod):
            self.writer.finalizer_removal_observed(pod, owner["name"])
        self.queue.add_after(key, SYNC_PERIOD_SECONDS)

    def _enqueue_matching(self, pod: Tree) -> None:
        for job in self.jobs.list(meta.namespace_of(pod)):
            selector = job["spec"].get("selector")
            if selector and labels.from_label_selector(selector).matches(meta.labels_of(pod)):
                self.queue.add_after(meta.key_of(job), SYNC_PERIOD_SECONDS)

    def _job_named(self, pod: Tree, owner: Tree) -> Tree | None:
        if owner["kind"] != "Job":
            return None
        job = self.jobs.get(meta.namespace_of(pod), owner["name"])
        return job if job is not None and meta.uid_of(job) == owner["uid"] else None

    # work

    async def _sync(self, key: ObjectKey) -> Result | None:
        cached = self.jobs.get(key.namespace, key.name)
        if cached is None:
            self.writer.forget(key)
            return None
        if self._is_external(cached):
            return None
        if jobs.is_finished(cached):
            self.writer.backoffs.pop(key, None)
            self.summaries.pop(meta.uid_of(cached), None)
            return None
        if cached["spec"].get("completionMode", "NonIndexed") not in ("NonIndexed", "Indexed"):
            self.writer.event(cached, "Warning", "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
            return None
        started, result = self.ctx.clock.time(), SyncResult()
        try:
            result = await self._sync_job(key, cached)
            if result.error is not None:
                raise result.error
        except APIError:
            self.metrics.synced(cached, result.action, self.ctx.clock.time() - started, failed=True)
            raise
        self.metrics.synced(cached, result.action, self.ctx.clock.time() - started, failed=False)
        if result.requeue_seconds is None:
            return None
        return Result(requeue_after=timedelta(seconds=max(result.requeue_seconds, 0.0)))

    async def _sync_job(self, key: ObjectKey, cached: Tree) -> SyncResult:
        satisfied = self.writer.expectations.satisfied(key)
        status: Tree = orjson.loads(orjson.dumps(cached.get("status") or {}))
        status.setdefault("uncountedTerminatedPods", {})
        job: Tree = {**cached, "metadata": {**cached["metadata"]}, "status": status}
        removed = {**self.writer.finalizer_expectations.get(key, {})}
        state = SyncState(
            job, await self._claimed(job), self.ctx.clock.time(), removed, self.writer.backoffs.get(key, Backoff()),
            self.features, cached.get("status") or {})
        return await sync(state, self.writer, satisfied=satisfied)

    def _is_external(self, job: Tree) -> bool:
        """Whether another controller looks after the Job."""
        return self.features.managed_by and job["spec"].get("managedBy", MANAGED_BY) != MANAGED_BY

    async def _claimed(self, job: Tree) -> JobPods:
        """The Job's pods: those it controls, and those without a controller that its selector matches."""
        uid, selector = meta.uid_of(job), labels.from_label_selector(job["spec"].get("selector") or {})
        known = self.summaries.get(uid)
        if known is None or known.selector != selector:
            known = self.summaries[uid] = PodSummaries(selector)
        controlled = self.pods.controlled_by(uid)
        summaries = known.of(controlled)
        orphans = self.pods.orphans(meta.namespace_of(job))
        if not orphans and all(summary.selected for summary in summaries):
            return JobPods(controlled, summaries)
        manager = ControllerRefManager(
            self.ctx.client, PODS, job, selector,
            can_adopt=recheck_deletion(self.ctx.client, JOBS, job), finalizers=[pods.TRACKING_FINALIZER])
        unselected = [pod for pod, summary in zip(controlled, summaries, strict=True) if not summary.selected]
        adopted = [_as_adopted(pod) for pod in await manager.claim([*unselected, *orphans])]
        selected = [(pod, summary) for pod, summary in zip(controlled, summaries, strict=True) if summary.selected]
        selected += [(pod, known.summarize(pod)) for pod in adopted]
        return JobPods([pod for pod, _ in selected], [summary for _, summary in selected])

    async def _sync_orphan(self, key: ObjectKey) -> None:
        pod = self.pods.get(key.namespace, key.name)
        if pod is None or not pods.is_tracked(pod):
            return
        owner = meta.controller_of(pod)
        if owner is not None:
            if owner["kind"] != "Job" or not owner["apiVersion"].startswith("batch/"):
                return
            job = self._job_named(pod, owner)
            if job is not None and (self._is_external(job) or not jobs.is_finished(job)):
                return
        await self.writer.remove_orphan_finalizer(pod)


def _as_adopted(pod: Tree) -> Tree:
    """The cache shows a pod that was adopted just now as it was before: it counts as tracked from here on."""
    return pod if pods.is_tracked(pod) else meta.with_finalizer(pod, pods.TRACKING_FINALIZER)
