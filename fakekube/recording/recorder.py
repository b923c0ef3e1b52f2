"""Writes down what clients ask of a cluster, and what they are answered.

A recording stands around a Handler, on the way from clients to the server. The cluster's own
controllers do not take that way, and are not recorded. A request costs an entry in a list, a flat
tuple that the cyclic collector soon skips: entries become lines of text later, when there are many,
or when somebody wants them.
"""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fakekube.apimachinery.http import Frame, Handler, Request, Response, Sink, Stream
from fakekube.recording import lines
from fakekube.util.clock import Clock

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

log = logging.getLogger(__name__)

MOST_PENDING = 20_000
"""So many entries wait at most before they become lines."""
PRIVATE = 0o600
FRAME_FIELDS = 7


class Recorder:
    """Takes entries of any number of clusters, and gives lines to ``write``.

    ``test`` is the test that runs; of ``pending`` no lines were made yet. Values of Secrets, tokens
    and credentials are masked, unless ``secrets`` asks for them. It may be used from several
    threads.
    """

    def __init__(self, write: Callable[[bytes], None], *, secrets: bool = False, name: str = "") -> None:
        self._write, self._secrets, self._name = write, secrets, name
        self.test = ""
        self._clusters = 0
        self.pending: list[tuple[Any, ...]] = []

    @classmethod
    def to_file(cls, path: Path, *, secrets: bool = False) -> Self:
        """One that adds lines to a file, which its owner alone can read if it is new.

        Several recorders may add to one file. Raises OSError for a file that cannot be written.
        """
        def write(data: bytes) -> None:
            try:
                _append(path, data)
            except OSError as error:
                log.warning("a part of the recording is lost: %s", error)

        _append(path, b"")
        return cls(write, secrets=secrets, name=f"{os.getpid()}-{path.stat().st_size}-")

    def around(
        self, handler: Handler, clock: Clock, facts: Mapping[str, Any], registered: "Sequence[Tree]" = (),
    ) -> "RecordedHandler":
        """A Handler that answers as another one does, and tells this recorder.

        ``facts`` are what a reader should know of the cluster: its release. ``registered`` are
        objects that functions of this process stand for; their number may grow.
        """
        self.flush()
        cluster = f"{self._name}{self._clusters}"
        self._clusters += 1
        begun: Tree = {"type": "cluster", "format": lines.FORMAT, "cluster": cluster, "time": clock.time(), **facts}
        self._write(lines.dump(begun | ({"test": self.test} if self.test else {})))
        return RecordedHandler(handler, self, clock, cluster, registered)

    def tell_setup(self, cluster: str, registered: "Sequence[Tree]") -> None:
        """Write what functions of this process stand for in a cluster."""
        self.flush()
        self._write(lines.dump({"type": "setup", "cluster": cluster, "registered": [*registered]}))

    def add(self, entry: tuple[Any, ...]) -> None:
        """Take an entry: the arguments of ``lines.of_answer`` or ``lines.of_frame``."""
        pending = self.pending
        pending.append(entry)
        if len(pending) >= MOST_PENDING:
            self.flush()

    def flush(self) -> None:
        """Make lines of what has come."""
        entries, self.pending = self.pending, []
        if entries:
            secrets = self._secrets
            self._write(b"".join([
                (lines.of_frame if len(entry) == FRAME_FIELDS else lines.of_answer)(*entry, secrets=secrets)
                for entry in entries]))


def _append(path: Path, data: bytes) -> None:
    """Add to a file in one piece, so that several processes may. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)
    try:
        while data:
            data = data[os.write(file, data):]
    finally:
        os.close(file)


class RecordedHandler:
    """A Handler around another one, of one cluster."""

    def __init__(
        self, handler: Handler, recorder: Recorder, clock: Clock, cluster: str, registered: "Sequence[Tree]",
    ) -> None:
        self._handle, self._recorder, self._time, self._cluster = handler.handle, recorder, clock.time, cluster
        self._registered, self._told = registered, 0
        self._number = 0

    async def handle(self, request: Request) -> Response:
        """The other one's answer."""
        number = self._number = self._number + 1
        recorder, time = self._recorder, self._time
        if len(self._registered) != self._told:
            self._told = len(self._registered)
            recorder.tell_setup(self._cluster, self._registered)
        test, began = recorder.test, time()
        response = await self._handle(request)
        user, headers = request.user, response.own_headers
        stream = "" if response.stream is None and response.session is None else self._stand_in(number, request, response)
        pending = recorder.pending
        pending.append((  # not by a call, which costs as much as all of this
            self._cluster, number, test, began, time(), request.method, request.path, request.query, request.headers,
            request.canonical, "" if user is None else user.name, () if user is None else user.groups, request.body,
            response.status, response.content_type, tuple(headers) if headers else (), response.body, stream,
            request.fault))
        if len(pending) >= MOST_PENDING:
            recorder.flush()
        return response

    def _stand_in(self, number: int, request: Request, response: Response) -> str:
        """Note what a stream tells from now on; what kind it is."""
        if response.stream is None:
            return "session"
        response.stream = _RecordedStream(response.stream, self, number, request)
        return "watch" if response.is_watch else "text"

    def told(self, number: int, frame: Frame | None, request: Request) -> None:
        """Take a frame, or the end, of the stream that answers a request."""
        self._recorder.add((self._cluster, number, self._time(), frame, request.path, self._number, request.fault))


class _RecordedStream:
    """A stream whose frames are recorded on their way."""

    def __init__(self, stream: Stream, handler: RecordedHandler, number: int, request: Request) -> None:
        self._stream, self._handler, self._number, self._request = stream, handler, number, request
        self._sink: Sink | None = None
        self._ended = False

    def start(self, sink: Sink) -> None:
        self._sink = sink
        self._stream.start(self)

    def stop(self) -> None:
        if not self._ended:
            self._ended = True
            self._handler.told(self._number, None, self._request)
        self._stream.stop()

    def send(self, frame: Frame) -> None:
        """As the Sink of the stream: note a frame and pass it on."""
        assert self._sink is not None
        self._handler.told(self._number, frame, self._request)
        self._sink.send(frame)

    def end(self) -> None:
        """As the Sink of the stream: note the end and pass it on."""
        assert self._sink is not None
        if not self._ended:
            self._ended = True
            self._handler.told(self._number, None, self._request)
        self._sink.end()
