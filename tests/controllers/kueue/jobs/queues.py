"""A cluster with whole Kueue, its queues, and the Jobs in them."""

from contextlib import asynccontextmanager

from fakekube.apimachinery import quantity
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import addon, names
from fakekube_controllers.kueue.configuration import Configuration
from tests.controllers.kueue.jobs.conftest import Jobs, manifest
from tests.controllers.world import CONTROLLERS, NAMESPACE

ELASTIC = {names.ELASTIC_JOB_ANNOTATION: "true"}
CPU = 100
"""Thousandths of a CPU that a pod asks for."""


class Queues(Jobs):
    """What tests do; quotas are in pods."""

    async def queue(self, *pods, name="q", namespace=NAMESPACE, **spec):
        """A flavor for each number of pods, a ClusterQueue with these, and a LocalQueue."""
        flavors = []
        for number, count in enumerate(pods, 1):
            flavor = f"{name}{number}"
            await self.client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": flavor}})
            flavors.append({"name": flavor, "resources": [{"name": "cpu", "nominalQuota": f"{count * CPU}m"}]})
        group = {"coveredResources": ["cpu"], "flavors": flavors}
        await self.client.create(names.CLUSTER_QUEUES, {
            "metadata": {"name": name}, "spec": {"namespaceSelector": {}, "resourceGroups": [group], **spec}})
        await self.client.create(
            names.LOCAL_QUEUES, {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterQueue": name}})
        await self.advance(2)

    async def submit(self, name, parallelism, **fields):
        """Create an elastic Job of so many pods."""
        spec = {"completions": 50, "annotations": ELASTIC, **fields}
        await self.client.create(JOBS, manifest(name, parallelism=parallelism, **spec))
        await self.advance(3)

    async def scale(self, parallelism, name="j"):
        await self.client.patch(JOBS, name, NAMESPACE, {"spec": {"parallelism": parallelism}})
        await self.advance(3)

    async def slices(self, name="j"):
        """(size, state) of the Workloads of a Job, oldest first: pending, admitted, evicted, or why
        it is finished."""
        return [
            (each["spec"]["podSets"][0]["count"], _state(each)) for each in await self.workloads()
            if each["metadata"]["ownerReferences"][0]["name"] == name]

    async def message(self, name="j"):
        """Why the newest Workload of a Job has no quota."""
        found = [each for each in await self.workloads() if each["metadata"]["ownerReferences"][0]["name"] == name]
        return next(each["message"] for each in found[-1]["status"]["conditions"] if each["type"] == "QuotaReserved")

    async def usage(self, name="q"):
        """Pods that quota is reserved for, by flavor."""
        status = (await self.client.get(names.CLUSTER_QUEUES, name))["status"]
        return [quantity.parse(each["resources"][0]["total"]).milli_value // CPU for each in status["flavorsReservation"]]


def _state(workload):
    conditions = {each["type"]: each for each in workload["status"].get("conditions") or ()}
    for type_, state in (("Finished", ""), ("Evicted", "evicted"), ("Admitted", "admitted")):
        if type_ in conditions and conditions[type_]["status"] == "True":
            return state or conditions[type_]["reason"]
    return "pending"


@asynccontextmanager
async def queues(configuration=None):
    chosen = configuration or Configuration()
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[addon(chosen)]) as cluster:
        yield Queues(cluster, chosen)
