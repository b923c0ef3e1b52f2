"""A Handler behind a socket: aiohttp's low-level server, and as little else as possible.

aiohttp parses requests and keeps connections; answers are written to the transport as one piece, which saves a third of
what aiohttp's own responses cost. A watch is a chunked body whose frames were chunked once for all watchers and go out
once a turn of the loop; a watcher that does not read is cut, never waited for. Left out: HTTP/2, which Go clients ask
for over TLS only, and do without.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import orjson
from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.web_protocol import RequestHandler

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Handler, Request
from fakekube.server import websocket
from fakekube.server.target import BadTarget, headers_of, path_of, query_of
from fakekube.server.writer import Answer, Flusher, HeadWriter
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.wallclock import RealClock

if TYPE_CHECKING:
    from fakekube.server.upgraded import Upgraded

MAX_BODY_BYTES = 3 * 1024 * 1024  # the Handler refuses what is longer; no more than one byte beyond is read
MAX_HEAD_BYTES = 1 << 20
PLAIN_TEXT = "text/plain; charset=utf-8"


class _Protocol(RequestHandler):
    """A connection that tells the answer under way when its client has gone."""

    __slots__ = ("answer",)

    def __init__(self, manager: "_Connections", **kwargs: Any) -> None:
        super().__init__(manager, **kwargs)
        self.answer: Answer | Upgraded | None = None

    def connection_lost(self, exc: BaseException | None) -> None:
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.abandon()
        super().connection_lost(exc)


    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None,
    ) -> web.StreamResponse:
        """What the parser refuses, in the words of Go's: a log would be of no use to anybody.

        A method that is none of HTTP's gets what the router says of unknown methods.
        """
        if status >= 500 or request.writer.output_size > 0:
            return super().handle_error(request, status, exc, message)
        if "Invalid method" in str(message or exc):
            return _refusal(405, orjson.dumps(errors.method_not_allowed().status()), "application/json")
        if isinstance(exc, LineTooLong):
            return _refusal(431, b"431 Request Header Fields Too Large", PLAIN_TEXT)
        return _refusal(400, b"400 Bad Request", PLAIN_TEXT)


def _refusal(status: int, body: bytes, content_type: str) -> web.Response:
    """The answer to what is no request, after which the connection is closed."""
    answer = web.Response(status=status, body=body, headers={"Content-Type": content_type})
    answer.force_close()
    return answer


class _Connections(web.Server):
    """All connections of a server."""

    def __call__(self) -> _Protocol:
        return _Protocol(self, loop=self._loop, **self._kwargs)


class HttpServer:
    """Serves ``handler`` on one port. Use as an async context manager, or ``start`` and ``stop``.

    ``clock`` dates the answers; ``activity`` is held while a request is worked on, so that virtual time waits for it.
    ``compresses`` says whether large answers are compressed for clients that take it.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        clock: Clock,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        activity: Activity | None = None,
        compresses: Callable[[], bool] = lambda: True,
    ) -> None:
        self.handler, self.host, self.port, self.tls, self.activity = handler, host, port, tls, activity
        self._heads, self._flusher = HeadWriter(clock, compresses), Flusher()
        self._wall = RealClock()
        self._server: asyncio.Server | None = None
        self._connections: _Connections | None = None
        self._open: dict[Answer, None] = {}
        self._sockets: dict[websocket.SocketSink, None] = {}
        self._upgraded: dict[Upgraded, None] = {}

    @property
    def url(self) -> str:
        """Where clients find the server, once it is started."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    async def start(self) -> None:
        """Bind and listen. Raises OSError when the port is taken."""
        loop = asyncio.get_running_loop()
        self._connections = _Connections(
            self._answer, access_log=None, auto_decompress=False, max_line_size=MAX_HEAD_BYTES,
            max_field_size=MAX_HEAD_BYTES,
            max_headers=10_000, lingering_time=1.0,
        )
        self._server = await loop.create_server(self._connections, self.host, self.port, ssl=self.tls, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self, grace_seconds: float = 0.5) -> None:
        """End the streams, let answers under way finish for so many seconds, and close."""
        if self._server is None or self._connections is None:
            return
        self._server.close()
        for answer in list(self._open):
            answer.end()
        for sink in list(self._sockets):
            sink.end()
        for upgraded in list(self._upgraded):
            upgraded.abandon()
        self._connections.pre_shutdown()
        await self._connections.shutdown(grace_seconds)
        self._server = self._connections = None

    async def __aenter__(self) -> "HttpServer":
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop()

    async def _answer(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """One request, from aiohttp's form to the Handler's and back."""
        with self.activity.busy() if self.activity is not None else nullcontext():
            try:
                request = await self._read(incoming)
            except (BadTarget, ConnectionError):  # the other end of a broken connection will not see it
                return _refusal(400, b"400 Bad Request", PLAIN_TEXT)
            response = await self.handler.handle(request)
        if response.session is not None:
            from fakekube.server.upgraded import Upgraded

            upgraded = Upgraded()
            _protocol_of(incoming).answer = upgraded
            await upgraded.serve(incoming, response, self._heads, self._upgraded)
            return upgraded
        if response.stream is not None and websocket.wants_websocket(request):
            binary = "json" not in response.content_type
            protocol = next((value for name, value in response.headers if name == "Sec-WebSocket-Protocol"), "")
            return await websocket.serve(
                incoming, response.stream, binary=binary, protocol=protocol, open_sinks=self._sockets)
        answer = Answer(self._heads, self._flusher, request, response, self._open)
        if response.stream is not None:
            _protocol_of(incoming).answer = answer
        return answer

    async def _read(self, incoming: web.BaseRequest) -> Request:
        target, _, query = incoming._message.path.partition("?")
        path, headers = path_of(target), headers_of(incoming.headers.items())
        body = b""
        if incoming.body_exists:
            if headers.get("expect", "").lower() == "100-continue" and incoming.transport is not None:
                incoming.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await _read_body(incoming)
        peer = incoming.transport.get_extra_info("peername") if incoming.transport else None
        return Request(
            incoming.method, path, query_of(query), headers, body,
            peer=peer[0] if peer else "", patience=self._wall,
        )


def _protocol_of(incoming: web.BaseRequest) -> _Protocol:
    protocol = incoming.protocol
    assert isinstance(protocol, _Protocol)
    return protocol


async def _read_body(incoming: web.BaseRequest) -> bytes:
    """The body, or its beginning up to one byte beyond what any handler takes."""
    content = incoming.content
    first = await content.readany()
    if content.at_eof():
        return first
    pieces, size = [first], len(first)
    while size <= MAX_BODY_BYTES:
        piece = await content.readany()
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)[: MAX_BODY_BYTES + 1]


