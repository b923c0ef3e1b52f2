"""The four ways to patch, apply among them, and bodies in protobuf: bytes in, bytes out, without a
socket.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import orjson

from benchmarks import pods, shapes
from benchmarks.inprocess import PODS, figure
from benchmarks.percall import Call, per_call
from benchmarks.table import Figure, rate
from fakekube.apimachinery.http import Request
from fakekube.client import users
from fakekube.composition.cluster import Cluster

POD = f"{PODS}/pod-000000"
PROTOBUF = "application/vnd.kubernetes.protobuf"
LABEL = {"metadata": {"labels": {"run": "@"}}}
IMAGE = {"spec": {"containers": [{"name": "main", "image": "trainer:@"}]}}
APPLIED = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod-000000", "labels": {"applied": "@"}}}
PATCHES = (
    ("JSON patch of a label", "json-patch+json", [{"op": "replace", "path": "/metadata/labels/app", "value": "@"}]),
    ("merge patch of a label", "merge-patch+json", LABEL),
    ("strategic merge patch of an image", "strategic-merge-patch+json", IMAGE),
    ("apply of a label", "apply-patch+yaml", APPLIED),
)


def figures() -> Iterator[Figure]:
    """Every patch changes the pod of 3 KB; the last apply of the table does not."""
    yield from asyncio.run(_measure())


def _patch(cluster: Cluster, media: str, body: object) -> Callable[[int], Awaitable[object]]:
    text = orjson.dumps(body)

    async def once(number: int) -> None:
        answer = await cluster.apiserver.handle(Request(
            "PATCH", POD, {"fieldManager": ["bench"]}, {"content-type": f"application/{media}"},
            text.replace(b"@", b"%d" % number), user=users.admin()))
        assert answer.status == 200, answer.body

    return once


async def _measure() -> list[Figure]:
    rows = []
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        async def create(media: str, body: bytes) -> None:
            answer = await cluster.apiserver.handle(Request("POST", PODS, {}, {"content-type": media}, body, user=users.admin()))
            assert answer.status == 201, answer.body

        await create("application/json", pods.body(0))
        for name, media, body in PATCHES:
            rows.append(await figure(f"{name}, bytes to bytes", _patch(cluster, media, body)))
        again = APPLIED | {"metadata": {"name": "pod-000000", "labels": {"applied": "same"}}}
        rows.append(await figure("apply that changes nothing", _patch(cluster, "apply-patch+yaml", again)))
        codec = cluster.apiserver.services.protobuf
        known = codec.encode(orjson.loads(pods.body(1))) or b""
        rows.append(Figure("protobuf decode of a pod", rate(lambda: codec.decode(known)), "/s"))

        async def from_protobuf(number: int) -> Call:
            body = shapes.body(number)
            encoded = codec.encode(orjson.loads(body)) or b""
            return Call(lambda: create(PROTOBUF, encoded), body)

        rows.append(await per_call("create of a Pod from protobuf, never seen", from_protobuf))
    return rows
