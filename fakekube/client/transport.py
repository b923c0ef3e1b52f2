"""What carries a client's requests. Upstream: net/http's RoundTripper.

``inprocess.py`` calls a Handler, ``http.py`` a server. A transport streams: a watch cannot be
served by one that buffers the body.
"""

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
