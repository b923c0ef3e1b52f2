"""A moment of a full cluster: a fork of it, its first write, a file of it and back."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from benchmarks import pods
from benchmarks.table import Figure
from fakekube.client.resources import PODS
from fakekube.composition import snapshot
from fakekube.composition.cluster import Cluster

OBJECTS = 10_000
ROUNDS = 20

T = TypeVar("T")


def figures() -> Iterator[Figure]:
    """CPU time: a fork is too short for a machine that others use."""
    yield from asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await cluster.client.request("POST", PODS.path("default"), body=pods.short(0))
        bucket = cluster.apiserver.buckets.bucket(PODS.group_resource)
        tree = bucket.records()[0].tree()
        for number in range(1, OBJECTS):
            bucket.create({**tree, "metadata": {**tree["metadata"], "name": f"p{number}", "uid": f"{number:036d}"}})
        forking, other = best(cluster.fork)
        started = time.process_time()
        await other.client.delete(PODS, "p1", "default", grace_period_seconds=0)
        deleting = (time.process_time() - started) * 1000
        encoding, data = best(cluster.snapshot().encode, 1)
        decoding, _ = best(lambda: snapshot.decode(data), 1)
    name = f"of {OBJECTS:,} pods"
    return [
        Figure(f"fork {name}", forking, "ms", 1.0),
        Figure(f"first write into a fork {name}", deleting, "ms"),
        Figure(f"write a snapshot {name}", encoding, "ms", note=f"{len(data) / 1e6:.1f} MB"),
        Figure(f"read a snapshot {name}", decoding, "ms"),
    ]


def best(function: Callable[[], T], rounds: int = ROUNDS) -> tuple[float, T]:
    """The shortest of some rounds, in milliseconds of CPU time, and what the last one gave."""
    shortest = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        result = function()
        shortest = min(shortest, time.process_time() - started)
    return shortest * 1000, result
