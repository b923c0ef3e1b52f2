"""What the server does itself, without a socket: bytes in, bytes out."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

import orjson

from benchmarks import pods
from benchmarks.table import Figure, decode_seconds, median
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.client import users
from fakekube.cluster import Cluster
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
    return cluster.apiserver.stores.storage.bucket(GroupResource("", "pods"))


async def per_second(once: Callable[[int], Awaitable[object]], seconds: float = 1.5, batch: int = 100) -> tuple[float, float]:
    """Calls a second of CPU time, which is all that they take, and the seconds of a decode at that moment.

    Batches of calls and of decodes take turns, since a shared machine changes its speed; of all pairs it is the median.
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
    """Requests and commits of one cluster without nodes."""
    yield from asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        rows = [await figure(
            "create, bytes to bytes", lambda number: call(cluster, "POST", PODS, pods.body(number)), 10_000, 20_000)]
        rows.append(await figure("GET, bytes to bytes", lambda _: call(cluster, "GET", f"{PODS}/pod-000000")))
        assert (await call(cluster, "GET", f"{PODS}/pod-000000")).status == 200
        status = orjson.dumps({"status": {"phase": "Pending", "message": "@"}})
        rows.append(await figure(
            "PATCH of a status, bytes to bytes", lambda number: _patch(cluster, status.replace(b"@", b"%d" % number))))
        rows.append(await figure("commit of a status, no watcher", _commits(cluster), 60_000, 150_000))
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


async def _patch(cluster: Cluster, body: bytes) -> None:
    answer = await cluster.apiserver.handle(Request(
        "PATCH", f"{PODS}/pod-000001/status", {}, {"content-type": "application/merge-patch+json"}, body, user=users.admin()))
    assert answer.status == 200, answer.body


def _commits(cluster: Cluster) -> Callable[[int], Awaitable[object]]:
    """One write to the storage of what a kubelet would have put together."""
    bucket = pod_bucket(cluster)

    async def write(number: int) -> None:
        record = bucket.get("default", "pod-000002")
        assert record is not None
        bucket.update({**record.tree(), "status": {"phase": "Pending", "message": str(number)}}, record)

    return write
