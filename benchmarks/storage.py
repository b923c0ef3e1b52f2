"""What the storage costs: microseconds an operation, with pods of about 2.7 KB. ``python -m
benchmarks.storage``.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import orjson

from fakekube.apimachinery.http import Frame
from fakekube.endpoints.read import encode_list, list_objects, parse_list_options
from fakekube.endpoints.watch import WatchStream
from fakekube.registry.kind import Kind, Selectable
from fakekube.storage.memory import Bucket, Storage
from fakekube.util.clock import ManualClock

CONTAINER = {
    "image": "registry.example/image:1", "env": [{"name": f"e{number}", "value": "v" * 10} for number in range(12)],
    "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, "ports": [{"containerPort": 80}],
}
TEMPLATE = orjson.dumps({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {
        "name": "pod-@@@@@@", "namespace": "ns-#", "uid": "00000000-0000-4000-8000-000000@@@@@@",
        "labels": {"job": "job-@@@@@@", "app": "x"}, "ownerReferences": [{"kind": "Job", "name": "j", "uid": "u-1"}]},
    "spec": {"nodeName": "", "containers": [CONTAINER | {"name": f"c{number}"} for number in range(3)]},
    "status": {"phase": "Pending"},
})
POD = Kind(
    group="", version="v1", kind="Pod", plural="pods", singular="pod", namespaced=True,
    selectable=Selectable(("spec.nodeName",), lambda tree: {"spec.nodeName": tree["spec"]["nodeName"]}))


class Deaf:
    """A sink that drops everything."""

    def send(self, frame: Frame) -> None:
        """Drop it."""

    def end(self) -> None:
        """Nothing to close."""


def pod(number: int) -> dict[str, Any]:
    """A pod's tree, decoded as a body would be."""
    text = TEMPLATE.replace(b"@@@@@@", b"%06d" % number).replace(b"ns-#", b"ns-%d" % (number % 10))
    tree: dict[str, Any] = orjson.loads(text)
    return tree


def filled(count: int) -> Bucket:
    """A bucket with so many pods."""
    bucket = Storage().add_bucket(POD.group_resource, fields=POD.selectable.values)
    for number in range(count):
        bucket.create(pod(number))
    return bucket


def microseconds(count: int, function: Callable[[int], object]) -> float:
    """The mean cost of a call, the best of three rounds."""
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        for number in range(count):
            function(number)
        best = min(best, (time.perf_counter() - started) / count)
    return best * 1e6


def update(bucket: Bucket) -> Callable[[int], object]:
    """One write of a status."""
    def write(number: int) -> None:
        record = bucket.get("ns-0", "pod-000000")
        assert record is not None
        bucket.update({**record.tree(), "status": {"phase": f"P{number}"}}, record)

    return write


def watch(bucket: Bucket, **query: str) -> WatchStream:
    """A watch from now on."""
    options = parse_list_options(
        {"resourceVersion": [str(bucket.revision)]} | {name: [value] for name, value in query.items()}, POD, watch=True)
    stream = WatchStream(POD, bucket, "", options, ManualClock(), timeout_seconds=3600)
    stream.start(Deaf())
    return stream


def rows() -> list[tuple[str, float]]:
    """What was measured and its microseconds."""
    tree = pod(0)
    decode, encode = microseconds(5_000, pod), microseconds(5_000, lambda _: orjson.dumps(tree))
    result = [("decode a pod", decode), ("encode a pod", encode)]
    started = time.perf_counter()
    bucket = filled(20_000)
    create = (time.perf_counter() - started) / 20_000 * 1e6
    result.append(("create, beyond decode and encode", create - decode - encode))
    alone = microseconds(2_000, update(bucket))
    result.append(("status write, beyond encode", alone - encode))
    for name, queries in (
        ("1000 watchers, one event", [{}] * 1000),
        ("1000 watchers by label, one event", [{"labelSelector": "app=x"}] * 1000),
        ("1000 nodes' watchers, an event of no node", [{"fieldSelector": f"spec.nodeName=n{n}"} for n in range(1000)]),
    ):
        streams = [watch(bucket, **query) for query in queries]
        result.append((name, microseconds(200, update(bucket)) - alone))
        for stream in streams:
            stream.stop()

    def read(namespace: str, **query: str) -> Callable[[int], object]:
        async def once() -> bytes:
            options = parse_list_options({name: [value] for name, value in query.items()}, POD, watch=False)
            return encode_list(POD, await list_objects(POD, bucket, namespace, options, ManualClock()))

        return lambda _: loop.run_until_complete(once())

    loop = asyncio.new_event_loop()
    for name, function in (
        ("list 2000 pods of a namespace", read("ns-1")), ("a page of 500 of 20000", read("", limit="500")),
        ("one of 20000 by label", read("", labelSelector="job=job-000007")),
        ("none of 20000 by a scan", read("", labelSelector="app!=x")),
        ("a page at a revision 1000 events ago", read("", limit="500", resourceVersion=str(bucket.revision - 1000))),
    ):
        function(0)
        result.append((name, microseconds(10, function)))
    loop.close()
    return result


if __name__ == "__main__":
    for label, value in rows():
        print(f"{value:12,.1f} us  {label}")
