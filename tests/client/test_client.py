"""One client, two transports: what it asks, and what it makes of the answers."""

import asyncio
import base64
import json

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Response, UserInfo
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.inprocess import InProcess
from fakekube.client.kubeconfig import ConfigError, load_client
from fakekube.client.resources import CONFIG_MAPS, JOBS, NODES, PODS, SERVICE_ACCOUNTS
from fakekube.client.transport import TransportError
from fakekube.composition.cluster import Cluster
from fakekube.server.http import HttpServer
from fakekube.util.activity import Activity
from fakekube.util.wallclock import RealClock
from tests.runtime.harness import WEBS, TinyServer


@pytest.fixture
def server():
    return TinyServer()


@pytest.fixture(params=["in process", "http"])
async def client(request, server):
    if request.param == "in process":
        yield Client(InProcess(server), user_agent="test/1")
        return
    async with HttpServer(server, clock=RealClock()) as http:
        client = Client(HTTP(http.url), user_agent="test/1")
        yield client
        await client.close()


async def test_objects_come_and_go(client):
    """Given an empty server, when an object is created, read, changed and deleted, then each answer
    shows it.
    """
    web = await client.create(WEBS, {"metadata": {"name": "a"}, "spec": {"x": 1}})
    assert (web["apiVersion"], web["kind"], web["metadata"]["namespace"]) == ("example.com/v1", "Web", "default")
    web["spec"]["x"] = 2
    web = await client.update(WEBS, web)
    assert (await client.get(WEBS, "a"))["spec"] == {"x": 2}
    await client.patch(WEBS, "a", body={"spec": {"y": 3}})
    listed = await client.list(WEBS)
    assert [item["spec"] for item in listed.items] == [{"x": 2, "y": 3}]
    assert listed.resource_version
    with pytest.raises(APIError) as raised:
        await client.update(WEBS, web)
    assert (raised.value.code, raised.value.reason) == (409, "Conflict")
    await client.delete(WEBS, "a")
    assert await client.get(WEBS, "a", missing_ok=True) is None
    assert await client.delete(WEBS, "a", missing_ok=True) is None
    with pytest.raises(APIError, match='webs "a" not found'):
        await client.get(WEBS, "a")


async def test_a_watch_brings_history_and_then_what_happens(client):
    """Given an object, when watched from before it, then it comes, then what is new, until stopped.
    """
    await client.create(WEBS, {"metadata": {"name": "a"}})
    async with await client.watch(WEBS, resource_version="1") as events:
        assert (await anext(events)).object["metadata"]["name"] == "a"
        await client.create(WEBS, {"metadata": {"name": "b"}})
        event = await anext(events)
        assert (event.type, event.object["metadata"]["name"]) == ("ADDED", "b")
    assert [event async for event in events] == []


async def test_a_watch_ends_when_the_server_ends_it(client, server):
    """Given a watch, when the server cuts it, then the iteration ends."""
    async with await client.watch(WEBS) as events:
        await client.create(WEBS, {"metadata": {"name": "a"}})
        await anext(events)
        server.cut()
        assert [event async for event in events] == []


async def test_an_error_event_is_raised(client, server):
    """Given a compacted history, when watched from before it, then the 410 is raised from the
    iteration.
    """
    await client.create(WEBS, {"metadata": {"name": "a"}})
    server.compact()
    async with await client.watch(WEBS, resource_version="1") as events:
        with pytest.raises(APIError, match="too old resource version") as raised:
            await anext(events)
    assert raised.value.code == 410


async def test_odd_characters_reach_the_server_as_they_are(client, server):
    """Given names and selectors with odd characters, when sent, then the server sees them decoded
    once.
    """
    await client.list(WEBS, label_selector="a in (b,c),d!=e&f", field_selector="metadata.name=x y")
    request = server.requests[-1]
    assert request.query["labelSelector"] == ["a in (b,c),d!=e&f"]
    assert request.query["fieldSelector"] == ["metadata.name=x y"]
    await client.get(WEBS, "system:a%b", missing_ok=True)
    assert server.requests[-1].path == "/apis/example.com/v1/namespaces/default/webs/system:a%b"
    assert server.requests[-1].headers["user-agent"] == "test/1"


class Recorder:
    """Answers everything alike, and keeps what it was asked."""

    def __init__(self, response=None):
        self.requests, self.response = [], response

    async def handle(self, request):
        self.requests.append(request)
        return self.response or Response(200, b"{}")

    @property
    def last(self):
        request = self.requests[-1]
        query = {name: values[0] for name, values in request.query.items()}
        return request.method, request.path, query, orjson.loads(request.body) if request.body else None


