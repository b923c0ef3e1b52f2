"""Webhook servers of the tests: HTTPS on loopback, with certificates of an authority of their own.
"""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trustme
from aiohttp import web

Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Authority:
    """An authority that is known to nobody, and servers with certificates of it."""

    def __init__(self) -> None:
        self._authority = trustme.CA()

    @property
    def bundle(self) -> str:
        """What a configuration has as caBundle."""
        return base64.b64encode(self._authority.cert_pem.bytes()).decode()

    def context(self, *names: str) -> ssl.SSLContext:
        """TLS of a server with a certificate for some names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*names).configure_cert(context)
        return context

    @asynccontextmanager
    async def serve(self, answer: Answering, *names: str) -> AsyncIterator[str]:
        """A server that answers every request by a function; its URL."""
        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self.context(*(names or ("127.0.0.1",))))
        await site.start()
        try:
            yield f"https://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


@asynccontextmanager
async def raw_server(data: bytes, *, reads: bool = True) -> AsyncIterator[int]:
    """A TCP server that sends some bytes to whoever speaks to it, and closes; its port."""
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if reads:
            await reader.read(1)
        writer.write(data)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
