"""One reconcile of one JobSet: the order of its steps, and what each writes.

Upstream: reconcile and what it calls in pkg/controllers/jobset_controller.go. What upstream does
for many Jobs at a time is done for one after the other here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube.client.resources import JOBS, PERSISTENT_VOLUME_CLAIMS, SERVICES, Resource
from fakekube.runtime.reconcile import Result
from fakekube_controllers.jobset import failures, inplace, names, policies
from fakekube_controllers.jobset import jobs as construction
from fakekube_controllers.jobset.children import Children
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.names import JOBSETS
from fakekube_controllers.jobset.status import ACTION, COMPLETED, FAILED, SUSPENDED, StatusUpdate

if TYPE_CHECKING:
    from fakekube_controllers.jobset.scheduling import SchedulingObjects

BLOCKING_RECREATE = "BlockingRecreate"
MAX_JOBS_AT_ONCE = 500
"""So many Jobs of a replicated job are made before others have their turn; that they exist calls
for the next. Upstream knows no such bound.
"""
LISTED = ("tolerations", "schedulingGates")


class CreationFailed(Exception):
    """Objects of a JobSet that could not be created, one line for each."""


class Sync:
    """``jobs`` are the JobSet's Jobs, ``statuses`` what was counted of them. ``wrote`` is told of
    every object that was written.
    """

    def __init__(
        self, client: Client, recorder: Recorder, update: StatusUpdate, jobs: Children, statuses: Sequence[Tree], *,
        features: Features, services: Lister, pods: Callable[[], Sequence[Tree]], wrote: Callable[[Resource, Tree], None],
        now: float, scheduling: "SchedulingObjects | None" = None,
    ) -> None:
        self.client, self.recorder, self.update, self.jobs = client, recorder, update, jobs
        self.features, self.services, self.pods, self.wrote, self.now = features, services, pods, wrote, now
        self.scheduling = scheduling
        self.statuses: Mapping[str, Tree] = {status["name"]: status for status in statuses}
        self.jobset, self.namespace = update.jobset, meta.namespace_of(update.jobset)

    async def run(self) -> Result | None:
        """Do all there is to do, but for the write of the status; when to look again.

        Raises APIError, CreationFailed, and ValueError for Jobs and pods that make no sense.
        """
        update, jobset, jobs = self.update, self.jobset, self.jobs
        if update.is_finished:
            await self._delete_jobs(jobs.active)
            return await self._expire()
        await self._delete_jobs(jobs.previous)
        is_suspended = names.is_suspended(jobset)
        if not is_suspended and policies.all_ready(jobset, [*self.statuses.values()]):
            update.end_restart("JobsReady", "all jobs are ready")
        if jobs.failed:
            failures.execute(update, jobs.failed, self.features)
            return None
        if jobs.successful and policies.has_succeeded(jobset, jobs.successful):
            text = "jobset completed successfully"
            update.set_condition(COMPLETED, "True", "AllJobsCompleted", text)
            update.end_restart("JobSetCompleted", text)
            update.status["terminalState"] = COMPLETED
            return None
        await self._create_service()
        await self._create_claims()
        if self.features.ElasticJobSet:
            await self._scale()
        if self.scheduling is not None:
            await self._create_scheduling_objects(self.scheduling)
        await self._create_jobs()
        if is_suspended:
            await self._suspend()
        else:
            await self._resume()
        if self.features.InPlaceRestart and inplace.is_wanted(jobset):
            inplace.sync(update, self.pods())
        return None

    # the end

    async def _expire(self) -> Result | None:
        """Delete a finished JobSet whose time is over; else the time that is left."""
        seconds = self.jobset["spec"].get("ttlSecondsAfterFinished")
        if seconds is None:
            return None
        finished = next(
            each for each in self.update.conditions if each["type"] in (COMPLETED, FAILED) and each["status"] == "True")
        left = times.parse_time(finished["lastTransitionTime"]) + seconds - self.now
        if left > 0:
            return Result.after(left)
        await self.client.delete(
            JOBSETS, meta.name_of(self.jobset), self.namespace, propagation_policy="Foreground", missing_ok=True)
        return None

    async def _delete_jobs(self, jobs: Iterable[Tree]) -> None:
        for job in jobs:
            if not meta.is_deleting(job):
                await self.client.delete(
                    JOBS, meta.name_of(job), self.namespace, propagation_policy="Foreground", missing_ok=True)

    # what is created

    async def _create_service(self) -> None:
        if not names.has_dns_hostnames(self.jobset):
            return
        name = names.subdomain(self.jobset)
        if self.services.get(self.namespace, name) is not None:
            return
        published = (self.jobset["spec"].get("network") or meta.EMPTY).get("publishNotReadyAddresses", True)
        service = {
            "metadata": {"name": name, "namespace": self.namespace, "ownerReferences": [meta.controller_reference(self.jobset)]},
            "spec": {
                "clusterIP": "None", "selector": {names.JOBSET_NAME: meta.name_of(self.jobset)},
                "publishNotReadyAddresses": published}}
        try:
            self.wrote(SERVICES, await self.client.create(SERVICES, service))
        except APIError as error:
            self._warn("HeadlessServiceCreationFailed", str(error))
            raise

    async def _create_claims(self) -> None:
        errors: list[str] = []
        for policy in self.jobset["spec"].get("volumeClaimPolicies") or ():
            keeps = (policy.get("retentionPolicy") or meta.EMPTY).get("whenDeleted") == "Retain"
            for template in policy.get("templates") or ():
                try:
                    await self.client.create(PERSISTENT_VOLUME_CLAIMS, self._claim_of(template, keeps=keeps))
                except APIError as error:
                    if error.reason != "AlreadyExists":
                        self._warn("PVCCreationFailed", str(error))
                        errors.append(str(error))
                        break
        if errors:
            raise CreationFailed("\n".join(errors))

    def _claim_of(self, template: Tree, *, keeps: bool) -> Tree:
        jobset = meta.name_of(self.jobset)
        metadata: Tree = {
            "name": names.claim_name(jobset, meta.name_of(template)), "namespace": self.namespace,
            "labels": {**meta.labels_of(template), names.JOBSET_NAME: jobset},
            "annotations": dict(meta.annotations_of(template))}
        if not keeps:
            metadata["ownerReferences"] = [meta.controller_reference(self.jobset)]
        return {"metadata": metadata, "spec": template.get("spec") or {}}

    async def _create_scheduling_objects(self, scheduling: "SchedulingObjects") -> None:
        """Tell the scheduler of the JobSet; without that no Job is made."""
        try:
            await scheduling.ensure(self.jobset)
        except (APIError, ValueError) as error:
            self._warn("SchedulingObjectsFailed", str(error))
            raise

    def _may_start(self, *, in_order: bool) -> Iterator[Tree]:
        """The replicated jobs that depend on nothing that is missing; in order those that have not
        started.
        """
        replicas: dict[str, int] = {}
        for each in names.replicated_jobs(self.jobset):
            name = each["name"]
            replicas[name] = names.replicas(each)
            if policies.may_start(each, replicas, self.statuses) and not (
                    in_order and policies.has_started(each, self.statuses[name])):
                yield each

    async def _create_jobs(self) -> None:
        """Create what is missing, up to the replicated job that others have to wait for."""
        in_order = policies.keeps_order(self.jobset) and not names.is_suspended(self.jobset)
        for each in self._may_start(in_order=in_order):
            await self._create_jobs_of(each)
            if in_order:
                policies.note_start_in_progress(self.update)
                return
        if in_order:
            policies.note_start_completed(self.update)

    async def _create_jobs_of(self, replicated_job: Tree) -> None:
        strategy = (self.jobset["spec"].get("failurePolicy") or meta.EMPTY).get("restartStrategy")
        if self.jobs.previous and strategy == BLOCKING_RECREATE:
            return
        errors = []
        missing = construction.missing_jobs(self.jobset, replicated_job, self.jobs.names, self.features)
        for job in islice(missing, MAX_JOBS_AT_ONCE):
            if self.scheduling is not None:
                self.scheduling.adopt(self.jobset, replicated_job, job)
            try:
                self.wrote(JOBS, await self.client.create(JOBS, job))
            except APIError as error:
                errors.append(f'job "{meta.name_of(job)}" creation failed with error: {error}')
        if errors:
            text = "\n".join(errors)
            self._warn("JobCreationFailed", text)
            raise CreationFailed(text)

    def _warn(self, reason: str, text: str) -> None:
        self.recorder.report(self.jobset, "Warning", reason, ACTION, text)

    # what is changed

    async def _scale(self) -> None:
        """Let Jobs have as many pods as their template says by now."""
        wanted = {each["name"]: each["template"].get("spec") or meta.EMPTY for each in names.replicated_jobs(self.jobset)}
        for job in self.jobs.active:
            template = wanted.get(meta.labels_of(job).get(names.REPLICATED_JOB_NAME, ""))
            if template is None or template.get("parallelism") != template.get("completions"):
                continue
            change = {key: template.get(key) for key in ("parallelism", "completions")}
            if any(job["spec"].get(key) != number for key, number in change.items()):
                self.wrote(JOBS, await self.client.patch(JOBS, meta.name_of(job), self.namespace, {"spec": change}))

    async def _suspend(self) -> None:
        for job in self.jobs.active:
            if not names.is_suspended(job):
                self.wrote(JOBS, await self.client.update(JOBS, {**job, "spec": {**job["spec"], "suspend": True}}))
        text = "jobset is suspended"
        self.update.set_condition(SUSPENDED, "True", "SuspendedJobs", text)
        self.update.end_restart("JobSetSuspended", text)

    async def _resume(self) -> None:
        in_order = policies.keeps_order(self.jobset)
        for each in self._may_start(in_order=in_order):
            for job in self.jobs.active:
                if meta.labels_of(job).get(names.REPLICATED_JOB_NAME) == each["name"] and names.is_suspended(job):
                    await self._resume_job(job, each["template"])
            if in_order:
                policies.note_start_in_progress(self.update)
                return
        self.update.set_condition(SUSPENDED, "False", "ResumeJobs", "jobset is resumed")

    async def _resume_job(self, job: Tree, template: ReadOnlyTree) -> None:
        """Let a Job run, with what was changed in its template meanwhile.

        A Job's template may only change while it has not started.
        """
        if (job.get("status") or meta.EMPTY).get("startTime"):
            status = {key: value for key, value in job["status"].items() if key != "startTime"}
            job = await self.client.update_status(JOBS, {**job, "status": status})
        changed: Tree = orjson.loads(orjson.dumps(job))
        _merge_template(changed["spec"]["template"], (template.get("spec") or meta.EMPTY).get("template") or meta.EMPTY)
        changed["spec"]["suspend"] = False
        self.wrote(JOBS, await self.client.update(JOBS, changed))


def _merge_template(into: Tree, template: ReadOnlyTree) -> None:
    """Add what Kueue and its like may set in a template; others may have added to the Job's own."""
    metadata, spec = into.setdefault("metadata", {}), into["spec"]
    wanted_spec = template.get("spec") or meta.EMPTY
    for field, wanted in (("labels", meta.labels_of(template)), ("annotations", meta.annotations_of(template))):
        metadata[field] = {**(metadata.get(field) or {}), **wanted}
    spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **(wanted_spec.get("nodeSelector") or {})}
    for field in LISTED:
        kept = spec.get(field) or []
        spec[field] = kept + [each for each in wanted_spec.get(field) or () if each not in kept]

