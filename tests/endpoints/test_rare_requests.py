"""Reads of replicas that lag, and patches of lists in lists."""

from typing import Any

import orjson

from fakekube import Cluster
from fakekube.apimachinery.http import Request
from fakekube.client.resources import CONFIG_MAPS, PODS

PLAIN: dict[str, Any] = {"nodes": 0, "controllers": "", "clock": "manual"}
POD: dict[str, Any] = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
PATH = "/api/v1/namespaces/default"


async def test_an_object_as_a_replica_has_it() -> None:
    """Given an object that has changed / when it is read from a replica that lags / then it is as
    it was, if any version will do; without a version it is as it is.
    """
    async with Cluster(**PLAIN) as cluster:
        before = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}}, "default")
        await cluster.client.patch(CONFIG_MAPS, "a", "default", {"data": {"k": "2"}})
        version = int(before["metadata"]["resourceVersion"])
        read = []
        for query in ({"resourceVersion": ["0"]}, {}):
            answer = await cluster.apiserver.handle(
                Request("GET", f"{PATH}/configmaps/a", query=query, replica=lambda: version))
            read.append((answer.status, orjson.loads(answer.body)["data"]))
    assert read == [(200, {"k": "1"}), (200, {"k": "2"})]


async def test_lists_of_lists_are_not_patched() -> None:
    """Given a strategic merge patch with a list in a list / when it is sent / then it is refused.
    """
    async with Cluster(**PLAIN) as cluster:
        await cluster.client.create(PODS, POD)
        answer = await cluster.apiserver.handle(Request(
            "PATCH", f"{PATH}/pods/p", headers={"content-type": "application/strategic-merge-patch+json"},
            body=b'{"metadata":{"$setElementOrder/finalizers":[["a"]],"finalizers":[["a"]]}}'))
    assert orjson.loads(answer.body) == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Invalid", "code": 422,
        "message": "the server rejected our request due to an error in our request", "details": {}}
