"""What carries a client's requests. Upstream: net/http's RoundTripper.

``inprocess.py`` calls a Handler, ``http.py`` a server. A transport streams: a watch cannot be
served by one that buffers the body.
"""

from collections.abc import Mapping
from typing import Protocol

from fakekube.apimachinery.http import Request, Response


class TransportError(Exception):
    """There is no answer: the connection was refused or lost, or the answer is not HTTP.

    A Status is an APIError.
    """


class Transport(Protocol):
    """Sends one request and returns the response, which may be a stream."""

    async def request(self, request: Request) -> Response:
        """The response, whatever its status. Raises TransportError when there is none."""

    async def close(self) -> None:
        """Close connections and streams."""


class Authenticated:
    """A transport on another one, with credentials of its own: ``headers`` go with every request.

    Who asks they decide, and not the user that a request names.
    """

    def __init__(self, transport: Transport, headers: Mapping[str, str]) -> None:
        self._transport, self._headers = transport, {name.lower(): value for name, value in headers.items()}

    async def request(self, request: Request) -> Response:
        """The response, whatever its status. Raises TransportError when there is none."""
        request.headers, request.user = {**request.headers, **self._headers}, None
        return await self._transport.request(request)

    async def close(self) -> None:
        """Close the other one."""
        await self._transport.close()
