"""exec, attach and port-forward over SPDY streams, which say in their headers what they are for.

Upstream: httpstream.go of remotecommand and of portforward in k8s.io/cri-streaming.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from fakekube.apimachinery.streams import CommandSession, CommandStreams, PortSession, PortStreams, TerminalSize
from fakekube.server import commandstatus
from fakekube.server.channels import Sizes, forwarded, nothing, race
from fakekube.server.spdy import BadFrame, Connection, Stream
from fakekube.util.pipe import Pipe
from fakekube.util.tasks import Tasks

RESIZING = ("v4.channel.k8s.io", "v3.channel.k8s.io")
MAX_PORT = 65535

Write = Callable[[bytes], Awaitable[None]]


async def serve_command(received: Pipe, write: Write, session: CommandSession) -> None:
    """Run the command of a session, once the client has opened its streams.

    It ends with the command, or when the client disconnects.
    """
    options = session.options
    wanted = ["error", *(name for name in ("stdin", "stdout", "stderr") if getattr(options, name))]
    if options.tty and session.protocol in RESIZING:
        wanted.append("resize")
    streams: dict[str, Stream] = {}
    complete = asyncio.Event()

    def opened(stream: Stream) -> bool:
        streams.setdefault(stream.headers.get("streamtype", ""), stream)
        if all(name in streams for name in wanted):
            complete.set()
        return True

    connection, sizes = Connection(write, opened), Tasks()

    async def work() -> None:
        await complete.wait()
        ends = CommandStreams(
            streams["stdin"].received if options.stdin else Pipe(ended=True),
            streams["stdout"].send if options.stdout else nothing, streams["stderr"].send if options.stderr else nothing,
            TerminalSize())
        sizes.spawn(_read_sizes(streams, ends.size), "sizes of a terminal")
        if status := await commandstatus.run(session, ends):
            await streams["error"].send(status)
        for stream in streams.values():
            await stream.end()
        await connection.go_away()

    try:
        await race(work(), _feed(received, connection))
    finally:
        await sizes.close()


async def _read_sizes(streams: dict[str, Stream], size: TerminalSize) -> None:
    if "resize" not in streams:
        return
    sizes = Sizes(size)
    while data := await streams["resize"].received.read():
        sizes.feed(data)


async def serve_ports(received: Pipe, write: Write, session: PortSession) -> None:
    """Serve connections to ports, each as a pair of streams, until the client disconnects."""
    pairs: dict[str, dict[str, Stream]] = {}
    tasks = Tasks()

    def opened(stream: Stream) -> bool:
        kind, port = stream.headers.get("streamtype", ""), stream.headers.get("port", "")
        if kind not in ("data", "error") or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
            return False
        name = _request_id(stream, kind)
        pair = pairs.setdefault(name, {})
        if kind in pair:
            return False
        pair[kind] = stream
        if len(pair) == 2:
            del pairs[name]
            tasks.spawn(_connection(session, pair["data"], pair["error"]), "port-forward")
        return True

    try:
        await _feed(received, Connection(write, opened))
    finally:
        await tasks.close()


async def _connection(session: PortSession, data: Stream, error: Stream) -> None:
    with suppress(ConnectionError):
        text = await forwarded(session, PortStreams(int(data.headers["port"]), data.received, data.send))
        if not text:
            await data.end()
            await error.end()
            return
        await error.send(text.encode())
        await data.reset()
        await error.reset()


def _request_id(stream: Stream, kind: str) -> str:
    """What the two streams of a connection have in common.

    Old clients send no request id, and open the error stream just before the data stream.
    """
    return stream.headers.get("requestid") or str(stream.number - (2 if kind == "data" else 0))


async def _feed(received: Pipe, connection: Connection) -> None:
    """Pass on what the client sends, until it disconnects or breaks the protocol."""
    with suppress(BadFrame, ConnectionError):
        while data := await received.read():
            if not await connection.feed(data):
                return
