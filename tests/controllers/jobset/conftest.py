"""A cluster with JobSet and without nodes, where the test plays scheduler and kubelet."""

from typing import Any

import pytest

from fakekube.client.resources import EVENTS, JOBS, PODS, SERVICES
from fakekube.composition.cluster import Cluster
from fakekube_controllers.jobset import addon
from fakekube_controllers.jobset.names import JOBSETS
from tests.controllers.world import NAMESPACE, World, pod_template

CONTROLLERS = "job,garbagecollector,namespace,serviceaccount,persistentvolumeclaim-protection"


def replicated(name: str = "w", replicas: int = 1, **fields: Any) -> Any:
    """A replicated job; what is no field of it is one of its Jobs' specs."""
    own = {key: fields.pop(key) for key in ("groupName", "dependsOn") if key in fields}
    metadata = fields.pop("metadata", {})
    spec = {"backoffLimit": 0, "template": pod_template(), **fields}
    return {"name": name, "replicas": replicas, "template": {"metadata": metadata, "spec": spec}, **own}


def manifest(*jobs: Any, name: str = "js", annotations: Any = None, **spec: Any) -> Any:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations or {}},
        "spec": {"replicatedJobs": [*jobs], **spec}}


class JobSets(World):
    """A cluster and what tests of JobSets do to it."""

    async def create(self, *jobs, **spec):
        """Create a JobSet and let the controllers do what they do at once."""
        created = await self.client.create(JOBSETS, manifest(*jobs, **spec))
        await self.advance(1)
        return created

    async def jobset(self, name="js"):
        return await self.client.get(JOBSETS, name, NAMESPACE)

    async def change(self, name="js", **spec):
        changed = await self.client.patch(JOBSETS, name, NAMESPACE, {"spec": spec})
        await self.advance(1)
        return changed

    async def status(self, name="js"):
        return (await self.jobset(name)).get("status", {})

    async def counters(self, name="js"):
        """(ready, succeeded, failed, active, suspended) by replicated job."""
        fields = ("ready", "succeeded", "failed", "active", "suspended")
        return {
            each["name"]: tuple(each[field] for field in fields)
            for each in (await self.status(name)).get("replicatedJobsStatus", ())}

    async def condition(self, kind, name="js"):
        """(status, reason, message) of a condition; None without it."""
        for each in (await self.status(name)).get("conditions") or ():
            if each["type"] == kind:
                return each["status"], each["reason"], each["message"]
        return None

    async def jobs(self):
        """The Jobs, by name."""
        return {job["metadata"]["name"]: job for job in (await self.client.list(JOBS, NAMESPACE)).items}

    async def services(self):
        return [each["metadata"]["name"] for each in (await self.client.list(SERVICES, NAMESPACE)).items]

    async def pods_of(self, *jobs):
        listed = (await self.client.list(PODS, NAMESPACE)).items
        return [pod for pod in listed if pod["metadata"]["labels"].get("batch.kubernetes.io/job-name") in jobs]

    async def finish(self, *jobs, exit_code=0):
        """End all pods of Jobs, which ends the Jobs."""
        for pod in await self.pods_of(*jobs):
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                await self.end(pod, exit_code)
        await self.advance(3)

    async def start_pods(self, *jobs):
        await self.make_ready(*await self.pods_of(*jobs))
        await self.advance(2)

    async def told(self, name="js"):
        """(type, reason, message) of the Events about a JobSet, in their order."""
        listed = (await self.client.list(EVENTS, NAMESPACE)).items
        mine = [each for each in listed if (each["involvedObject"]["kind"], each["involvedObject"]["name"]) == ("JobSet", name)]
        mine.sort(key=lambda event: event["metadata"]["name"].rpartition(".")[2])
        return [(event["type"], event["reason"], event["message"]) for event in mine]


def cluster_with(**features):
    """A cluster with JobSet and these gates of its own, on manual time."""
    return Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[addon(**features)])


@pytest.fixture
async def world():
    async with cluster_with() as cluster:
        yield JobSets(cluster)


@pytest.fixture
async def restarting_jobs():
    """The same with the gate RestartJob."""
    async with cluster_with(RestartJob=True) as cluster:
        yield JobSets(cluster)
