"""Conflicts: only what a server can refuse with one meets one."""

from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.apis.catalog import definitions_of
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, Resource
from fakekube.faults.plan import FaultNeverMet
from fakekube.faults.point import THIEF
from fakekube.schema.protobuf.codec import ProtobufCodec
from fakekube.testing.history import History
from tests.faults.asking import ADMIN, MAPS, ask, create, status
from tests.faults.test_errors import quiet

MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1"}}
OPTIONS = {"apiVersion": "v1", "kind": "DeleteOptions"}
MODIFIED = (
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest '
    "version and try again")


def versioned(version: str) -> dict[str, Any]:
    return {**MAP, "metadata": {**MAP["metadata"], "resourceVersion": version}}


def in_protobuf(tree: dict[str, Any]) -> bytes:
    return ProtobufCodec(definitions_of("1.37")).encode(tree)


async def sent(cluster: Cluster, method: str, content_type: str, body: bytes) -> Response:
    query = {"fieldManager": ["a"], "force": ["true"]} if "apply" in content_type else {}
    headers = {"user-agent": "test", "accept": "application/json", "content-type": f"application/{content_type}"}
    return await cluster.apiserver.handle(Request(method, f"{MAPS}/a", query, headers, body, ADMIN))


WRITES = {
    "put": ("PUT", "json", lambda version: orjson.dumps(versioned(version))),
    "put in protobuf": ("PUT", "vnd.kubernetes.protobuf", lambda version: in_protobuf(versioned(version))),
    "put in yaml": ("PUT", "yaml", lambda version: (
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, resourceVersion: '{version}'}}}}".encode())),
    "merge patch": ("PATCH", "merge-patch+json", lambda version: orjson.dumps(versioned(version))),
    "strategic": ("PATCH", "strategic-merge-patch+json", lambda version: orjson.dumps(versioned(version))),
    "json patch": ("PATCH", "json-patch+json", lambda version: orjson.dumps([
        {"op": "add", "path": "/data", "value": {"x": "1"}},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version}])),
    "apply": ("PATCH", "apply-patch+yaml", lambda version: (
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, resourceVersion: '{version}'}}}}".encode())),
    "delete": ("DELETE", "json", lambda version: orjson.dumps({**OPTIONS, "preconditions": {"resourceVersion": version}})),
    "delete in protobuf": ("DELETE", "vnd.kubernetes.protobuf", lambda version: (
        in_protobuf({**OPTIONS, "preconditions": {"resourceVersion": version}}))),
}


@pytest.mark.parametrize("write", WRITES)
async def test_what_names_a_version_meets_a_conflict(write: str) -> None:
    """Given a conflict for every write, when one names the version of the object, then it meets it,
    as it does where somebody was faster indeed; with the version that is there it would be taken.
    """
    method, content_type, body_of = WRITES[write]
    told = []
    for is_faulty in (True, False):
        async with quiet() as cluster:
            version = status(await create(cluster, "a"))["metadata"]["resourceVersion"]
            if is_faulty:
                cluster.faults.add(error="Conflict")
            else:
                await ask(cluster, "PATCH", f"{MAPS}/a", None)
                await sent(cluster, "PATCH", "merge-patch+json", b'{"data": {"y": "1"}}')
            told.append(await sent(cluster, method, content_type, body_of(version)))
            if is_faulty:
                assert list(cluster.apiserver.log)[-1].fault == "fault-1"
                cluster.faults.clear()
                assert (await sent(cluster, method, content_type, body_of(version))).status == 409
                newer = status(await ask(cluster, "GET", f"{MAPS}/a"))["metadata"]["resourceVersion"]
                assert (await sent(cluster, method, content_type, body_of(newer))).status == 200
                assert list(cluster.apiserver.log)[-1].conditional
    assert [(answer.status, status(answer)["reason"]) for answer in told] == [(409, "Conflict")] * 2
    words = [status(answer)["message"].partition("in record (") for answer in told]
    assert words[0][0] == words[1][0]
    assert method == "DELETE" or words[0][0] == MODIFIED


@pytest.mark.parametrize(("resource", "where"), [(CONFIG_MAPS, "default"), (NAMESPACES, "")])
async def test_whoever_waits_for_the_change_hears_of_it(resource: Resource, where: str) -> None:
    """Given an object, when an update of it meets a conflict, then there is an event of a newer
    version of the object, by somebody else, in which nothing else is different; an update of that
    version is taken.
    """
    async with quiet() as cluster:
        client = cluster.client
        before = await client.create(resource, {"metadata": {"name": "a"}}, where)
        with cluster.faults.add(error="Conflict"), pytest.raises(APIError, match="the object has been modified"):
            await client.update(resource, before)
        [_, change] = [change for change in History.of(cluster).changes if change.object["metadata"]["name"] == "a"]
        after = change.object
        assert change.type == "MODIFIED"
        assert change.cause is not None
        assert (change.cause.method, change.cause.user_agent, change.cause.fault) == ("PUT", THIEF, "fault-1")
        assert after["metadata"].pop("resourceVersion") != before["metadata"].pop("resourceVersion")
        assert after == before
        await client.update(resource, await client.get(resource, "a", where))


@pytest.mark.parametrize("write", [write for write in WRITES if "protobuf" not in write])
async def test_what_names_none_is_tried_again_by_the_server(write: str) -> None:
    """Given a conflict for every write, when one names no version, then it is taken, and the fault
    has met nothing, which says why.
    """
    method, content_type, body_of = WRITES[write]
    async with quiet() as cluster:
        await create(cluster, "a")
        cluster.faults.add(error="Conflict")
        body = body_of("").replace(b"/metadata/resourceVersion", b"/metadata/annotations").replace(b'"value":""', b'"value":{}')
        body = body.replace(b'"resourceVersion":""', b'"uid":null')
        assert (await sent(cluster, method, content_type, body)).status == 200
        assert not list(cluster.apiserver.log)[-1].conditional
        with pytest.raises(FaultNeverMet, match="a conflict meets writes that name the version of the object"):
            cluster.faults.check()
        cluster.faults.clear()


@pytest.mark.parametrize("body", [
    b'{"metadata": {"resourceVersion"', b'{"metadata": "resourceVersion"}', b'["resourceVersion"]', b'"resourceVersion"',
    b'{"metadata": {"resourceVersion": {"a": 1}}}', b"k8s\x00resourceVersion", b"k8s\x00\x12\xff\xff\xff\xff\xff"])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_what_cannot_be_read_meets_the_server(method: str, body: bytes) -> None:
    """Given a conflict for every write, when a body is none that names a version, then the server
    is asked, which says so.
    """
    content_type = "vnd.kubernetes.protobuf" if body.startswith(b"k8s") else "merge-patch+json" if method == "PATCH" else "json"
    async with quiet() as cluster:
        await create(cluster, "a")
        cluster.faults.add(error="Conflict", optional=True)
        answer = await sent(cluster, method, content_type, body)
        assert answer.status < 500
        assert not list(cluster.apiserver.log)[-1].fault
        assert status(answer).get("reason") != "Conflict"
