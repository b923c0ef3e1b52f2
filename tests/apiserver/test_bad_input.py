"""Each mistake has a Status in upstream's words, and storage stays as it was.

``tests/fuzz`` makes mistakes by the thousand.
"""

from collections.abc import AsyncIterator

import orjson
import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.composition.cluster import Cluster

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JSON = {"content-type": "application/json"}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(nodes=0, controllers="", clock="manual") as made:
        await made.client.create(await made.client.resource("configmaps"), {"metadata": {"name": "kept"}}, "default")
        yield made


async def send(
    cluster: Cluster, method: str, path: str, body: bytes = b"", *, headers: dict[str, str] | None = None, **query: str,
) -> Response:
    asked = {name: [value] for name, value in query.items()}
    return await cluster.apiserver.handle(Request(method, path, asked, headers or JSON, body))


def contents(cluster: Cluster) -> list[tuple[str, str, int]]:
    """What the namespace holds, with versions."""
    buckets = [cluster.apiserver.buckets.bucket(GroupResource("", plural)) for plural in ("configmaps", "pods")]
    found = [(bucket.resource.resource, record) for bucket in buckets for record in bucket.records("default")]
    return [(plural, record.name, record.revision) for plural, record in found]


CASES = [
    # what is wrong, method, path, body, headers, query, code, reason, a part of the message
    ("json cut short", "POST", MAPS, b"{", JSON, {}, 400, "BadRequest", "unexpected end of JSON input"),
    ("an array", "POST", MAPS, b"[]", JSON, {}, 400, "BadRequest", "cannot unmarshal array"),
    ("no body", "POST", MAPS, b"", JSON, {}, 400, "BadRequest", "<empty>"),
    ("bad yaml", "POST", MAPS, b"a: b: c", {"content-type": "application/yaml"}, {}, 400, "BadRequest", "yaml"),
    ("another kind", "POST", MAPS, b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}', JSON, {}, 400, "BadRequest",
     "Pod"),
    ("another group", "POST", MAPS, b'{"kind":"ConfigMap","apiVersion":"apps/v1"}', JSON, {}, 400, "BadRequest", "ConfigMap"),
    ("plain text", "POST", MAPS, b"hello", {"content-type": "text/plain"}, {}, 415, "UnsupportedMediaType", "media type"),
    ("unknown field, strictly", "POST", MAPS, b'{"metadata":{"name":"a"},"spec":1}', JSON, {"fieldValidation": "Strict"},
     400, "BadRequest", 'unknown field "spec"'),
    ("duplicate field, strictly", "POST", MAPS, b'{"metadata":{"name":"a"},"data":{"a":"1","a":"2"}}', JSON,
     {"fieldValidation": "Strict"}, 400, "BadRequest", 'duplicate field "data.a"'),
    ("a number for a text", "POST", MAPS, b'{"metadata":{"name":"a"},"data":{"a":1}}', JSON, {}, 400, "BadRequest",
     "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
    ("a bad name", "POST", MAPS, b'{"metadata":{"name":"A_b"}}', JSON, {}, 422, "Invalid", "a lowercase RFC 1123 subdomain"),
    ("no containers", "POST", PODS, b'{"metadata":{"name":"a"},"spec":{}}', JSON, {}, 422, "Invalid",
     "spec.containers: Required value"),
    ("an unknown option value", "POST", MAPS, b'{"metadata":{"name":"a"}}', JSON, {"dryRun": "x"}, 422, "Invalid", "dryRun"),
    ("a bad label selector", "GET", MAPS, b"", {}, {"labelSelector": "a in ("}, 400, "BadRequest", "unable to parse requirement"),
    ("a bad field selector", "GET", MAPS, b"", {}, {"fieldSelector": "a>b"}, 400, "BadRequest", "can't understand"),
    ("an unknown field label", "GET", PODS, b"", {}, {"fieldSelector": "spec.foo=1"}, 400, "BadRequest",
     "field label not supported"),
    ("a bad token", "GET", MAPS, b"", {}, {"continue": "garbage"}, 400, "BadRequest", "continue key is not valid"),
    ("a bad version", "GET", MAPS, b"", {}, {"resourceVersion": "abc"}, 400, "BadRequest", "invalid resource version"),
    ("a bad limit", "GET", MAPS, b"", {}, {"limit": "many"}, 400, "BadRequest", "strconv.ParseInt"),
    ("an unknown resource", "GET", "/api/v1/namespaces/default/nopes", b"", {}, {}, 404, "NotFound",
     "could not find the requested resource"),
    ("an unknown version", "GET", "/apis/batch/v9/jobs", b"", {}, {}, 404, "NotFound", "could not find the requested resource"),
    ("a missing object", "GET", f"{MAPS}/a", b"", {}, {}, 404, "NotFound", 'configmaps "a" not found'),
    ("a verb that is not served", "PUT", MAPS, b"{}", JSON, {}, 405, "MethodNotAllowed", "does not allow this method"),
    ("a namespace that is not there", "POST", "/api/v1/namespaces/zz/configmaps", b'{"metadata":{"name":"a"}}', JSON, {},
     404, "NotFound", 'namespaces "zz" not found'),
    ("a form that nobody has", "GET", MAPS, b"", {"accept": "text/html"}, {}, 406, "NotAcceptable", "406: Not Acceptable"),
    ("a broken patch", "PATCH", f"{MAPS}/kept", b"{", {"content-type": "application/merge-patch+json"}, {}, 400,
     "BadRequest", "invalid JSON patch"),
    ("a failed test", "PATCH", f"{MAPS}/kept", b'[{"op":"test","path":"/data","value":1}]',
     {"content-type": "application/json-patch+json"}, {}, 422, "Invalid", "the server rejected our request"),
    ("a patch of another type", "PATCH", f"{MAPS}/kept", b"{}", JSON, {}, 415, "UnsupportedMediaType",
     "415: Unsupported Media Type"),
    ("another name than the URL's", "PUT", f"{MAPS}/kept", b'{"metadata":{"name":"b"}}', JSON, {}, 400,
     "BadRequest", "does not match the name on the URL"),
    ("both policies", "DELETE", f"{MAPS}/kept", b'{"propagationPolicy":"Background","orphanDependents":true}', JSON, {}, 422,
     "Invalid", "cannot be both set"),
]