async def test_what_each_call_sends():
    """Given a handler that records, when each method is called, then method, path, query and body
    are upstream's.
    """
    handler = Recorder()
    client = Client(InProcess(handler), namespace="team")
    await client.patch(JOBS, "j", "ns", {"x": 1}, type="apply", force=True)
    assert handler.last == (
        "PATCH", "/apis/batch/v1/namespaces/ns/jobs/j", {"fieldManager": "fakekube", "force": "true"},
        {"apiVersion": "batch/v1", "kind": "Job", "x": 1},
    )
    assert handler.requests[-1].headers["content-type"] == "application/apply-patch+yaml"
    await client.delete(PODS, "p", propagation_policy="Orphan", uid="u", grace_period_seconds=0)
    assert handler.last == ("DELETE", "/api/v1/namespaces/team/pods/p", {}, {
        "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": {"uid": "u"},
        "propagationPolicy": "Orphan",
    })
    await client.delete(NODES, "n")
    assert handler.last == ("DELETE", "/api/v1/nodes/n", {}, None)
    await client.update_status(JOBS, {"metadata": {"name": "j", "namespace": "ns"}}, dry_run=True)
    assert handler.last[:3] == ("PUT", "/apis/batch/v1/namespaces/ns/jobs/j/status", {"dryRun": "All"})
    await client.bind("p", "ns", "node-1", uid="u")
    assert handler.last[1] == "/api/v1/namespaces/ns/pods/p/binding"
    assert handler.last[3]["target"] == {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
    await client.evict("p", "ns", grace_period_seconds=5)
    assert handler.last[3]["deleteOptions"]["gracePeriodSeconds"] == 5
    await client.create_token("sa", "ns")
    assert handler.last[1] == "/api/v1/namespaces/ns/serviceaccounts/sa/token"
    await client.delete_collection(PODS, "ns", label_selector="a=b")
    assert handler.last == ("DELETE", "/api/v1/namespaces/ns/pods", {"labelSelector": "a=b"}, None)
    await client.list(SERVICE_ACCOUNTS, limit=5, continue_token="c")
    assert handler.last == ("GET", "/api/v1/serviceaccounts", {"limit": "5", "continue": "c"}, None)


async def test_another_user_on_the_same_transport():
    """Given a client, when one for another user is made from it, then requests carry that user and
    agent.
    """
    handler = Recorder()
    client = Client(InProcess(handler)).with_options(user_agent="kubelet", user=UserInfo("system:node:n"))
    await client.get(PODS, "p")
    assert handler.requests[-1].user.name == "system:node:n"
    assert handler.requests[-1].headers["user-agent"] == "kubelet"


async def test_an_answer_that_is_no_status_is_an_error_too():
    """Given an answer in plain text, when its code is an error's, then the text is the message."""
    client = Client(InProcess(Recorder(Response(404, b"404 page not found\n", "text/plain"))))
    with pytest.raises(APIError, match=r"^404 page not found$") as raised:
        await client.get(PODS, "p")
    assert (raised.value.code, raised.value.reason) == (404, "")


DISCOVERY = {
    "/api": {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [
        {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced", "singularResource": "pod",
         "shortNames": ["po"], "verbs": ["get"]},
        {"resource": "nodes", "responseKind": {"kind": "Node"}, "scope": "Cluster", "singularResource": "node",
         "verbs": ["get"]},
    ]}]}]},
    "/apis": {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "batch"}, "versions": [
        {"version": "v1", "resources": [{"resource": "jobs", "responseKind": {"kind": "Job"}, "scope": "Namespaced",
                                         "singularResource": "job", "verbs": ["get"]}]},
    ]}]},
}

LEGACY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "groups": [{
        "versions": [{"groupVersion": "batch/v1beta1"}, {"groupVersion": "batch/v1"}],
        "preferredVersion": {"groupVersion": "batch/v1"},
    }]},
    "/api/v1": {"groupVersion": "v1", "resources": [
        {"name": "pods", "singularName": "pod", "kind": "Pod", "namespaced": True, "shortNames": ["po"], "verbs": []},
        {"name": "pods/log", "kind": "Pod", "namespaced": True, "verbs": []},
        {"name": "nodes", "singularName": "node", "kind": "Node", "namespaced": False, "verbs": []},
    ]},
    "/apis/batch/v1": {"groupVersion": "batch/v1", "resources": [
        {"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": True, "verbs": []},
    ]},
    "/apis/batch/v1beta1": {"groupVersion": "batch/v1beta1", "resources": [
        {"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": True, "verbs": []},
    ]},
}


class Discovering:
    def __init__(self, documents):
        self.documents, self.requests = documents, []

    async def handle(self, request):
        self.requests.append(request)
        return Response(200, orjson.dumps(self.documents[request.path]))


@pytest.mark.parametrize("documents", [DISCOVERY, LEGACY], ids=["aggregated", "legacy"])
async def test_resources_are_found_by_any_of_their_names(documents):
    """Given a server's discovery, when asked by plural, singular, short name, kind or group, then
    all give the same.
    """
    handler = Discovering(documents)
    client = Client(InProcess(handler))
    for name in ("jobs", "job", "Job", "jobs.batch", "jobs.v1.batch"):
        assert await client.resource(name) == JOBS
    assert await client.resource("po") == PODS
    assert await client.resource("pods.v1") == PODS
    assert await client.for_kind(GroupVersionKind("batch", "", "Job")) == JOBS
    assert await client.for_object({"apiVersion": "v1", "kind": "Node"}) == NODES
    asked = len(handler.requests)
    with pytest.raises(KeyError, match="the server doesn't have a resource type 'webs'"):
        await client.resource("webs")
    assert len(handler.requests) == 2 * asked


