"""A watch to iterate over.

Informers do not use it: they take the pushed frames (``Client.open_watch``).
"""

import asyncio
from collections import deque
from types import TracebackType
from typing import NamedTuple

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Stream
from fakekube.apimachinery.types import Tree


class WatchEvent(NamedTuple):
    """ADDED, MODIFIED, DELETED or BOOKMARK, and the object, which is the receiver's own."""

    type: str
    object: Tree


class Watch:
    """An async iterator of WatchEvents; it ends when the server ends it, or with ``stop``.

    An ERROR event is raised as the APIError it holds. Events wait here without a limit.
    """

    def __init__(self) -> None:
        self.stream: Stream | None = None
        self._frames: deque[Frame] = deque()
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None

    def send(self, frame: Frame) -> None:
        """Take a frame from the stream."""
        self._frames.append(frame)
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
        events = [_event(frame) for frame in self._frames]
        self._frames.clear()
        return events

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> "Watch":
        return self

    async def __anext__(self) -> WatchEvent:
        while not self._frames:
            if self._ended:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        event = _event(self._frames.popleft())
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


def _event(frame: Frame) -> WatchEvent:
    """What a frame says, in trees of its own: the frame's are shared."""
    event = orjson.loads(frame.data)
    return WatchEvent(event["type"], event["object"])
