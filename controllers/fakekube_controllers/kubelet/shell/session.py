"""What commands work on: the state of a shell, and the streams of one command."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.shell.files import Files

Write = Callable[[bytes], Awaitable[None]]


class Input(Protocol):
    """The standard input of the outermost shell, which may get more while a command runs."""

    @property
    def tty(self) -> bool:
        """Whether a terminal is at the other end; an interactive shell then prompts."""

    async def read(self) -> bytes:
        """What has come, at least one byte; empty at the end."""

    async def read_line(self) -> bytes:
        """A line with its end; empty at the end."""

    async def read_all(self) -> bytes:
        """All that comes until the end."""


class NoInput:
    """A standard input that is closed."""

    tty = False

    async def read(self) -> bytes:
        """Nothing."""
        return b""

    read_line = read_all = read


@dataclass(frozen=True, slots=True)
class Result:
    """What a command wrote, all at once, and how it ended."""

    stdout: str | bytes = ""
    stderr: str | bytes = ""
    exit_code: int = 0


class Session:
    """The state of a shell: the files and the clock of its container, and its variables.

    ``environment`` are the variables that the container was started with; ``variables`` are the
    shell's own.
    """

    def __init__(
        self, files: Files, environment: Mapping[str, str], clock: Clock, variables: Mapping[str, str] | None = None,
    ) -> None:
        self.files, self.environment, self.clock = files, environment, clock
        self.variables = dict(environment if variables is None else variables)

    def child(self) -> "Session":
        """The session of a shell within the shell: it starts with the same variables, and its
        changes to them are lost.
        """
        return Session(self.files, self.environment, self.clock, self.variables)


class Io:
    """Where one command reads and writes. ``piped`` is what a pipe or a file has for it; None is
    ``stdin``.
    """

    def __init__(self, stdin: Input, stdout: Write, stderr: Write, piped: bytes | None = None) -> None:
        self.stdin, self.stdout, self.stderr, self.piped = stdin, stdout, stderr, piped

    async def write(self, text: str) -> int:
        """Write a text to standard output; the exit code 0."""
        await self.stdout(text.encode())
        return 0

    async def fail(self, text: str, code: int = 1) -> int:
        """Write a line to standard error; the exit code ``code``."""
        await self.stderr(f"{text}\n".encode())
        return code

    async def read_all(self) -> bytes:
        """All of the input."""
        return await self.stdin.read_all() if self.piped is None else self.piped


Utility = Callable[[Session, Sequence[str], Io], Awaitable[int]]
"""A command: ``utility(session, arguments, io)`` is its exit code. It may raise ConnectionError
when who reads has gone.
"""
