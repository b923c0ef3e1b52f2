"""What a client makes of the answers of servers: discovery, errors, and what breaks off."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.client.discovery import AGGREGATED, Discovery
from fakekube.client.http import HTTP
from fakekube.client.resources import Resource
from fakekube.client.rest import RESTClient
from fakekube.client.transport import Authenticated, TransportError


class Scripted:
    """Answers by paths, and notes what it was asked."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers, self.asked = answers, list[Request]()

    async def request(self, request: Request) -> Response:
        self.asked.append(request)
        answer = self.answers[request.path]
        return answer if isinstance(answer, Response) else Response(200, orjson.dumps(answer))

    async def close(self) -> None:
        self.asked.clear()


def rest(answers: Mapping[str, Any]) -> tuple[RESTClient, Scripted]:
    transport = Scripted(answers)
    return RESTClient(transport, user_agent="me", user=UserInfo("u")), transport


def resource(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"resource": name, "responseKind": {"kind": kind}, "scope": "Namespaced", **more}


GROUPS = {"kind": "APIGroupDiscoveryList", "items": [
    {"metadata": {"name": "batch"}, "versions": [
        {"version": "v1", "resources": [
            resource("jobs", "Job", singularResource="job", verbs=["get", "list"]),
            resource("cronjobs", "CronJob", singularResource="cronjob", shortNames=["cj"], verbs=["get"])]},
        {"version": "v2alpha1", "freshness": "Stale", "resources": [resource("jobs", "Job"), resource("old", "Old")]}]},
    {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]}]}
CORE = {"kind": "APIGroupDiscoveryList", "items": [
    {"metadata": {}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
        resource("pods", "Pod", singularResource="pod", shortNames=["po"], verbs=["get", "list"]),
        resource("nodes", "Node", singularResource="node", scope="Cluster", verbs=["list"])]}]}]}
PODS, NODES = Resource("", "v1", "pods", "Pod"), Resource("", "v1", "nodes", "Node", namespaced=False)
JOBS, CRON_JOBS = Resource("batch", "v1", "jobs", "Job"), Resource("batch", "v1", "cronjobs", "CronJob")


async def test_resources_are_found_by_all_their_names() -> None:
    """Given aggregated documents / when resources are asked for by plural, singular, short name,
    kind, group and version / then they are found, with two requests for all; what is unknown is
    asked for once more.
    """
    client, transport = rest({"/api": CORE, "/apis": GROUPS})
    discovery = Discovery(client)
    names = {
        "pods": PODS, "pod": PODS, "po": PODS, "Pod": PODS, "pods.v1": PODS, "nodes": NODES, "jobs": JOBS, "job.batch": JOBS,
        "jobs.v1.batch": JOBS, "cj": CRON_JOBS, "CronJob": CRON_JOBS, "jobs.v2alpha1.batch": JOBS._replace(version="v2alpha1"),
        "old": Resource("batch", "v2alpha1", "old", "Old")}
    for name, wanted in names.items():
        assert await discovery.resource(name) == wanted
    assert [(asked.method, asked.path, asked.headers["accept"]) for asked in transport.asked] == [
        ("GET", "/api", AGGREGATED), ("GET", "/apis", AGGREGATED)]
    assert AGGREGATED == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    assert discovery.stale == ("batch/v2alpha1", "metrics.k8s.io/v1beta1")
    for name in ("none", "po.v1", "pods.batch", "jobs.v9.batch"):
        with pytest.raises(KeyError, match=f"the server doesn't have a resource type '{name}'"):
            await discovery.resource(name)
    assert len(transport.asked) == 10
    assert await discovery.for_kind(GroupVersionKind("batch", "", "Job")) == JOBS
    assert await discovery.for_kind(GroupVersionKind("batch", "v2alpha1", "Job")) == JOBS._replace(version="v2alpha1")
    assert await discovery.for_object({"apiVersion": "v1", "kind": "Node"}) == NODES
    with pytest.raises(KeyError, match="the server doesn't have a resource type 'batch/v3, Kind=Job'"):
        await discovery.for_kind(GroupVersionKind("batch", "v3", "Job"))
    assert await discovery.all() == [PODS, NODES, JOBS, CRON_JOBS, names["old"]]
    assert await discovery.all(["get", "list"]) == [PODS, JOBS]
    before = len(transport.asked)
    discovery.forget()
    assert await discovery.resource("pods") == PODS
    assert len(transport.asked) == before + 2


