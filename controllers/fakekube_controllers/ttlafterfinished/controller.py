"""Deletes finished Jobs, their pods first, once their time to live is over.

The wait never pulls virtual time: a test that looks at a Job after it has completed still finds it
there.
Upstream: pkg/controller/ttlafterfinished/ttlafterfinished_controller.go.
"""


from fakekube.apimachinery import meta
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS
from fakekube.runtime.context import Context
from fakekube.runtime.jobs import finished_condition
from fakekube.runtime.reconcile import Request, Result, TerminalError


def expires_at(job: Tree) -> float | None:
    """When the Job's time is over, in Unix seconds; None when it has not finished, has all the
    time, or goes already.

    Raises TerminalError for a Job that does not say since when it has been finished.
    """
    seconds = job["spec"].get("ttlSecondsAfterFinished")
    if seconds is None or meta.is_deleting(job):
        return None
    condition = finished_condition(job)
    if condition is None:
        return None
    since = condition.get("lastTransitionTime")
    if since is None:
        raise TerminalError(f"unable to find the time when the Job {meta.key_of(job)} finished")
    return float(parse_time(since) + seconds)


class TTLReconciler:
    """Looks at one Job."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.clock, self.jobs = ctx.client, ctx.clock, ctx.lister(JOBS)

    async def reconcile(self, request: Request) -> Result | None:
        """Wait, or delete; a fresh read has the last word, the cache may not have seen a longer
        life. Raises APIError.
        """
        job = self.jobs.get(request.namespace, request.name)
        if job is None:
            return None
        if (seconds := self._seconds_left(job)) is None or seconds > 0:
            return _wait(seconds)
        job = await self.client.get(JOBS, request.name, request.namespace, missing_ok=True)
        if job is None:
            return None
        if (seconds := self._seconds_left(job)) is None or seconds > 0:
            return _wait(seconds)
        await self.client.delete(
            JOBS, request.name, request.namespace, propagation_policy="Foreground", uid=meta.uid_of(job), missing_ok=True)
        return None

    def _seconds_left(self, job: Tree) -> float | None:
        end = expires_at(job)
        return None if end is None else end - self.clock.time()


def _wait(seconds: float | None) -> Result | None:
    return None if seconds is None else Result.after(seconds, daemon=True)
