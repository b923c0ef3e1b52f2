"""One version of an API group that another server answers, and how requests go there.

Upstream: kube-aggregator/pkg/apiserver/handler_proxy.go, apimachinery/pkg/util/proxy.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, urlencode

from fakekube.aggregator.conversion import Converted
from fakekube.aggregator.servers import HANDLERS, Call, Servers
from fakekube.apimachinery.http import Frame, Headers, Request, Response, Sink, Stream, UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.webhooks.transport import NoAnswer

PATH_SAFE = "/:@!$&'()*+,;=~-._"
MAX_HOPS = 16
"""A request that has come through so many proxies goes round in a circle."""
KEPT_BACK = (
    "accept-encoding", "authorization", "connection", "content-length", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-forwarded-for",
    "x-forwarded-host", "x-forwarded-proto", "x-forwarded-uri",
)
NOT_PASSED_ON = (
    "audit-id", "cache-control", "connection", "content-length", "content-type", "date", "keep-alive", "proxy-authenticate",
    "te", "trailer", "transfer-encoding", "upgrade",
)
REDIRECTED = b"the backend attempted to redirect this request, which is not permitted"
PLAIN_TEXT = "text/plain; charset=utf-8"
_NAME_BYTES = frozenset(b"!#$&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")


class Documents(NamedTuple):
    """``resources`` are rows of an aggregated discovery document; None where the server did not
    tell. ``v3`` are entries of ``/openapi/v3``; ``v2`` is what of its OpenAPI v2 is about the
    version, ``v2_body`` what it was read from, ``converted`` what stands for a document of v3 where
    the server has none.
    """

    resources: tuple[Tree, ...] | None = None
    v3: Mapping[str, str] = MappingProxyType({})
    v2: Tree | None = None
    v2_body: bytes = b""
    converted: Converted | None = None


NOTHING = Documents()


class ServiceRef(NamedTuple):
    """What of an APIService says where its server is."""

    namespace: str
    name: str
    port: int
    ca_bundle: bytes
    is_insecure: bool


def service_of(spec: Tree) -> ServiceRef:
    """The same of a specification with a service."""
    service = spec["service"]
    return ServiceRef(
        service.get("namespace", ""), service.get("name", ""), service.get("port", 443),
        base64.b64decode(spec.get("caBundle") or ""), bool(spec.get("insecureSkipTLSVerify")))


class Remote:
    """One APIService with a service.

    ``is_available`` is what its condition says, ``documents`` what its server has said of what it
    serves. ``attempts`` counts failures in a row.
    """

    def __init__(self, group: str, version: str, service: ServiceRef, servers: Servers, *, sends_uid: bool) -> None:
        self.group, self.version, self.service = group, version, service
        self._servers, self._sends_uid = servers, sends_uid
        self.is_available, self.is_checking, self.is_stale, self.is_gone = False, False, False, False
        self.attempts = 0
        self.documents: Documents | None = None
        self._streams: dict[PassedStream, None] = {}

    @property
    def name(self) -> str:
        """The name of the APIService."""
        return f"{self.version}.{self.group}"

    @property
    def path(self) -> str:
        """Below which its server answers."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def document_name(self) -> str:
        """What its document is called in the index of OpenAPI v3."""
        return self.path.removeprefix("/")

    @property
    def is_handler(self) -> bool:
        """Whether its service stands for a Handler of this process."""
        return self.service.namespace == HANDLERS

    def url(self, path: str) -> str:
        """Where a path is to be found, by the address that is dialled. Raises NoAnswer."""
        service = self.service
        if self.is_handler:
            return f"https://{service.name}.{service.namespace}:{service.port}{path}"
        found = self._servers.resolve(service.namespace, service.name, service.port)
        return f"{'http' if found.plain else 'https'}://{found.address}{path}"

    async def ask(self, request: Request, *, streams: bool = False) -> Response:
        """What the server answers, unchanged but for its stream, which ends with the APIService.

        ``request.user`` is whom the server is told of. Raises NoAnswer.
        """
        answer = await self._asked(request, streams=streams)
        if answer.stream is not None:
            passed = answer.stream = PassedStream(answer.stream, self._streams)
            if self.is_gone:
                passed.finish()
        return answer

    async def _asked(self, request: Request, *, streams: bool) -> Response:
        if self.is_handler:
            handler = self._servers.handler(self.service.name)
            if handler is None:
                raise NoAnswer(f"no handler {self.service.name} is registered")
            return await handler.handle(request)
        service, url = self.service, self.url(quote(request.path, safe=PATH_SAFE))
        query = urlencode(sorted(request.query.items()), doseq=True)
        headers = [(_canonical(name), value) for name, value in request.headers.items()]
        return await self._servers.send(Call(
            request.method, f"{url}?{query}" if query else url, [*headers, *self._identity(request.user)], request.body,
            f"{service.name}.{service.namespace}.svc", service.ca_bundle, service.is_insecure, streams))

    def _identity(self, user: UserInfo | None) -> Headers:
        if user is None:
            return []
        found = [("X-Remote-User", user.name)]
        if user.uid and self._sends_uid:
            found.append(("X-Remote-Uid", user.uid))
        found += [("X-Remote-Group", group) for group in user.groups]
        return found + [
            (f"X-Remote-Extra-{_escaped(key)}", value) for key in sorted(user.extra) for value in user.extra[key]]

    async def pass_on(self, request: Request, *, streams: bool) -> Response:
        """A client's request, sent on, and the answer for the client. Raises NoAnswer."""
        hops = [each for each in request.headers.get("x-forwarded-for", "").split(",") if each]
        if len(hops) >= MAX_HOPS:
            raise NoAnswer(f"stopped after {MAX_HOPS} proxies")
        hops.append(request.peer or "127.0.0.1")
        host = self.url("").partition("://")[2]
        forwarded = {
            **_kept(request.headers), "x-forwarded-for": ", ".join(each.strip() for each in hops), "x-forwarded-host": host,
            "x-forwarded-proto": "https", "x-forwarded-uri": quote(request.path, safe=PATH_SAFE)}
        answer = await self.ask(replace(request, headers=forwarded), streams=streams)
        if 300 <= answer.status < 400 and any(name.lower() == "location" for name, _ in answer.headers):
            stop(answer)
            return Response(502, REDIRECTED, PLAIN_TEXT)
        return _passed_on(answer)

    def end(self) -> None:
        """The APIService is gone, or leads elsewhere: end what is still coming from there."""
        self.is_gone = True
        for stream in list(self._streams):
            stream.finish()


