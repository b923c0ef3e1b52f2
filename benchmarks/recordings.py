"""Recordings: what a test costs more whose requests are written down.

The test asks for all that it does itself: twenty pods are created, watched, read, listed and
deleted. With and without take turns, so that both meet the machine as it is.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import orjson

from benchmarks import pods
from benchmarks.table import Figure
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube.util.collector import collected_by_run

COUNT, RUNS = 20, 80


def figures() -> Iterator[Figure]:
    """CPU time with over CPU time without, each the median of many runs."""
    taken: dict[str | None, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, collected_by_run() as collect:
        path = str(Path(folder, "run.jsonl"))
        for _ in range(RUNS):
            for record in (None, path):
                started = time.process_time()
                asyncio.run(_test(record))
                taken.setdefault(record, []).append(time.process_time() - started)
                collect()
    plain, recorded = (median(seconds) for seconds in taken.values())
    yield Figure(f"recording a test of {COUNT} pods", (recorded / plain - 1) * 100, "%", 5.0, note=f"of {plain * 1e3:.0f} ms")


async def _test(record: str | None) -> None:
    async with Cluster(record=record) as cluster:
        client = cluster.client
        async with await client.watch(PODS, "default"):
            for number in range(COUNT):
                await client.create(PODS, orjson.loads(pods.short(number)), "default")
            await cluster.advance("1m")
            names = [pod["metadata"]["name"] for pod in (await client.list(PODS, "default")).items]
            assert len(names) == COUNT
            for name in names:
                assert (await client.get(PODS, name, "default"))["spec"]["nodeName"]
            for name in names:
                await client.delete(PODS, name, "default")
            await cluster.advance("1m")
