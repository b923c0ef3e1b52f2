"""A trace that a collector gets over HTTP."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from fakekube.tracing import otlp
from fakekube.tracing.otlp import OTLPError
from tests.tracing.test_forms import made, traced_job

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otlp is not installed")


class Collector(ThreadingHTTPServer):
    """It keeps what it gets, and answers ``code``."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, bytes]] = []
        self.code = 200
        self.url = f"http://127.0.0.1:{self.server_port}"

    def spans(self) -> list[tuple[dict[str, Any], Any]]:
        """Every span, with the attributes of its resource."""
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        return [
            (attributes(group.resource), span) for _, body in self.got
            for group in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in group.scope_spans for span in scope.spans]


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.code)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


def attributes(message: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in message.attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_spans_are_children_of_what_led_to_them(collector: Collector) -> None:
    """Given the trace of a Job that has run, when it is sent, then there is a span for each change,
    with the change that led to it as its parent, all in one trace, each of its component's service.
    """
    found, _ = await traced_job()
    found.send(collector.url)
    assert {path for path, _ in collector.got} == {"/v1/traces"}
    spans = collector.spans()
    by_version = {attributes(span)["fakekube.version"]: (resource, span) for resource, span in spans}
    assert sorted(by_version) == [step.revision for step in found.steps]
    assert len({span.trace_id for _, span in spans}) == 1
    for step in found.steps:
        resource, span = by_version[step.revision]
        assert span.parent_span_id == (by_version[step.led_by][1].span_id if step.led_by else b"")
        assert resource["service.name"] == (step.component or "fakekube as kubernetes-admin")
        assert (resource["service.namespace"], resource["fakekube.seed"]) == ("fakekube", 0)
        assert abs(span.start_time_unix_nano / 1e9 - step.time) < 0.001
        assert span.start_time_unix_nano < span.end_time_unix_nano
    told = attributes(by_version[found.steps[0].revision][1])
    assert (told["http.request.method"], told["url.path"], told["user.name"], told["user_agent.original"]) == (
        "POST", "/apis/batch/v1/namespaces/default/jobs", "kubernetes-admin", "fakekube")
    assert told["fakekube.origin"] == "Request"


def test_one_history_has_one_set_of_ids(collector: Collector) -> None:
    """Given a trace with two first requests, when it is sent twice, then it is two traces each
    time, with the same ids; a fault is told.
    """
    made().trace("b").send(f"{collector.url}/v1/traces")
    first = [(span.trace_id, span.span_id) for _, span in collector.spans()]
    collector.got.clear()
    made().trace("b").send(f"{collector.url}/")
    assert [(span.trace_id, span.span_id) for _, span in collector.spans()] == first
    assert (len({trace for trace, _ in first}), len({span for _, span in first})) == (2, 5)
    told = [attributes(span) for _, span in collector.spans()]
    assert [each["fakekube.fault"] for each in told if "fakekube.fault" in each] == ["slow-etcd"]


def test_a_long_trace_is_sent_in_parts(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more changes than are sent at once, when they are sent, then all arrive."""
    monkeypatch.setattr(otlp, "BATCH", 2)
    made().trace("b").send(collector.url)
    assert (len(collector.got), len(collector.spans())) == (3, 5)


def test_what_cannot_be_sent_is_said(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a collector that refuses, no address of one, and an SDK that is switched off, when a
    trace is sent, then a sentence says why it was not.
    """
    collector.code = 400
    with pytest.raises(OTLPError, match=r"what is at http://127.0.0.1:\d+/v1/traces did not take the trace: .*code: 400"):
        made().trace("b").send(collector.url)
    for address in ("127.0.0.1:4318", "ftp://127.0.0.1", "http://", "", "http://[x"):
        with pytest.raises(OTLPError, match="is no address of a collector: say http://127"):
            made().trace("b").send(address)
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(OTLPError, match="the environment switches OpenTelemetry off"):
        made().trace("b").send(collector.url)
