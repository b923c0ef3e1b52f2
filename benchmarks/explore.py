"""Seeds: what a run of a test costs that is explored, from its cluster's start to its end.

A run costs what it costs in the process of a part of a sweep; on two cores 1,000 of them take 500
times as long.
"""

import asyncio
import time
from collections.abc import Callable, Iterator

from benchmarks.lives import TEMPLATE
from benchmarks.table import Figure, decode_seconds
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster
from fakekube.exploration.distinct import fingerprint
from fakekube.util.choices import Choices
from fakekube.util.collector import collected_by_run

PODS = 20
RUNS = 40
JOB = {
    "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"completions": PODS, "parallelism": PODS, "template": TEMPLATE}}


def figures() -> Iterator[Figure]:
    """CPU time of a run."""
    before = decode_seconds(20)
    with collected_by_run() as collect:
        _seconds(Choices, 3, collect)
        calm, seeds = _seconds(lambda _: None, RUNS, collect), _seconds(Choices, RUNS, collect)
    decode = (before + decode_seconds(20)) / 2
    yield Figure(
        f"a run of a Job of {PODS} pods with a seed", seeds * 1e3, "ms", 120, 40,
        note=f"1,000 on two cores in {seeds * 500:.0f} s, aim 60 (20); without a seed {calm * 1e3:.1f} ms", decode_seconds=decode)


def _seconds(choices: Callable[[int], Choices | None], runs: int, collect: Callable[[], object]) -> float:
    started = time.process_time()
    for seed in range(1, runs + 1):
        fingerprint([asyncio.run(_run(choices(seed))).apiserver.storage])
        collect()
    return (time.process_time() - started) / runs


async def _run(choices: Choices | None) -> Cluster:
    async with Cluster(schedule=choices) as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance("10m")
        job = await cluster.client.get(JOBS, "web", "default")
        assert job["status"]["succeeded"] == PODS
    return cluster
