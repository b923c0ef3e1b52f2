"""Connections that have changed their protocol: from an agreed session to the bytes that carry it.

A WebSocket carries channels, or SPDY in binary messages; SPDY may also have the connection to
itself. A session ends when its work is done, when its client disconnects, or when the server stops;
one whose answer is to be cut breaks before its connection is upgraded, or after its first output.
Upstream: apiserver/pkg/util/proxy.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any, NoReturn

from aiohttp import WSCloseCode, WSMsgType, web

from fakekube.apimachinery.http import Response
from fakekube.apimachinery.streams import CommandSession, CommandStreams, PortSession, PortStreams, TerminalSize, Write
from fakekube.server import channels, commandstatus, spdysessions, websocket
from fakekube.server.writer import HeadWriter
from fakekube.util.pipe import Pipe

TUNNEL = "SPDY/3.1+"

Session = CommandSession | PortSession


class Upgraded(web.StreamResponse):
    """A connection that serves one session.

    For aiohttp it is a response that is complete when the session has ended.
    """

    __slots__ = ("_gone",)

    def __init__(self) -> None:  # the base class would make headers that nobody reads
        self._gone = asyncio.Event()

    @property
    def keep_alive(self) -> bool:
        """False: the connection takes no other request."""
        return False

    async def prepare(self, request: web.BaseRequest) -> None:
        """Nothing to do: all is written."""

    async def write_eof(self, data: Any = b"") -> None:
        """Nothing to do: all is written."""

    def abandon(self) -> None:
        """End the session now: the client has disconnected, or the server stops."""
        self._gone.set()

    async def serve(
        self, incoming: web.BaseRequest, response: Response, heads: HeadWriter, running: MutableMapping["Upgraded", None],
    ) -> None:
        """Serve the session of a response to its end.

        ``running`` holds the sessions that a stop must end.
        """
        session = response.session
        assert session is not None
        running[self] = None
        try:
            if response.cut == 0:
                break_off(incoming)
                await channels.race(_unheard(session), self._left())
                return
            if response.cut:
                session = _breaking(session, self._gone)
            if session.spdy:
                await self._serve_spdy(incoming, response, session, heads)
            else:
                await self._serve_websocket(incoming, session, response)
        finally:
            running.pop(self, None)
            if response.cut:
                break_off(incoming)

    async def _serve_websocket(self, incoming: web.BaseRequest, session: Session, response: Response) -> None:
        protocols = (session.protocol,) if session.protocol else ()
        socket = web.WebSocketResponse(
            protocols=protocols, timeout=websocket.CLOSE_SECONDS, max_msg_size=channels.MAX_MESSAGE_BYTES, compress=False)
        await socket.prepare(incoming)
        if session.protocol.startswith(TUNNEL):
            received = Pipe()

            async def receive() -> None:
                async for message in socket:
                    if message.type != WSMsgType.BINARY:
                        return
                    received.feed(message.data)
                    if received.waiting > channels.MAX_WAITING_BYTES:
                        return

            await channels.race(channels.race(_over_spdy(received, socket.send_bytes, session), receive()), self._left())
        elif isinstance(session, CommandSession):
            await channels.race(channels.serve_command(socket, session), self._left())
        else:
            await channels.race(channels.serve_ports(socket, session), self._left())
        if response.cut is None:
            await socket.close(code=WSCloseCode.OK)

    async def _serve_spdy(
        self, incoming: web.BaseRequest, response: Response, session: Session, heads: HeadWriter,
    ) -> None:
        transport, protocol = incoming.transport, incoming.protocol
        if transport is None:
            return
        received = Pipe()
        transport.write(f"{heads.head(response)}\r\n".encode())
        protocol.set_parser(_Receiver(received))  # type: ignore[arg-type]  # what it needs of a parser

        async def write(data: bytes) -> None:
            if transport.is_closing():
                raise ConnectionResetError
            transport.write(data)
            await protocol._drain_helper()

        await channels.race(_over_spdy(received, write, session), self._left())

    async def _left(self) -> None:
        await self._gone.wait()


def break_off(incoming: web.BaseRequest) -> None:
    """Close a connection without another byte but those that were written."""
    if incoming.transport is not None:
        incoming.transport.close()


async def _unheard(session: Session) -> None:
    """Begin a command whose client has gone; to ports nobody has connected yet."""
    if isinstance(session, CommandSession):
        await commandstatus.run(session, CommandStreams(Pipe(ended=True), _nobody, _nobody, TerminalSize()))


async def _nobody(_: bytes) -> None:
    raise ConnectionResetError


def _breaking(session: Session, broken: asyncio.Event) -> Session:
    """A session that says that its connection is to break once something came out of it, or at its
    end, and goes no further.
    """
    async def stand_still() -> NoReturn:
        broken.set()
        while True:
            await asyncio.Event().wait()

    def once(write: Write) -> Write:
        async def wrote(data: bytes) -> None:
            await write(data)
            await stand_still()

        return wrote

    if isinstance(session, CommandSession):
        run = session.run

        async def command(streams: CommandStreams) -> int:
            await run(streams._replace(stdout=once(streams.stdout), stderr=once(streams.stderr)))
            await stand_still()

        return replace(session, run=command)
    forward = session.forward

    async def connection(streams: PortStreams) -> None:
        await forward(replace(streams, send=once(streams.send)))
        await stand_still()

    return replace(session, forward=connection)


class _Receiver:
    """Takes the bytes that aiohttp would give to the parser of a body."""

    def __init__(self, received: Pipe) -> None:
        self._received = received

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self._received.feed(data)
        if self._received.waiting > channels.MAX_WAITING_BYTES:
            self._received.end()  # it sends, and does not take what it is sent
        return False, b""

    def feed_eof(self) -> None:
        self._received.end()


async def _over_spdy(received: Pipe, write: Callable[[bytes], Awaitable[None]], session: Session) -> None:
    if isinstance(session, CommandSession):
        await spdysessions.serve_command(received, write, session)
    else:
        await spdysessions.serve_ports(received, write, session)
