"""exec, attach and port-forward over WebSocket: messages that begin with the number of a channel.

Upstream: k8s.io/streaming/pkg/httpstream/wsstream, and the websocket.go of remotecommand and
portforward in k8s.io/cri-streaming. A client that does not read what a command writes is
disconnected once too much waits for it; the server never waits for a client. Left out: the idle
timeout of four hours.
"""

import asyncio
import binascii
import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from fakekube.apimachinery.streams import (
    CommandSession,
    CommandStreams,
    PortSession,
    PortStreams,
    StreamError,
    TerminalSize,
)
from fakekube.server import commandstatus
from fakekube.util.pipe import Pipe
from fakekube.util.tasks import Tasks

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
MAX_WAITING_BYTES = 64 * 1024 * 1024
PIECE_BYTES = 32 * 1024

Receive = Callable[[int, bytes], None]


async def nothing(_: bytes) -> None:
    """Drop output that no channel was asked for."""


class Channels:
    """The numbered channels of one socket."""

    def __init__(self, socket: web.WebSocketResponse, protocol: str) -> None:
        self._socket = socket
        self._base64 = "base64" in protocol
        self._closes = protocol == commandstatus.V5

    async def send(self, channel: int, data: bytes) -> None:
        """Send bytes to a channel, in pieces as upstream copies them.

        No bytes at all make one empty message.
        """
        for start in range(0, len(data) or 1, PIECE_BYTES):
            piece = data[start:start + PIECE_BYTES]
            if self._base64:
                await self._socket.send_str(f"{channel}{b64encode(piece).decode()}")
            else:
                await self._socket.send_bytes(bytes((channel,)) + piece)

    async def receive(self, inputs: dict[int, Pipe], other: Receive) -> None:
        """Read messages until the client closes, breaks the protocol, or leaves too much unread.

        ``inputs`` get what their channels bring, ``other`` gets the rest.
        """
        async for message in self._socket:
            if message.type not in (WSMsgType.BINARY, WSMsgType.TEXT):
                return
            data = message.data.encode() if isinstance(message.data, str) else message.data
            if not data:
                continue
            if self._closes and data[0] == CLOSE:
                if len(data) != 2 or data[1] > RESIZE:
                    return
                if data[1] in inputs:
                    inputs[data[1]].end()
                continue
            channel, data = data[0], data[1:]
            if self._base64:
                channel, data = channel - ord("0"), decoded(data)
            found = inputs.get(channel)
            if found is None:
                other(channel, data)
                continue
            found.feed(data)
            if found.waiting > MAX_WAITING_BYTES:
                return


def decoded(data: bytes) -> bytes:
    """Base64 decoded; a message that is not base64 is dropped."""
    try:
        return b64decode(data, validate=True)
    except binascii.Error:
        return b""


class Sizes:
    """Reads terminal sizes from a stream of JSON objects, up to the first that cannot be read."""

    def __init__(self, size: TerminalSize) -> None:
        self._size, self._text, self._broken = size, "", False

    def feed(self, data: bytes) -> None:
        """Add bytes of that stream."""
        self._text = "" if self._broken else (self._text + data.decode(errors="replace")).lstrip()
        while self._text:
            try:
                found, end = json.JSONDecoder().raw_decode(self._text)
                self._size.columns, self._size.rows = int(found["Width"]), int(found["Height"])
            except json.JSONDecodeError:
                self._broken = len(self._text) > 1024 or not self._text.startswith("{")
                return
            except (KeyError, TypeError, ValueError):
                self._broken = True
                return
            self._text = self._text[end:].lstrip()


async def race(work: Coroutine[Any, Any, None], client: Coroutine[Any, Any, None]) -> None:
    """Run the work until it is done or the client has disconnected; then the work is cancelled.

    Raises what the work raises.
    """
    failures: list[BaseException] = []
    tasks = Tasks(failures.append)
    try:
        both = (tasks.spawn(work, "stream"), tasks.spawn(client, "client of a stream"))
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await tasks.close()
    for failure in failures:
        if not isinstance(failure, ConnectionError):
            raise failure


async def serve_command(socket: web.WebSocketResponse, session: CommandSession) -> None:
    """Run the command of a session until it ends or the client disconnects."""
    options, channels = session.options, Channels(socket, session.protocol)

    def output(channel: int, wanted: bool) -> Callable[[bytes], Awaitable[None]]:
        return (lambda data: channels.send(channel, data)) if wanted else nothing

    size = TerminalSize()
    streams = CommandStreams(
        Pipe(ended=not options.stdin), output(STDOUT, options.stdout), output(STDERR, options.stderr), size)
    sizes = Sizes(size)

    async def work() -> None:
        await channels.send(STDOUT if options.stdout else STDERR if options.stderr else ERROR, b"")
        if status := await commandstatus.run(session, streams):
            await channels.send(ERROR, status)

    await race(work(), channels.receive(
        {STDIN: streams.stdin}, lambda channel, data: sizes.feed(data) if channel == RESIZE else None))


async def serve_ports(socket: web.WebSocketResponse, session: PortSession) -> None:
    """Serve one connection to each port of a session, until all ended or the client disconnects."""
    channels = Channels(socket, session.protocol)
    inputs = {2 * number: Pipe() for number in range(len(session.ports))}

    async def work() -> None:
        for number, port in enumerate(session.ports):
            await channels.send(2 * number, port.to_bytes(2, "little"))
            await channels.send(2 * number + 1, port.to_bytes(2, "little"))
        async with asyncio.TaskGroup() as group:
            for number, port in enumerate(session.ports):
                group.create_task(connection(number, port))

    async def connection(number: int, port: int) -> None:
        streams = PortStreams(port, inputs[2 * number], lambda data: channels.send(2 * number, data))
        with suppress(ConnectionError):
            if text := await forwarded(session, streams):
                await channels.send(2 * number + 1, text.encode())
        inputs[2 * number].end()  # what the client still sends is dropped

    await race(work(), channels.receive(inputs, lambda *_: None))


async def forwarded(session: PortSession, streams: PortStreams) -> str:
    """Serve one connection.

    Returns the text for the error stream, which is empty when all went well.
    """
    try:
        await session.forward(streams)
    except StreamError as error:
        uid = session.pod["metadata"]["uid"]
        return f"error forwarding port {streams.port} to pod {session.pod['metadata']['name']}, uid {uid}: {error}"
    return ""
