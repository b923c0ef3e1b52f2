"""A watch as something to iterate over. Informers take the pushed frames instead (``Client.open_watch``)."""

import asyncio
from collections import deque
from types import TracebackType
from typing import NamedTuple

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Stream
from fakekube.apimachinery.types import Tree


class WatchEvent(NamedTuple):
    """ADDED, MODIFIED, DELETED or BOOKMARK, and the object, which is shared and read-only."""

    type: str
    object: Tree


class Watch:
    """An async iterator of WatchEvents; it ends when the server ends it, or with ``stop``.

    An ERROR event is raised as the APIError it holds. Events wait here without a limit.
    """

    def __init__(self) -> None:
        self.stream: Stream | None = None
        self._events: deque[WatchEvent] = deque()
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None

    def send(self, frame: Frame) -> None:
        """Take a frame from the stream."""
        tree = frame.tree
        assert isinstance(tree, dict), "a watch frame is an object"
        self._events.append(WatchEvent(tree["type"], tree["object"]))
        self._wake()

    def end(self) -> None:
        """The stream has ended."""
        self._ended = True
        self._wake()

    def stop(self) -> None:
        """End the watch from this side; what came already can still be read."""
        if self.stream is not None:
            self.stream.stop()
        self.end()

    def pending(self) -> list[WatchEvent]:
        """Take what has come so far, without waiting."""
        events = list(self._events)
        self._events.clear()
        return events

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> "Watch":
        return self

    async def __anext__(self) -> WatchEvent:
        while not self._events:
            if self._ended:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        event = self._events.popleft()
        if event.type == "ERROR":
            self.stop()
            raise APIError.from_status(event.object, 500)
        return event

    async def __aenter__(self) -> "Watch":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        self.stop()
