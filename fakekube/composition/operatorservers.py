"""Where one run of an operator outside of the cluster reaches it: a port and a token of its own.

A thread cannot be killed, and what a process has sent is on its way: so a run is dead from the
moment at which its server ends. Its connections are broken off then, nothing that it sends later is
served, and nobody else ever gets its token. The next run of the same operator has another server.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

from fakekube.apimachinery.http import Handler, Request, Response, UserInfo
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.auth.authenticator import Authenticator
    from fakekube.composition.serving import Served

LOOPBACK = "127.0.0.1"

SERVER: "ContextVar[OperatorServer | None]" = ContextVar("server", default=None)
"""The one by which the request came that is being answered."""


class OperatorServer:
    """A Handler in front of the one that ``handler`` gives, for one run, whose ``user`` it is.

    ``begun`` is called when the run has begun to watch, or to write. ``kubeconfig`` is the text of
    one that leads here. ``processes`` are to hold the number of the run's, if it is one.
    """

    def __init__(
        self, handler: Callable[[], Handler], authenticator: "Authenticator", user: UserInfo, begun: Callable[[], None],
        processes: dict[int, None],
    ) -> None:
        self.processes = processes
        self._handler, self._authenticator, self._user, self._begun = handler, authenticator, user, begun
        self._served: Served | None = None
        self._token = ""
        self.kubeconfig = ""
        self._is_over = False

    async def start(self, served: "Served") -> None:
        """Listen. Raises OSError."""
        await served.start()
        # nobody may guess it, and no later run may have it
        self._served, self._token = served, f"fakekube-{Rng.unpredictable().fork('token').uid()}"
        self._authenticator.know(self._token, self._user)
        self.kubeconfig = served.kubeconfig_for(self._token)

    async def handle(self, request: Request) -> Response:
        """Answer one request, unless the run is dead, or dies of it."""
        if self.is_over():
            return Response(503, cut=0)
        SERVER.set(self)
        response = await self._handler().handle(request)
        if self.is_over():
            if response.stream is not None:
                response.stream.stop()
            return Response(503, cut=0)
        if request.method not in ("GET", "HEAD") or "watch" in request.query:
            self._begun()
        return response

    def is_over(self) -> bool:
        """Whether the run is dead."""
        return self._is_over

    def break_off(self) -> None:
        """Let the run be dead from now on; harmless when it is."""
        self._is_over = True
        self._authenticator.forget(self._token)
        if self._served is not None:
            self._served.break_off()

    async def stop(self) -> None:
        """End it, and give up what is being answered."""
        self.break_off()
        if self._served is not None:
            await self._served.stop(grace_seconds=0)


ServeOperator = Callable[[UserInfo, Callable[[], None]], Awaitable[OperatorServer]]
"""Starts one for a user; the function is called when the run has begun to watch or to write."""


def is_sender_dead() -> bool:
    """Whether the request that is being answered came from a run that is dead by now."""
    server = SERVER.get()
    return server is not None and server.is_over()
