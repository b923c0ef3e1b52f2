"""A handler whose every answer is a session, and what a SPDY client needs to talk to it."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.streams import (
    CommandOptions,
    CommandSession,
    CommandStreams,
    PortSession,
    PortStreams,
    StreamError,
)
from fakekube.apiserver import upgrade
from fakekube.server import spdy

POD = {"metadata": {"name": "p", "namespace": "default", "uid": "u-1"}}


class Sessions:
    """Agrees to what is asked.

    ``/command`` echoes its input, and says more by its path; ``/ports`` echoes too.

    ``ended`` counts commands that ended in whatever way; ``sizes`` has the terminal sizes they saw
    at their end.
    """

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.sizes: list[tuple[int, int]] = []

    async def handle(self, request: Request) -> Response:
        """The answer with its session."""
        try:
            if request.path.startswith("/ports"):
                chosen = upgrade.choose(
                    request, channels=upgrade.PORT_CHANNELS, first=upgrade.TUNNEL, spdy=upgrade.PORT_SPDY)
                response = chosen.response()
                ports = tuple(int(port) for port in request.query.get("ports", ()))
                response.session = PortSession(chosen.protocol, chosen.spdy, POD, ports, self._forward)
                return response
            chosen = upgrade.choose(
                request, channels=upgrade.COMMAND_CHANNELS, first=upgrade.V5, spdy=upgrade.COMMAND_SPDY)
        except upgrade.Refused as refused:
            return refused.response
        wanted = {name: name in request.query for name in ("stdin", "stdout", "stderr", "tty")}
        options = CommandOptions(POD, "c", ("run", "it"), **wanted)
        response = chosen.response()
        response.session = CommandSession(chosen.protocol, chosen.spdy, options, self._command(request.path))
        return response

    def _command(self, path: str) -> Callable[[CommandStreams], Awaitable[int]]:
        async def run(streams: CommandStreams) -> int:
            try:
                if path == "/command/fails":
                    raise StreamError("error executing command in container: no")
                if path == "/command/large":
                    await streams.stdout(b"x" * 100_000)
                if path == "/command/waits":
                    await asyncio.Event().wait()
                while path != "/command/deaf" and (data := await streams.stdin.read()):
                    await streams.stdout(data.upper())
                    await streams.stderr(b"!")
                return int(path.rpartition("/")[2]) if path[-1].isdigit() else 0
            finally:
                self.sizes.append((streams.size.columns, streams.size.rows))
                self.ended.set()

        return run

    async def _forward(self, streams: PortStreams) -> None:
        if streams.port == 1:
            raise StreamError("connection refused")
        while data := await streams.received.read():
            await streams.send(data)


class SpdyClient:
    """The client's side of a SPDY connection over any transport: ``send`` writes, ``feed`` takes in
    what came.
    """

    def __init__(self, send: Callable[[bytes], Awaitable[Any]]) -> None:
        self._send = send
        self._deframer, self._writer = spdy.Deframer(), spdy.HeaderWriter()
        self._next = 1
        self.frames: list[spdy.Frame] = []
        self.data: dict[int, bytes] = {}
        self.finished: set[int] = set()
        self.kinds: dict[int, list[int]] = {}

    async def open(self, *, fin: bool = False, number: int | None = None, **headers: str) -> int:
        """Open a stream; its number."""
        stream = self._next if number is None else number
        self._next = max(self._next, stream) + 2
        block = self._writer.write(headers)
        payload = stream.to_bytes(4) + bytes(4) + bytes(2) + block
        await self._send(spdy.control(spdy.SYN_STREAM, payload, spdy.FIN if fin else 0))
        return stream

    async def write(self, stream: int, data: bytes, *, fin: bool = False) -> None:
        """Send data of a stream."""
        await self._send(spdy.data(stream, data, spdy.FIN if fin else 0))

    async def control(self, kind: int, payload: bytes) -> None:
        """Send any other frame."""
        await self._send(spdy.control(kind, payload))

    def feed(self, received: bytes) -> None:
        """Take in what the server sent."""
        for frame in self._deframer.feed(received):
            self.frames.append(frame)
            if frame.kind == 0:
                self.data[frame.stream] = self.data.get(frame.stream, b"") + frame.payload
            else:
                self.kinds.setdefault(frame.stream, []).append(frame.kind)
            if frame.flags & spdy.FIN:
                self.finished.add(frame.stream)

    def saw(self, kind: int, stream: int) -> bool:
        """Whether such a control frame came."""
        return kind in self.kinds.get(stream, ())


class RawConnection:
    """A TCP connection that changes its protocol; an async context manager."""

    def __init__(self, host: str, port: int, path: str, **headers: str) -> None:
        self._address, self._path = (host, port), path
        self._headers = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", **headers}
        self.head = ""

    async def __aenter__(self) -> "RawConnection":
        self.reader, self.writer = await asyncio.open_connection(*self._address)
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in self._headers.items())
        self.writer.write(f"POST {self._path} HTTP/1.1\r\nHost: localhost\r\n{lines}Content-Length: 0\r\n\r\n".encode())
        self.head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.writer.close()

    async def send(self, data: bytes) -> None:
        """Write."""
        self.writer.write(data)

    async def until(self, client: SpdyClient, done: Callable[[], bool]) -> None:
        """Read until that holds, or the connection ends."""
        async with asyncio.timeout(10):
            while not done():
                received = await self.reader.read(65536)
                if not received:
                    return
                client.feed(received)
