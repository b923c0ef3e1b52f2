"""A server in the same process, for other modules; and commits to its storage, which no request
does without.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

from benchmarks import pods
from benchmarks.table import Figure, decode_seconds, median
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.client import users
from fakekube.composition.cluster import Cluster
from fakekube.storage.memory import Bucket

PODS = "/api/v1/namespaces/default/pods"
JSON = {"content-type": "application/json"}
WATCHERS = 10


class Counter:
    """A sink that takes bytes and drops them."""

    def __init__(self) -> None:
        self.length = 0

    def send(self, frame: Frame) -> None:
        """Take the bytes that a socket would send."""
        self.length += len(frame.chunk)

    def end(self) -> None:
        """Nothing to close."""


async def call(cluster: Cluster, method: str, path: str, body: bytes = b"", **query: str) -> Response:
    """One request of an administrator."""
    return await cluster.apiserver.handle(Request(
        method, path, {name: [value] for name, value in query.items()}, JSON, body, user=users.admin()))


def pod_bucket(cluster: Cluster) -> Bucket:
    """Where pods are stored."""
    return cluster.apiserver.buckets.bucket(GroupResource("", "pods"))


async def fill(cluster: Cluster, count: int) -> None:
    """So many pods: one through the whole server, the others as its likeness straight into the
    storage.
    """
    await call(cluster, "POST", PODS, pods.short(0))
    bucket = pod_bucket(cluster)
    record = bucket.get("default", "pod-000000")
    assert record is not None
    tree = record.tree()
    for number in range(1, count):
        name = f"pod-{number:06d}"
        bucket.create({**tree, "metadata": {**tree["metadata"], "name": name, "uid": f"{number:036d}"}})


async def per_second(once: Callable[[int], Awaitable[object]], seconds: float = 1.5, batch: int = 100) -> tuple[float, float]:
    """Calls a second of CPU time, which is all that they take, and the seconds of a decode at that
    moment.

    Batches of calls and of decodes take turns, since a shared machine changes its speed; of all
    pairs it is the median.
    """
    found, number, end = [], 0, time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 5:
        started = time.process_time()
        for _ in range(batch):
            await once(number)
            number += 1
        found.append((batch / (time.process_time() - started), decode_seconds()))
    return median(found)


async def figure(
    name: str, once: Callable[[int], Awaitable[object]], must: float | None = None, aim: float | None = None,
) -> Figure:
    """A row: calls a second of CPU time."""
    rate, decode = await per_second(once)
    return Figure(name, rate, "/s", must, aim, decode_seconds=decode)


def figures() -> Iterator[Figure]:
    """Commits a second."""
    yield from asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await fill(cluster, 3)
        rows = [await figure("commit of a status, no watcher", _commits(cluster), 60_000, 150_000)]
        streams = []
        for _ in range(WATCHERS):
            answer = await call(cluster, "GET", PODS, watch="true", resourceVersion=str(pod_bucket(cluster).revision))
            assert answer.stream is not None
            answer.stream.start(Counter())
            streams.append(answer.stream)
        rows.append(await figure(f"commit of a status, {WATCHERS} watchers of bytes", _commits(cluster), 30_000, 60_000))
        for stream in streams:
            stream.stop()
    return rows


def _commits(cluster: Cluster) -> Callable[[int], Awaitable[object]]:
    """One write to the storage of what a kubelet would have put together."""
    bucket = pod_bucket(cluster)

    async def write(number: int) -> None:
        record = bucket.get("default", "pod-000002")
        assert record is not None
        bucket.update({**record.tree(), "status": {"phase": "Pending", "message": str(number)}}, record)

    return write
