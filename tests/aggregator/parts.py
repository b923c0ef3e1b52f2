"""Servers for the aggregator's parts: what each answers by path, and what it was sent."""

from typing import Any

import orjson

from fakekube.aggregator.remote import Remote, ServiceRef
from fakekube.aggregator.servers import HANDLERS, Call
from fakekube.apimachinery.http import Request, Response
from fakekube.webhooks.services import Endpoint
from fakekube.webhooks.transport import NoAnswer

JSON = "application/json"


class OneServer:
    """Stands for all servers: a Handler and a server that is reached over the network."""

    def __init__(self, **pages: Any) -> None:
        self.pages: dict[str, Any] = {path.replace("_", "/"): page for path, page in pages.items()}
        self.asked: list[Request] = []
        self.calls: list[Call] = []
        self.endpoint: Endpoint | None = Endpoint("10.0.0.1:443")
        self.mapped = False

    async def handle(self, request: Request) -> Response:
        """The page of a path: a Response, a tree, or 404."""
        self.asked.append(request)
        page = self.pages.get(request.path)
        if isinstance(page, Exception):
            raise page
        return page if isinstance(page, Response) else Response(404) if page is None else Response(200, orjson.dumps(page), JSON)

    def handler(self, name: str) -> "OneServer | None":
        """Itself under one name."""
        return self if name == "it" else None

    def resolve(self, namespace: str, name: str, port: int) -> Endpoint:
        """The one address."""
        if self.endpoint is None:
            raise NoAnswer("nobody there")
        return self.endpoint

    def is_mapped(self, namespace: str, name: str, port: int) -> bool:
        """What the test says."""
        return self.mapped

    async def send(self, call: Call) -> Response:
        """The page ``sent``."""
        self.calls.append(call)
        found = self.pages["sent"]
        assert isinstance(found, Response)
        return found


def handled(server: OneServer, group: str = "g.example", version: str = "v1", name: str = "it") -> Remote:
    """A version that the server answers as a Handler."""
    return Remote(group, version, ServiceRef(HANDLERS, name, 443, b"", False), server, sends_uid=True)


def reached(server: OneServer, *, sends_uid: bool = True) -> Remote:
    """A version that the server answers over the network."""
    return Remote("g.example", "v1", ServiceRef("n", "s", 8443, b"ca", True), server, sends_uid=sends_uid)
