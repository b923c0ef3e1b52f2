"""A cluster that is full or has been used for long: memory, and whether a request still costs what
it did.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import shapes
from benchmarks.inprocess import PODS, call, fill, per_second
from benchmarks.servers import fakekube
from benchmarks.table import Figure
from fakekube.composition.cluster import Cluster

FULL = 100_000
REQUESTS = 100_000


def figures() -> Iterator[Figure]:
    """The full cluster has a process of its own, so that its memory is its own."""
    with fakekube("uvloop", "--nodes", "1") as (_, process):
        yield Figure("memory, idle", resident_bytes(str(process.pid)) / 1e6, "MB", 70, 50)
    printed = subprocess.run([sys.executable, "-m", "benchmarks.load"], capture_output=True, text=True, check=True).stdout
    yield Figure(f"memory with {FULL:,} pods", float(printed) / 1e9, "GB", 0.8, 0.5)
    yield from asyncio.run(_wear())


def resident_bytes(pid: str = "self") -> int:
    """What a process holds of the machine's memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


async def _full() -> int:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await fill(cluster, FULL)
        return resident_bytes()


async def _wear() -> list[Figure]:
    """Creates of pods never seen, before and after very many requests."""
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        fresh = await per_second(lambda number: call(cluster, "POST", PODS, shapes.body(number)), 1.0)
        for number in range(REQUESTS):
            await call(cluster, "GET", f"{PODS}/pod-{number % 500}")
        worn = await per_second(lambda number: call(cluster, "POST", PODS, shapes.body(10 * FULL + number)), 1.0)
    share = worn[0] * worn[1] / (fresh[0] * fresh[1])
    return [Figure(f"create after {REQUESTS:,} requests, as a share of before", share, "x", 0.9)]


if __name__ == "__main__":
    print(asyncio.run(_full()))
