"""Our servers for the fixtures of pytest-aiohttp: ``aiohttp_client(Serving(HttpServer(...)))``
starts one and asks it.
"""

from typing import Any

from aiohttp.test_utils import BaseTestServer, TestClient
from aiohttp.web import BaseRequest, BaseRunner
from yarl import URL

from fakekube.composition.serving import Served
from fakekube.server.http import HttpServer

Http = TestClient[BaseRequest, None]


class Serving(BaseTestServer):
    """A server of ours in the place of an aiohttp application's.

    One of a cluster is started and stopped by the cluster.
    """

    def __init__(self, server: HttpServer | Served) -> None:
        super().__init__()
        self.server = server

    async def start_server(self, **_: Any) -> None:
        if isinstance(self.server, HttpServer):
            await self.server.start()
        self._root = URL(self.server.url)

    async def _make_runner(self, **_: Any) -> BaseRunner:
        raise AssertionError("a server of ours runs by itself")

    async def close(self) -> None:
        if isinstance(self.server, HttpServer):
            await self.server.stop()


def served(http: Http) -> HttpServer:
    """The HttpServer that a client asks."""
    assert isinstance(http.server, Serving)
    assert isinstance(http.server.server, HttpServer)
    return http.server.server
