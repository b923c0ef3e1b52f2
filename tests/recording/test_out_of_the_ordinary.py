"""Requests and answers out of the ordinary: YAML, what is no JSON, protobuf that cannot be read,
streams that end, and clusters that refuse.
"""

import base64
import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import Frame, Handler, Request, Response, Sink
from fakekube.client.resources import CONFIG_MAPS, PRIORITY_CLASSES
from fakekube.recording import har, recorder
from fakekube.recording.asking import message_of, tree_of
from fakekube.recording.binary import Unpacking
from fakekube.recording.comparison import Answer, Difference, Setting, differences
from fakekube.recording.exchanges import Exchange
from fakekube.recording.player import _Watched, _yaml
from fakekube.recording.recorder import Recorder
from fakekube.recording.removal import Removal
from fakekube.recording.translation import Translation
from fakekube.util.clock import ManualClock
from tests.recording.test_playing import played, recorded, told

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(("body", "tree", "message"), [
    (b"", None, ""), (b'{"message": "no"}', {"message": "no"}, "no"), (b'{"message": 3}', {"message": 3}, "3"), (b"{}", {}, ""),
    (b"[1]", [1], ""), (b"not \xff found\n", "not � found\n", "")])
def test_what_is_in_an_answer(body: bytes, tree: Any, message: str) -> None:
    """Given the body of an answer / when it is read / then it is a tree, or a text where it is no
    JSON, or nothing; a Status has a message.
    """
    answer = Response(400, body)
    assert (tree_of(answer), message_of(answer)) == (tree, message)


def test_protobuf_that_cannot_be_read() -> None:
    """Given an exchange whose body cannot be read as protobuf, though its answer is JSON / when it
    is unpacked / then it stays as it was, with its headers.
    """
    for body in (b"k8s\x00\xff\xff", b"k8s\x00\n\x02"):
        line = {
            "headers": {"content-type": "application/vnd.kubernetes.protobuf", "accept": "application/json"},
            "bodyBase64": base64.b64encode(body).decode(), "answer": {"kind": "Status"}}
        exchange = Exchange(dict(line))
        Unpacking().unpack(exchange, "1.37")
        assert exchange.line == line


def test_codes_and_answers_of_an_archive() -> None:
    """Given answers with a code that nobody knows, and with bytes / when they are archived / then
    the code has no phrase, and the bytes are in base64.
    """
    line = {
        "type": "request", "cluster": "0", "number": 1, "time": 0.0, "until": 0.0, "method": "GET", "path": "/x", "query": {}}
    found = [har._response(Exchange({**line, **more})) for more in (
        {"code": 799, "answerBase64": "/w==", "contentType": "x"}, {"code": 404, "answerText": "no"},
        {"code": 200, "answer": {}})]
    assert [(each["status"], each["statusText"], each["content"]) for each in found] == [
        (799, "", {"size": 1, "mimeType": "x", "encoding": "base64", "text": "/w=="}),
        (404, "Not Found", {"size": 2, "mimeType": "", "text": "no"}), (200, "OK", {"size": 2, "mimeType": "", "text": "{}"})]


def test_a_recording_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Given the file of a recording / when it can be written no more / then that is told, once for
    each part; one that could never be written is an error.
    """
    made = Recorder.to_file(tmp_path / "r")
    (tmp_path / "r").unlink()
    (tmp_path / "r").mkdir()
    with caplog.at_level(logging.WARNING):
        made.tell_setup("0", [])
    assert caplog.messages == [f"a part of the recording is lost: [Errno 21] Is a directory: '{tmp_path / 'r'}'"]
    with pytest.raises(IsADirectoryError):
        Recorder.to_file(tmp_path / "r")


async def test_lines_are_written_before_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a recorder that keeps three entries at most / when requests and events come / then
    lines are made with every third, and nothing is lost.
    """
    monkeypatch.setattr(recorder, "MOST_PENDING", 3)
    written: list[list[str]] = []

    def write(data: bytes) -> None:
        written.append([orjson.loads(line)["type"] for line in data.splitlines()])

    kept = Recorder(write)
    async with Cluster(nodes=0, controllers="", clock="manual", record=kept) as cluster:
        async with await cluster.client.watch(CONFIG_MAPS, "default") as events:
            for name in "abc":
                await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name}})
                await anext(events)
        await cluster.client.list(CONFIG_MAPS)
    kept.flush()
    assert written[0] == ["cluster"]
    assert [len(lines) for lines in written[1:]] == [3, 3, 3]
    assert sorted(kind for lines in written[1:] for kind in lines) == ["end"] + ["event"] * 3 + ["request"] * 5


async def test_the_kinds_of_streams() -> None:
    """Given answers that are a watch, a text that is followed, or a session / when they are
    recorded / then their kinds are told, and a body is none.
    """
    class Answers:
        async def handle(self, request: Request) -> Response:
            if request.path == "/session":
                response = Response(101)
                response.session = object()  # type: ignore[assignment]  # nobody speaks to it
                return response
            return Response(stream=Silent()) if request.path == "/log" else Response(200, b"{}")

    class Silent:
        def start(self, _: Sink) -> None:
            """Nothing comes."""

        def stop(self) -> None:
            """Nothing came."""

    lines: list[bytes] = []
    kept = Recorder(lines.append)
    handler = kept.around(Answers(), ManualClock(), {})
    for path in ("/session", "/log", "/plain"):
        await handler.handle(Request("GET", path))
    kept.flush()
    found = [orjson.loads(line) for line in b"".join(lines).splitlines()]
    assert [(line["path"], line.get("stream")) for line in found if line["type"] == "request"] == [
        ("/session", "session"), ("/log", "text"), ("/plain", None)]


