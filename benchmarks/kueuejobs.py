"""Jobs with Kueue: what it adds to their cost, and what MultiKueue takes to spread them.

``benchmarks.kueue`` runs these with its loads. Every component is at work here: pods run.
"""

import asyncio
import time

from benchmarks import lives, shapes
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import JOBS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.composition.fleet import Fleet
from fakekube.util.collector import PacedCollector
from fakekube_controllers.kueue import names

JOBS_OF_ALL, PODS, NODES = 1_000, 10, 100
WORKERS, NODES_OF_WORKER = ("worker1", "worker2", "worker3"), 20
ENOUGH = "1000000"
QUEUE = {names.QUEUE_LABEL: "q"}


async def jobs(*, kueue: bool, count: int = JOBS_OF_ALL) -> dict[str, float]:
    """So many Jobs of ten pods, until all are Complete. Their quota is never short: what is
    measured is their way through Kueue, not their waiting.
    """
    async with Cluster(nodes=NODES, clock="manual", controllers="*,kueue" if kueue else "*") as cluster:
        if kueue:
            await _make_queue(cluster.client)
        await cluster.settle()
        PacedCollector(asyncio.get_running_loop().call_later).start()
        storage = cluster.apiserver.storage
        written, started, cpu = storage.revision, time.perf_counter(), time.process_time()
        for number in range(count):
            await cluster.client.create(JOBS, _job(number, PODS, queued=kueue))
        await cluster.run_until(lives.are_complete(cluster, count))
        return {
            "jobs": count, "wall": time.perf_counter() - started, "cpu": time.process_time() - cpu,
            "writes_a_job": (storage.revision - written) / count}


async def multikueue(count: int = JOBS_OF_ALL) -> dict[str, float]:
    """So many Jobs of one pod that a manager gives to three workers, until all are Complete there
    and here.
    """
    members = {name: {"nodes": NODES_OF_WORKER} for name in WORKERS}
    async with Fleet("manager", *WORKERS, members=members, nodes=0, clock="manual", controllers="*,kueue") as fleet:
        await _make_workers(fleet)
        PacedCollector(asyncio.get_running_loop().call_later).start()
        manager, virtual = fleet["manager"], fleet.clock.time()
        started, cpu = time.perf_counter(), time.process_time()
        for number in range(count):
            await manager.client.create(JOBS, _job(number, 1, queued=True))
        await fleet.run_until(lives.are_complete(manager, count))
        wall = time.perf_counter() - started
        return {
            "jobs": count, "wall": wall, "cpu": time.process_time() - cpu, "admissions_a_second": count / wall,
            "virtual": fleet.clock.time() - virtual}


def _job(number: int, pods: int, *, queued: bool) -> Tree:
    made = shapes.job(number, pods)
    return {**made, "metadata": {**made["metadata"], "labels": QUEUE}} if queued else made


async def _make_queue(client: Client, checks: tuple[str, ...] = ()) -> None:
    await client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
    quotas = [{"name": name, "nominalQuota": ENOUGH if name == "cpu" else f"{ENOUGH}Gi"} for name in ("cpu", "memory")]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "f", "resources": quotas}]}
    spec: Tree = {"namespaceSelector": {}, "resourceGroups": [group]}
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check} for check in checks]}
    await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": spec})
    await client.create(names.LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": "default"}, "spec": {"clusterQueue": "cq"}})


async def _make_workers(fleet: Fleet) -> None:
    """A queue in each worker, and one in the manager whose check gives Jobs to them."""
    client = fleet["manager"].client
    for name in WORKERS:
        await _make_queue(fleet[name].client)
        secret = {"metadata": {"name": name}, "stringData": {"kubeconfig": fleet.kubeconfig(name)}}
        await client.create(SECRETS, secret, "kueue-system")
        source = {"kubeConfig": {"location": name, "locationType": "Secret"}}
        await client.create(names.MULTIKUEUE_CLUSTERS, {"metadata": {"name": name}, "spec": {"clusterSource": source}})
    await client.create(names.MULTIKUEUE_CONFIGS, {"metadata": {"name": "c"}, "spec": {"clusters": [*WORKERS]}})
    parameters = {"apiGroup": names.GROUP, "kind": "MultiKueueConfig", "name": "c"}
    await client.create(names.ADMISSION_CHECKS, {
        "metadata": {"name": "mk"}, "spec": {"controllerName": names.MULTIKUEUE_CONTROLLER_NAME, "parameters": parameters}})
    await fleet.settle()
    await _make_queue(client, ("mk",))
    await fleet.advance("2s")
