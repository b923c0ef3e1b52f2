"""The ways between clusters, operators and webhooks: what goes through, what is cut, what is sent;
and what a server keeps of its own objects.
"""

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.client.resources import CONFIG_MAPS, ENDPOINTS, NAMESPACES
from fakekube.client.transport import TransportError
from fakekube.composition import addons, clusterfaults
from fakekube.composition.clusterfaults import UnknownComponent
from fakekube.composition.httppool import HTTPPool
from fakekube.composition.links import Link
from fakekube.composition.operatorservers import SERVER, OperatorServer, is_sender_dead
from fakekube.composition.options import OptionError
from fakekube.composition.recordingpath import RecordingPath
from fakekube.composition.serverobjects import ServerObjects
from fakekube.composition.webhookposts import WebhookPosts
from fakekube.faults.plan import FaultNeverMet
from fakekube.runtime.addon import AddOn
from fakekube.webhooks.transport import Post


class Stream:
    """A stream of a server, and what it was told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.sink: Any = None

    def start(self, sink: Any) -> None:
        self.sink = sink

    def stop(self) -> None:
        self.calls.append("stop")

    def send(self, frame: Any) -> None:
        self.calls.append((frame, ACTING.get()))

    def end(self) -> None:
        self.calls.append("end")


class Server:
    """A Handler with one stream."""

    def __init__(self) -> None:
        self.stream = Stream()
        self.seen: list[Any] = []
        self.then: Any = lambda: None

    async def handle(self, request: Request) -> Response:
        self.seen.append((request.path, ACTING.get()))
        self.then()
        return Response(200, b"x", stream=cast("Any", self.stream) if request.path == "/watch" else None)


async def test_a_link_that_is_cut() -> None:
    """Given a link, when it is cut, then requests fail, answers that are under way too, and streams
    end once; mended it leads there again, and nothing that the sender acts on goes through.
    """
    server = Server()
    link = Link(cast("Any", SimpleNamespace(apiserver=server)))
    acting: Any = "acting"
    token = ACTING.set(acting)
    stream = (await link.request(Request("GET", "/watch"))).stream
    assert (server.seen, ACTING.get()) == ([("/watch", None)], acting)
    there: Any = Stream()
    assert stream is not None
    stream.start(there)
    server.stream.sink.send("a")
    assert (there.calls, ACTING.get()) == ([("a", None)], acting)
    ACTING.reset(token)
    link.cut()
    link.cut()
    server.stream.sink.send("b")
    server.stream.sink.end()
    assert (there.calls, server.stream.calls) == ([("a", None), "end"], ["stop"])
    with pytest.raises(TransportError) as refused:
        await link.request(Request("GET", "/p"))
    assert (str(refused.value), len(server.seen)) == ("GET /p: there is no connection to the cluster", 1)
    link.mend()
    assert (await link.request(Request("GET", "/p"))).body == b"x"
    server.then = link.cut
    with pytest.raises(TransportError):
        await link.request(Request("PUT", "/q"))
    link.mend()
    server.then = lambda: None
    for end in ("end", "stop"):
        stream, here = (await link.request(Request("GET", "/watch"))).stream, Stream()
        assert stream is not None
        stream.start(cast("Any", here))
        server.stream.sink.end() if end == "end" else stream.stop()
        link.cut()
        link.mend()
        assert here.calls == (["end"] if end == "end" else [])


async def test_the_server_of_one_run() -> None:
    """Given the server of a run, when it watches or writes, then it has begun; once it is dead
    nothing is answered, its token is nobody's, and its requests' sender is dead.
    """
    known: dict[str, Any] = {}
    begun: list[int] = []
    server, calls = Server(), list[Any]()
    authenticator: Any = SimpleNamespace(know=known.__setitem__, forget=lambda token: known.pop(token, None))
    ours = OperatorServer(lambda: cast("Any", server), authenticator, cast("Any", "user"), lambda: begun.append(1), {})

    async def start() -> None:
        calls.append("start")

    async def stop(*, grace_seconds: float) -> None:
        calls.append(grace_seconds)

    served: Any = SimpleNamespace(
        start=start, stop=stop, break_off=lambda: calls.append("break"), kubeconfig_for=lambda token: f"leads by {token}")
    await ours.start(served)
    (token,) = known
    assert (known, ours.kubeconfig, token.startswith("fakekube-"), ours.is_over()) == (
        {token: "user"}, f"leads by {token}", True, False)
    watch = {"watch": ["1"]}
    for method, query, count in (("GET", {}, 0), ("HEAD", {}, 0), ("GET", watch, 1), ("POST", {}, 2), ("DELETE", {}, 3)):
        assert (await ours.handle(Request(method, "/p", cast("Any", query)))).status == 200
        assert (len(begun), SERVER.get(), is_sender_dead()) == (count, ours, False)
    server.then = ours.break_off
    answer = await ours.handle(Request("GET", "/watch", {"watch": ["1"]}))
    assert (answer.status, answer.cut, server.stream.calls, len(begun), known) == (503, 0, ["stop"], 3, {})
    assert is_sender_dead()
    count = len(server.seen)
    answer = await ours.handle(Request("GET", "/p"))
    assert (answer.status, answer.cut, len(server.seen)) == (503, 0, count)
    await ours.stop()
    assert calls == ["start", "break", "break", 0]
    never = OperatorServer(lambda: cast("Any", server), authenticator, cast("Any", "user"), lambda: None, {})
    await never.stop()
    SERVER.set(None)
    assert not is_sender_dead()


@pytest.mark.parametrize(("url", "address", "asked", "headers", "server_name", "pool"), [
    ("https://s.a.svc:443/p?x=%2F", "10.0.0.1:9", "https://10.0.0.1:9/p?x=%2F", {"A": "b", "Host": "s.a.svc:443"}, "s.a.svc",
     ("s.a.svc", "10.0.0.1:9")),
    ("http://s.a.svc/p", "10.0.0.1:9", "http://10.0.0.1:9/p", {"A": "b", "Host": "s.a.svc"}, None, ("s.a.svc", "10.0.0.1:9")),
    ("https://h:1/p", "", "https://h:1/p", {"A": "b"}, None, ("h", "h:1")),
])
async def test_what_is_sent_to_a_webhook(
    url: str, address: str, asked: str, headers: Any, server_name: str | None, pool: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a POST for a webhook, when it is sent, then it goes where the address says, by the name
    of its URL, and the answer's headers have small letters.
    """
    sent: list[Any] = []

    class Answer:
        """What aiohttp gives."""

        status, headers = 201, {"Content-Type": "text/x"}

        async def __aenter__(self) -> None:
            sent.append("opened")

        async def __aexit__(self, *_: object) -> None:
            sent.append("closed")

    async def post(where: Any, **given: Any) -> Any:
        sent.append((str(where), given))
        return Answer()

    async def ask(_pool: Any, trust: Any, name: str, where: str, send: Any) -> Any:
        sent.append((trust, name, where))
        return await send(SimpleNamespace(post=post), "context", "reused")

    async def body(_answer: Any, most: int) -> bytes:
        sent.append(most)
        return b"body"

    monkeypatch.setattr(HTTPPool, "ask", ask)
    monkeypatch.setattr("fakekube.composition.webhookposts.body_of", body)
    given: Any = {"url": url, "address": address, "headers": [("A", "b")], "body": b"asked", "ca_bundle": b"PEM"}
    made = Post(**{name: value for name, value in given.items() if name in Post._fields}, **{
        name: cast("Any", 1) for name in Post._fields if name not in given and name not in Post._field_defaults})
    answer = await WebhookPosts().post(made)
    assert tuple(answer)[:3] == (201, {"content-type": "text/x"}, b"body")
    assert sent == [((b"PEM", False), *pool), (asked, {
        "data": b"asked", "headers": headers, "ssl": "context", "server_hostname": server_name, "trace_request_ctx": "reused",
        "max_redirects": 10}), "opened", 8 << 20, "closed"]


