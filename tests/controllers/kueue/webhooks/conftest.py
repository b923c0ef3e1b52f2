"""A cluster with Kueue's kinds and webhooks, whose controllers are stopped: rules alone decide."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, WORKLOADS

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "a:1"}]}}


def quota(name="cpu", nominal="1", **limits):
    return {"name": name, "nominalQuota": nominal, **limits}


def group(*quotas, covered=None, flavor="f"):
    """A resource group of one flavor."""
    names = covered or [each["name"] for each in quotas]
    return {"coveredResources": names, "flavors": [{"name": flavor, "resources": [*quotas]}]}


def podset(name="main", count=1, requests=None, **fields):
    container = {"name": "c", "image": "a:1", "resources": {"requests": requests or {"cpu": "1"}}}
    return {"name": name, "count": count, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}, **fields}


class Rules:
    """A client of the cluster that tells what is refused, and with which words."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def create(self, resource, spec, name="x", **metadata):
        return await self.client.create(
            resource, {"metadata": {"name": name, **metadata}, "spec": spec}, "default" if resource.namespaced else "")

    async def refused(self, writing):
        """The code and the text that a write is refused with."""
        with pytest.raises(APIError) as caught:
            await writing
        return caught.value.code, caught.value.message

    async def denied(self, writing):
        """The text that a webhook refuses a write with."""
        code, message = await self.refused(writing)
        assert code == 403
        return message.partition("denied the request: ")[2]

    async def invalid(self, writing):
        """The text that the definition's rules refuse a write with."""
        code, message = await self.refused(writing)
        assert code == 422
        return message.partition("is invalid: ")[2]

    async def cluster_queue(self, *groups, name="x", **spec):
        return await self.create(CLUSTER_QUEUES, {"namespaceSelector": {}, "resourceGroups": [*groups], **spec}, name)

    async def workload(self, *podsets, annotations=None, **spec):
        return await self.create(WORKLOADS, {"podSets": [*podsets], **spec}, annotations=annotations or {})

    async def change(self, resource, patch, subresource=""):
        namespace = "default" if resource.namespaced else ""
        return await self.client.patch(resource, "x", namespace, patch, subresource=subresource)

    async def reserve(self, **fields):
        """Write into the status of the workload that it is admitted."""
        admission = {"clusterQueue": "q", "podSetAssignments": [
            {"name": "main", "count": 2, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "2"}}]}
        conditions = [
            {"type": type_, "status": "True", "reason": type_, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for type_ in ("QuotaReserved", "Admitted")]
        status = {"admission": admission, "conditions": conditions, **fields}
        return await self.change(WORKLOADS, {"status": status}, "status")


@pytest.fixture
async def rules():
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon()]) as cluster:
        await cluster.stop_controller("kueue")
        yield Rules(cluster)