def _kept(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers that go on, less what is meant for this server, and less who somebody says to be.
    """
    return {
        name: value for name, value in headers.items()
        if name not in KEPT_BACK and not name.startswith(("impersonate-", "x-remote-"))}


def _canonical(name: str) -> str:
    """A header's name as Go writes it: ``X-Forwarded-For``."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


def _escaped(key: str) -> str:
    """A key in the name of a header: what may not be there is percent-encoded."""
    return "".join(chr(byte) if byte in _NAME_BYTES else f"%{byte:02X}" for byte in key.encode())


def _passed_on(answer: Response) -> Response:
    """An answer less what is said by this server, or of one connection alone."""
    headers = [
        (name, value) for name, value in answer.headers
        if name.lower() not in NOT_PASSED_ON and not name.lower().startswith("access-control-")]
    return Response(
        answer.status, answer.body, answer.content_type, headers, answer.stream, answer.session, is_watch=answer.is_watch)


def stop(answer: Response) -> None:
    """Take no more of an answer than came with it."""
    if answer.stream is not None:
        answer.stream.stop()


class PassedStream:
    """A stream from another server: it ends with the APIService. Also the sink of that stream.

    A watch of that server's objects is ``Divertible`` as our own are.
    """

    def __init__(self, inner: Stream, open_streams: dict["PassedStream", None]) -> None:
        self._inner, self._open = inner, open_streams
        self._sink: Sink | None = None
        self._through: Callable[[Sink], Sink] | None = None
        self._has_ended = False
        self.on_stop: Callable[[], None] | None = None
        open_streams[self] = None

    def divert(self, through: Callable[[Sink], Sink]) -> None:
        """Let what comes go through another sink from now on."""
        if self._sink is None:
            self._through = through
        else:
            self._sink = through(self._sink)

    def lag(self, replica: Callable[[], int]) -> None:
        """Nothing: our versions are none of that server's."""

    def start(self, sink: Sink) -> None:
        """Send what comes."""
        if self._has_ended:
            sink.end()
            return
        self._sink = sink if self._through is None else self._through(sink)
        self._inner.start(self)

    def stop(self) -> None:
        """The receiver is gone."""
        self._forget()
        self._sink = None
        self._inner.stop()

    def send(self, frame: Frame) -> None:
        """Hand a frame on."""
        if self._sink is not None:
            self._sink.send(frame)

    def end(self) -> None:
        """Nothing follows."""
        self._forget()
        sink, self._sink, self._has_ended = self._sink, None, True
        if sink is not None:
            sink.end()

    def finish(self) -> None:
        """End it for the receiver, whatever would follow."""
        self._inner.stop()
        self.end()

    def _forget(self) -> None:
        self._open.pop(self, None)
        on_stop, self.on_stop = self.on_stop, None
        if on_stop is not None:
            on_stop()
