"""What carries a client's requests. Upstream: net/http's RoundTripper.

``inprocess.py`` calls a Handler, ``http.py`` a server. A transport streams: a watch cannot be served by one that
buffers the body.
"""

from typing import Protocol

from fakekube.apimachinery.http import Request, Response


class TransportError(Exception):
    """No answer: refused, cut, or not understood. An answer that is an error is an APIError instead."""


class Transport(Protocol):
    """Carries one request and brings the answer, streams included."""

    async def request(self, request: Request) -> Response:
        """The answer, whatever its status. Raises TransportError when there is none."""

    async def close(self) -> None:
        """Give up connections and streams."""
