"""What the callbacks ``on_exec`` and ``on_connect`` are given: a command with its streams, a
connection to a port.

Upstream: the executor behind a kubelet's exec and attach, which is a container runtime.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fakekube.apimachinery.streams import CommandOptions, CommandStreams, PortStreams
from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.session import Result

Answer = Result | str | bytes | int | None
"""What a command came to: a Result; an output, with exit code 0; an exit code; None leaves it to
the annotation or the shell.
"""


class Process:
    """A command while it runs.

    ``pod`` is the object, ``container`` the container's name, ``command`` the words, ``tty``
    whether a terminal is at the other end, ``attached`` whether this is the container's own
    command, which somebody attached to. ``files`` are the container's, as far as commands have made
    any.
    """

    def __init__(
        self, options: CommandOptions, streams: CommandStreams, clock: Clock, files: Files, *, attached: bool = False,
    ) -> None:
        self.pod: Mapping[str, Any] = options.pod
        self.container, self.command, self.tty = options.container, options.command, options.tty
        self.files, self.clock, self.attached = files, clock, attached
        self._streams = streams

    @property
    def size(self) -> tuple[int, int] | None:
        """Columns and rows of the terminal, once the client has sent them."""
        size = self._streams.size
        return (size.columns, size.rows) if size.columns else None

    async def read(self) -> bytes:
        """What the client has sent, at least one byte; empty at the end, at once if it sends
        nothing.
        """
        return await self._streams.stdin.read()

    async def read_line(self) -> bytes:
        """A line that the client has sent, with its end; empty at the end."""
        return await self._streams.stdin.read_line()

    async def read_all(self) -> bytes:
        """All that the client sends."""
        return await self._streams.stdin.read_all()

    async def write(self, output: str | bytes) -> None:
        """Write to standard output. Raises ConnectionError when the client has gone."""
        if output:
            await self._streams.stdout(output.encode() if isinstance(output, str) else output)

    async def write_error(self, output: str | bytes) -> None:
        """Write to standard error, which is standard output where a terminal is."""
        if self.tty:
            await self.write(output)
        elif output:
            await self._streams.stderr(output.encode() if isinstance(output, str) else output)

    async def sleep(self, seconds: float) -> None:
        """Let time pass on the cluster's clock."""
        await self.clock.sleep(seconds)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the container's specification gives values to, and its host's name."""
        spec = self.pod["spec"]
        found = {"HOSTNAME": str(spec.get("hostname") or self.pod["metadata"]["name"])}
        for field in ("containers", "initContainers", "ephemeralContainers"):
            for container in spec.get(field) or ():
                if container["name"] == self.container:
                    found |= {one["name"]: str(one["value"]) for one in container.get("env") or () if "value" in one}
        return found


class Connection:
    """A connection to a port of a pod, while it lasts; it ends when its handler returns."""

    def __init__(self, pod: Mapping[str, Any], streams: PortStreams, clock: Clock) -> None:
        self.pod, self.port, self.clock = pod, streams.port, clock
        self._streams = streams

    async def read(self) -> bytes:
        """What the client has sent, at least one byte; empty at the end."""
        return await self._streams.received.read()

    async def read_line(self) -> bytes:
        """A line that the client has sent, with its end; empty at the end."""
        return await self._streams.received.read_line()

    async def write(self, data: str | bytes) -> None:
        """Send to the client. Raises ConnectionError when it has gone."""
        await self._streams.send(data.encode() if isinstance(data, str) else data)


OnExec = Callable[[Process], Answer | Awaitable[Answer]]
"""``on_exec(process)``, plain or async, answers for commands."""

OnConnect = Callable[[Connection], Awaitable[bool | None] | bool | None]
"""``on_connect(connection)``, plain or async, serves a connection to a port. False leaves it to the
default: a page where a server would listen, or an echo.
"""