async def test_finalizers_elsewhere_are_left_alone() -> None:
    """Given collections in two namespaces / when finalizers are taken off in one / then the other
    is not asked for, objects without any are left, and an answer that is none is no error.
    """
    asked: list[tuple[str, str]] = []

    class There:
        async def ask(self, method: str, path: str, **_: Any) -> Response:
            asked.append((method, path))
            items = [{"metadata": {"name": "a", "finalizers": ["x"]}}, {"metadata": {"name": "b"}}]
            return Response(200, b"gone" if path.endswith("/jobs") else orjson.dumps({"items": items}))

    there: Any = There()
    removal = Removal(there)
    pods = "/api/v1/namespaces/{}/pods"
    removal.collections = dict.fromkeys([pods.format("one"), pods.format("other"), "/apis/batch/v1/namespaces/one/jobs"])
    await removal._take_finalizers_off("one")
    assert asked == [
        ("GET", pods.format("one")), ("PATCH", f"{pods.format('one')}/a"), ("GET", "/apis/batch/v1/namespaces/one/jobs")]


def test_numbers_and_addresses_that_were_made_up() -> None:
    """Given what was made up where it was recorded, and there / when that was learnt / then later
    bodies have what is there, numbers and lists of addresses among them.
    """
    translation = Translation("pre-", ["default"], [])
    old = {"spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"nodePort": 30001, "port": 80}]}}
    new = {"spec": {"clusterIP": "10.9.9.9", "clusterIPs": ["10.9.9.9"], "ports": [{"nodePort": 32002, "port": 80}]}}
    translation.learn(old, new, by_uid=False)
    assert translation.body(old) == new
    assert translation.body({"clusterIPs": ["10.0.0.1", "10.0.0.2"], "nodePort": 30001, "port": 30001, "targetPort": 80}) == {
        "clusterIPs": ["10.9.9.9", "10.0.0.2"], "nodePort": 32002, "port": 30001, "targetPort": 80}


def test_frames_and_yaml_that_are_none() -> None:
    """Given frames that are no JSON, and a body that is no YAML / when they come / then the first
    are texts, and the second is nothing.
    """
    watched = _Watched(Any, Any)  # type: ignore[arg-type]  # neither is looked at
    for data in (b'{"type": "ADDED"}\n', b"a line \xff\n"):
        watched.send(Frame(data))
    watched.end()
    assert watched.events == [{"type": "ADDED"}, "a line �\n"]
    assert (_yaml(b"a: 1\n"), _yaml(b"{")) == ({"a": 1}, None)


async def unusual(cluster: Cluster) -> None:
    """YAML, a text that is none, a document with a hash, a dry run, and a log that is followed."""
    client = cluster.client
    headers = {"fieldManager": ["me"]}
    await client.request(
        "PATCH", f"{MAPS}/web", query=headers, content_type="application/apply-patch+yaml",
        body=b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: default}\ndata: {a: b}\n")
    documents = orjson.loads((await client.request("GET", "/openapi/v3")).body)["paths"]
    known = documents["api/v1"]["serverRelativeURL"].partition("?hash=")[2]
    await client.request("GET", "/openapi/v3/api/v1", query={"hash": [known]})
    await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 3}, dry_run=True)


async def test_unusual_requests() -> None:
    """Given requests in YAML, for a document with a hash, and a dry run / when they are played /
    then they do not differ; names in YAML are those there, no hash is asked for, and what a dry run
    made is not removed.
    """
    asked: list[tuple[str, str, Any, bytes]] = []

    class Seen:
        def __init__(self, handler: Handler) -> None:
            self.handler = handler

        async def handle(self, request: Request) -> Response:
            asked.append((request.method, request.path, dict(request.query), request.body))
            return await self.handler.handle(request)

    conversation = await recorded(unusual, cluster_scoped=True, controllers="namespace,serviceaccount")
    async with Cluster(nodes=1, clock="auto", controllers="namespace,serviceaccount") as cluster:
        result = await played(conversation, cluster, Seen)
    assert told(result) == []
    patch = next(orjson.loads(body) for method, _, _, body in asked if method == "PATCH")
    assert (patch["metadata"]["name"], patch["data"]) == ("web", {"a": "b"})
    assert patch["metadata"]["namespace"].endswith("-default")
    assert [query for _, path, query, _ in asked if path == "/openapi/v3/api/v1"] == [{}]
    assert [path for method, path, *_ in asked if method == "DELETE"] == [f"/api/v1/namespaces/{patch['metadata']['namespace']}"]
    assert result.left == []


def test_selectors_of_nodes_are_state() -> None:
    """Given pods of DaemonSets that name their node / when they differ by it / then it is state."""
    def pod(node: str) -> dict[str, Any]:
        terms = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
        return {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": terms}}}}

    exchange = Exchange({
        "type": "request", "cluster": "0", "number": 1, "time": 0.0, "method": "GET", "path": "/api/v1/namespaces/default/pods/p",
        "query": {}, "code": 200, "answer": pod("a")})
    found: list[Difference] = differences(exchange, Answer(200, pod("b"), ()), Translation("", ["default"], []), Setting())
    assert [each.kind for each in found] == ["state"]
