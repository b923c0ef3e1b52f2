"""A connection to a port of a pod, whose other end is the API server's proxy in the same process.

Both ends wait for each other without keeping virtual time from passing, and both keep it from
passing while they are at work.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from fakekube.apimachinery.streams import PortStreams, StreamError
from fakekube.util.activity import Activity
from fakekube.util.pipe import PatientPipe
from fakekube.util.tasks import Tasks, turn

PATIENCE_TURNS = 8  # turns of the loop after which an answer that has not ended is streamed


class PortConnection:
    """The proxy's end. ``serve`` serves the other end, ``over`` is called when it has returned."""

    def __init__(
        self, port: int, activity: Activity, serve: Callable[[PortStreams], Awaitable[None]],
        over: Callable[["PortConnection"], None],
    ) -> None:
        self._sent, self._answered = PatientPipe(activity), PatientPipe(activity)
        self._tasks = Tasks(lambda _: None)
        self._failure: Exception | None = None
        self._over = over
        self._serving = self._tasks.spawn(self._serve(serve, PortStreams(port, self._sent, self._write)), "served port")

    async def _serve(self, serve: Callable[[PortStreams], Awaitable[None]], streams: PortStreams) -> None:
        try:
            await serve(streams)
        except (StreamError, ConnectionError) as error:
            self._failure = error
        finally:
            self._answered.end()
            self._over(self)

    async def _write(self, data: bytes) -> None:
        self._answered.feed(data)

    @property
    def waiting(self) -> int:
        """How many bytes have come that nobody has read yet."""
        return self._answered.waiting

    @property
    def ended(self) -> bool:
        """Whether nothing follows what waits."""
        return self._answered.ended

    async def send(self, data: bytes) -> None:
        """Send some bytes."""
        self._sent.feed(data)

    async def read(self, limit: int | None = None) -> bytes:
        """What has come, at least one byte and at most ``limit``; empty at the end. Raises what the
        server failed with.
        """
        return self._checked(await self._answered.read(limit))

    async def read_line(self) -> bytes:
        """A line with its end; empty at the end. Raises like ``read``."""
        return self._checked(await self._answered.read_line())

    def _checked(self, data: bytes) -> bytes:
        if not data and self._failure is not None:
            raise self._failure
        return data

    async def rest(self) -> None:
        """Give the server some turns of the loop, or fewer if it ends before."""
        for _ in range(PATIENCE_TURNS):
            if self.ended:
                break
            await turn()

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something with this connection until it is closed."""
        self._tasks.spawn(work, "answer of a port")

    def hang_up(self) -> None:
        """End it soon."""
        self._sent.end()
        self._answered.end()
        self._serving.cancel()

    async def close(self) -> None:
        """End it, and wait for its server to notice."""
        self.hang_up()
        await self._tasks.close()
