"""Bytes from one task to another on the same event loop.

The writer never waits: one that reads from a network feeds what came, and looks at ``waiting`` to
notice a reader that has stopped. asyncio's StreamReader does the same for a transport of its own;
left out here are the transport and pausing it.
"""

import asyncio
from collections.abc import Callable

from fakekube.util.activity import Activity

MAX_LINE_BYTES = 1 << 20


class Pipe:
    """One writer, one reader."""

    __slots__ = ("_ended", "_news", "_waiting")

    def __init__(self, *, ended: bool = False) -> None:
        self._waiting = bytearray()
        self._ended = ended
        self._news = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many bytes nobody has read yet."""
        return len(self._waiting)

    @property
    def ended(self) -> bool:
        """Whether nothing follows what waits."""
        return self._ended

    def feed(self, data: bytes) -> None:
        """Put in some bytes; dropped once the pipe has ended."""
        if not self._ended:
            self._waiting += data
            self._news.set()

    def end(self) -> None:
        """Nothing follows. Harmless when it was said before."""
        self._ended = True
        self._news.set()

    async def read(self, limit: int | None = None) -> bytes:
        """All that is there, up to a limit, at least one byte; empty at the end."""
        await self._until(lambda: bool(self._waiting))
        return self._take(len(self._waiting) if limit is None else min(limit, len(self._waiting)))

    async def read_line(self) -> bytes:
        """A line with its end; the last one may have none, and is empty at the end.

        A line that is too long comes in parts.
        """
        await self._until(lambda: b"\n" in self._waiting or len(self._waiting) > MAX_LINE_BYTES)
        return self._take(self._waiting.find(b"\n") + 1 or len(self._waiting))

    async def read_all(self) -> bytes:
        """All that comes until the end."""
        await self._until(lambda: False)
        return self._take(len(self._waiting))

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not ready() and not self._ended:
            self._news.clear()
            await self._wait()

    async def _wait(self) -> None:
        await self._news.wait()

    def _take(self, count: int) -> bytes:
        taken = bytes(self._waiting[:count])
        del self._waiting[:count]
        return taken


class PatientPipe(Pipe):
    """A pipe whose reader, while it waits, does not keep virtual time from passing."""

    __slots__ = ("_activity",)

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self._activity = activity

    async def _wait(self) -> None:
        resume = self._activity.suspend()
        try:
            await super()._wait()
        finally:
            if resume is not None:
                resume()