@pytest.mark.spec("API-029", "API-030", "API-032", "API-033", "API-039", "API-056", "API-062", "API-066", "API-095", "API-108")
@pytest.mark.parametrize(("method", "path", "body", "headers", "query", "code", "reason", "message"),
                         [case[1:] for case in CASES], ids=[case[0] for case in CASES])
async def test_each_mistake_has_its_status(
    cluster: Cluster, method: str, path: str, body: bytes, headers: dict[str, str], query: dict[str, str], code: int,
    reason: str, message: str,
) -> None:
    """Given a request with one mistake, when it is sent, then code, reason and text are upstream's
    and nothing is stored.
    """
    before = contents(cluster)
    response = await send(cluster, method, path, body, headers=headers, **query)
    status = orjson.loads(response.body)
    assert (response.status, status["kind"], status["status"]) == (code, "Status", "Failure")
    assert (status["code"], status["reason"]) == (code, reason)
    assert message in status["message"]
    assert contents(cluster) == before


@pytest.mark.spec("API-031")
async def test_a_body_that_is_too_large(cluster: Cluster) -> None:
    """Given a body over three mebibytes, when it is sent, then it is a 413 with the limit."""
    body = b'{"metadata":{"name":"a"},"data":{"a":"' + b"x" * (3 * 1024 * 1024) + b'"}}'
    response = await send(cluster, "POST", MAPS, body)
    assert (response.status, orjson.loads(response.body)["message"]) == (413, "Request entity too large: limit is 3145728")


@pytest.mark.parametrize("validation", ["Ignore", "Warn"])
async def test_a_key_given_twice_counts_as_it_was_given_last(cluster: Cluster, validation: str) -> None:
    """Given a body with keys twice, when it is not read strictly, then texts are the last ones, and
    objects are merged.
    """
    body = (
        b'{"metadata":{"name":"a","labels":{"x":"y"}},"metadata":{"name":"b"},'
        b'"data":{"a":"1","b":"3"},"data":{"a":"2"}}')
    response = await send(cluster, "POST", MAPS, body, headers=JSON, fieldValidation=validation)
    made = orjson.loads(response.body)
    assert (response.status, made["metadata"]["name"], made["data"]) == (201, "b", {"a": "2", "b": "3"})
    assert made["metadata"]["labels"] == {"x": "y"}
    warnings = [text for name, text in response.headers if name == "Warning"]
    assert len(warnings) == (2 if validation == "Warn" else 0)
