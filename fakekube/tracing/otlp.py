"""A trace over OTLP, to any collector that speaks it over HTTP: a span for each change, the change
that led to it being its parent.

The same history gives the same ids, so that what is sent twice is one trace. Each component is a
service of its own. It needs the extra ``otlp`` (opentelemetry-sdk and its exporter), which nothing
else imports. A history knows when a request came and not how long it took: a span is one
microsecond long.
"""

import logging
from hashlib import sha256
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from fakekube.tracing.steps import Causes, Step, action_of, component_of, moments
from fakekube.util.treediff import shown

EXPORTER_LOG = logging.getLogger("opentelemetry.exporter")
TRACES_PATH = "/v1/traces"
BATCH = 512
MAX_FIELDS = 50
ATTRIBUTES = ("http.request.method", "url.path", "user.name", "user_agent.original")


class OTLPError(Exception):
    """A trace could not be sent; the text says why."""


class _Said(logging.Handler):
    """The last that the exporter said: its answers do not tell what went wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.last = record.getMessage()


class _Ids:
    """The ids that the next span gets, as the SDK asks for them."""

    def __init__(self) -> None:
        self.trace, self.span = 0, 0

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span

    def is_trace_id_random(self) -> bool:
        return False


def send(causes: Causes, endpoint: str) -> None:
    """Send a trace to a collector, and wait for its answer. Raises OTLPError."""
    endpoint = _path_of_traces(endpoint)
    try:
        import_module("opentelemetry.sdk.trace")
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise OTLPError("OTLP needs fakekube[otlp]") from error
    spans = _spans(causes)
    if len(spans) < len(causes.steps):
        raise OTLPError("the environment switches OpenTelemetry off")
    exporter, said = OTLPSpanExporter(endpoint=endpoint), _Said()
    EXPORTER_LOG.addHandler(said)
    try:
        for first in range(0, len(spans), BATCH):
            if exporter.export(spans[first:first + BATCH]) is not SpanExportResult.SUCCESS:
                raise OTLPError(f"what is at {endpoint} did not take the trace: {said.last}")
    finally:
        EXPORTER_LOG.removeHandler(said)
        exporter.shutdown()


def _path_of_traces(endpoint: str) -> str:
    """Where a collector takes traces. Raises OTLPError."""
    try:
        address = urlsplit(endpoint)
    except ValueError:
        address = urlsplit("")
    if address.scheme not in ("http", "https") or not address.netloc:
        raise OTLPError(f"{endpoint!r} is no address of a collector: say http://127.0.0.1:4318")
    return address._replace(path=TRACES_PATH).geturl() if address.path in ("", "/") else endpoint


def _spans(causes: Causes) -> list[Any]:
    """The steps as spans, in their order."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    ids, finished = _Ids(), InMemorySpanExporter()
    tracers: dict[str, Any] = {}
    contexts: dict[int, Any] = {}  # by revision
    for step, moment in zip(causes.steps, moments(causes), strict=True):
        service = component_of(step)
        if service not in tracers:
            provider = TracerProvider(
                resource=Resource.create({
                    "service.name": service, "service.namespace": "fakekube", "fakekube.seed": causes.seed}),
                id_generator=ids, sampler=ALWAYS_ON, shutdown_on_exit=False)
            provider.add_span_processor(SimpleSpanProcessor(finished))
            tracers[service] = provider.get_tracer("fakekube.tracing")
        ids.trace, ids.span = _id(causes, f"trace {step.revision}", 16), _id(causes, f"span {step.revision}", 8)
        start = round(causes.started * 1e9) + moment * 1_000
        span = tracers[service].start_span(
            action_of(step), context=contexts.get(step.led_by), start_time=start, attributes=_attributes(step))
        contexts[step.revision] = trace.set_span_in_context(span)
        span.end(start + 1_000)
    return list(finished.get_finished_spans())


def _id(causes: Causes, name: str, size: int) -> int:
    digest = sha256(f"{causes.seed} {causes.started} {name}".encode()).digest()
    return int.from_bytes(digest[:size]) or 1  # 0 is no id


def _attributes(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {
        "fakekube.object": step.object, "fakekube.own": step.is_own,
        "fakekube.version": step.revision, "fakekube.change": step.type,
        "fakekube.component": step.component, "fakekube.key": step.key, "fakekube.acted_on": step.acted_on,
        "fakekube.origin": step.origin, "fakekube.left_out": step.left_out, "fakekube.fault": step.fault,
        "fakekube.fields": [f"{field.path}: {shown(field.old)} -> {shown(field.new)}" for field in step.fields[:MAX_FIELDS]]}
    if step.request is not None:
        request = step.request
        found |= dict(zip(ATTRIBUTES, (request.method, request.path, request.user, request.user_agent), strict=True))
    return {name: value for name, value in found.items() if value}
