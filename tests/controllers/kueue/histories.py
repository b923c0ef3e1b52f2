"""The whole history of two plays of Kueue, as a digest.

``python -m tests.controllers.kueue.histories PLAY SEED`` prints how many lines it has, and that.

``alone`` is one cluster with preemption, borrowing, an elastic Job, a group of pods and a restart;
``together`` a fleet with MultiKueue, of which one worker is away for a while.
"""

import asyncio
import hashlib
import sys
from typing import TYPE_CHECKING

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import JOBS, PODS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers

if TYPE_CHECKING:
    from fakekube.client.watch import Watch

NS = "default"


class History:
    """Every object and every event of some clusters, by resourceVersion."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._watches: list[tuple[str, Watch]] = []

    async def follow(self, member: str, client: Client) -> None:
        for resource in await client.resources(verbs=("list", "watch")):
            listed = await client.list(resource)
            for item in listed.items:
                self._add(member, "", item)
            self._watches.append((member, await client.watch(resource, resource_version=listed.resource_version)))

    def _add(self, member: str, kind: str, item: Tree) -> None:
        self._lines.append((int(item["metadata"]["resourceVersion"]), f"{member} {kind} {item}"))

    async def told(self) -> list[str]:
        """All lines, in order."""
        for member, watch in self._watches:
            watch.stop()
            async with watch:
                async for event in watch:
                    self._add(member, event.type, event.object)
        return [f"{version} {line}" for version, line in sorted(self._lines)]


def containers(seconds: str) -> list[Tree]:
    return [{"name": "main", "image": "i", "command": ["sleep", seconds], "resources": {"requests": {"cpu": "1"}}}]


def job(name: str, pods: int, queue: str, annotations: dict[str, str] | None = None, **labels: str) -> Tree:
    metadata = {"name": name, "namespace": NS, "labels": {names.QUEUE_LABEL: queue}, "annotations": annotations or {}}
    if "priority" in labels:
        metadata["labels"][names.WORKLOAD_PRIORITY_CLASS_LABEL] = labels["priority"]  # type: ignore[index]  # a dict
    template = {"spec": {"restartPolicy": "Never", "containers": containers("30")}}
    return {"metadata": metadata, "spec": {"parallelism": pods, "completions": 5, "template": template}}


def grouped(number: int) -> Tree:
    labels = {names.QUEUE_LABEL: "q0", "kueue.x-k8s.io/pod-group-name": "group"}
    metadata = {
        "name": f"grouped-{number}",
        "namespace": NS,
        "labels": labels,
        "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"},
    }
    return {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": containers("10")}}


async def queues(client: Client, count: int) -> None:
    """So many queues with 4 cpu each, in one cohort."""
    await client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "flavor"}})
    flavors = [{"name": "flavor", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]
    for number in range(count):
        spec = {
            "cohortName": "all",
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
        }
        await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": f"cq{number}"}, "spec": spec})
        await client.create(
            names.LOCAL_QUEUES, {"metadata": {"name": f"q{number}", "namespace": NS}, "spec": {"clusterQueue": f"cq{number}"}}
        )


async def alone(seed: int) -> list[str]:
    async with Cluster(nodes=2, controllers="*,kueue", clock="auto", seed=seed) as cluster:
        history, client = History(), cluster.client
        await history.follow("", client)
        await queues(client, 3)
        await client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 9})
        for number in range(3):
            await client.create(JOBS, job(f"low-{number}", 5, "q0"))
        await cluster.advance("2s")
        await client.create(JOBS, job("mine", 3, "q1"))
        await client.create(JOBS, job("high", 4, "q0", priority="high"))
        await client.create(JOBS, job("elastic", 1, "q2", {"kueue.x-k8s.io/elastic-job": "true"}))
        for number in range(2):
            await client.create(PODS, grouped(number))
        await cluster.advance("5s")
        await client.patch(JOBS, "elastic", NS, {"spec": {"parallelism": 2}})
        await cluster.stop_controller("kueue")
        await cluster.start_controller("kueue")
        await cluster.advance("300s")
        return await history.told()


async def together(seed: int) -> list[str]:
    members = (workers.MANAGER, *workers.WORKERS)
    async with Fleet(*members, nodes=2, controllers="*,kueue", clock="auto", seed=seed) as fleet:
        history = History()
        for name in members:
            await history.follow(name, fleet[name].client)
        await workers.set_up(fleet)
        for number in range(3):
            await fleet[workers.MANAGER].client.create(JOBS, workers.job(f"job-{number}"))
        await fleet.advance("10s")
        fleet.cut("worker1")
        await fleet.advance("30s")
        fleet.mend("worker1")
        await fleet.advance("20m")
        return await history.told()


if __name__ == "__main__":
    LINES = asyncio.run({"alone": alone, "together": together}[sys.argv[1]](int(sys.argv[2])))
    print(len(LINES), hashlib.sha256("\n".join(LINES).encode()).hexdigest())
