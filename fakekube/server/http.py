"""A Handler behind a socket: aiohttp's parser and WebSockets, and as little else of it as possible.

Answers are written to the transport as one piece. A watch is a chunked body whose frames were chunked once for all
watchers and go out once a turn of the loop; a watcher that does not read is cut, never waited for. A connection nobody uses
is closed after kube-apiserver's 90 seconds. Left out: HTTP/2, which Go clients ask for over TLS only, and do without.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from aiohttp import web
from aiohttp.http import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from fakekube.apimachinery.http import Handler, Request, Response
from fakekube.server import websocket
from fakekube.server.connection import IDLE_ROUND_SECONDS, MAX_HEAD_BYTES, MAX_HEADERS, Connection, refusal, request_of
from fakekube.server.target import BadTarget
from fakekube.server.writer import Answer, Flusher, HeadWriter
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.tasks import Tasks
from fakekube.util.wallclock import RealClock

if TYPE_CHECKING:
    from fakekube.server.upgraded import Upgraded

log = logging.getLogger(__name__)


class _Protocol(RequestHandler):
    """A connection in aiohttp's hands, which tells the answer under way when its client has gone."""

    __slots__ = ("answer",)

    def __init__(self, manager: "_Connections", **kwargs: Any) -> None:
        super().__init__(manager, **kwargs)
        self.answer: Answer | Upgraded | None = None

    def connection_lost(self, exc: BaseException | None) -> None:
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.abandon()
        super().connection_lost(exc)


class _Connections(web.Server):
    """All connections that asked for another protocol."""

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
        self._upgrading: _Connections | None = None
        self._idle_round: asyncio.TimerHandle | None = None
        self.connections: dict[Connection, None] = {}
        self.tasks = Tasks(on_failure=_log)
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
        self._upgrading = _Connections(
            self._upgrade, access_log=None, auto_decompress=False, max_line_size=MAX_HEAD_BYTES, max_field_size=MAX_HEAD_BYTES,
            max_headers=MAX_HEADERS)
        self._server = await loop.create_server(
            lambda: Connection(self), self.host, self.port, ssl=self.tls, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        self._idle_round = loop.call_later(IDLE_ROUND_SECONDS, self.look_for_idle)

    async def stop(self, grace_seconds: float = 0.5) -> None:
        """End the streams, let answers under way finish for so many seconds, and close."""
        if self._server is None or self._upgrading is None or self._idle_round is None:
            return
        self._server.close()
        self._idle_round.cancel()
        for answer in list(self._open):
            answer.end()
        for sink in list(self._sockets):
            sink.end()
        for upgraded in list(self._upgraded):
            upgraded.abandon()
        for connection in list(self.connections):
            connection.finish()
        self._upgrading.pre_shutdown()
        await self.tasks.finish(grace_seconds)
        await self._upgrading.shutdown(grace_seconds)
        for connection in list(self.connections):
            connection.close()
        self._server = self._upgrading = None

    def look_for_idle(self) -> None:
        """Close the connections that nobody has used since the last looks, and look again in a while."""
        for connection in list(self.connections):
            connection.look()
        if self._idle_round is not None:
            self._idle_round.cancel()
        self._idle_round = asyncio.get_running_loop().call_later(IDLE_ROUND_SECONDS, self.look_for_idle)

    async def __aenter__(self) -> "HttpServer":
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop()

    async def respond(self, message: RawRequestMessage, body: bytes, peer: str) -> tuple[Request, Response]:
        """Have a request answered; it comes back as the Handler saw it. Raises BadTarget."""
        with self.activity.busy() if self.activity is not None else nullcontext():
            request = request_of(message, body, peer, self._wall)
            return request, await self.handler.handle(request)

    def answer(self, request: Request, response: Response, *, reusable: bool) -> Answer:
        """What writes a response; the connection is ``reusable`` for other requests, or it says that it is not."""
        return Answer(self._heads, self._flusher, request, response, self._open, reusable=reusable)

    def upgrading(self) -> asyncio.Protocol:
        """What takes over a connection whose client asks for another protocol."""
        assert self._upgrading is not None
        return self._upgrading()

    async def _upgrade(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """Answer one request for another protocol; no other follows it."""
        peer = incoming.transport.get_extra_info("peername") if incoming.transport else None
        try:
            request, response = await self.respond(incoming._message, b"", peer[0] if peer else "")
        except BadTarget:
            return self.answer(Request("", ""), refusal(), reusable=False)
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
        answer = self.answer(request, response, reusable=False)
        if response.stream is not None:
            _protocol_of(incoming).answer = answer
        return answer


def _protocol_of(incoming: web.BaseRequest) -> _Protocol:
    protocol = incoming.protocol
    assert isinstance(protocol, _Protocol)
    return protocol


def _log(error: BaseException) -> None:
    log.error("an answer broke", exc_info=error)
