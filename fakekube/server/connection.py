"""One HTTP/1.1 connection: requests are parsed, and answered one after the other.

aiohttp's parser reads the requests. The rest of a web framework is left out (request and response
objects, a task that waits between requests and one for each request), which is half of what a small
answer costs. When a request asks for another protocol, the connection is passed to aiohttp's own
server (``upgrading.py``). Upstream: net/http's server.
"""

import asyncio
from collections import deque
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, cast

from aiohttp.http import HttpProcessingError, HttpRequestParser, RawRequestMessage
from aiohttp.streams import StreamReader

from fakekube.apimachinery.http import MAX_BODY_BYTES, Request, Response
from fakekube.server.framing import frame_refusal, refusal
from fakekube.server.limits import MAX_HEAD_BYTES, MAX_HEADERS, READ_HEAD_SECONDS
from fakekube.server.responder import Peer, Responder, peer_of
from fakekube.server.target import BadTarget
from fakekube.server.writer import DRAIN_FROM_BYTES, Answer
from fakekube.util.clock import Clock
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

MAX_WAITING_REQUESTS = 16
"""How many requests may wait for their answers before the connection is not read any more."""
LINGER_SECONDS = 1.0
"""How long the connection stays open for a client that still sends a body which was answered
already.
"""
IDLE_ROUND_SECONDS, IDLE_ROUNDS = 45.0, 2
"""How often the server checks for idle connections, and how many checks one may stay idle."""
READ_BYTES = 1 << 16
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PROTOCOLS = ("websocket", "spdy/")
"""What a connection can be upgraded to.

Any other wish is ignored, as HTTP allows: Java's client asks for h2c.
"""


class BadBody(Exception):
    """The parser's error for a broken body. Nothing waits for it here."""


class _Unread:
    """A request whose body has not been read to its end;

    ``answered`` when it was too long to wait for that.
    """

    __slots__ = ("answered", "message", "payload", "pieces", "size")

    def __init__(self, message: RawRequestMessage, payload: StreamReader) -> None:
        self.message, self.payload = message, payload
        self.pieces: list[bytes] = []
        self.size = 0
        self.answered = False


