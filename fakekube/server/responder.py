"""Lets the Handler answer a request, and makes the object that writes the answer."""

from collections.abc import Callable
from contextlib import nullcontext

import orjson
from aiohttp.http import HttpProcessingError, RawRequestMessage
from aiohttp.http_exceptions import LineTooLong

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Handler, Request, Response
from fakekube.server.target import headers_of, path_of, query_of
from fakekube.server.writer import Answer, Flusher, HeadWriter
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.outside import ClientsOutside
from fakekube.util.wallclock import RealClock

PLAIN_TEXT = "text/plain; charset=utf-8"


class Responder:
    """Answers by ``handler``, which may be replaced at any time.

    ``clock`` dates the answers; ``activity`` is held while a request is worked on, so that virtual
    time waits for it. ``compresses`` says whether large answers are compressed for clients that
    take it. ``outside`` is told of requests and watches.
    """

    def __init__(
        self, handler: Handler, *, clock: Clock, activity: Activity | None, compresses: Callable[[], bool],
        outside: ClientsOutside | None = None,
    ) -> None:
        self.handler, self.heads = handler, HeadWriter(clock, compresses)
        self._outside = outside
        self._activity = activity
        self._flusher = Flusher()
        self._wall = RealClock()
        self._open: dict[Answer, None] = {}

    async def respond(self, message: RawRequestMessage, body: bytes, peer: str) -> tuple[Request, Response]:
        """Let the Handler answer.

        Returns the request as the Handler saw it, and its response. Raises BadTarget.
        """
        with self._activity.busy() if self._activity is not None else nullcontext():
            request = request_of(message, body, peer, self._wall)
            if self._outside is None:
                return request, await self.handler.handle(request)
            self._note(request)
            response = await self.handler.handle(request)
            self._note(request)
            return request, response

    def _note(self, request: Request) -> None:
        assert self._outside is not None, "somebody wants to know"
        self._outside.request(request.headers.get("user-agent", ""), request.peer, request.method, request.path)

    def answer(self, request: Request, response: Response, *, reusable: bool) -> Answer:
        """The object that writes a response.

        ``reusable`` says whether the connection takes another request afterwards; if not, the
        answer says so.
        """
        return Answer(self.heads, self._flusher, request, response, self._open, reusable=reusable, outside=self._outside)

    def end_streams(self) -> None:
        """End the answers that are streams."""
        for answer in list(self._open):
            answer.end()


def request_of(message: RawRequestMessage, body: bytes, peer: str, patience: Clock) -> Request:
    """The Request for a Handler.

    ``patience`` is the clock of the client's timeouts. Raises BadTarget.
    """
    target, _, query = message.path.partition("?")
    return Request(
        message.method, path_of(target), query_of(query), headers_of(message.headers.items()), body, peer=peer, patience=patience)


def refusal(error: HttpProcessingError | None = None) -> Response:
    """The answer to bytes that are not a request.

    An unknown method gets the answer that the router gives to methods that a path does not have.
    """
    if error is not None and "Invalid method" in error.message:
        return Response(405, orjson.dumps(errors.method_not_allowed().status()))
    if isinstance(error, LineTooLong):
        return Response(431, b"431 Request Header Fields Too Large", PLAIN_TEXT)
    return Response(400, b"400 Bad Request", PLAIN_TEXT)
