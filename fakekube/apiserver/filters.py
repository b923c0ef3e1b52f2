"""What every request passes around its endpoint: request log, headers.

Upstream: apiserver/pkg/server/config.go (DefaultBuildHandlerChain) and pkg/endpoints/filters. Left
out: priority and fairness (its headers are there), CORS, HSTS.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apimachinery import errors
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Headers, Request, Response
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.util.durations import go_nanoseconds
from fakekube.util.rng import Rng

LOG_ENTRIES = 10_000
ALLOWED, FORBIDDEN = "allow", "forbid"
NO_ANNOTATIONS: Mapping[str, str] = MappingProxyType({})
MAX_AUDIT_ID_CHARACTERS = 64
CACHE_CONTROL = "Cache-Control"


class LogEntry(NamedTuple):
    """One answered request.

    ``time`` is Unix seconds, ``latency_seconds`` how long the answer took on that clock.
    ``decision`` is ``allow`` or ``forbid``, empty where nobody was known to decide about, and
    ``reason`` says why. ``annotations`` are what admission says of it to the audit log. ``fault``
    names what was made to go wrong with it. ``dry_run``: nothing was to be stored. ``conditional``:
    it named the version of the object that it was to change, so that it may meet a Conflict.
    """

    time: float
    verb: str
    path: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    user_agent: str
    code: int
    latency_seconds: float
    decision: str = ""
    reason: str = ""
    annotations: Mapping[str, str] = NO_ANNOTATIONS
    fault: str = ""
    dry_run: bool = False
    conditional: bool = False


class RequestLog:
    """The latest requests, oldest first: for tests that ask what a client sent, and for debugging.

    They are kept as plain tuples of texts and numbers, which the cyclic collector soon skips.
    """

    def __init__(self, limit: int = LOG_ENTRIES) -> None:
        self._entries: deque[tuple[Any, ...]] = deque(maxlen=limit)
        self.total = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LogEntry]:
        for entry in list(self._entries):
            yield LogEntry(*entry)

    def add(self, time: float, info: RequestInfo, request: Request, code: int, latency_seconds: float) -> None:
        """Log an answered request."""
        self.total += 1
        user = request.user.name if request.user else ""
        agent = request.headers.get("user-agent", "")
        self._entries.append((
            time, info.verb, info.path, info.group, info.resource, info.subresource, info.namespace, info.name, user, agent,
            code, latency_seconds, *_verdict(info, request), info.dry_run, info.conditional))


def _verdict(info: RequestInfo, request: Request) -> tuple[Any, ...]:
    """What was decided, the fault that it met among it, as a LogEntry has it."""
    decision, annotations = info.decision, info.audit_annotations or NO_ANNOTATIONS
    if decision is not None:
        return ALLOWED if decision.allowed else FORBIDDEN, decision.reason, annotations, info.fault
    return (ALLOWED if request.user is not None else "", "", annotations, info.fault)


class Decorator:
    """The headers that every answer has."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._fixed: Headers = []

    def audit_id(self, request: Request) -> str:
        """The Audit-Id of a request: the one that its client gave, or a new one."""
        return request.headers.get("audit-id", "")[:MAX_AUDIT_ID_CHARACTERS] or self._rng.uid()

    def decorate(self, request: Request, response: Response, audit_id: str = "") -> Response:
        """Add the headers of every answer: Audit-Id, and those of priority and fairness.

        Cache-Control is added unless the endpoint set one.
        """
        given = audit_id or request.headers.get("audit-id", "")
        response.complete_headers(lambda headers: self._completed(given, headers))
        return response

    def _completed(self, given: str, headers: Headers) -> Headers:
        audit_id = given[:MAX_AUDIT_ID_CHARACTERS] if given else self._rng.uid()
        chosen = False
        for name, _ in headers:
            chosen = chosen or name == CACHE_CONTROL
        common = [("Audit-Id", audit_id)] if chosen else [("Audit-Id", audit_id), (CACHE_CONTROL, "no-cache, private")]
        return common + headers + (self._fixed or self._fix())

    def _fix(self) -> Headers:
        """The headers that are the same in all answers."""
        flow_schema, priority_level = self._rng.uid(), self._rng.uid()
        self._fixed = [
            ("X-Kubernetes-Pf-Flowschema-Uid", flow_schema), ("X-Kubernetes-Pf-Prioritylevel-Uid", priority_level)]
        return self._fixed


def check_timeout(request: Request) -> None:
    """Whether ``timeout`` is a duration as Go writes them. Raises 400."""
    text = request.param("timeout")
    if text and go_nanoseconds(text) is None:
        why = f"time: invalid duration {go_quote(text)}"
        raise errors.bad_request(f"invalid timeout specified in the request URL - {why}")
