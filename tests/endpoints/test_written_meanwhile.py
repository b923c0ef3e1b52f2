"""Objects that somebody else writes while a request is on its way."""

from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, UserInfo
from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.webhooks import AdmissionRequest

PLAIN: dict[str, Any] = {"nodes": 0, "controllers": "", "clock": "manual"}
MAP: dict[str, Any] = {
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "1"}}
POD: dict[str, Any] = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def touching(cluster: Cluster, operation: str, times: int) -> list[str]:
    """What is asked of a webhook that lets somebody else label the object so many times meanwhile.
    """
    asked: list[str] = []

    @cluster.webhook("configmaps", name="touches", operations=[operation])
    async def touches(request: AdmissionRequest) -> None:
        if request.user.name == "somebody":
            return
        asked.append(request.operation)
        if len(asked) <= times:
            other = cluster.client.with_options(user=UserInfo("somebody", ("system:masters",)))
            await other.patch(CONFIG_MAPS, "a", "default", {"metadata": {"labels": {"seen": str(len(asked))}}})

    return asked


async def test_a_deletion_looks_again() -> None:
    """Given an object that changes while its deletion is admitted / when that is over / then the
    deletion is admitted anew, and the object goes.
    """
    async with Cluster(**PLAIN) as cluster:
        await cluster.client.create(CONFIG_MAPS, MAP)
        asked = touching(cluster, "DELETE", 2)
        await cluster.client.delete(CONFIG_MAPS, "a", "default")
        with pytest.raises(APIError) as error:
            await cluster.client.get(CONFIG_MAPS, "a", "default")
    assert (asked, error.value.code) == (["DELETE"] * 3, 404)


async def test_a_replacement_without_a_version_is_tried_again() -> None:
    """Given an object that changes while its replacement is admitted / when it has no version of
    its own / then it is tried again; with the old version it is a conflict.
    """
    async with Cluster(**PLAIN) as cluster:
        made = await cluster.client.create(CONFIG_MAPS, MAP)
        asked = touching(cluster, "UPDATE", 1)
        found = await cluster.client.update(CONFIG_MAPS, {**MAP, "data": {"k": "2"}})
        assert (found["data"], found["metadata"].get("labels"), asked) == ({"k": "2"}, None, ["UPDATE"] * 2)
        asked.clear()
        with pytest.raises(APIError) as error:
            await cluster.client.update(CONFIG_MAPS, {**made, "data": {"k": "3"}})
    assert (error.value.code, error.value.reason) == (409, "Conflict")


async def test_an_eviction_of_a_version_knows_what_it_did_itself() -> None:
    """Given a pod / when it is evicted with its version, or another / then the mark that the
    eviction sets is no change of somebody else, and the other is a conflict.
    """
    async with Cluster(**PLAIN) as cluster:
        made = await cluster.client.create(PODS, POD)
        answers = []
        for version in ("1", made["metadata"]["resourceVersion"]):
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, "deleteOptions": {
                "preconditions": {"resourceVersion": version}}}
            answers.append(await cluster.apiserver.handle(
                Request("POST", "/api/v1/namespaces/default/pods/p/eviction", body=orjson.dumps(body))))
        with pytest.raises(APIError) as error:
            await cluster.client.get(PODS, "p", "default")
    assert ([answer.status for answer in answers], error.value.code) == ([409, 201], 404)
