"""One reconcile of one CronJob: counts its Jobs, deletes old ones, and starts the run that is due.

The status is worked out in a copy of the CronJob, which is written once, at the end, if anything
changed.
Upstream: pkg/controller/cronjob/cronjob_controllerv2.go (syncCronJob, cleanupFinishedJobs).
"""

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.times import format_time, parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder, object_reference
from fakekube.client.resources import CRON_JOBS, JOBS
from fakekube.runtime.jobs import finished_condition
from fakekube.util import cron
from fakekube_controllers.cronjob.schedule import MANY, Plan, ScheduleError, missed, plan_of, seconds_to_next

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
ZONE_IN_SCHEDULE = (
    "CRON_TZ or TZ used in schedule {} is not officially supported, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
TOO_MANY_MISSED = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
STILL_RUNNING = "Not starting job because prior execution is running and concurrency policy is Forbid"


class Sync:
    """The CronJob (with a status that is changed here), the Jobs that it controls, the time, and
    whether the status changed.
    """

    def __init__(self, client: Client, events: Recorder, cron_job: Tree, jobs: Sequence[Tree], now: float) -> None:
        self.client, self.events, self.cron_job, self.jobs, self.now = client, events, cron_job, jobs, now
        self.status: Tree = cron_job.setdefault("status", {})
        self.changed = False

    async def run(self) -> float | None:
        """Do all there is to do, the write of the status included; seconds until the next run, or
        None. Raises APIError.
        """
        await self._clean_up()
        try:
            return await self._sync()
        finally:
            if self.changed:
                await self.client.update_status(CRON_JOBS, self.cron_job)

    async def _sync(self) -> float | None:
        await self._note_jobs()
        await self._note_missing()
        plan = None if meta.is_deleting(self.cron_job) else self._plan()
        if plan is None:
            return None
        try:
            found = missed(self.cron_job, plan, self.now, within_deadline=True)
        except ScheduleError as error:
            self._warn("InvalidSchedule", f"invalid schedule: {self.cron_job['spec']['schedule']} : {error}")
            return None
        if found.latest is not None and found.number > MANY:
            self._warn("TooManyMissedTimes", TOO_MANY_MISSED)
        if found.latest is not None and self._may_start(found.latest) and not await self._start(found.latest):
            return None
        return seconds_to_next(self.cron_job, plan, self.now)

    def _tell(self, reason: str, text: str) -> None:
        self.events.event(self.cron_job, "Normal", reason, text)

    def _warn(self, reason: str, text: str) -> None:
        self.events.event(self.cron_job, "Warning", reason, text)

    # Jobs that are there

    @property
    def active(self) -> list[Tree]:
        """References to the Jobs that run, as far as the status knows."""
        found: list[Tree] = self.status.get("active") or []
        return found

    def _is_active(self, uid: str) -> bool:
        return any(reference.get("uid") == uid for reference in self.active)

    def _set_active(self, references: list[Tree]) -> None:
        self.status["active"] = references
        if not references:
            del self.status["active"]

    def _forget(self, uid: str) -> None:
        self._set_active([reference for reference in self.active if reference.get("uid") != uid])

    async def _clean_up(self) -> None:
        """Delete what is more than the history is to hold, oldest first."""
        spec = self.cron_job["spec"]
        for outcome, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            if spec.get(limit) is None:
                continue
            jobs = sorted((job for job in self.jobs if finished_as(job) == outcome), key=_by_start)
            for job in jobs[:max(len(jobs) - spec[limit], 0)]:
                with contextlib.suppress(APIError):
                    await self._delete(job)

    async def _delete(self, job: Tree) -> None:
        """Delete a Job and say so. Raises APIError, after a Warning."""
        name = meta.name_of(job)
        try:
            await self.client.delete(JOBS, name, meta.namespace_of(job), propagation_policy="Background")
        except APIError as error:
            self._warn("FailedDelete", f"Deleted job: {error}")
            raise
        self._forget(meta.uid_of(job))
        self.changed = True
        self._tell("SuccessfulDelete", f"Deleted job {name}")

    async def _note_jobs(self) -> None:
        for job in self.jobs:
            uid, name, outcome = meta.uid_of(job), meta.name_of(job), finished_as(job)
            if not outcome:
                if not self._is_active(uid) and not await self._is_active_by_now(uid):
                    self._warn("UnexpectedJob", f"Saw a job that the controller did not create or forgot: {name}")
                continue
            if self._is_active(uid):
                self._forget(uid)
                self._tell("SawCompletedJob", f"Saw completed job: {name}, condition: {outcome}")
                self.changed = True
            completed, last = job["status"].get("completionTime"), self.status.get("lastSuccessfulTime")
            if outcome == "Complete" and completed and (last is None or parse_time(completed) > parse_time(last)):
                self.status["lastSuccessfulTime"] = completed
                self.changed = True

    async def _is_active_by_now(self, uid: str) -> bool:
        """The cache of Jobs may be ahead of the cache of CronJobs.

        Raises APIError when the CronJob is gone.
        """
        fresh = await self.client.get(CRON_JOBS, meta.name_of(self.cron_job), meta.namespace_of(self.cron_job))
        if not any(reference.get("uid") == uid for reference in fresh.get("status", {}).get("active") or ()):
            return False
        self.cron_job, self.status = fresh, fresh["status"]
        return True

    async def _note_missing(self) -> None:
        known = {meta.uid_of(job) for job in self.jobs}
        for reference in list(self.active):
            name = reference["name"]
            if reference["uid"] in known:
                continue
            if await self.client.get(JOBS, name, reference["namespace"], missing_ok=True) is None:
                self._tell("MissingJob", f"Active job went missing: {name}")
                self._forget(reference["uid"])
                self.changed = True

    # the next one

    def _plan(self) -> Plan | None:
        """The schedule to go by, unless it makes no sense or is suspended."""
        spec = self.cron_job["spec"]
        zone = spec.get("timeZone")
        if zone is not None and not cron.is_time_zone(zone):
            self._warn("UnknownTimeZone", f"invalid timeZone: {go_quote(zone)}: unknown time zone {zone}")
            return None
        if spec.get("suspend"):
            return None
        if "TZ" in spec["schedule"]:
            self._warn("UnsupportedSchedule", ZONE_IN_SCHEDULE.format(go_quote(spec["schedule"])))
        try:
            return plan_of(self.cron_job)
        except cron.CronError as error:
            self._warn("UnparseableSchedule", f"unparseable schedule: {go_quote(spec['schedule'])} : {error}")
            return None

    def _may_start(self, due: float) -> bool:
        """Whether the run that was due then starts now; ``missed`` has left out those that come too
        late.
        """
        spec = self.cron_job["spec"]
        if any(reference["name"] == self._name(due) for reference in self.active):
            return False
        if spec.get("concurrencyPolicy") == "Forbid" and self.active:
            self._tell("JobAlreadyActive", STILL_RUNNING)
            return False
        return True

    def _name(self, due: float) -> str:
        """One name a minute: a run is never started twice."""
        return f"{meta.name_of(self.cron_job)}-{int(due) // 60}"

    async def _start(self, due: float) -> bool:
        """Start a run, in place of those that run if need be; False when somebody else has started
        it.
        """
        if self.cron_job["spec"].get("concurrencyPolicy") == "Replace":
            await self._replace()
        namespace, wanted = meta.namespace_of(self.cron_job), self._job(due)
        try:
            job = await self.client.create(JOBS, wanted, namespace)
        except APIError as error:
            if error.reason != "AlreadyExists":
                if not is_namespace_terminating(error):
                    self._warn("FailedCreate", f"Error creating job: {error}")
                raise
            job = await self.client.get(JOBS, self._name(due), namespace)
            if not meta.is_controlled_by(job, self.cron_job) or self._is_active(meta.uid_of(job)):
                return False
        else:
            self._tell("SuccessfulCreate", f"Created job {meta.name_of(job)}")
        self._set_active([*self.active, object_reference(job)])
        self.status["lastScheduleTime"] = format_time(due)
        self.changed = True
        return True

    async def _replace(self) -> None:
        for reference in list(self.active):
            try:
                job = await self.client.get(JOBS, reference["name"], reference["namespace"])
            except APIError as error:
                self._warn("FailedGet", f"Get job: {error}")
                raise
            await self._delete(job)

    def _job(self, due: float) -> Tree:
        template: Tree = self.cron_job["spec"]["jobTemplate"]
        zone = self.cron_job["spec"].get("timeZone")
        when = datetime.fromtimestamp(due, ZoneInfo(zone) if zone and zone not in ("UTC", "Local") else UTC)
        annotations = {**meta.annotations_of(template), SCHEDULED_AT: when.isoformat().replace("+00:00", "Z")}
        return {
            "metadata": {
                "name": self._name(due), "namespace": meta.namespace_of(self.cron_job),
                "labels": dict(meta.labels_of(template)), "annotations": annotations,
                "ownerReferences": [meta.controller_reference(self.cron_job)],
            },
            "spec": template["spec"],
        }


def finished_as(job: Tree) -> str:
    """``Complete``, ``Failed``, or empty."""
    condition = finished_condition(job)
    return str(condition["type"]) if condition is not None else ""


def _by_start(job: Tree) -> tuple[bool, float, str]:
    start = job.get("status", {}).get("startTime")
    return start is None, parse_time(start) if start else 0.0, meta.name_of(job)