async def test_recordings_of_somebody_outside() -> None:
    """Given a cluster, when somebody outside records it, then that is started, taken and stopped
    once; all else is refused in words.
    """
    recorders: list[Any] = []
    path = RecordingPath(recorders.append, lambda: bool(recorders) and recorders[-1] is not None)

    def ask(method: str, body: Any = None) -> Any:
        return path.answer(Request(method, "/", body=b"" if body is None else orjson.dumps(body)))

    def refusal(method: str, body: Any = None) -> tuple[int, str]:
        with pytest.raises(APIError) as refused:
            ask(method, body)
        return refused.value.code, refused.value.message

    assert refusal("PUT") == (405, "the server does not allow this method on the requested resource")
    nobody = 400, "nobody records this cluster"
    assert (refusal("GET"), refusal("POST", {"stop": True})) == (nobody, nobody)
    either = 400, "give either start or stop"
    assert (refusal("POST", {"start": True, "stop": "TRUE"}), refusal("POST", {"secrets": True})) == (either, either)
    assert ask("POST", {"start": "True"}).body == b'{"recording":true}'
    assert refusal("POST", {"start": True})[1] == "this cluster is recorded already"
    taken = ask("GET")
    assert (taken.status, taken.body, taken.content_type, taken.headers) == (200, b"", "application/x-ndjson", [])
    assert ask("POST", {"stop": True}).body == b'{"recording":false}'
    assert recorders[-1] is None
    assert (len(recorders), refusal("GET")) == (2, nobody)


