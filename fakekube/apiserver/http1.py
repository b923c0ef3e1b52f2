"""Answers as HTTP/1.1 servers write them, read from a connection: the head, and a body whose end is told in one of three ways.

An answer of a known length, and one whose server has closed by now, is read whole; the rest of any other is a stream, which lasts
as long as its server writes. Upstream: Go's net/http, whose words for what is no answer these are.
"""

from typing import NamedTuple

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Frame, Sink, Stream
from fakekube.apimachinery.streams import Dialled, StreamError

MAX_HEAD_LINES = 200
BROKEN = "net/http: HTTP/1.x transport connection broken: "


class BadAnswer(Exception):
    """What came back is no answer; the text is Go's."""


class Answer(NamedTuple):
    """An answer; headers as they were written, in order."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    stream: "Rest | None"


async def read_answer(connection: Dialled, method: str) -> Answer:
    """The answer to a request of a method. Raises BadAnswer, and what the connection raises."""
    while True:
        status, headers = await _head(connection)
        if status >= 200 or status == 101:
            break
    by_name = {name.lower(): value for name, value in headers}
    if method == "HEAD" or status in (101, 204, 304):
        return Answer(status, headers, b"", None)
    chunked = by_name.get("transfer-encoding", "").lower() == "chunked"
    if chunked or "content-length" not in by_name:
        body = _Body(connection, chunked=chunked)
        whole = await body.read_whole()
        return Answer(status, headers, whole, None) if body.ended else Answer(status, headers, b"", Rest(body, whole))
    length = by_name["content-length"]
    if not length.isdecimal():
        raise BadAnswer(f"{BROKEN}bad Content-Length {go_quote(length)}")
    return Answer(status, headers, await _exactly(connection, int(length)), None)


async def _head(connection: Dialled) -> tuple[int, list[tuple[str, str]]]:
    line = await connection.read_line()
    if not line:
        raise BadAnswer("EOF")
    text = line.decode("latin-1").rstrip("\r\n")
    protocol, _, rest = text.partition(" ")
    code = rest[:3]
    if not rest or not protocol.startswith("HTTP/"):
        raise BadAnswer(f"{BROKEN}malformed HTTP response {go_quote(text)}")
    if not code.isdecimal() or len(code) < 3 or rest[3:4] not in ("", " "):
        raise BadAnswer(f"{BROKEN}malformed HTTP status code {go_quote(rest.split(' ')[0])}")
    headers: list[tuple[str, str]] = []
    while text := (await connection.read_line()).decode("latin-1").rstrip("\r\n"):
        name, colon, value = text.partition(":")
        if not colon or len(headers) == MAX_HEAD_LINES:
            raise BadAnswer(f"{BROKEN}malformed MIME header line: {text}")
        headers.append((canonical(name.strip()), value.strip()))
    return int(code), headers


async def _exactly(connection: Dialled, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = await connection.read(length - len(data))
        if not piece:
            raise BadAnswer("unexpected EOF")
        data += piece
    return bytes(data)


def canonical(name: str) -> str:
    """A header's name as Go writes it: ``X-Forwarded-For``."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


class _Body:
    """A body whose length nobody told."""

    def __init__(self, connection: Dialled, *, chunked: bool) -> None:
        self.connection, self.chunked = connection, chunked
        self.ended = False

    async def read(self) -> bytes:
        """Some of it, as it comes; empty at the end."""
        if self.ended:
            return b""
        data = await (self._chunk() if self.chunked else self.connection.read())
        self.ended = not data
        return data

    async def _chunk(self) -> bytes:
        size = (await self.connection.read_line()).partition(b";")[0].strip()
        try:
            length = int(size, 16)
        except ValueError:
            raise BadAnswer("invalid byte in chunk length" if size else "unexpected EOF") from None
        data = await _exactly(self.connection, length)
        while (await self.connection.read_line()).strip() and not length:
            pass  # trailers, which nobody reads
        return data

    async def read_whole(self) -> bytes:
        """All of it if its server has closed by now, else what is there."""
        pieces = []
        await self.connection.rest()
        while not self.ended and (self.connection.waiting or self.connection.ended):
            pieces.append(await self.read())
        return b"".join(pieces)


class Rest(Stream):
    """The rest of a body, as it comes. ``first`` is there already."""

    def __init__(self, body: _Body, first: bytes) -> None:
        self._body, self._first = body, first

    def start(self, sink: Sink) -> None:
        """Send what is there, and what comes until the server has nothing more to say."""
        if self._first:
            sink.send(Frame(self._first))
        self._body.connection.background(self._pump(sink))

    async def _pump(self, sink: Sink) -> None:
        try:
            while data := await self._body.read():
                sink.send(Frame(data))
        except (BadAnswer, StreamError, ConnectionError):
            pass  # the head has gone out long ago; all that is left is to end
        sink.end()
        self._body.connection.hang_up()

    def stop(self) -> None:
        """The client has gone."""
        self._body.connection.hang_up()
