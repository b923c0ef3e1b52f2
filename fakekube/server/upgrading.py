"""aiohttp's own server, for connections whose clients ask for a WebSocket or SPDY.

Imported with the first such connection, since that server takes longer to import than all that
plain requests need. Upstream: net/http's Hijacker.
"""

from typing import TYPE_CHECKING, Any

from aiohttp import web
from aiohttp.http import WebSocketReader
from aiohttp.web_protocol import RequestHandler

from fakekube.apimachinery.http import Request, Response
from fakekube.server import websocket
from fakekube.server.framing import refusal
from fakekube.server.limits import MAX_HEAD_BYTES, MAX_HEADERS
from fakekube.server.maskedframes import MaskedFrames
from fakekube.server.responder import Responder, peer_of
from fakekube.server.target import BadTarget
from fakekube.server.upgraded import Upgraded, break_off

if TYPE_CHECKING:
    from fakekube.server.writer import Answer


class _Protocol(RequestHandler):
    """A connection that aiohttp serves.

    When its client disconnects, the answer that is being written is abandoned.
    """

    __slots__ = ("answer",)

    def __init__(self, manager: "Upgrading", **kwargs: Any) -> None:
        super().__init__(manager, **kwargs)
        self.answer: Answer | Upgraded | None = None

    def set_parser(self, parser: Any, *args: Any, **kwargs: Any) -> None:
        """Let a parser take what comes from now on; a WebSocket's gets masked frames only."""
        masked: Any = MaskedFrames(parser) if isinstance(parser, WebSocketReader) else parser
        super().set_parser(masked, *args, **kwargs)

    def connection_lost(self, exc: BaseException | None) -> None:
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.abandon()
        super().connection_lost(exc)


class Upgrading(web.Server):
    """All upgraded connections of one HTTP server."""

    def __init__(self, responder: Responder) -> None:
        super().__init__(
            self._upgrade, access_log=None, auto_decompress=False, max_line_size=MAX_HEAD_BYTES, max_field_size=MAX_HEAD_BYTES,
            max_headers=MAX_HEADERS)
        self._responder = responder
        self._sockets: dict[websocket.SocketSink, None] = {}
        self._upgraded: dict[Upgraded, None] = {}

    def __call__(self) -> _Protocol:
        return _Protocol(self, loop=self._loop, **self._kwargs)

    def end(self) -> None:
        """End every session, and accept no more."""
        for sink in list(self._sockets):
            sink.end()
        for upgraded in list(self._upgraded):
            upgraded.abandon()
        self.pre_shutdown()

    async def _upgrade(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """Answer one request that asks for another protocol; no other follows it."""
        responder = self._responder
        try:
            request, response = await responder.respond(incoming._message, b"", peer_of(incoming.transport))
        except BadTarget:
            return responder.answer(Request("", ""), refusal(), reusable=False)
        if response.session is not None:
            upgraded = Upgraded()
            _protocol_of(incoming).answer = upgraded
            await upgraded.serve(incoming, response, responder.heads, self._upgraded)
            return upgraded
        if response.cut is not None:
            self._break_off(incoming, request, response)
            return Upgraded()
        if response.stream is not None and websocket.wants_websocket(request):
            binary = "json" not in response.content_type
            protocol = next((value for name, value in response.headers if name == "Sec-WebSocket-Protocol"), "")
            return await websocket.serve(
                incoming, response, response.stream, binary=binary, protocol=protocol, open_sinks=self._sockets)
        answer = responder.answer(request, response, reusable=False)
        if response.stream is not None:
            _protocol_of(incoming).answer = answer
        return answer

    def _break_off(self, incoming: web.BaseRequest, request: Request, response: Response) -> None:
        """Write as much of an answer as its client is to see, and close."""
        if response.stream is not None:
            response.stream.stop()
        if response.cut and incoming.transport is not None:
            incoming.transport.write(self._responder.answer(request, response, reusable=False).beginning(response.cut))
        break_off(incoming)


def _protocol_of(incoming: web.BaseRequest) -> _Protocol:
    protocol = incoming.protocol
    assert isinstance(protocol, _Protocol)
    return protocol
