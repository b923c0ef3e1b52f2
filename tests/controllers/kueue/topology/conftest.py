"""A cluster with Kueue and nodes in racks, on which the test is the scheduler of pods and the
kubelet.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube.apimachinery import times
from fakekube.client.resources import JOBS, NODES, PODS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from tests.controllers.world import NAMESPACE, World, manual_cluster, pod_template

K = "kueue.x-k8s.io/"
REQUIRED, PREFERRED, UNCONSTRAINED = (f"{K}podset-{how}-topology" for how in ("required", "preferred", "unconstrained"))
SLICE, SIZE = f"{K}podset-slice-required-topology", f"{K}podset-slice-size"
CONTROLLERS = "job,garbagecollector,namespace,serviceaccount,podgc,kueue"

Tree = dict[str, Any]


def node_manifest(name: str, *, cpu: str = "2", pods: str = "20", **labels: str) -> Tree:
    """A node of the flavor, ready."""
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": pods}
    return {
        "metadata": {"name": name, "labels": {HOSTNAME: name, "pool": "p", **labels}},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": times.format_time(0)}]}}


class Topologies(World):
    """A cluster with one queue ``q``, and what tests of topologies do to it."""

    async def start(self, *levels: str, topology: bool = True, quota: str = "20", **queue: Any) -> None:
        """Make a topology ``t`` with these levels, its flavor ``f``, and the queue."""
        if topology:
            await self.topology(*levels)
        flavor = {"metadata": {"name": "f"}, "spec": {"nodeLabels": {"pool": "p"}, "topologyName": "t"}}
        await self.client.create(names.RESOURCE_FLAVORS, flavor)
        group = {"coveredResources": ["cpu"], "flavors": [
            {"name": "f", "resources": [{"name": "cpu", "nominalQuota": quota}]}]}
        await self.client.create(names.CLUSTER_QUEUES, {
            "metadata": {"name": "cq"}, "spec": {"namespaceSelector": {}, "resourceGroups": [group], **queue}})
        await self.client.create(names.LOCAL_QUEUES, {
            "metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"clusterQueue": "cq"}})
        await self.advance(2)

    async def topology(self, *levels: str) -> None:
        """Make the topology ``t``."""
        await self.client.create(
            names.TOPOLOGIES, {"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": level} for level in levels]}})

    async def nodes(self, **racks: str) -> None:
        """Make nodes: ``a="r1"`` is in rack r1, ``a="r1 4"`` has four CPUs, ``a="b1/r1"`` a block.
        """
        for name, told in racks.items():
            place, _, cpu = told.partition(" ")
            block, _, rack = place.rpartition("/")
            labels = {"rack": rack, **({"block": block} if block else {})}
            await self.node(name, cpu=cpu or "2", **labels)
        await self.advance(2)

    async def node(self, name: str, taints: list[Tree] | None = None, **fields: Any) -> None:
        """Make a node, with these taints alone."""
        await self.client.create(NODES, node_manifest(name, **fields))
        await self.client.patch(NODES, name, "", {"spec": {"taints": taints}})

    async def change_node(self, name: str, body: Tree, subresource: str = "") -> None:
        """Patch a node, and let the controllers see it."""
        await self.client.patch(NODES, name, "", body, type="strategic", subresource=subresource)
        await self.advance(3)

    async def submit(
        self, name: str = "j", count: int = 4, cpu: str = "1", *, template: Tree | None = None, priority: str = "",
        annotations: dict[str, str] | None = None, on_job: dict[str, str] | None = None, **spec: Any,
    ) -> Tree:
        """Create a Job whose pods carry annotations, and itself those ``on_job``; its Workload once
        the controllers have done what they do.
        """
        pod = pod_template(**(template or {}))
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        pod["metadata"] = {"annotations": annotations or {}}
        labels = {names.QUEUE_LABEL: "q", **({names.WORKLOAD_PRIORITY_CLASS_LABEL: priority} if priority else {})}
        await self.client.create(JOBS, {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {
                "name": name, "namespace": NAMESPACE, "labels": labels, "annotations": on_job or {}},
            "spec": {"parallelism": count, "completions": count, "template": pod, **spec}})
        await self.advance(4)
        return await self.workload(name)

    async def workload(self, job: str = "j") -> Tree:
        """The Workload of a Job."""
        listed = (await self.client.list(names.WORKLOADS, NAMESPACE)).items
        [found] = [each for each in listed if each["metadata"]["ownerReferences"][0]["name"] == job]
        return found

    async def places(self, job: str = "j", podset: int = 0) -> dict[str, int]:
        """How many pods of a Job are assigned to which domain, by its last value."""
        return places_of(await self.workload(job), podset)

    async def why(self, job: str = "j") -> str:
        """The message of the condition QuotaReserved."""
        conditions = (await self.workload(job))["status"]["conditions"]
        return next(each["message"] for each in conditions if each["type"] == "QuotaReserved")

    async def pods_of(self, job: str = "j") -> list[Tree]:
        """The pods of a Job that are not over, in the order of their creation."""
        return [pod for pod in await self.active() if pod["metadata"]["ownerReferences"][0]["name"] == job]

    async def run(self, job: str = "j") -> None:
        """Put the pods of a Job where their selectors say, and let them run."""
        for pod in await self.pods_of(job):
            if not pod["spec"].get("nodeName"):
                binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"]}, "target": {
                    "kind": "Node", "name": pod["spec"]["nodeSelector"][HOSTNAME]}}
                await self.client.create(PODS, binding, NAMESPACE, name=pod["metadata"]["name"], subresource="binding")
            await self.set_status(pod, phase="Running", conditions=[{"type": "Ready", "status": "True"}])
        await self.advance(2)


def places_of(workload: Tree, podset: int = 0) -> dict[str, int]:
    """The same, of a Workload."""
    admission = workload["status"].get("admission")
    if admission is None:
        return {}
    tree = admission["podSetAssignments"][podset].get("topologyAssignment")
    return {"/".join(each.values): each.count for each in assignments.domains_of(tree)}


@pytest.fixture
async def world() -> AsyncIterator[Topologies]:
    async with manual_cluster(CONTROLLERS) as cluster:
        yield Topologies(cluster)
