"""An HTTP server for a Handler.

An answer is written to the transport in one piece. A watch is a chunked body: each frame is encoded
as a chunk once for all watchers, and written once per turn of the event loop. A watcher that does
not read is disconnected; the server never waits for it. An idle connection is closed after 90
seconds, as kube-apiserver does. Left out: HTTP/2, which Go clients ask for only over TLS and can do
without.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING

from fakekube.apimachinery.http import Handler
from fakekube.server.connection import IDLE_ROUND_SECONDS, Connection
from fakekube.server.crossorigin import CrossOriginProtection
from fakekube.server.responder import Responder
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.outside import ClientsOutside
from fakekube.util.tasks import Tasks
from fakekube.util.wallclock import RealClock

if TYPE_CHECKING:
    from fakekube.server.upgrading import Upgrading

log = logging.getLogger(__name__)


class HttpServer:
    """Serves ``handler`` on one port. Use as an async context manager, or ``start`` and ``stop``.

    ``clock`` dates the answers; ``activity`` is held while a request is worked on, so that virtual
    time waits for it. ``compresses`` says whether large answers are compressed for clients that
    take it. ``protection`` refuses requests of pages of other sites; without one, all but loopback
    and ``host`` is another site. ``wall`` is the clock by which clients may be too slow.
    ``outside`` is told what clients do, where virtual time waits for them. ``exposed`` says that
    other machines reach the server. ``tls`` is what it needs to speak TLS.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        clock: Clock,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        activity: Activity | None = None,
        compresses: Callable[[], bool] = lambda: True,
        protection: CrossOriginProtection | None = None,
        wall: Clock | None = None,
        outside: ClientsOutside | None = None,
        exposed: bool = False,
    ) -> None:
        self.host, self.port, self.tls = host, port, tls
        self._wall = wall or RealClock()
        self._responder = Responder(
            handler, clock=clock, activity=activity, compresses=compresses,
            protection=protection or CrossOriginProtection(host), outside=outside, exposed=exposed)
        self._server: asyncio.Server | None = None
        self._upgrading: Upgrading | None = None
        self._idle_round: asyncio.TimerHandle | None = None
        self._connections: dict[Connection, None] = {}
        self._tasks = Tasks(on_failure=_log)

    @property
    def handler(self) -> Handler:
        """What answers the requests; it may be replaced at any time."""
        return self._responder.handler

    @handler.setter
    def handler(self, handler: Handler) -> None:
        self._responder.handler = handler

    @property
    def url(self) -> str:
        """Where clients find the server, once it is started."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    async def start(self) -> None:
        """Bind and listen. Raises OSError when the port is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            self._connection, self.host, self.port, ssl=self.tls, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        self._idle_round = loop.call_later(IDLE_ROUND_SECONDS, self.close_idle_connections)

    async def stop(self, grace_seconds: float = 0.5) -> None:
        """End the streams, let answers that are being written finish, and close.

        ``grace_seconds`` is how long it waits for those answers.
        """
        if self._server is None or self._idle_round is None:
            return
        self._server.close()
        self._idle_round.cancel()
        self._responder.end_streams()
        for connection in list(self._connections):
            connection.finish()
        if self._upgrading is not None:
            self._upgrading.end()
        await self._tasks.finish(grace_seconds)
        if self._upgrading is not None:
            await self._upgrading.shutdown(grace_seconds)
        for connection in list(self._connections):
            # asyncio's transport over TLS that was told twice to close forgets how to abort
            if self.tls is not None:
                connection.abort()
            else:
                connection.close()
        self._server = self._upgrading = None

    def break_off(self) -> None:
        """Stop listening, and break all connections off where they are; ``stop`` ends the rest."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.abort()
        if self._upgrading is not None:
            self._upgrading.end()

    def close_idle_connections(self) -> None:
        """Close the connections that were idle for too many checks, and schedule the next check."""
        for connection in list(self._connections):
            connection.check_idle()
        if self._idle_round is not None:
            self._idle_round.cancel()
        self._idle_round = asyncio.get_running_loop().call_later(IDLE_ROUND_SECONDS, self.close_idle_connections)

    async def __aenter__(self) -> "HttpServer":
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop()

    def _connection(self) -> Connection:
        return Connection(
            self._responder, tasks=self._tasks, connections=self._connections, upgrade=self._upgrade,
            wall=self._wall)

    def _upgrade(self) -> asyncio.Protocol:
        """The protocol that takes over a connection whose client asks for another one."""
        if self._upgrading is None:
            from fakekube.server.upgrading import Upgrading

            self._upgrading = Upgrading(self._responder)
        return self._upgrading()


def _log(error: BaseException) -> None:
    log.error("an answer broke", exc_info=error)
