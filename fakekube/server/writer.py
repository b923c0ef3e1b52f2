"""Answers as bytes: a head from prepared pieces, then a body or the frames of a stream."""

import asyncio
import gzip
import zlib
from collections.abc import Callable, MutableMapping
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aiohttp.http import HttpVersion, HttpVersion11
from aiohttp.web_response import StreamResponse

from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.util.clock import Clock
from fakekube.util.outside import ClientsOutside, OpenWatch

if TYPE_CHECKING:
    from aiohttp.web_request import BaseRequest

GZIP_FROM_BYTES = 128 * 1024
GZIP_CONTAINER = 16  # added to a window size: zlib's way to ask for gzip's header
DRAIN_FROM_BYTES = 64 * 1024
SLOW_WATCHER_BYTES = 64 * 1024 * 1024
"""How much may wait for one watcher before it is disconnected: room for a burst over thousands of
objects.
"""
LAST_CHUNK = b"0\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


class HeadWriter:
    """Writes the heads of answers. Status lines and dates are made once and kept.

    ``compresses`` says whether large answers are compressed.
    """

    def __init__(self, clock: Clock, compresses: Callable[[], bool]) -> None:
        self._clock, self.compresses = clock, compresses
        self._lines: dict[tuple[int, str], str] = {}
        self._second, self._date = -1, ""

    def head(self, response: Response) -> str:
        """Status line and headers, without those about the body's length."""
        key = (response.status, response.content_type)
        start = self._lines.get(key)
        if start is None:
            start = self._lines[key] = self._start(*key)
        second = int(self._clock.time())
        if second != self._second:
            self._second, self._date = second, f"Date: {formatdate(second, usegmt=True)}\r\n"
        return start + self._date + "".join([f"{name}: {value}\r\n" for name, value in response.headers])

    def _start(self, status: int, content_type: str) -> str:
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = f"status code {status}"
        kind = f"Content-Type: {content_type}\r\n" if content_type else ""
        return f"HTTP/1.1 {status} {phrase}\r\n{kind}"


class Flusher:
    """Writes the frames of all streams once per turn of the event loop."""

    def __init__(self) -> None:
        self._waiting: list[Answer] = []

    def add(self, answer: "Answer") -> None:
        """Flush an answer at the end of this turn."""
        waiting = self._waiting
        if not waiting:
            asyncio.get_running_loop().call_soon(self._run)
        waiting.append(answer)

    def _run(self) -> None:
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            answer.flush()


