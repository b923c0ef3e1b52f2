"""SPDY/3.1 as far as Kubernetes uses it: frames, compressed headers, streams with two halves.

kubectl port-forward speaks it inside a WebSocket; older clients speak it for exec and attach as
well. The counterpart is github.com/moby/spdystream; the format is that of the SPDY draft 3.1. Left
out, as there: flow control, settings, push.
"""

import zlib
from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from fakekube.util.pipe import Pipe

VERSION = 3
SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY, HEADERS = 1, 2, 3, 6, 7, 8
FIN = 1
CANCEL, PROTOCOL_ERROR = 5, 1
MAX_HEADER_BYTES = 64 * 1024
MAX_STREAMS = 4096
MAX_WAITING_BYTES = 64 * 1024 * 1024
PIECE_BYTES = 32 * 1024

WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive "
    "origin"
)
TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal "
    "Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, "
    "Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset="
    "iso-8859-1,utf-,*,enq=0."
)


def _counted(text: str) -> bytes:
    return len(text).to_bytes(4) + text.encode("latin-1")


DICTIONARY = b"".join(_counted(word.replace("_", " ")) for word in WORDS.split()) + TAIL.encode()
"""The text that header compression starts from, on both sides."""


class BadFrame(Exception):
    """The client does not speak SPDY/3.1."""


class Frame(NamedTuple):
    """A frame. ``kind`` is 0 for data; ``stream`` is then the number of its stream."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def control(kind: int, payload: bytes, flags: int = 0) -> bytes:
    """A control frame as bytes."""
    return (0x8000 | VERSION).to_bytes(2) + kind.to_bytes(2) + bytes((flags,)) + len(payload).to_bytes(3) + payload


def data(stream: int, payload: bytes, flags: int = 0) -> bytes:
    """A data frame as bytes."""
    return stream.to_bytes(4) + bytes((flags,)) + len(payload).to_bytes(3) + payload


class Deframer:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, received: bytes) -> Iterator[Frame]:
        """The frames that are complete now. Raises BadFrame for one of another version."""
        buffer = self._buffer
        buffer += received
        while len(buffer) >= 8:
            end = 8 + int.from_bytes(buffer[5:8])
            if len(buffer) < end:
                return
            first, flags, payload = int.from_bytes(buffer[:4]), buffer[4], bytes(buffer[8:end])
            del buffer[:end]
            if not first & 0x80000000:
                yield Frame(0, flags, first, payload)
                continue
            if (first >> 16) & 0x7FFF != VERSION:
                raise BadFrame(f"version {(first >> 16) & 0x7FFF}")
            yield Frame(first & 0xFFFF, flags, int.from_bytes(payload[:4]) & 0x7FFFFFFF, payload)


class HeaderReader:
    """Reads header blocks; they share one compression state for as long as the connection lives."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)

    def read(self, block: bytes) -> dict[str, str]:
        """The headers, names in lower case. Raises BadFrame."""
        try:
            plain = self._inflate.decompress(block, MAX_HEADER_BYTES)
        except zlib.error as error:
            raise BadFrame(str(error)) from error
        if self._inflate.unconsumed_tail:
            raise BadFrame("headers are too long")
        texts, position = [], 4
        for _ in range(2 * int.from_bytes(plain[:4])):
            length = int.from_bytes(plain[position:position + 4])
            text = plain[position + 4:position + 4 + length]
            if len(text) < length or position + 4 > len(plain):
                raise BadFrame("headers are cut short")
            texts.append(text.decode("latin-1"))
            position += 4 + length
        return dict(zip((name.lower() for name in texts[::2]), texts[1::2], strict=True))


class HeaderWriter:
    """Writes header blocks."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def write(self, headers: dict[str, str]) -> bytes:
        """The headers as a block."""
        plain = len(headers).to_bytes(4) + b"".join(_counted(name) + _counted(value) for name, value in headers.items())
        return self._deflate.compress(plain) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


class Stream:
    """One stream that the client opened.

    ``received`` ends when the client ends its half, or on a reset.
    """

    def __init__(self, connection: "Connection", number: int, headers: dict[str, str]) -> None:
        self._connection, self.number, self.headers = connection, number, headers
        self.received = Pipe()
        self._open = True

    async def send(self, payload: bytes) -> None:
        """Send bytes; dropped once our half has ended. Raises ConnectionError."""
        for start in range(0, len(payload), PIECE_BYTES):
            if self._open:
                await self._connection.write(data(self.number, payload[start:start + PIECE_BYTES]))

    async def end(self) -> None:
        """End our half; what the client still sends is dropped."""
        if self._open:
            await self._connection.write(data(self.number, b"", FIN))
            self.broken()

    async def reset(self) -> None:
        """End both halves at once."""
        if self._open:
            self.broken()
            await self._connection.write(control(RST_STREAM, self.number.to_bytes(4) + CANCEL.to_bytes(4)))

    def broken(self) -> None:
        """The connection is gone: nothing is sent or received any more."""
        self._open = False
        self.received.end()
        self._connection.forget(self)


class Connection:
    """The server's side of a connection; ``write`` sends bytes to the client.

    ``opened`` is called for each new stream and returns whether to accept it. It must not write
    before it returns, since the reply comes first.
    """

    def __init__(self, write: Callable[[bytes], Awaitable[None]], opened: Callable[[Stream], bool]) -> None:
        self.write, self._opened = write, opened
        self._deframer, self._reader, self._writer = Deframer(), HeaderReader(), HeaderWriter()
        self._streams: dict[int, Stream] = {}
        self._last = 0

    async def feed(self, received: bytes) -> bool:
        """Add received bytes;

        False once the client says that it closes. Raises BadFrame, ConnectionError.
        """
        for frame in self._deframer.feed(received):
            if frame.kind == GOAWAY:
                return False
            if frame.kind == 0:
                self._take_data(frame)
            elif frame.kind == SYN_STREAM:
                await self._take_stream(frame)
            elif frame.kind == RST_STREAM and frame.stream in self._streams:
                self._streams[frame.stream].broken()
            elif frame.kind == PING and frame.stream % 2:
                await self.write(control(PING, frame.payload))
            elif frame.kind in (SYN_REPLY, HEADERS):
                # nobody asks for what they say, and the next block builds on them
                self._reader.read(frame.payload[4:])
        return True

    def forget(self, stream: Stream) -> None:
        """Forget a stream that has ended on both sides."""
        self._streams.pop(stream.number, None)

    async def go_away(self) -> None:
        """Tell the client that no new stream is accepted."""
        await self.write(control(GOAWAY, self._last.to_bytes(4) + bytes(4)))

    def _take_data(self, frame: Frame) -> None:
        stream = self._streams.get(frame.stream)
        if stream is None:
            return
        stream.received.feed(frame.payload)
        if stream.received.waiting > MAX_WAITING_BYTES:
            raise BadFrame("too much is left unread")
        if frame.flags & FIN:
            stream.received.end()

    async def _take_stream(self, frame: Frame) -> None:
        headers = self._reader.read(frame.payload[10:])
        if frame.stream <= self._last or not frame.stream % 2 or len(self._streams) >= MAX_STREAMS:
            await self.write(control(RST_STREAM, frame.stream.to_bytes(4) + PROTOCOL_ERROR.to_bytes(4)))
            return
        self._last = frame.stream
        stream = self._streams[frame.stream] = Stream(self, frame.stream, headers)
        if frame.flags & FIN:
            stream.received.end()
        if self._opened(stream):
            await self.write(control(SYN_REPLY, frame.stream.to_bytes(4) + self._writer.write({})))
        else:
            await stream.reset()
