"""What carries a call to a webhook, as the client sees it.

Upstream: net/http's RoundTripper.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Post(NamedTuple):
    """A POST to a webhook.

    ``url`` is what errors name. ``address`` (``host:port``) is dialled in place of the URL's host
    where the webhook is behind a service; the host stays the name that certificate and Host header
    have to do with. ``ca_bundle`` is PEM; without one the system's authorities are trusted.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes
    ca_bundle: bytes = b""
    address: str = ""


class Answer(NamedTuple):
    """What came back; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """Nothing came back; the text says why as Go's HTTP client words it."""


class Transport(Protocol):
    """Sends POSTs. It waits for as long as it takes: the caller cancels it when time is up."""

    async def post(self, post: Post) -> Answer:
        """The answer, whatever its status. Raises NoAnswer."""
