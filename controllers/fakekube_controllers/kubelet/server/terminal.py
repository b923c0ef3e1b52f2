"""A terminal's line discipline, between a client that sends keys and a command that reads lines.

What is typed is echoed; a line is passed on when it is finished; ^D ends the input, ^C the command.
Output gets carriage returns. Upstream: the pseudo-terminal that a container runtime opens. Left
out: raw mode, cursor keys, ^Z.
"""

from collections.abc import Callable

from fakekube.apimachinery.streams import CommandStreams, Write
from fakekube.util.pipe import Pipe

INTERRUPT, END, BACKSPACE, RETURN, NEWLINE, DELETE = 3, 4, 8, 13, 10, 127


class Terminal:
    """Wraps the streams of a client: ``streams`` are for the command, and ``type`` is run while the
    command is.

    ``interrupt`` is called for ^C.
    """

    def __init__(self, client: CommandStreams, interrupt: Callable[[], None]) -> None:
        self._client, self._interrupt = client, interrupt
        self._line = bytearray()
        output = with_returns(client.stdout)
        self.streams = CommandStreams(Pipe(ended=client.stdin.ended), output, output, client.size)

    async def type(self) -> None:
        """Pass lines on as they are typed, until the client sends nothing more."""
        while data := await self._client.stdin.read():
            echo = bytearray()
            for key in data:
                echo += self._key(key)
            if echo:
                await self._client.stdout(bytes(echo))
        self._finish(b"")
        self.streams.stdin.end()

    def _key(self, key: int) -> bytes:
        """Take one key; what is echoed."""
        if key in (RETURN, NEWLINE):
            self._finish(b"\n")
            return b"\r\n"
        if key == INTERRUPT:
            self._line.clear()
            self._interrupt()
            return b"^C\r\n"
        if key == END:
            if not self._line:
                self.streams.stdin.end()
            self._finish(b"")
            return b""
        if key in (BACKSPACE, DELETE):
            if not self._line:
                return b""
            self._line.pop()
            return b"\b \b"
        self._line.append(key)
        return bytes((key,))

    def _finish(self, end: bytes) -> None:
        self.streams.stdin.feed(bytes(self._line) + end)
        self._line.clear()


def with_returns(write: Write) -> Write:
    """Output as a terminal gets it."""
    async def send(data: bytes) -> None:
        await write(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    return send
