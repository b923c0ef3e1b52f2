"""A large Job from its create to Complete, with every component at work."""

import asyncio
import time
from collections.abc import Iterator

from benchmarks.table import Figure
from fakekube.apimachinery import meta
from fakekube.client.resources import JOBS
from fakekube.cluster import Cluster

PODS = 1000
NODES = 100


def figures() -> Iterator[Figure]:
    """On the wall; the cluster's own time jumps."""
    started = time.process_time()
    seconds, writes = asyncio.run(_run())
    cpu = time.process_time() - started
    name = f"a Job of {PODS:,} pods on {NODES} nodes"
    yield Figure(f"{name}, create to Complete", seconds, "s", note=f"CPU {cpu:.1f} s, start included")
    yield Figure(f"{name}, writes", writes / seconds, "/s")


async def _run() -> tuple[float, int]:
    async with Cluster(nodes=NODES, clock="auto") as cluster:
        await cluster.settle()
        storage = cluster.apiserver.stores.storage
        before, started = storage.revision, time.perf_counter()
        await cluster.client.create(JOBS, {
            "metadata": {"name": "large", "namespace": "default"}, "spec": {
                "completions": PODS, "parallelism": PODS, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}})

        async def complete() -> bool:
            return meta.is_condition_true(await cluster.client.get(JOBS, "large", "default"), "Complete")

        await cluster.run_until(complete)
        return time.perf_counter() - started, storage.revision - before