async def test_a_server_without_aggregated_discovery_is_asked_version_by_version() -> None:
    """Given documents of the old form / when resources are asked for / then every version is read,
    the preferred one of each group first, without sub-resources.
    """
    def served(group_version: str, *resources: dict[str, Any]) -> dict[str, Any]:
        return {"kind": "APIResourceList", "groupVersion": group_version, "resources": resources}

    job = {"name": "jobs", "kind": "Job", "namespaced": True, "singularName": "job", "shortNames": ["j"], "verbs": ["get"]}
    client, transport = rest({
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "groups": [{
            "name": "batch", "versions": [{"groupVersion": "batch/v1beta1"}, {"groupVersion": "batch/v1"}],
            "preferredVersion": {"groupVersion": "batch/v1"}}, {"name": "x", "versions": [{"groupVersion": "x/v1"}]}]},
        "/api/v1": served("v1", {"name": "nodes", "kind": "Node", "namespaced": False}, {"name": "nodes/status", "kind": "Node"}),
        "/apis/batch/v1": served("batch/v1", job, {"name": "jobs/status", "kind": "Job", "namespaced": True}),
        "/apis/batch/v1beta1": served("batch/v1beta1", job), "/apis/x/v1": served("x/v1")})
    discovery = Discovery(client)
    assert [await discovery.resource(name) for name in ("j", "job", "nodes")] == [JOBS, JOBS, NODES]
    assert [asked.path for asked in transport.asked] == [
        "/api", "/api/v1", "/apis", "/apis/batch/v1", "/apis/batch/v1beta1", "/apis/x/v1"]
    assert await discovery.all(["get"]) == [JOBS]
    assert discovery.stale == ()


@pytest.mark.parametrize(("response", "code", "reason", "text"), [
    (Response(404, orjson.dumps({"kind": "Status", "code": 404, "reason": "NotFound", "message": "m"})), 404, "NotFound", "m"),
    (Response(409, orjson.dumps({"kind": "Status", "reason": "Conflict", "message": "m"})), 409, "Conflict", "m"),
    (Response(500, b" broken\n"), 500, "", "broken"), (Response(400, b'{"kind":"Other"}'), 400, "", '{"kind":"Other"}'),
    (Response(503, b"\xff"), 503, "", "�"), (Response(400, b"[]"), 400, "", "[]"),
])
async def test_an_answer_of_four_hundred_and_above_is_an_error(response: Response, code: int, reason: str, text: str) -> None:
    """Given answers with and without a Status / then the error says what they say."""
    client, _ = rest({"/a": response})
    with pytest.raises(APIError) as error:
        await client.tree("PUT", "/a", None, {"b": 1})
    assert (error.value.code, error.value.reason, error.value.message) == (code, reason, text)


async def test_answers_that_break_off_or_are_no_json() -> None:
    """Given answers that end early, or are no JSON / then there is no answer, and why; a 404 is
    nothing where something is looked for, unless it broke off.
    """
    client, _ = rest({
        "/early": Response(200, b"{}", cut=0), "/late": Response(404, b"{}", cut=1), "/text": Response(200, b"{"),
        "/none": Response(404, b"x"), "/ok": {"a": 1}})
    for path, text in (("/early", "^EOF$"), ("/late", "^unexpected EOF$"), ("/text", "^GET /text: the answer is no JSON: ")):
        with pytest.raises(TransportError, match=text):
            await client.find(path)
    assert (await client.find("/none"), await client.find("/ok")) == (None, {"a": 1})
    with pytest.raises(APIError):
        await client.request("GET", "/none")


async def test_what_a_request_carries() -> None:
    """Given requests of every sort / then headers, bodies and users are what the server needs to
    know, and credentials of a transport take the place of the user.
    """
    client, transport = rest({"/a": {}})
    await client.send("POST", "/a", {"q": ["1"]}, {"b": 1})
    await client.send("DELETE", "/a")
    await client.request("PATCH", "/a", body=b"x", content_type="text/y", accept="text/z")
    await RESTClient(Authenticated(transport, {"Authorization": "t"}), user_agent="me", user=UserInfo("u")).send("GET", "/a")
    plain = {"user-agent": "me", "accept": "application/json"}
    assert [(asked.method, asked.query, asked.body, asked.headers, asked.user, asked.canonical) for asked in transport.asked] == [
        ("POST", {"q": ["1"]}, b'{"b":1}', {**plain, "content-type": "application/json"}, UserInfo("u"), True),
        ("DELETE", {}, b"", plain, UserInfo("u"), True),
        ("PATCH", {}, b"x", {**plain, "content-type": "text/y", "accept": "text/z"}, UserInfo("u"), False),
        ("GET", {}, b"", {**plain, "authorization": "t"}, None, True)]


def test_who_asks_is_sent_where_a_client_speaks_for_others() -> None:
    """Given a request of a user / when it goes over HTTP, with and without impersonation / then the
    user's name and groups are headers, or nothing is.
    """
    request = Request("GET", "/", headers={"a": "b"}, user=UserInfo("u", ("g", "h")))
    assert HTTP("http://x/", impersonate=True)._all_headers(request) == [
        ("a", "b"), ("Impersonate-User", "u"), ("Impersonate-Group", "g"), ("Impersonate-Group", "h")]
    assert HTTP("http://x/")._all_headers(request) == [("a", "b")]
    assert HTTP("http://x/", impersonate=True)._all_headers(Request("GET", "/")) == []
    assert HTTP("http://x/").url == "http://x"


async def test_a_server_that_is_not_there_is_named() -> None:
    """Given no server / when a request is sent / then the error names what was asked."""
    refused = r"^GET http://127\.0\.0\.1:1/a: Cannot connect to host"
    for url, text in (("http://127.0.0.1:1", refused), ("nowhere", "^GET nowhere/a: ")):
        transport = HTTP(url)
        try:
            with pytest.raises(TransportError, match=text):
                await transport.request(Request("GET", "/a"))
        finally:
            await transport.close()
