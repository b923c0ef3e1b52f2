"""What passes between the API server and an HTTP server behind a port of a pod.

The API server's proxies make requests; whoever holds the connection carries them out and gives the
answer.
Upstream: net/http's Request and Response.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery.http import Stream


class PortRequest(NamedTuple):
    """A request to an HTTP server behind a port; headers as they are to be written, in order."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""


class PortAnswer(NamedTuple):
    """Its answer: the body, or a stream of one that is not at its end.

    Headers as they were written, in order.
    """

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    stream: Stream | None = None


class BadAnswer(Exception):
    """What came back is no answer; the text is Go's."""
