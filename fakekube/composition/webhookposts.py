"""Webhooks called over HTTP(S): the Transport of ``fakekube.webhooks``."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fakekube.composition.httppool import MAX_REDIRECTS, HTTPPool, Reused, body_of
from fakekube.webhooks.transport import Answer, Post

if TYPE_CHECKING:
    import ssl

    import aiohttp

MAX_BODY_BYTES = 8 << 20
"""A webhook that answers more is cut off: upstream would take it, until its memory is full."""


class WebhookPosts:
    """Sends POSTs on the loop on which it is first used. Close it after use."""

    def __init__(self) -> None:
        self._pool = HTTPPool()

    async def post(self, post: Post) -> Answer:
        """The answer. Raises NoAnswer."""
        from yarl import URL

        parts = urlsplit(post.url)
        url, headers, server_name = post.url, dict(post.headers), None
        if post.address:
            url = post.url.replace(parts.netloc, post.address, 1)
            headers["Host"] = parts.netloc
            server_name = parts.hostname if parts.scheme == "https" else None

        async def send(session: "aiohttp.ClientSession", context: "ssl.SSLContext", reused: Reused) -> Answer:
            answer = await session.post(
                URL(url, encoded=True), data=post.body, headers=headers, ssl=context, server_hostname=server_name,
                trace_request_ctx=reused, max_redirects=MAX_REDIRECTS)
            async with answer:
                named = {name.lower(): value for name, value in answer.headers.items()}
                return Answer(answer.status, named, await body_of(answer, MAX_BODY_BYTES))

        return await self._pool.ask((post.ca_bundle, False), parts.hostname or "", post.address or parts.netloc, send)

    async def close(self) -> None:
        """Close the connections; harmless when there are none."""
        await self._pool.close()
