"""What passes between a server's wire and whoever plays a container: bytes in, bytes out, and how
it ended.

The server knows how bytes travel (WebSocket channels, SPDY streams) and nothing of containers; the
kubelet knows what a command says and nothing of wires. Both know these types. Upstream:
k8s.io/cri-streaming (Executor, PortForwarder).
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from fakekube.util.pipe import Pipe

Write = Callable[[bytes], Awaitable[None]]
"""Sends some bytes. Waits while the client is slow; raises ConnectionError when it has gone."""


class NodeError(Exception):
    """What a kubelet answers instead of a stream: an HTTP status code and a plain text."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


class StreamError(Exception):
    """A stream that began and cannot go on; the text goes to the client's error stream."""


class CommandOptions(NamedTuple):
    """What is asked of an exec (or, without ``command``, of an attach).

    The flags name the streams that the client wants.
    """

    pod: Mapping[str, Any]
    container: str
    command: tuple[str, ...] = ()
    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False


@dataclass(slots=True)
class TerminalSize:
    """How large a client's terminal is, as it last said; nothing until it says so."""

    columns: int = 0
    rows: int = 0


class CommandStreams(NamedTuple):
    """The client's end of a command.

    Streams that it does not want are there: they are at their end, or drop what they get.
    """

    stdin: Pipe
    stdout: Write
    stderr: Write
    size: TerminalSize


@dataclass(slots=True)
class PortStreams:
    """The client's end of one connection to a port."""

    port: int
    received: Pipe
    send: Write


class Dialled(Protocol):
    """A connection to a port, as its caller has it.

    Reading raises what its server failed with, ConnectionRefusedError when there was none after
    all.
    """

    @property
    def waiting(self) -> int:
        """How many bytes have come that nobody has read yet."""

    @property
    def ended(self) -> bool:
        """Whether nothing follows what waits."""

    async def send(self, data: bytes) -> None:
        """Send some bytes."""

    async def read(self, limit: int | None = None) -> bytes:
        """What has come, at least one byte and at most ``limit``; empty at the end."""

    async def rest(self) -> None:
        """Let the server do what it does without waiting for anything."""

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something with this connection until it is closed."""

    def hang_up(self) -> None:
        """End it soon: for who may not wait."""

    async def close(self) -> None:
        """End it, and wait for its server to notice."""


Command = Callable[[CommandStreams], Awaitable[int]]
"""Runs a command to its end: the exit code. Raises StreamError when it cannot be run."""

Forward = Callable[[PortStreams], Awaitable[None]]
"""Serves one connection until it is over. Raises StreamError when it cannot."""


@dataclass(slots=True)
class CommandSession:
    """A command, and how its streams travel: by ``protocol``, over SPDY/3.1 if ``spdy``, otherwise
    over WebSocket.
    """

    protocol: str
    spdy: bool
    options: CommandOptions
    run: Command


@dataclass(slots=True)
class PortSession:
    """The way to a pod's ports.

    ``ports`` are those that WebSocket channels are made for; SPDY streams name their own.
    """

    protocol: str
    spdy: bool
    pod: Mapping[str, Any]
    ports: tuple[int, ...]
    forward: Forward
