"""The CronJob controller's ears, and its alarm clock.

A CronJob is looked at when it or one of its Jobs changes, and when its next run is due. A new schedule is first looked at when
its next run is due: it never starts one at once. The wait for a run never pulls virtual time: a schedule has no end.
Upstream: pkg/controller/cronjob/cronjob_controllerv2.go (NewControllerV2, addJob, updateJob, updateCronJob).
"""

from datetime import timedelta

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CRON_JOBS, JOBS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.reconcile import Result
from fakekube.util.cron import CronError
from fakekube_controllers.cronjob.schedule import plan_of, seconds_to_next
from fakekube_controllers.cronjob.sync import Sync


class CronJobController:
    """A component for the manager. It keeps no state over a stop: what is due follows from the CronJobs alone."""

    name = "cronjob"
    user_agent = "kube-controller-manager"
    user: UserInfo | None = None

    async def start(self, ctx: Context) -> None:
        """Register with the caches of CronJobs and Jobs and start to work."""
        self.ctx, self.clock = ctx, ctx.clock
        self.cron_jobs, self.jobs = ctx.lister(CRON_JOBS), ctx.lister(JOBS)
        self.events = ctx.recorder("cronjob-controller")
        self.queue = ctx.queue("cronjob")
        ctx.add_handler(CRON_JOBS, self._enqueue, self._updated, self._enqueue)
        ctx.add_handler(JOBS, self._job_changed, self._job_updated, self._job_changed)
        Worker(ctx, self.queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    def _enqueue(self, cron_job: Tree) -> None:
        self.queue.add(meta.key_of(cron_job))

    def _updated(self, old: Tree, new: Tree) -> None:
        before, spec = old["spec"], new["spec"]
        if before["schedule"] == spec["schedule"] and before.get("timeZone") == spec.get("timeZone"):
            self._enqueue(new)
            return
        try:
            plan = plan_of(new)
        except CronError:
            text = f"unparseable schedule for cronjob: {spec['schedule']}"
            self.events.event(new, "Warning", "UnParseableCronJobSchedule", text)
            return
        self.queue.add_after(meta.key_of(new), seconds_to_next(new, plan, self.clock.time()), daemon=True)

    def _job_updated(self, old: Tree, new: Tree) -> None:
        if meta.controller_of(old) != meta.controller_of(new):
            self._job_changed(old)
        self._job_changed(new)

    def _job_changed(self, job: Tree) -> None:
        owner = meta.controller_of(job)
        if owner is None or owner["kind"] != CRON_JOBS.kind:
            return
        cron_job = self.cron_jobs.get(meta.namespace_of(job), owner["name"])
        if cron_job is not None and meta.uid_of(cron_job) == owner["uid"]:
            self._enqueue(cron_job)

    async def _sync(self, key: ObjectKey) -> Result | None:
        cached = self.cron_jobs.get(key.namespace, key.name)
        if cached is None:
            return None
        jobs = sorted(self.jobs.controlled_by(meta.uid_of(cached)), key=meta.name_of)
        status: Tree = orjson.loads(orjson.dumps(cached.get("status") or {}))
        cron_job: Tree = {**cached, "status": status}  # all else is only read
        seconds = await Sync(self.ctx.client, self.events, cron_job, jobs, self.clock.time()).run()
        if seconds is None:
            return None
        return Result(requeue_after=timedelta(seconds=max(seconds, 0.0)), daemon=True)
