"""How one cluster of a fleet reaches another: a transport that outages can cut.

Requests come to the other cluster as if from the network: its authenticator decides who asks, and
what the sender acts on is not known there, nor here what led to an event there: versions count for
each cluster. Upstream's counterpart is the network between clusters.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.http import Frame, Request, Response, Sink, Stream
from fakekube.client.transport import TransportError

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster


class Link:
    """The way to a cluster, a transport. ``is_cut`` says that nothing comes through."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self.is_cut = False
        self._streams: dict[_CutStream, None] = {}

    async def request(self, request: Request) -> Response:
        """The cluster's answer. Raises TransportError while the link is cut."""
        self._check(request)
        acting = ACTING.set(None)
        try:
            response = await self._cluster.apiserver.handle(request)
        finally:
            ACTING.reset(acting)
        self._check(request)  # it was cut before the answer came
        if response.stream is not None:
            response.stream = _CutStream(response.stream, self._streams)
        return response

    async def close(self) -> None:
        """Nothing to close: the link stays, for others."""

    def _check(self, request: Request) -> None:
        if self.is_cut:
            raise TransportError(f"{request.method} {request.path}: there is no connection to the cluster")

    def cut(self) -> None:
        """Let nothing through from now on; open streams end."""
        self.is_cut = True
        for stream in list(self._streams):
            stream.cut()

    def mend(self) -> None:
        """Let everything through again."""
        self.is_cut = False


class _CutStream:
    """A stream that ends when its link is cut."""

    def __init__(self, stream: Stream, streams: "dict[_CutStream, None]") -> None:
        self._stream, self._streams = stream, streams
        self._sink: Sink | None = None

    def start(self, sink: Sink) -> None:
        self._sink = sink
        self._streams[self] = None
        self._stream.start(self)

    def stop(self) -> None:
        self._streams.pop(self, None)
        self._sink = None
        self._stream.stop()

    def cut(self) -> None:
        sink = self._sink
        self.stop()
        if sink is not None:
            sink.end()

    def send(self, frame: Frame) -> None:
        if self._sink is not None:
            acting = ACTING.set(None)
            self._sink.send(frame)
            ACTING.reset(acting)

    def end(self) -> None:
        self._streams.pop(self, None)
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.end()
