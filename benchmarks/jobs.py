"""Jobs with every component at work: what a pod's life costs from its Job's create to Complete, and
very many of them.
"""

import asyncio
import time
from collections.abc import Iterator

from benchmarks import lives, shapes
from benchmarks.table import Figure, decode_seconds, median
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster

JOBS_A_ROUND = 50
PODS = 8
ROUNDS = 3
MANY = "1,000 Jobs of 10 pods"


def figures() -> Iterator[Figure]:
    """CPU time; the cluster's own time jumps."""
    for nodes, aim, stretch in ((20, 1.5, 1.0), (1_000, 1.8, None)):
        rate, decode = median([asyncio.run(_lives(nodes)) for _ in range(ROUNDS)])
        yield Figure(
            f"a pod's life in a Job of eight, {nodes:,} nodes", 1000 / rate, "ms", aim, stretch, decode_seconds=decode)
    before = decode_seconds(50)
    life = lives.run(MANY)
    yield Figure(MANY, life["cpu"], "s", 15, 10, decode_seconds=(before + decode_seconds(50)) / 2)


async def _lives(nodes: int) -> tuple[float, float]:
    """Pods a second of CPU time, and the seconds of a decode around that."""
    async with Cluster(nodes=nodes, clock="manual") as cluster:
        await cluster.settle()
        before, started = decode_seconds(20), time.process_time()
        for number in range(JOBS_A_ROUND):
            await cluster.client.create(JOBS, shapes.job(number, PODS))
        await cluster.run_until(lives.are_complete(cluster, JOBS_A_ROUND))
        seconds = time.process_time() - started
        return JOBS_A_ROUND * PODS / seconds, (before + decode_seconds(20)) / 2
