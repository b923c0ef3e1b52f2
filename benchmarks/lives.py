"""Workloads through their lives, in virtual time: Jobs small and large, many of them, a year of
schedules, a week of nodes.

``python -m benchmarks.lives`` prints them all. Each life has a process of its own, so that its
memory is its own: ``python -m benchmarks.lives NAME`` prints one as JSON.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from benchmarks import shapes
from benchmarks.table import Figure, calibrate, decode_seconds, show
from fakekube.apimachinery import meta
from fakekube.client.resources import CRON_JOBS, JOBS
from fakekube.composition.cluster import Cluster

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}
YEAR, WEEK = 365 * 86_400, 7 * 86_400

Life = Callable[[Cluster], Awaitable[None]]


def figures() -> Iterator[Figure]:
    """CPU time, and what the life did in it."""
    for name in LIVES:
        before = decode_seconds(50)
        life = run(name)
        cpu, decode = life["cpu"], (before + decode_seconds(50)) / 2
        note = (f"{life['seconds']:.1f} s on the wall, {life['writes']:,} writes, {life['virtual_hours'] / cpu:,.1f} virtual "
                f"hours/s, peak {life['peak_mb']:,.0f} MB")
        yield Figure(name, cpu, "s", note=note, decode_seconds=decode)
        yield Figure(f"{name}: writes", life["writes"] / cpu, "/s", decode_seconds=decode)
        yield Figure(f"{name}: reconciles", life["reconciles"] / cpu, "/s", decode_seconds=decode)


def run(name: str) -> dict[str, Any]:
    """One life in a process of its own, in figures."""
    command = [sys.executable, "-m", "benchmarks.lives", name]
    result: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return result


def of_jobs(count: int, pods: int) -> Life:
    """So many Jobs at once, until all are Complete."""
    async def live(cluster: Cluster) -> None:
        for number in range(count):
            await cluster.client.create(JOBS, shapes.job(number, pods))
        await cluster.run_until(are_complete(cluster, count))

    return live


def are_complete(cluster: Cluster, count: int) -> Callable[[], Awaitable[bool]]:
    """Whether that many Jobs, named by number, are. One that is found complete is not asked again.
    """
    left = [f"j{number}" for number in reversed(range(count))]

    async def complete() -> bool:
        while left:
            if not meta.is_condition_true(await cluster.client.get(JOBS, left[-1], "default"), "Complete"):
                return False
            left.pop()
        return True

    return complete


async def a_year_of_hours(cluster: Cluster) -> None:
    """A CronJob for every hour."""
    await cluster.client.create(CRON_JOBS, {
        "metadata": {"name": "hourly", "namespace": "default"},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}})
    await cluster.advance(YEAR)


async def a_week_of_nodes(cluster: Cluster) -> None:
    """Nothing but nodes and those who look after them."""
    await cluster.advance(WEEK)


LIVES: Mapping[str, tuple[int, Life]] = {
    "a Job of 1 pod": (1, of_jobs(1, 1)),
    "a Job of 100 pods": (10, of_jobs(1, 100)),
    "a Job of 1,000 pods": (100, of_jobs(1, 1_000)),
    "a Job of 10,000 pods": (100, of_jobs(1, 10_000)),
    "1,000 Jobs of 10 pods": (100, of_jobs(1_000, 10)),
    "a CronJob year, hourly": (1, a_year_of_hours),
    "a week of 50 nodes": (50, a_week_of_nodes),
}
"""By name: how many nodes, and what happens."""


async def _live(name: str) -> dict[str, float]:
    nodes, life = LIVES[name]
    async with Cluster(nodes=nodes, clock="manual") as cluster:
        storage, before, reconciled = cluster.apiserver.storage, cluster.clock.time(), _reconciles(cluster)
        written, started, cpu = storage.revision, time.perf_counter(), time.process_time()
        await life(cluster)
        return {
            "seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu, "writes": storage.revision - written,
            "reconciles": _reconciles(cluster) - reconciled, "virtual_hours": (cluster.clock.time() - before) / 3600,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _reconciles(cluster: Cluster) -> int:
    return cluster.manager.taken


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(_live(sys.argv[1]))))
    else:
        show(calibrate(), figures())
