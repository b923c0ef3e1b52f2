"""A cluster with the CronJob controller, at the first second of 2026, on manual time."""

from datetime import UTC, datetime

import pytest

from fakekube.apimachinery import times
from fakekube.client.resources import CRON_JOBS, JOBS
from tests.controllers.world import NAMESPACE, World, job_manifest, manual_cluster

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


class CronWorld(World):
    """CronJobs are called ``c``."""

    async def create_cron(self, schedule, *, template=None, name="c", **spec):
        """Create a CronJob and let the controller look at it."""
        job = {"spec": job_manifest()["spec"], **(template or {})}
        made = await self.client.create(CRON_JOBS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"schedule": schedule, "jobTemplate": job, **spec}})
        await self.settle()
        return made

    async def cron(self, name="c"):
        return await self.client.get(CRON_JOBS, name, NAMESPACE)

    async def change_cron(self, **spec):
        await self.client.patch(CRON_JOBS, "c", NAMESPACE, {"spec": spec})
        await self.settle()

    async def jobs(self):
        """All Jobs, oldest first."""
        listed = (await self.client.list(JOBS, NAMESPACE)).items
        return sorted(listed, key=lambda job: job["metadata"]["name"])

    async def runs(self):
        """When the Jobs that are there were due: 'MM-DD HH:MM', in UTC."""
        minutes = [int(job["metadata"]["name"].rpartition("-")[2]) for job in await self.jobs()]
        return [datetime.fromtimestamp(minute * 60, UTC).strftime("%m-%d %H:%M") for minute in minutes]

    async def finish(self, job, how="Complete", **status):
        """The Job ends now, whatever its pods do."""
        now = times.format_time(self.cluster.clock.time())
        interim = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[how]
        condition = {"status": "True", "lastProbeTime": now, "lastTransitionTime": now}
        body = {"startTime": job["status"].get("startTime", now), "active": None, "ready": None, "conditions": [
            {"type": interim, **condition}, {"type": how, **condition}], **status}
        if how == "Complete":
            body["completionTime"] = now
        await self.client.patch(JOBS, job["metadata"]["name"], NAMESPACE, {"status": body}, subresource="status")
        await self.settle()

    async def at(self, text):
        """Let time pass until '2026-01-01 10:01', in UTC, and the moment by which a run comes late.
        """
        then = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()
        await self.advance(then + 0.5 - self.cluster.clock.time())


@pytest.fixture
async def cron_world():
    """CronJobs without a Job controller: the test says how Jobs fare."""
    async with manual_cluster("cronjob,garbagecollector,namespace,serviceaccount") as cluster:
        yield CronWorld(cluster)