async def test_virtual_time_waits_for_a_request_under_way(server):
    """Given a client over HTTP with an activity, when a request is under way, then a unit is held
    until it is over.
    """
    activity = Activity()
    async with HttpServer(server, clock=RealClock()) as http:
        client = Client(HTTP(http.url, activity=activity))
        task = asyncio.get_running_loop().create_task(client.list(WEBS))
        await asyncio.sleep(0)
        assert not activity.idle
        await activity.wait_idle()
        assert (await task).items == []
        await client.close()


async def test_no_answer_is_a_transport_error():
    """Given nobody at a port, when asked, then TransportError says what was tried."""
    client = Client(HTTP("http://127.0.0.1:1"))
    with pytest.raises(TransportError, match=r"GET http://127\.0\.0\.1:1/api/v1/pods"):
        await client.list(PODS)
    await client.close()


async def test_a_kubeconfig_says_where_and_who(server, tmp_path, monkeypatch):
    """Given a kubeconfig with a token and a namespace, when loaded, then requests go there, with
    them.
    """
    async with HttpServer(server, clock=RealClock()) as http:
        path = tmp_path / "config"
        path.write_text(json.dumps({
            "current-context": "c", "clusters": [{"name": "k", "cluster": {"server": http.url}}],
            "users": [
                {"name": "u", "user": {"token": "secret"}},
                {"name": "p", "user": {"username": "a", "password": "b"}},
            ],
            "contexts": [
                {"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "team"}},
                {"name": "d", "context": {"cluster": "k", "user": "p"}},
            ],
        }))
        monkeypatch.setenv("KUBECONFIG", str(path))
        client = load_client()
        await client.create(WEBS, {"metadata": {"name": "a"}})
        assert server.requests[-1].path == "/apis/example.com/v1/namespaces/team/webs"
        assert server.requests[-1].headers["authorization"] == "Bearer secret"
        await client.close()
        client = load_client(path, context="d")
        await client.list(WEBS)
        assert server.requests[-1].headers["authorization"] == f"Basic {base64.b64encode(b'a:b').decode()}"
        await client.close()
        with pytest.raises(ConfigError, match="no context 'x'"):
            load_client(path, context="x")


def test_what_a_kubeconfig_asks_for_in_vain_is_named(tmp_path):
    """Given a kubeconfig with an exec plugin, when loaded, then the refusal names it."""
    path = tmp_path / "config"
    path.write_text(json.dumps({
        "current-context": "c", "clusters": [{"name": "k", "cluster": {"server": "http://x"}}],
        "users": [{"name": "u", "user": {"exec": {"command": "x"}}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
    }))
    with pytest.raises(ConfigError, match="'exec' are not supported"):
        load_client(path)


async def test_a_version_is_asked_for_only_where_it_is_said(server):
    """Given a client / when an object is read with a version and without / then the first request
    alone names one.
    """
    client = Client(InProcess(server), user_agent="test/1")
    await client.create(WEBS, {"metadata": {"name": "a"}, "spec": {}})
    asked = len(server.requests)
    await client.get(WEBS, "a", resource_version="7")
    await client.get(WEBS, "a")
    assert [dict(request.query) for request in server.requests[asked:]] == [{"resourceVersion": ["7"]}, {}]


async def test_answers_that_are_shared():
    """Given a server in this process and the same behind HTTP When what is written is asked for as
    shared Then it is what it would be otherwise, and within the process the very object that
    others have."""
    async with Cluster(clock="manual", controllers="") as cluster:
        inside = cluster.client
        made = await inside.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"n": "1"}}, "default", shared=True)
        assert made == await inside.get(CONFIG_MAPS, "a", "default")
        changed = await inside.patch(CONFIG_MAPS, "a", "default", {"data": {"n": "2"}}, shared=True)
        assert changed == await inside.get(CONFIG_MAPS, "a", "default")
        assert changed is cluster.apiserver.storage.bucket(CONFIG_MAPS.group_resource).get("default", "a").tree()
        again = await inside.update(CONFIG_MAPS, {**changed, "data": {"n": "3"}}, shared=True)
        assert again == await inside.get(CONFIG_MAPS, "a", "default")
        async with HttpServer(cluster.apiserver, clock=RealClock()) as http:
            outside = Client(HTTP(http.url), user_agent="test/1")
            told = await outside.patch(CONFIG_MAPS, "a", "default", {"data": {"n": "4"}}, shared=True)
            assert told == await inside.get(CONFIG_MAPS, "a", "default")
            await outside.close()
