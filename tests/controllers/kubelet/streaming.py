"""A client of a container's streams, without a wire."""

import asyncio

from fakekube.apimachinery.streams import CommandOptions, CommandStreams, PortStreams, TerminalSize
from fakekube.util.pipe import Pipe
from tests.controllers.kubelet.machine import Machine


class Session:
    """A command that runs, and what it said."""

    def __init__(self, stdin=b"", *, open_ended=False):
        self.stdin, self.stdout, self.stderr = Pipe(), b"", b""
        self.stdin.feed(stdin)
        if not open_ended:
            self.stdin.end()
        self.task = None
        self.size = TerminalSize()

    async def _out(self, data):
        self.stdout += data

    async def _error(self, data):
        self.stderr += data

    def begin(self, command):
        """Run it in the background."""
        self.task = asyncio.ensure_future(command(CommandStreams(self.stdin, self._out, self._error, self.size)))
        return self

    async def code(self):
        """How it ended."""
        async with asyncio.timeout(5):
            return await self.task

    def says(self):
        """What it wrote since this was asked last."""
        said, self.stdout = self.stdout.decode(), b""
        return said


async def options(machine: Machine, *command, container="main", stdin=False, tty=False):
    return CommandOptions(await machine.pod(), container, command, stdin, True, not tty, tty)


def agents(machine):
    """What the API server sees of the kubelet."""
    return machine.cluster.apiserver.nodes


async def execute(machine, *command, stdin=b"", tty=False, container="main"):
    """Run a command to its end: exit code, output, error output."""
    session = await begin(machine, *command, stdin=stdin, tty=tty, open_ended=False, container=container)
    return await session.code(), session.stdout.decode(), session.stderr.decode()


async def begin(machine, *command, stdin=b"", tty=False, open_ended=True, container="main"):
    """Begin a command: its session."""
    asked = await options(machine, *command, stdin=True, tty=tty, container=container)
    session = Session(stdin, open_ended=open_ended).begin(await agents(machine).execute(asked))
    await machine.cluster.settle()
    return session


async def attach(machine, **given):
    """Attach to the container: the session."""
    session = Session(open_ended=True).begin(await agents(machine).attach(await options(machine, **given)))
    await machine.cluster.settle()
    return session


class PortClient:
    """A connection to a port."""

    def __init__(self, port):
        self.received, self.sent = Pipe(), b""
        self.streams = PortStreams(port, self.received, self._send)

    async def _send(self, data):
        self.sent += data
