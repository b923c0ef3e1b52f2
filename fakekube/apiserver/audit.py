"""The audit log: who asked for what, whether they might, and what became of it.

One event a request, as kube-apiserver writes it by a policy of level Metadata that omits the stage
RequestReceived; a watch, a followed log and a session have one more when their answer begins
(ResponseStarted). Upstream: apiserver/pkg/audit, pkg/endpoints/filters/audit.go and
plugin/pkg/audit/log. Left out: policy files, webhooks as receivers, the bodies of requests and
answers, the end of an exec, attach or port-forward.
"""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, urlencode

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response, Sink, Stream
from fakekube.apimachinery.times import format_micro_time
from fakekube.apimachinery.types import Tree
from fakekube.apiserver.filters import ALLOWED, FORBIDDEN
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.util.clock import Clock

PATH_SAFE = "/:@!$&'()*+,;=~"
STARTED, COMPLETE = "ResponseStarted", "ResponseComplete"
DECISION, REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
WITH_OBJECTS = ("create", "update")

Write = Callable[[bytes], None]
"""Takes one event as a line of JSON, its end included."""


class Asked(NamedTuple):
    """A request as it came: what of it is gone by the time of its answer."""

    audit_id: str
    time: float
    uri: str


class AuditLog:
    """Writes the events of one server."""

    def __init__(self, write: Write, clock: Clock) -> None:
        self._write, self._clock = write, clock

    def received(self, request: Request, audit_id: str) -> Asked:
        """Note that a request has come."""
        query = urlencode(request.query, doseq=True) if request.query else ""
        return Asked(audit_id, self._clock.time(), quote(request.path, safe=PATH_SAFE) + (f"?{query}" if query else ""))

    def answered(
        self, asked: Asked, info: RequestInfo, request: Request, response: Response, error: APIError | None,
    ) -> None:
        """Write the event of an answer; of one that is a stream now, and when it ends."""
        event = _event(asked, info, request, response, error)
        if response.stream is None and response.session is None:
            self._stage(event, COMPLETE)
            return
        self._stage(event, STARTED)
        if response.stream is not None:
            response.stream = _Audited(response.stream, lambda: self._stage(event, COMPLETE))

    def _stage(self, event: Tree, stage: str) -> None:
        stamped = {**event, "stage": stage, "stageTimestamp": format_micro_time(self._clock.time())}
        self._write(orjson.dumps({name: stamped[name] for name in FIELDS if name in stamped}, option=orjson.OPT_APPEND_NEWLINE))


FIELDS = (
    "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser",
    "authenticationMetadata", "sourceIPs", "userAgent", "objectRef", "responseStatus", "requestReceivedTimestamp",
    "stageTimestamp", "annotations")
"""Of an Event, in the order in which upstream writes them."""


class _Audited:
    """A stream, and what is done once at its end."""

    def __init__(self, stream: Stream, at_end: Callable[[], None]) -> None:
        self._stream, self._at_end = stream, at_end
        self._sink: Sink | None = None
        self._ended = False

    def start(self, sink: Sink) -> None:
        self._sink = sink
        self.send = sink.send
        self._stream.start(self)

    def end(self) -> None:
        self._end()
        if self._sink is not None:
            self._sink.end()

    def stop(self) -> None:
        self._stream.stop()
        self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._at_end()


def _event(asked: Asked, info: RequestInfo, request: Request, response: Response, error: APIError | None) -> Tree:
    event: Tree = {
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": asked.audit_id,
        "requestURI": asked.uri, "verb": info.verb, "responseStatus": _status(response, error),
        "requestReceivedTimestamp": format_micro_time(asked.time),
    }
    user, sender = request.user, info.impersonator
    who = sender or user
    event["user"] = {} if who is None else who.tree()
    if sender is not None and user is not None:
        event["impersonatedUser"] = user.tree()
    if info.impersonation_constraint:
        event["authenticationMetadata"] = {"impersonationConstraint": info.impersonation_constraint}
    if agent := request.headers.get("user-agent"):
        event["userAgent"] = agent
    if addresses := _source_addresses(request):
        event["sourceIPs"] = addresses
    if info.is_resource:
        event["objectRef"] = _reference(info, request)
    annotations = dict(info.audit_annotations)
    if user is not None:
        decision = info.decision
        annotations[DECISION] = FORBIDDEN if decision is not None and not decision.allowed else ALLOWED
        annotations[REASON] = decision.reason if decision is not None else ""
    if annotations:
        event["annotations"] = {key: annotations[key] for key in sorted(annotations)}
    return event


def _source_addresses(request: Request) -> list[str]:
    """Those that proxies name, then the one that the connection comes from; nothing of a caller in
    the same process.
    """
    forwarded = request.headers.get("x-forwarded-for", "")
    named = [address for part in forwarded.split(",") if (address := part.strip())] if forwarded else []
    return named if not request.peer or (named and named[-1] == request.peer) else [*named, request.peer]


def _reference(info: RequestInfo, request: Request) -> Tree:
    meta = _metadata(request.body) if info.verb in WITH_OBJECTS else {}
    known = {
        "resource": info.resource, "namespace": info.namespace, "name": info.name or meta.get("name"), "uid": meta.get("uid"),
        "apiGroup": info.group, "apiVersion": info.version, "resourceVersion": meta.get("resourceVersion"),
        "subresource": info.subresource}
    return {name: value for name, value in known.items() if isinstance(value, str) and value}


def _metadata(body: bytes) -> Tree:
    """That of an object in JSON; nothing for other bodies."""
    try:
        tree = orjson.loads(body) if body[:1] == b"{" else {}
    except orjson.JSONDecodeError:
        return {}
    meta = tree.get("metadata")
    return meta if isinstance(meta, dict) else {}


def _status(response: Response, error: APIError | None) -> Tree:
    """The code, and of a failure what its Status says."""
    told: Tree = {"metadata": {}}
    if error is not None:
        status = error.status()
        told |= {name: status[name] for name in ("status", "message", "reason", "details") if status.get(name)}
    return {**told, "code": response.status}
