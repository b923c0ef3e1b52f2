"""Clients that know more than the server: fields that it has not, watches that its release did not
have yet.
"""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.http import Request, Response
from fakekube.composition.cluster import Cluster
from fakekube.schema.protobuf.codec import ProtobufCodec
from tests.schema.releases import release

PODS = "/api/v1/namespaces/default/pods"
STREAMED = {"watch": "1", "allowWatchBookmarks": "1", "sendInitialEvents": "1", "resourceVersionMatch": "NotOlderThan"}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"observedGeneration": 0},
       "spec": {"containers": [{"name": "c", "image": "i"}], "schedulingGroup": {"podGroupName": "g"}}}


@pytest.fixture
async def older() -> AsyncIterator[Cluster]:
    """A cluster of 1.33 with nothing running in it."""
    async with Cluster(nodes=0, clock="manual", controllers="", kubernetes_version="1.33") as cluster:
        yield cluster


async def ask(cluster: Cluster, method: str, path: str, body: bytes = b"", media: str = "", **query: str) -> tuple[Response, Any]:
    headers = {"content-type": media} if media else {}
    request = Request(method, path, {name: [value] for name, value in query.items()}, headers, body)
    answer = await cluster.apiserver.handle(request)
    return answer, orjson.loads(answer.body) if answer.body else None


@pytest.mark.spec("API-027")
async def test_unknown_numbers_are_skipped_however_strict(older: Cluster) -> None:
    """Given what a typed client of a newer release sends, with fields that the server has not, when
    it insists on strictness, then protobuf is taken without them and without a warning, and the
    same in JSON is refused.
    """
    sent = ProtobufCodec(release("1.37")).encode(POD)
    assert sent is not None
    made, tree = await ask(older, "POST", PODS, sent, "application/vnd.kubernetes.protobuf", fieldValidation="Strict")
    assert made.status == 201, tree
    assert [name for name, _ in made.headers if name == "Warning"] == []
    assert "schedulingGroup" not in tree["spec"]
    refused, tree = await ask(older, "POST", PODS, orjson.dumps(POD), fieldValidation="Strict")
    assert refused.status == 400
    assert 'unknown field "spec.schedulingGroup"' in tree["message"]


async def test_a_streamed_list_hangs_on_its_gate(older: Cluster) -> None:
    """Given a release whose gate WatchList is off, when a watch asks for its list first, then it is
    refused, so that clients fall back to lists, and a plain watch begins with what is there; where
    the gate is on, it is begun.
    """
    refused, tree = await ask(older, "GET", PODS, **STREAMED)
    assert (refused.status, tree["details"]["causes"][0]["field"]) == (422, "sendInitialEvents")
    plain, _ = await ask(older, "GET", "/api/v1/namespaces", watch="1")
    assert plain.status == 200
    gate = "WatchList=true"
    async with Cluster(nodes=0, clock="manual", controllers="", kubernetes_version="1.33", feature_gates=gate) as cluster:
        assert (await ask(cluster, "GET", PODS, **STREAMED))[0].stream
