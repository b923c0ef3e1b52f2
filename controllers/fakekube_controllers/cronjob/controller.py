"""Which CronJobs are reconciled, and when.

A CronJob is reconciled when it or one of its Jobs changes, and when its next run is due. One with a
new schedule waits for the next run: it never starts one at once. The wait for a run never pulls
virtual time: a schedule has no end.
Upstream: pkg/controller/cronjob/cronjob_controllerv2.go (NewControllerV2, addJob, updateJob,
updateCronJob).
"""


import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CRON_JOBS, JOBS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.util.cron import CronError
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.cronjob.schedule import plan_of, seconds_to_next
from fakekube_controllers.cronjob.sync import Sync


class CronJobReconciler:
    """Reconciles one CronJob. It keeps no state: what is due follows from the CronJobs alone."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.clock = ctx, ctx.clock
        self.cron_jobs, self.jobs = ctx.lister(CRON_JOBS), ctx.lister(JOBS)
        self.events = ctx.recorder("cronjob-controller")

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch CronJobs and Jobs."""
        self.queue = queue
        self.ctx.add_handler(CRON_JOBS, self._enqueue, self._updated, self._enqueue)
        self.ctx.add_handler(JOBS, self._job_changed, self._job_updated, self._job_changed)

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

    async def reconcile(self, request: Request) -> Result | None:
        """Start and count the runs of a CronJob; the result says when the next one is due.

        Raises APIError.
        """
        cached = self.cron_jobs.get(*request)
        if cached is None:
            return None
        jobs = sorted(self.jobs.controlled_by(meta.uid_of(cached)), key=meta.name_of)
        status: Tree = orjson.loads(orjson.dumps(cached.get("status") or {}))
        cron_job: Tree = {**cached, "status": status}  # all else is only read
        seconds = await Sync(self.ctx.client, self.events, cron_job, jobs, self.clock.time()).run()
        if seconds is None:
            return None
        return Result.after(max(seconds, 0.0), daemon=True)
