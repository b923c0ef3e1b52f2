"""One reconcile of one RayJob: the state that it is in, and the next one.

Upstream: ray-operator/controllers/ray/rayjob_controller.go. What upstream polls for every three
seconds is heard of here by events.
"""

import copy
from datetime import timedelta

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import JOBS
from fakekube.runtime.context import Context
from fakekube.runtime.ownership import set_controller
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.ray import names, submission, validation
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS
from fakekube_controllers.ray.submission import FAILED, RUNNING, STOPPED, SUCCEEDED, Outcome
from fakekube_controllers.ray.validation import Invalid

NEW, INITIALIZING, WAITING, RUNS = "", "Initializing", "Waiting", "Running"
COMPLETE, HAS_FAILED, VALIDATION_FAILED = "Complete", "Failed", "ValidationFailed"
SUSPENDING, SUSPENDED, RETRYING = "Suspending", "Suspended", "Retrying"
CATCH_UP = timedelta(milliseconds=5)
SUFFIX_LENGTH = 5
FORGOTTEN = ("rayClusterStatus", "rayClusterName", "dashboardURL", "jobId", "message", "reason", "rayJobInfo", "jobStatus")
"""What a job that is suspended or tried again leaves behind of its status."""


class RayJobReconciler:
    """Reconciles one RayJob."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self._client = ctx, ctx.client
        self._jobs, self._clusters, self._submitters = ctx.lister(RAY_JOBS), ctx.lister(RAY_CLUSTERS), ctx.lister(JOBS)
        self._recorder = ctx.recorder("rayjob-controller")
        self._consistency = Consistency()

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a job a step forward and write its status. Raises APIError."""
        cached = self._jobs.get(request.namespace, request.name)
        if cached is None:
            self._consistency.forget(request)
            return None
        if (cached["spec"].get("managedBy") or names.MANAGED_BY_OPERATOR) != names.MANAGED_BY_OPERATOR:
            return None
        if not self._consistency.satisfied(request):
            return Result(requeue_after=CATCH_UP)
        if meta.is_deleting(cached):
            if names.JOB_FINALIZER in meta.finalizers_of(cached):
                await self._client.update(RAY_JOBS, meta.without_finalizer(cached, names.JOB_FINALIZER))
            return None
        job: Tree = copy.deepcopy(cached)
        status: Tree = job.setdefault("status", {})
        try:
            validation.check_job_metadata(job)
            validation.check_job_spec(job)
        except Invalid as error:
            reason = "InvalidRayJobSpec" if "spec is" in str(error) else "InvalidRayJobMetadata"
            self._event(job, reason, f"{request.namespace}/{request.name}: {error}", kind="Warning")
            status |= {"jobDeploymentStatus": VALIDATION_FAILED, "reason": VALIDATION_FAILED, "message": str(error)}
            await self._write(request, cached, job)
            return None
        before = status.get("jobDeploymentStatus", NEW)
        again = await self._step(request, cached, job)
        if before not in (COMPLETE, HAS_FAILED):
            _count_attempts(job)
        await self._write(request, cached, job)
        return again

    async def _step(self, request: Request, cached: ReadOnlyTree, job: Tree) -> Result | None:
        state = job["status"].get("jobDeploymentStatus", NEW)
        if state == NEW:
            await self._begin(request, cached, job)
        elif state in (INITIALIZING, WAITING, RUNS):
            if _suspends(job) or self._is_too_late(job, state):
                return None
            again = await (self._run(request, job) if state == RUNS else self._initialize(request, job))
            return _sooner(again, self._until_deadline(job, state))
        elif state in (SUSPENDING, RETRYING):
            await self._clean_up(job, state)
        elif state == SUSPENDED and not job["spec"].get("suspend"):
            job["status"]["jobStatus"], job["status"]["jobDeploymentStatus"] = "", NEW
        elif state in (COMPLETE, HAS_FAILED):
            return await self._shut_down(job)
        return None

    # the states

    async def _begin(self, request: Request, cached: ReadOnlyTree, job: Tree) -> None:
        status, spec, name = job["status"], job["spec"], request.name
        if names.JOB_FINALIZER not in meta.finalizers_of(job):
            finalizers = [*meta.finalizers_of(job), names.JOB_FINALIZER]
            written = await self._client.update(
                RAY_JOBS, {**cached, "metadata": {**cached["metadata"], "finalizers": finalizers}})
            self._consistency.wrote(request, self._ctx.informer(RAY_JOBS), written)
            job["metadata"] = written["metadata"]
        rng = self._ctx.rng
        if submission.mode_of(job) != validation.INTERACTIVE and not status.get("jobId"):
            status["jobId"] = spec.get("jobId") or f"{name}-{rng.suffix(SUFFIX_LENGTH)}"
        if not status.get("rayClusterName"):
            selected = (spec.get("clusterSelector") or {}).get(names.CLUSTER_LABEL)
            status["rayClusterName"] = selected or f"{name}-{rng.suffix(SUFFIX_LENGTH)}"
        status["jobDeploymentStatus"], status["startTime"] = INITIALIZING, times.format_time(self._now)

    async def _initialize(self, request: Request, job: Tree) -> None:
        status = job["status"]
        if status["jobDeploymentStatus"] == WAITING:
            if job["spec"].get("jobId"):
                status["jobId"], status["jobDeploymentStatus"] = job["spec"]["jobId"], RUNS
            return
        cluster = await self._cluster(request, job)
        if cluster is None:
            return
        if not status.get("dashboardURL"):
            if (cluster.get("status") or meta.EMPTY).get("state") != "ready":
                _show_cluster(job, cluster)
                return
            status["dashboardURL"] = f"{names.head_service(meta.name_of(cluster))}.{request.namespace}.svc.cluster.local:8265"
        if submission.mode_of(job) == validation.INTERACTIVE:
            status["jobDeploymentStatus"] = WAITING
            return
        if submission.has_submitter(job) and self._submitters.get(request.namespace, request.name) is None:
            made = await self._client.create(JOBS, submission.submitter(job, cluster), request.namespace)
            self._consistency.wrote(request, self._ctx.informer(JOBS), made)
            self._event(job, "CreatedRayJobSubmitter", f"Created Kubernetes Job {request.namespace}/{request.name}")
        status["jobDeploymentStatus"] = RUNS

    async def _run(self, request: Request, job: Tree) -> Result | None:
        status = job["status"]
        cluster = await self._cluster(request, job)
        if cluster is None:
            return None
        status.setdefault("rayJobInfo", {}).setdefault("startTime", times.format_time(self._now))
        outcome = self._outcome(request, job)
        _show_cluster(job, cluster)
        status["jobStatus"], status["message"] = outcome.status, outcome.message
        if outcome.status in (SUCCEEDED, FAILED, STOPPED):
            status["rayJobInfo"]["endTime"] = times.format_time(self._now)
            status["jobDeploymentStatus"] = HAS_FAILED if outcome.status == FAILED else COMPLETE
            if outcome.status == FAILED:
                status["reason"] = "AppFailed"
        if not outcome.message:
            status.pop("message")
        return Result.after(outcome.until - self._now) if outcome.until is not None else None

    def _outcome(self, request: Request, job: ReadOnlyTree) -> Outcome:
        if not submission.has_submitter(job):
            return submission.outcome_of_annotations(job, self._now)
        found = self._submitters.get(request.namespace, request.name)
        return submission.outcome_of_submitter(found) if found is not None else Outcome(RUNNING)

    async def _clean_up(self, job: Tree, state: str) -> None:
        """Delete the cluster and the submitter; when they are gone, be suspended or begin again."""
        status, namespace, name = job["status"], meta.namespace_of(job), meta.name_of(job)
        is_gone = await self._delete_cluster(job)
        submitter = self._submitters.get(namespace, name)
        if submitter is not None:
            is_gone = False
            if not meta.is_deleting(submitter):
                await self._client.delete(JOBS, name, namespace, propagation_policy="Background", missing_ok=True)
                self._event(job, "DeletedRayJobSubmitter", f"Deleted submitter K8s Job {namespace}/{name}")
        if is_gone:
            for field in FORGOTTEN:
                status.pop(field, None)
            status["jobDeploymentStatus"] = SUSPENDED if state == SUSPENDING else NEW

    async def _shut_down(self, job: Tree) -> Result | None:
        """Delete the cluster of a job that is over, where that is wanted and due."""
        spec = job["spec"]
        if spec.get("clusterSelector") or not spec.get("shutdownAfterJobFinishes"):
            return None
        ends = times.parse_time(job["status"]["endTime"]) + (spec.get("ttlSecondsAfterFinished") or 0)
        if ends > self._now:
            return Result.after(ends - self._now)
        await self._delete_cluster(job)
        return None

    # the cluster

    async def _cluster(self, request: Request, job: Tree) -> ReadOnlyTree | None:
        """The RayCluster of a job, made where it is not there; None for one that is to be there."""
        name = job["status"]["rayClusterName"]
        found = self._clusters.get(request.namespace, name)
        if found is not None:
            return found
        if job["spec"].get("clusterSelector"):
            self._event(
                job, "RayClusterNotFound", f"RayCluster {request.namespace}/{name} set in the clusterSelector is not found. "
                "It must be created manually", kind="Warning")
            return None
        made: Tree = {
            "apiVersion": RAY_CLUSTERS.api_version, "kind": RAY_CLUSTERS.kind,
            "metadata": {
                "name": name, "namespace": request.namespace, "annotations": dict(meta.annotations_of(job)),
                "labels": {
                    **meta.labels_of(job), names.ORIGIN_NAME_LABEL: request.name, names.ORIGIN_KIND_LABEL: "RayJob",
                    names.SUBMISSION_MODE_LABEL: submission.mode_of(job)}},
            "spec": copy.deepcopy(job["spec"]["rayClusterSpec"])}
        set_controller(made, job)
        created = await self._client.create(RAY_CLUSTERS, made, request.namespace)
        self._consistency.wrote(request, self._ctx.informer(RAY_CLUSTERS), created)
        self._event(job, "CreatedRayCluster", f"Created RayCluster {request.namespace}/{name}")
        return created

    async def _delete_cluster(self, job: ReadOnlyTree) -> bool:
        """Delete the cluster of a job; whether it is gone."""
        name, namespace = job["status"].get("rayClusterName", ""), meta.namespace_of(job)
        if job["spec"].get("clusterSelector"):
            return True
        found = self._clusters.get(namespace, name)
        if found is None:
            return True
        if not meta.is_deleting(found):
            await self._client.delete(RAY_CLUSTERS, name, namespace, missing_ok=True)
            self._event(job, "DeletedRayCluster", f"Deleted cluster {namespace}/{name}")
        return False

    # time, status and Events

    @property
    def _now(self) -> float:
        return self._ctx.clock.time()

    def _is_too_late(self, job: Tree, state: str) -> bool:
        """Whether a deadline has passed; the job has failed then."""
        status = job["status"]
        for field, reason in _deadlines(state):
            seconds = job["spec"].get(field)
            if seconds is not None and self._now >= times.parse_time(status["startTime"]) + seconds:
                named = f"{field[0].upper()}{field[1:]}"
                status["jobDeploymentStatus"], status["reason"] = HAS_FAILED, reason
                status["message"] = (
                    f"The RayJob has passed the {field}. StartTime: {status['startTime']}. {named}: {seconds}")
                return True
        return False

    def _until_deadline(self, job: ReadOnlyTree, state: str) -> Result | None:
        started = times.parse_time(job["status"]["startTime"])
        left = [started + job["spec"][field] - self._now for field, _ in _deadlines(state) if job["spec"].get(field) is not None]
        return Result.after(max(min(left), 0)) if left else None

    async def _write(self, request: Request, cached: ReadOnlyTree, job: Tree) -> None:
        status = job["status"]
        if status == (cached.get("status") or {}):
            return
        is_over = status.get("jobDeploymentStatus") in (COMPLETE, HAS_FAILED)
        if is_over and (cached.get("status") or meta.EMPTY).get("jobDeploymentStatus") != status["jobDeploymentStatus"]:
            status["endTime"] = times.format_time(self._now)
        written = await self._client.update(RAY_JOBS, job, subresource="status")
        self._consistency.wrote(request, self._ctx.informer(RAY_JOBS), written)

    def _event(self, job: ReadOnlyTree, reason: str, text: str, *, kind: str = "Normal") -> None:
        self._recorder.event(job, "Warning" if kind == "Warning" else "Normal", reason, text)


