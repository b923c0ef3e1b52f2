"""What the server meets seldom: logs since no time, pods that are not ready, streams that end."""

from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.apiserver import podlog, proxy
from fakekube.apiserver.audit import AuditLog
from fakekube.apiserver.podlog import PodLogs
from fakekube.endpoints import read
from fakekube.endpoints.answers import object_answer
from fakekube.endpoints.patchtexts import _go_kind
from fakekube.endpoints.requestinfo import parse
from fakekube.schema.structural import from_openapi
from fakekube.storage.memory import Storage
from fakekube.util.clock import ManualClock
from tests.storage.pods import pod as stored_pod
from tests.storage.pods import pods


def told(call: Any) -> tuple[int, str]:
    """What is told of a call."""
    with pytest.raises(APIError) as error:
        call()
    return error.value.code, error.value.message


def test_logs_since_what_is_no_time() -> None:
    """Given a time that is none / when a log is asked for since then / then it is refused as Go's
    words have it.
    """
    request = Request("GET", "/", query={"sinceTime": ["x"]})
    assert told(lambda: podlog._options(request, "p")) == (
        400, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"')


async def test_a_log_that_is_followed_is_a_stream() -> None:
    """Given a node that gives a log whole, or as it comes / when it is asked for / then the answer
    is the text, or its stream; without a node there is none yet.
    """
    async def logs(pod: Any, container: str, options: Any) -> Any:
        return given[-1]

    stream: Any = SimpleNamespace(start=None, stop=None)
    tree = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c"}]}}
    scope: Any = SimpleNamespace(store=SimpleNamespace(find=lambda *_: None, load=lambda _: tree))
    endpoint, info = PodLogs(lambda: SimpleNamespace(logs=logs)), parse("GET", "/api/v1/namespaces/t/pods/p/log", {})
    given: list[Any] = []
    for log, body, streamed in ((b"text", b"text", None), (stream, b"", stream)):
        given.append(log)
        found = await endpoint.get(scope, info, Request("GET", info.path))
        assert (found.status, found.body, found.stream, found.content_type) == (200, body, streamed, "text/plain")
    tree["spec"] = {"containers": [{"name": "c"}]}
    assert (await endpoint.get(scope, info, Request("GET", info.path))).status == 204


def endpoint(address: str, namespace: str = "t", ready: bool | None = None) -> dict[str, Any]:
    """One endpoint of a slice."""
    conditions = {} if ready is None else {"conditions": {"ready": ready}}
    return {"addresses": [address], "targetRef": {"namespace": namespace, "name": f"p{address}"}, **conditions}


def test_a_service_leads_to_a_pod_that_is_ready() -> None:
    """Given endpoints that are not ready, elsewhere, or of another address / when one is looked for
    / then it is the first that is right, from wherever the search begins.
    """
    endpoints = [
        endpoint("1", ready=False), endpoint("2", namespace="u"), endpoint("3"), endpoint("4", ready=True), endpoint("5")]
    slices = [
        {"metadata": {"labels": {"kubernetes.io/service-name": "other"}}, "ports": [{"port": 1}], "endpoints": [endpoint("4")]},
        {"metadata": {"labels": {"kubernetes.io/service-name": "s"}}, "ports": [{"name": "web", "port": 2}],
         "endpoints": [endpoint("4")]},
        {"metadata": {"labels": {"kubernetes.io/service-name": "s"}}, "ports": [{"port": 3}], "endpoints": endpoints}]
    known = {"p1": "1", "p2": "2", "p3": "9", "p4": "4"}

    def lookup(group: str, plural: str, namespace: str, name: str) -> Any:
        return {"status": {"podIP": known[name]}} if name in known else None

    for start in range(5):
        services = SimpleNamespace(
            cluster=SimpleNamespace(select=lambda *_: slices, lookup=lookup),
            rng=SimpleNamespace(randbelow=lambda _, at=start: at))
        scope: Any = SimpleNamespace(services=services)
        assert proxy._endpoint(scope, "t", "s", "") == ({"status": {"podIP": "4"}}, "4", 3)
    known.pop("p4")
    assert told(lambda: proxy._endpoint(scope, "t", "s", "")) == (503, 'no endpoints available for service "s"')


def test_a_stream_that_ends_by_itself_is_complete() -> None:
    """Given a stream that is logged / when it ends, and is stopped then / then its end is passed
    on, and logged once.
    """
    lines, got = list[bytes](), list[Any]()
    inner: Any = SimpleNamespace(start=lambda sink: got.append(sink), stop=lambda: got.append("stopped"))
    log, request = AuditLog(lines.append, ManualClock()), Request("GET", "/api/v1/pods", query={"watch": ["true"]})
    response, info = Response(200, stream=inner), parse("GET", "/api/v1/pods", {"watch": ["true"]})
    log.answered(log.received(request, "id"), info, request, response, None)
    assert response.stream is not None
    sink: Any = SimpleNamespace(send=lambda frame: got.append(frame.data), end=lambda: got.append("end"))
    response.stream.start(sink)
    audited = got.pop()
    audited.send(Frame(b"1"))
    audited.end()
    response.stream.stop()
    assert got == [b"1", "end", "stopped"]
    assert [orjson.loads(line)["stage"] for line in lines] == ["ResponseStarted", "ResponseComplete"]


@pytest.mark.parametrize(("type_", "format_", "target", "kind"), [
    ("integer", "int32", "v1.Number", "int32"), ("integer", "", "v1.Number", "int64"), ("string", "", "v1.Text", "string"),
    ("object", "", "v1.Struct", "struct"), ("boolean", "", "bool", "bool"),
])
def test_what_reflection_calls_a_type(type_: str, format_: str, target: str, kind: str) -> None:
    """Given a field / when its type is named / then as Go's reflection names the kind of it."""
    assert _go_kind(from_openapi({"type": type_, **({"format": format_} if format_ else {})}), target) == kind
    assert _go_kind(None, target) == ("bool" if target == "bool" else "struct")


def test_bytes_at_hand_are_answered_as_they_are() -> None:
    """Given an object and its bytes / when it is answered plainly / then the bytes are, with a
    line's end.
    """
    form: Any = SimpleNamespace(plain=True)
    found = object_answer(None, Request("GET", "/"), form, {}, status=201, data=b"{}")  # type: ignore[arg-type]
    assert (found.status, found.body) == (201, b"{}\n")


def test_versions_that_are_gone_or_to_come() -> None:
    """Given a bucket / when an old state is asked for that is gone, or one that is to come / then
    each is told in its way.
    """
    bucket = pods(Storage())
    for name in "abc":
        bucket.create(stored_pod(name))
    assert told(lambda: read._past(bucket, bucket.revision + 1, "")) == (
        504, f"Timeout: Too large resource version: {bucket.revision + 1}, current: {bucket.revision}")
    bucket.storage.oldest_readable = bucket.revision
    assert told(lambda: read._past(bucket, bucket.revision - 1, "")) == (410, read.LIST_EXPIRED)
    assert told(lambda: read._past(bucket, bucket.revision - 1, "a"))[0] == 410
    assert read._past(bucket, bucket.revision, "") is not None


async def test_a_cluster_says_which_requests_are_elsewhere() -> None:
    """Given a cluster without other servers / when it is asked / then no request is elsewhere."""
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        assert not cluster.apiserver.is_elsewhere(parse("GET", "/apis/x.example/v1/as", {}))
