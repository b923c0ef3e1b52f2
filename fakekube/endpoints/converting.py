"""A watch of objects that a webhook has to convert first: events wait for it, in order.

Upstream: the same decoder as for reads, below the cacher.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Sink
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.listoptions import ListOptions
from fakekube.endpoints.scope import Scope
from fakekube.endpoints.watch import WatchStream, watch_timeout_seconds
from fakekube.util.clock import Clock
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    from fakekube.registry.kind import Conversion, RemoteConversion

Render = Callable[[Tree], Tree]


class ConvertedStream:
    """A Stream: what a watch of the stored objects gives, each in the endpoint's version."""

    def __init__(self, scope: Scope, namespace: str, options: ListOptions, clock: Clock, render: Render | None) -> None:
        """``render`` turns each object into what this stream shows, as a WatchStream's does."""
        services, conversion = scope.services, scope.kind.conversion
        assert conversion is not None, "there is something to convert"
        assert conversion.remote is not None, "and somebody else who does it"
        self._conversion: Conversion = conversion
        self._remote: RemoteConversion = conversion.remote
        self._render = render
        self.stored = WatchStream(
            scope.kind, scope.store.bucket, namespace, options, clock, empty=lambda: scope.empty, as_stored=True,
            timeout_seconds=watch_timeout_seconds(options, services.rng))
        self._sink: Sink | None = None
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._tasks = Tasks()

    def start(self, sink: Sink) -> None:
        """Send what is due, then everything that happens until ``stop``."""
        self._sink = sink
        self._tasks.spawn(self._pass_on(), "conversion of a watch")
        self.stored.start(self)

    def stop(self) -> None:
        """The receiver is gone. May be called more than once."""
        self._sink = None
        self.stored.stop()
        self._frames.put_nowait(None)

    # what the stream of stored objects sends to

    def send(self, frame: Frame) -> None:
        """Take one event of the stored objects."""
        self._frames.put_nowait(frame)

    def end(self) -> None:
        """No event follows."""
        self._frames.put_nowait(None)

    async def _pass_on(self) -> None:
        while (frame := await self._frames.get()) is not None:
            event = frame.tree
            assert isinstance(event, dict), "events are objects"
            event = await self._converted(event)
            if self._sink is None:
                return
            self._sink.send(_frame(event))
            if event["type"] == "ERROR":
                break
        if self._sink is not None:
            sink, self._sink = self._sink, None
            self.stored.stop()
            sink.end()

    async def _converted(self, event: Tree) -> Tree:
        if event["type"] in ("BOOKMARK", "ERROR"):
            return event
        try:
            await self._remote.read([event["object"]])
        except APIError as error:
            return {"type": "ERROR", "object": error.status()}
        tree = self._conversion.from_stored(event["object"])
        return {**event, "object": tree if self._render is None else self._render(tree)}


def _frame(event: Tree) -> Frame:
    return Frame(make_data=lambda: orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE), make_tree=lambda: event)