def _deadlines(state: str) -> tuple[tuple[str, str], ...]:
    """The deadlines of a state: the field, and the reason of whoever passes it."""
    active = ("activeDeadlineSeconds", "DeadlineExceeded")
    before = ("preRunningDeadlineSeconds", "PreRunningDeadlineExceeded")
    return {INITIALIZING: (active, before), WAITING: (before,)}.get(state, (active,))


def _suspends(job: Tree) -> bool:
    """Whether a job is to be suspended; it begins to be, then."""
    status = job["status"]
    if not job["spec"].get("suspend") or status["jobDeploymentStatus"] == WAITING:
        return False
    status["jobDeploymentStatus"] = SUSPENDING
    return True


def _count_attempts(job: Tree) -> None:
    """Count what has ended, and try a failed job again as often as it may be."""
    status, limit = job["status"], job["spec"].get("backoffLimit")
    has_failed = status.get("jobDeploymentStatus") == HAS_FAILED
    has_succeeded = status.get("jobDeploymentStatus") == COMPLETE and status.get("jobStatus") == SUCCEEDED
    status["failed"] = status.get("failed", 0) + has_failed
    status["succeeded"] = status.get("succeeded", 0) + has_succeeded
    if has_failed and limit is not None and status["failed"] < limit + 1 and status.get("reason") != "DeadlineExceeded":
        status["jobDeploymentStatus"] = RETRYING


def _show_cluster(job: Tree, cluster: ReadOnlyTree) -> None:
    """Let the job's status show its cluster's, but for what changes all the time."""
    shown = {key: value for key, value in (cluster.get("status") or {}).items() if key != "lastUpdateTime"}
    if shown:
        job["status"]["rayClusterStatus"] = copy.deepcopy(shown)


def _sooner(one: Result | None, other: Result | None) -> Result | None:
    """The one of two that looks again first."""
    times_left = [each for each in (one, other) if each is not None and each.requeue_after is not None]
    return min(times_left, key=lambda each: each.requeue_after or timedelta()) if times_left else None

