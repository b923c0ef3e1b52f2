"""A cluster with Kueue and no jobs: queues, and Workloads that are made by hand."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import EVENTS, Resource
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, RESOURCE_FLAVORS, WORKLOADS

if TYPE_CHECKING:
    from fakekube.client.client import Client

NAMESPACE = "default"


class World:
    """What tests do and see."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.client: Client = cluster.client

    async def create(self, resource: Resource, name: str, spec: Tree | None = None, **metadata: Any) -> Tree:
        namespace = NAMESPACE if resource.namespaced else ""
        body: Tree = {"metadata": {"name": name, **metadata}}
        return await self.client.create(resource, {**body, **({"spec": spec} if spec is not None else {})}, namespace)

    async def get(self, resource: Resource, name: str) -> Tree:
        return await self.client.get(resource, name, NAMESPACE if resource.namespaced else "")

    async def patch(self, resource: Resource, name: str, spec: Tree) -> Tree:
        return await self.client.patch(resource, name, NAMESPACE if resource.namespaced else "", {"spec": spec})

    async def queues(self, cpu: str = "5", **spec: Any) -> None:
        """A flavor, a ClusterQueue with so many CPUs of it, and a LocalQueue."""
        await self.create(RESOURCE_FLAVORS, "f", {})
        await self.create(CLUSTER_QUEUES, "cq", cluster_queue({"f": cpu}, **spec))
        await self.create(LOCAL_QUEUES, "q", {"clusterQueue": "cq"})
        await self.cluster.advance("2s")

    async def workload(self, name: str, cpu: str = "1", count: int = 1, **spec: Any) -> Tree:
        containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
        template = {"spec": {"containers": containers, "restartPolicy": "Never"}}
        podset = {"name": "main", "count": count, "template": template}
        return await self.create(WORKLOADS, name, {"queueName": "q", "podSets": [podset], **spec})

    async def condition(self, resource: Resource, name: str, type_: str) -> tuple[str, str, str] | None:
        """Status, reason and message."""
        found = meta.find_condition(await self.get(resource, name), type_)
        return (found["status"], found["reason"], found["message"]) if found is not None else None

    async def events(self, name: str) -> list[tuple[str, str]]:
        """Reason and message of the Events of an object."""
        found = (await self.client.list(EVENTS, NAMESPACE)).items
        return [(each["reason"], each["message"]) for each in found if each["involvedObject"]["name"] == name]


@asynccontextmanager
async def world(configuration: Configuration | None = None) -> AsyncIterator[World]:
    async with Cluster(nodes=0, controllers="", clock="manual", extra=[addon(configuration)]) as cluster:
        yield World(cluster)


def cluster_queue(flavors: Mapping[str, str], **spec: Any) -> Tree:
    """A spec with CPUs by flavor."""
    quotas = [{"name": name, "resources": [{"name": "cpu", "nominalQuota": cpu}]} for name, cpu in flavors.items()]
    return {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": quotas}], **spec}
