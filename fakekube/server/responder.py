"""Lets the Handler answer a request, and makes the object that writes the answer."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from aiohttp.http import RawRequestMessage

from fakekube.apimachinery.http import Handler, Request, Response
from fakekube.server.crossorigin import CrossOriginProtection
from fakekube.server.target import headers_of, path_of, query_of
from fakekube.server.writer import Answer, Flusher, HeadWriter
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.outside import ClientsOutside
from fakekube.util.wallclock import RealClock


class Peer(NamedTuple):
    """The client at the other end: its address, and the certificate (DER) that it has shown."""

    address: str = ""
    certificate: bytes = b""


def peer_of(transport: asyncio.BaseTransport | None) -> Peer:
    """Who is at the other end of a transport."""
    if transport is None:
        return Peer()
    address, tls = transport.get_extra_info("peername"), transport.get_extra_info("ssl_object")
    return Peer(address[0] if address else "", (tls.getpeercert(binary_form=True) or b"") if tls is not None else b"")


class Responder:
    """Answers by ``handler``, which may be replaced at any time.

    ``clock`` dates the answers; ``activity`` is held while a request is worked on, so that virtual
    time waits for it. ``compresses`` says whether large answers are compressed for clients that
    take it. ``protection`` refuses requests of pages of other sites. ``outside`` is told of
    requests and watches. ``exposed`` says that other machines reach the server.
    """

    def __init__(
        self, handler: Handler, *, clock: Clock, activity: Activity | None, compresses: Callable[[], bool],
        protection: CrossOriginProtection, outside: ClientsOutside | None = None, exposed: bool = False,
    ) -> None:
        self.handler, self.heads = handler, HeadWriter(clock, compresses)
        self._protection, self._outside = protection, outside
        self._activity, self._exposed = activity, exposed
        self._flusher = Flusher()
        self._wall = RealClock()
        self._open: dict[Answer, None] = {}

    def refuses(self, message: RawRequestMessage) -> bool:
        """Whether a request is not answered, whatever its body is."""
        return self._protection.refusal(message.path, headers_of(message.headers.items())) is not None

    async def respond(self, message: RawRequestMessage, body: bytes, peer: Peer) -> tuple[Request, Response]:
        """Let the Handler answer, unless the request comes from a page that may not ask.

        Returns the request as the Handler saw it, and its response. Raises BadTarget.
        """
        protection = self._protection
        with self._activity.busy() if self._activity is not None else nullcontext():
            request = request_of(message, body, peer, self._wall, exposed=self._exposed)
            response = protection.refusal(message.path, request.headers)
            if response is None:
                self._note(request)
                response = protection.preflight(request) or await self.handler.handle(request)
                self._note(request)
                protection.let_read(request, response)
            return request, response

    def _note(self, request: Request) -> None:
        if self._outside is not None:
            self._outside.request(request.headers.get("user-agent", ""), request.peer, request.method, request.path)

    def answer(self, request: Request, response: Response, *, reusable: bool) -> Answer:
        """The object that writes a response.

        ``reusable`` says whether the connection takes another request afterwards; if not, the
        answer says so.
        """
        return Answer(self.heads, self._flusher, request, response, self._open, reusable=reusable, outside=self._outside)

    def end_streams(self) -> None:
        """End the answers that are streams."""
        for answer in list(self._open):
            answer.end()


def request_of(message: RawRequestMessage, body: bytes, peer: Peer, patience: Clock, *, exposed: bool = False) -> Request:
    """The Request for a Handler.

    ``patience`` is the clock of the client's timeouts. Raises BadTarget.
    """
    target, _, query = message.path.partition("?")
    return Request(
        message.method, path_of(target), query_of(query), headers_of(message.headers.items()), body,
        peer=peer.address, patience=patience, certificate=peer.certificate, exposed=exposed)