class Answer(StreamResponse):
    """A response that writes itself to the transport; aiohttp gets it in place of one of its own.

    As a Sink it takes the frames of a stream, and writes those of one turn of the event loop
    together.
    """

    __slots__ = (
        "_compresses",
        "_done",
        "_flusher",
        "_heads",
        "_open",
        "_outside",
        "_pending",
        "_request",
        "_response",
        "_reusable",
        "_scheduled",
        "_transport",
        "_watch",
    )

    def __init__(  # the base class would make headers that nobody reads
        self, heads: HeadWriter, flusher: Flusher, request: Request, response: Response,
        open_answers: MutableMapping["Answer", None], *, reusable: bool = True, outside: ClientsOutside | None = None,
    ) -> None:
        self._flusher = flusher
        self._heads, self._request, self._response, self._open = heads, request, response, open_answers
        self._pending: list[bytes] = []
        self._scheduled = self._compresses = False
        self._reusable, self._outside = reusable, outside
        self._watch: OpenWatch | None = None
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[None] | None = None

    @property
    def keep_alive(self) -> bool:
        """Whether the connection takes another request."""
        return self._reusable

    async def prepare(self, request: "BaseRequest") -> None:
        """Write the answer, or the head of a stream, as aiohttp asks for it."""
        if request.transport is not None:
            self.begin(request.transport, request.method, request.version)

    def begin(self, transport: asyncio.Transport, method: str = "GET", version: HttpVersion = HttpVersion11) -> None:
        """Write the answer, or the head of a stream."""
        self._transport = transport
        if self._response.stream is not None:
            self._begin_stream()
        else:
            self._write_whole(method, version)

    async def write_eof(self, data: Any = b"") -> None:
        """Wait for the end of a stream; anything else is written by now."""
        if self._done is not None:
            try:
                await self._done
            finally:
                self._finish()

    def beginning(self, size: int) -> bytes:
        """The head, and so many bytes of the body, of which the head announces more than that."""
        body = self._response.body
        announced = max(len(body), size + 1)
        head = f"{self._heads.head(self._response)}Connection: close\r\nContent-Length: {announced}\r\n\r\n"
        return head.encode() + body[:size]

    def _write_whole(self, method: str, version: HttpVersion) -> None:
        assert self._transport is not None
        response, body = self._response, self._response.body
        head = self._heads.head(response)
        if (
            len(body) > GZIP_FROM_BYTES
            and self._request.accepts_gzip()
            and not _is_compressed(response)
            and self._heads.compresses()
        ):
            body = gzip.compress(body, compresslevel=1, mtime=0)
            head += "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
        if not self._reusable:
            head += "Connection: close\r\n"
        elif version < HttpVersion11:
            head += "Connection: keep-alive\r\n"
        if response.status not in (204, 304):
            head += f"Content-Length: {len(body)}\r\n"
        data = f"{head}\r\n".encode()
        if len(body) > DRAIN_FROM_BYTES:
            self._transport.write(data)
            data = b""
        self._transport.write(data if method == "HEAD" else data + body)

    # a stream

    def _begin_stream(self) -> None:
        assert self._transport is not None
        assert self._response.stream is not None
        self._done = asyncio.get_running_loop().create_future()
        self._compresses = _is_compressed(self._response)
        self._open[self] = None
        if self._outside is not None and self._response.is_watch:
            request = self._request
            self._watch = self._outside.watch(request.headers.get("user-agent", ""), request.peer, request.path)
        self._transport.write(self._heads.head(self._response).encode() + CHUNKED)
        self._response.stream.start(self)

    def send(self, frame: Frame) -> None:
        """Take one frame of the stream."""
        self._pending.append(frame.data if self._compresses else frame.chunk)
        if self._watch is not None:
            self._watch.tell()
        if not self._scheduled:
            self._scheduled = True
            self._flusher.add(self)

    def end(self) -> None:
        """Close the body: no frame follows."""
        if self._done is None or self._done.done():
            return
        self.flush()
        if self._watch is not None:
            self._watch.end()
        if self._transport is not None and not self._transport.is_closing():
            if self._response.cut is None:
                self._transport.write(LAST_CHUNK)
            else:
                self._reusable = False
        self._done.set_result(None)

    def abandon(self) -> None:
        """Stop writing: the client has disconnected."""
        self._transport = None
        if self._done is not None and not self._done.done():
            self._done.set_result(None)
        self._finish()

    def flush(self) -> None:
        """Write the frames that wait."""
        self._scheduled = False
        pieces, self._pending = self._pending, []
        transport = self._transport
        if not pieces or transport is None or transport.is_closing():
            return
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if self._compresses:
            data = _packed(data)
            data = b"%x\r\n%b\r\n" % (len(data), data)
        transport.write(data)
        if transport.get_write_buffer_size() > SLOW_WATCHER_BYTES:
            self._reusable = False
            transport.abort()

    def _finish(self) -> None:
        self._open.pop(self, None)
        if self._watch is not None:
            self._watch.close()
        if self._response.stream is not None:
            self._response.stream.stop()


def _packed(data: bytes) -> bytes:
    """A piece of a stream as a gzip file of its own, so that no state is kept for an idle stream.

    The data ends before the file does: Go's reader gives out a last block only when it has seen
    what follows it.
    """
    packer = zlib.compressobj(1, wbits=zlib.MAX_WBITS | GZIP_CONTAINER)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH) + packer.flush()


def _is_compressed(response: Response) -> bool:
    return any(name == "Content-Encoding" for name, _ in response.headers)
