"""The watches that are open, and who opened them: for who has to do something to them later."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.http import Request, Response, Sink
from fakekube.endpoints.requestinfo import RequestInfo


class Divertible(Protocol):
    """A watch of objects as they are stored, which a stream of another form may pass on."""

    on_stop: Callable[[], None] | None

    def divert(self, through: Callable[[Sink], Sink]) -> None:
        """Let what it sends go through another sink from now on."""

    def lag(self, replica: Callable[[], int]) -> None:
        """Begin, as a replica does that has this version at the time."""

    def stop(self) -> None:
        """The receiver is gone."""


class OpenWatch(NamedTuple):
    """One watch; ``component`` is the part of the cluster that opened it, if one did."""

    stream: Divertible
    info: RequestInfo
    request: Request
    response: Response
    component: str


class OpenWatches:
    """Those of one server, in the order in which they were opened."""

    def __init__(self) -> None:
        self._open: dict[int, OpenWatch] = {}
        self._opened = 0

    def __iter__(self) -> Iterator[OpenWatch]:
        return iter(list(self._open.values()))

    def of(self, response: Response) -> OpenWatch | None:
        """That which an answer is, mostly the last one that was opened."""
        for found in reversed(self._open.values()):
            if found.response is response:
                return found
        return None

    def opened(self, stream: Divertible, info: RequestInfo, request: Request, response: Response) -> Response:
        """Note a watch until it stops. Returns the response."""
        acting = ACTING.get()
        self._opened += 1
        number = self._opened
        self._open[number] = OpenWatch(stream, info, request, response, acting.component if acting is not None else "")
        stream.on_stop = lambda: self._open.pop(number, None) and None
        return response