class Connection(asyncio.Protocol):
    """One client's connection: parses requests, has them answered, writes the answers in order.

    ``tasks`` are those of the server. ``connections`` are its open connections, to which this one
    adds itself. ``upgrade`` gives the protocol that takes over when the client asks for another
    one. ``wall`` is the clock by which a client that has begun a head must end it.
    """

    __slots__ = (
        "_answer", "_begun", "_busy", "_closing", "_drained", "_head_timer", "_idle_rounds", "_open", "_parser", "_peer",
        "_responder", "_tasks", "_transport", "_unread", "_upgrade", "_waiting", "_wall",
    )

    _reading_paused = False  # aiohttp's streams ask for it

    def __init__(
        self, responder: Responder, *, tasks: Tasks, connections: "MutableMapping[Connection, None]",
        upgrade: Callable[[], asyncio.Protocol], wall: Clock,
    ) -> None:
        self._responder, self._tasks, self._open, self._upgrade = responder, tasks, connections, upgrade
        self._wall = wall
        self._parser = HttpRequestParser(
            self, asyncio.get_running_loop(), READ_BYTES, max_line_size=MAX_HEAD_BYTES, max_field_size=MAX_HEAD_BYTES,  # type: ignore[arg-type]
            max_headers=MAX_HEADERS, payload_exception=BadBody, auto_decompress=False)
        self._transport: asyncio.Transport | None = None
        self._peer = Peer()
        self._begun = bytearray()  # of a head that has not come to its end
        self._head_timer: Timer | None = None
        self._unread: _Unread | None = None
        self._waiting: deque[tuple[RawRequestMessage, bytes]] = deque()
        self._busy = self._closing = False
        self._answer: Answer | None = None
        self._drained: asyncio.Future[None] | None = None
        self._idle_rounds = 0

    # the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._peer = peer_of(transport)
        self._open[self] = None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._transport = None
        self._open.pop(self, None)
        self._end_head()
        self.resume_writing()
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.abandon()

    def pause_writing(self) -> None:
        self._drained = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def pause_reading(self) -> None:
        """The parser asks for this when its buffer is full.

        Not needed: the buffer is emptied at once.
        """

    def resume_reading(self, **_: Any) -> None:
        """Not needed either."""

    def data_received(self, data: bytes) -> None:
        try:
            messages, _, _ = self._parser.feed_data(data)
        except HttpProcessingError as error:
            self._refuse(refusal(error))
            return
        self._idle_rounds = 0
        if self._unread is not None:
            self._read_on(self._unread)
        elif not messages:
            self._begin_head(data)
            return
        for message, payload in messages:
            if (refused := frame_refusal(message)) is not None:
                self._refuse(refused)
                return
            if message.upgrade and _asks_for_another(message):
                self._hand_over(bytes(self._begun + data))
                return
            if payload.is_eof():
                self._take(message, payload.read_nowait())
            else:
                self._read_on(self._wait_for(message, payload))
        self._end_head()

    def _begin_head(self, data: bytes) -> None:
        """Keep what has come of a head, and close when its end does not come in time."""
        self._begun += data
        if self._head_timer is None:
            self._head_timer = self._wall.call_later(READ_HEAD_SECONDS, self.finish, daemon=True)

    def _end_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
            self._begun.clear()

    # requests

    def _wait_for(self, message: RawRequestMessage, payload: StreamReader) -> _Unread:
        unread = self._unread = _Unread(message, payload)
        if self._responder.refuses(message):
            unread.answered = True
            self._take(message, b"")
        elif message.headers.get("Expect", "").lower() == "100-continue" and self._transport is not None:
            self._transport.write(CONTINUE)
        return unread

    def _read_on(self, unread: _Unread) -> None:
        """Read what has come of a body: up to its end, or one byte more than a Handler accepts."""
        piece = unread.payload.read_nowait()
        if not unread.answered:
            unread.pieces.append(piece)
            unread.size += len(piece)
            if unread.size > MAX_BODY_BYTES or unread.payload.is_eof():
                unread.answered = True
                self._take(unread.message, b"".join(unread.pieces)[: MAX_BODY_BYTES + 1])
                unread.pieces.clear()
        if unread.payload.is_eof():
            self._unread = None
            if self._closing and not self._busy:
                self.close()

    def _take(self, message: RawRequestMessage, body: bytes) -> None:
        if self._closing:
            return
        self._waiting.append((message, body))
        if not self._busy:
            self._next()
        elif len(self._waiting) == MAX_WAITING_REQUESTS and self._transport is not None:
            self._transport.pause_reading()

    def _next(self) -> None:
        message, body = self._waiting.popleft()
        if len(self._waiting) == MAX_WAITING_REQUESTS - 1 and self._transport is not None:
            self._transport.resume_reading()
        self._busy = True
        self._tasks.spawn(self._respond(message, body), "request")

    async def _respond(self, message: RawRequestMessage, body: bytes) -> None:
        answered = False
        try:
            try:
                request, response = await self._responder.respond(message, body, self._peer)
            except BadTarget:
                request, response, self._closing = Request("", ""), refusal(), True
            if self._unread is not None:
                self._closing = True
            await self._write(request, response, message)
            answered = True
        finally:
            self._busy = False
            self._idle_rounds = 0
            if not answered:
                self.close()
        if self._closing:
            self._linger()
        elif self._waiting:
            self._next()

    async def _write(self, request: Request, response: Response, message: RawRequestMessage) -> None:
        transport = self._transport
        if transport is None:
            if response.stream is not None:
                response.stream.stop()
            return
        if response.cut is not None:
            self._break_off(transport, request, response)
            return
        answer = self._responder.answer(request, response, reusable=not (self._closing or message.should_close))
        answer.begin(transport, message.method, message.version)
        if response.stream is not None:
            self._answer = answer
            await answer.write_eof()
            self._answer = None
        elif self._drained is not None and len(response.body) > DRAIN_FROM_BYTES:
            await self._drained
        if not answer.keep_alive:
            self._closing = True

    def _break_off(self, transport: asyncio.Transport, request: Request, response: Response) -> None:
        """Write as much of an answer as its client is to see, and close."""
        self._closing = True
        if response.stream is not None:
            response.stream.stop()
        if response.cut:
            transport.write(self._responder.answer(request, response, reusable=False).beginning(response.cut))

    # the end

    def _linger(self) -> None:
        """Close; a client that is still sending a body is given time to read its answer first."""
        if self._unread is None:
            self.close()
        else:
            asyncio.get_running_loop().call_later(LINGER_SECONDS, self.close)

    def _hand_over(self, data: bytes) -> None:
        """Pass the connection to aiohttp's server, with the bytes of the request so far."""
        transport, self._transport = self._transport, None
        assert transport is not None
        # a client asks for another protocol only after it has the answers to its requests
        if self._busy:
            transport.close()
            return
        self._open.pop(self, None)
        self._end_head()
        other = self._upgrade()
        transport.set_protocol(other)
        other.connection_made(transport)
        other.data_received(data)

    def _refuse(self, response: Response) -> None:
        """Answer bytes that are not a request, or none that is taken, and close.

        While another answer is being written, only close.
        """
        if self._transport is not None and not self._busy:
            self._responder.answer(Request("", ""), response, reusable=False).begin(self._transport)
        self.finish()

    def check_idle(self) -> None:
        """Close if the connection has been idle for more than ``IDLE_ROUNDS`` checks."""
        self._idle_rounds += 1
        if self._idle_rounds > IDLE_ROUNDS and not self._busy:
            self.close()

    def finish(self) -> None:
        """Close as soon as the answer that is being written is complete."""
        self._closing = True
        if not self._busy:
            self.close()

    def close(self) -> None:
        """Close now."""
        self._closing = True
        # of TLS asyncio forgets what it has to close when it is asked twice
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()

    def abort(self) -> None:
        """Close without waiting for the client: by TLS both sides say goodbye."""
        if self._transport is not None:
            self._transport.abort()


def _asks_for_another(message: RawRequestMessage) -> bool:
    wanted = message.headers.get("Upgrade", "").lower()
    return any(protocol in wanted for protocol in PROTOCOLS)
