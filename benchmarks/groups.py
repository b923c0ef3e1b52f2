"""Gangs: those that are made by hand, and those of Jobs through their lives.

Gangs by hand are upstream's cases (test/integration/scheduler_perf/podgroup/gangscheduling), which
have no gates yet; a pod costs the way from the create's event to its node, as in ``scheduling``. Of
the Jobs there are fewer than the 10,000 of KEP-5547, as each costs the same: the aim is that of a
pod.
"""

import asyncio
import time
from collections.abc import Iterator

from benchmarks import lives, memory, shapes
from benchmarks.scheduling import CONTROLLERS, cluster_of, node, schedule
from benchmarks.table import Figure, decode_seconds
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, Resource
from fakekube.composition.cluster import Cluster

GATES = "workload-aware"
POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
NODES_OF_GANGS, GANGS = 5_000, ((3_000, 3), (10, 1_000))
NODES_OF_JOBS, JOBS_AT_ONCE, PODS_OF_A_JOB = 1_000, 500, 8
SECONDS_OF_THE_WHOLE, PODS_OF_THE_WHOLE = (120, 60), 80_000
REAL_RATE = 45


def figures() -> Iterator[Figure]:
    """CPU time; then the bytes of the objects of a gang."""
    for gangs, size in GANGS:
        rate, note, decode = asyncio.run(_gangs(gangs, size))
        name = f"{gangs:,} gangs of {size:,} pods, {NODES_OF_GANGS:,} nodes: pods"
        yield Figure(name, rate, "/s", 1_000, 2_000, note, decode)
    target, aim = (PODS_OF_THE_WHOLE / seconds for seconds in SECONDS_OF_THE_WHOLE)
    rate, note, decode = asyncio.run(_jobs())
    yield Figure(f"gang Jobs of {PODS_OF_A_JOB}, {NODES_OF_JOBS:,} nodes, to Complete: pods", rate, "/s", target, aim,
                 f"{note}; a real control plane with kwok: {REAL_RATE}", decode)
    pairs = memory.run("pairs")
    yield Figure("bytes of a Workload and its PodGroup, stored", pairs["stored"], "B", 1_000, note="the KEP: 1 KB")
    yield Figure("the same in memory, caches included", pairs["kilobytes"], "KB", 5, note="the KEP: 5 KB")


def _on_any_node(number: int) -> Tree:
    made = node(number)
    made["spec"]["taints"] = []
    return made


async def _gangs(gangs: int, size: int) -> tuple[float, str, float]:
    """Pods a second, a note, and the seconds of a decode meanwhile."""
    def member(number: int) -> Tree:
        requests = {"cpu": f"{20 + number % 199}m", "memory": f"{16 + number % 211}Mi"}
        container = {"name": "main", "image": f"app:{number}", "resources": {"requests": requests}}
        return {"metadata": {"name": f"pod-{number:06d}", "namespace": "default"},
                "spec": {"containers": [container], "schedulingGroup": {"podGroupName": f"gang-{number // size}"}}}

    async def make_groups(first: int, count: int) -> None:
        for number in range(first, first + count):
            await cluster.client.create(POD_GROUPS, {
                "metadata": {"name": f"gang-{number}", "namespace": "default"},
                "spec": {"schedulingPolicy": {"gang": {"minCount": size}}}})
        await cluster.settle()

    async with cluster_of(
            NODES_OF_GANGS, _on_any_node, f"{CONTROLLERS},podgroup-protection-controller", feature_gates=GATES) as cluster:
        await make_groups(900_000 // size, 300 // size or 1)
        await schedule(cluster, member, 900_000 // size * size, max(300, size))
        await make_groups(0, gangs)
        before = decode_seconds(50)
        seconds = await schedule(cluster, member, 0, gangs * size)
        return 1 / seconds, f"{seconds * 1e6:.0f} us a pod", (before + decode_seconds(50)) / 2


async def _jobs() -> tuple[float, str, float]:
    """The same of Jobs that are gangs, from their create until all are Complete."""
    async with Cluster(nodes=NODES_OF_JOBS, clock="manual", feature_gates=GATES) as cluster:
        await cluster.settle()
        before, started = decode_seconds(50), time.process_time()
        for number in range(JOBS_AT_ONCE):
            await cluster.client.create(JOBS, gang_job(number))
        await cluster.run_until(lives.are_complete(cluster, JOBS_AT_ONCE))
        seconds = (time.process_time() - started) / JOBS_AT_ONCE / PODS_OF_A_JOB
        return 1 / seconds, f"{seconds * 1e6:.0f} us a pod, {JOBS_AT_ONCE} Jobs", (before + decode_seconds(50)) / 2


def gang_job(number: int) -> Tree:
    """A Job whose pods are bound all or none."""
    job = shapes.job(number, PODS_OF_A_JOB)
    job["spec"] |= {"completionMode": "Indexed", "scheduling": {"schedulingPolicy": {"gang": {}}}}
    return job
