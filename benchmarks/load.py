"""A cluster that is full or has been used for long: memory, pauses, and whether a request still costs what it did."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import pods
from benchmarks.inprocess import PODS, call, figure, per_second, pod_bucket
from benchmarks.servers import fakekube
from benchmarks.table import Figure
from fakekube.cluster import Cluster

FULL = 100_000
MANY = 50_000
REQUESTS = 100_000


def figures() -> Iterator[Figure]:
    """The full cluster has a process of its own, so that its memory is its own."""
    with fakekube("uvloop", "--nodes", "1") as (_, process):
        yield Figure("memory, idle", resident_bytes(str(process.pid)) / 1e6, "MB", 70, 50)
    printed = subprocess.run([sys.executable, "-m", "benchmarks.load"], capture_output=True, text=True, check=True).stdout
    yield Figure(f"memory with {FULL:,} pods", float(printed) / 1e9, "GB", 0.8, 0.5)
    yield from asyncio.run(_pauses())
    yield from asyncio.run(_wear())


def resident_bytes(pid: str = "self") -> int:
    """What a process holds of the machine's memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


async def fill(cluster: Cluster, count: int) -> None:
    """So many pods: one through the whole server, the others as its likeness straight into the storage."""
    await call(cluster, "POST", PODS, pods.short(0))
    bucket = pod_bucket(cluster)
    record = bucket.get("default", "pod-000000")
    assert record is not None
    tree = record.tree()
    for number in range(1, count):
        name = f"pod-{number:06d}"
        bucket.create({**tree, "metadata": {**tree["metadata"], "name": name, "uid": f"{number:036d}"}})


async def _full() -> int:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await fill(cluster, FULL)
        return resident_bytes()


async def _pauses() -> list[Figure]:
    """The longest time for which no other request can be answered: none awaits anything in-process.

    CPU time, the collector's included: one moment in which another process has the machine would hide all else.
    """
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await fill(cluster, MANY)
        longest, where, end, number = 0.0, "", time.perf_counter() + 2.0, MANY
        while time.perf_counter() < end:
            number += 1
            for method, path, body, query in (
                ("POST", PODS, pods.body(number), {}), ("GET", f"{PODS}/pod-{number:06d}", b"", {}),
                ("GET", PODS, b"", {"limit": "500"}), ("DELETE", f"{PODS}/pod-{number:06d}", b"", {}),
            ):
                started = time.process_time()
                answer = await call(cluster, method, path, body, **query)
                assert answer.status < 300, answer.body
                took = time.process_time() - started
                if took > longest:
                    longest, where = took, f"{method} {query or ''}".strip()
        creates = await figure(
            f"create, bytes to bytes, at {MANY:,} pods", lambda n: call(cluster, "POST", PODS, pods.body(10 * FULL + n)))
    return [Figure(f"longest pause at {MANY:,} pods", longest * 1000, "ms", 50, 10, where), creates]


async def _wear() -> list[Figure]:
    """Creates before and after very many requests."""
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        fresh = await per_second(lambda number: call(cluster, "POST", PODS, pods.body(number)), 1.0)
        for number in range(REQUESTS):
            await call(cluster, "GET", f"{PODS}/pod-{number % 500:06d}")
        worn = await per_second(lambda number: call(cluster, "POST", PODS, pods.body(10 * FULL + number)), 1.0)
    share = worn[0] * worn[1] / (fresh[0] * fresh[1])
    return [Figure(f"create after {REQUESTS:,} requests, as a share of before", share, "x", 0.9)]


if __name__ == "__main__":
    print(asyncio.run(_full()))