async def test_what_faults_know_of_a_cluster() -> None:
    """Given a cluster, when faults ask of its objects, versions and components, then they learn
    what is there; what is not there is not touched.
    """
    async with Cluster(nodes=0, controllers="namespace", clock="manual") as cluster:
        server: Any = cluster.faults.server
        maps, names = CONFIG_MAPS.group_resource, NAMESPACES.group_resource
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "m", "namespace": "default", "labels": {"a": "b"}}})
        assert [server.labels_of(*key) for key in ((maps, "default", "m"), (maps, "default", "n"), (maps, "x", "m"))] == [
            {"a": "b"}, None, None]
        assert server.labels_of(names, "default", "default") == {"kubernetes.io/metadata.name": "default"}
        assert server.labels_of(GroupResource("x.dev", "ws"), "", "w") is None
        before = server.revision
        assert (server.touch(maps, "default", "n"), server.revision) == (False, before)
        assert (server.touch(maps, "default", "m"), server.revision) == (True, before + 1)
        found = await cluster.client.get(CONFIG_MAPS, "m", "default")
        assert found["metadata"]["resourceVersion"] == str(before + 1)
        assert (server.name, server.is_asked) == ("", False)
        server.check_component("namespace")
        for name in ("nobody", "other/namespace"):
            with pytest.raises(UnknownComponent) as unknown:
                server.check_component(name)
            assert str(unknown.value).startswith(f'crash: controllers: "{name}" is not in the list of known controllers: ')
        assert cluster.has_faults


@pytest.mark.parametrize(("given", "told"), [
    (["{"], "schedule: a fault that it plans cannot be read: "),
    (['{"what": 1}'], "schedule: a fault that it plans cannot be read: "),
])
def test_faults_of_a_schedule(given: list[str], told: str) -> None:
    """Given the faults of a schedule, when one cannot be read, then that is told."""
    with pytest.raises(OptionError) as refused:
        clusterfaults.planned(given)
    assert str(refused.value).startswith(told)
    assert [rule.name for rule in clusterfaults.planned(['{"name": "f", "error": "Timeout"}'])] == ["f"]


async def test_a_fault_that_nobody_met_fails_the_block() -> None:
    """Given a fault of the options that no request meets, when the cluster ends well, then that is
    raised, and where it ends by an error it is not.
    """
    plan = [{"name": "f", "error": "Timeout", "resources": "secrets"}]
    with pytest.raises(FaultNeverMet):
        async with Cluster(nodes=0, controllers="", clock="manual", faults=plan):
            pass
    with pytest.raises(KeyError):
        async with Cluster(nodes=0, controllers="", clock="manual", faults=plan):
            raise KeyError


async def test_the_servers_own_objects() -> None:
    """Given an address that is advertised, when somebody changes or deletes what the server says of
    itself, then it is put right, and what others added to it stays.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", advertise_address="10.1.2.3") as cluster:
        made = await cluster.client.get(ENDPOINTS, "kubernetes", "default")
        changed = {**made, "subsets": [], "metadata": {**made["metadata"], "labels": {"mine": "1"}}}
        await cluster.client.update(ENDPOINTS, changed)
        await cluster.settle()
        found = await cluster.client.get(ENDPOINTS, "kubernetes", "default")
        assert found["subsets"] == made["subsets"]
        assert found["metadata"]["labels"] == {**made["metadata"].get("labels", {}), "mine": "1"}
        version = found["metadata"]["resourceVersion"]
        await cluster.advance("1h")
        assert (await cluster.client.get(ENDPOINTS, "kubernetes", "default"))["metadata"]["resourceVersion"] == version
        await cluster.client.delete(ENDPOINTS, "kubernetes", "default")
        await cluster.settle()
        again = await cluster.client.get(ENDPOINTS, "kubernetes", "default")
        assert (again["subsets"], again["metadata"].get("labels")) == (made["subsets"], made["metadata"].get("labels"))
        assert [(each.plural, namespace, name) for each, namespace, name in ServerObjects(cluster.options)._places] == [
            ("endpoints", "default", "kubernetes"), ("endpointslices", "default", "kubernetes")]


def test_definitions_that_convert() -> None:
    """Given an add-on with a conversion, when its definitions are made, then that one alone has the
    webhook, by default the function of this process.
    """
    tree: Any = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "ws.x.dev"},
                 "spec": {"group": "x.dev"}}
    other = {**tree, "metadata": {"name": "vs.x.dev"}}
    addon = AddOn("a", conversions={"ws.x.dev": cast("Any", None)}, manifests=(tree, other, {"apiVersion": "v1", "kind": "X"}))
    assert addons.definitions_of(addon) == [tree, other]
    assert addons._converting(other, addon, addons._in_process) is other
    assert addons._converting(tree, addon, addons._in_process)["spec"] == {"group": "x.dev", "conversion": {
        "strategy": "Webhook", "webhook": {
            "clientConfig": {"url": "https://webhooks.fakekube.invalid/convert/ws.x.dev"}, "conversionReviewVersions": ["v1"]}}}


def test_what_a_recording_says_of_its_cluster() -> None:
    """Given a recorder, when a cluster is led to it, then it is told what the cluster is like."""
    told: list[Any] = []

    def around(server: Any, _clock: Any, facts: Any, _registered: Any) -> Any:
        told.append(facts)
        return server

    recorder: Any = SimpleNamespace(around=around, flush=lambda: None)
    Cluster(nodes=2, controllers="job,kueue", clock="manual", record=recorder)
    assert told == [{
        "release": "1.37", "clock": "manual", "nodes": 2, "controllers": "job,kueue", "featureGates": {},
        "authorizationMode": ["AlwaysAllow"], "addons": ["kueue"], "defaultStorageClass": False, "extra": False,
        "prepared": False, "member": ""}]
