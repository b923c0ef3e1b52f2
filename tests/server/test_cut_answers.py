"""Connections that break before, in the middle of and after answers."""

import asyncio

import aiohttp
import pytest

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock


class Breaking:
    """Answers as its path says, and breaks off."""

    def __init__(self) -> None:
        self.streams: list[OneFrame] = []

    async def handle(self, request: Request) -> Response:
        """``/5``: after five bytes; ``/stream``: after a frame."""
        if request.path == "/stream":
            response = Response()
            response.stream = OneFrame(response)
            return response
        if request.path == "/whole":
            return Response(body=b"0123456789")
        return Response(body=b"0123456789", cut=int(request.path[1:]))


class OneFrame:
    """A stream that is cut after its first frame."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def start(self, sink: Sink) -> None:
        """Send it, and break."""
        sink.send(Frame(b"one\n"))
        self._response.cut = 0
        sink.end()

    def stop(self) -> None:
        """Nothing runs."""


async def raw(server: HttpServer, path: str) -> bytes:
    """All that a server writes on a connection until it closes it."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    async with asyncio.timeout(10):
        data = await reader.read()
    writer.close()
    return data


async def test_nothing_comes_of_an_answer_that_is_cut_at_once() -> None:
    """Given a cut before the head / when a client asks / then the connection closes without a byte.
    """
    async with HttpServer(Breaking(), clock=ManualClock()) as server:
        assert await raw(server, "/0") == b""
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await session.get(f"{server.url}/0")
            # and the server goes on
            assert await (await session.get(f"{server.url}/whole")).read() == b"0123456789"


async def test_a_body_ends_before_its_length() -> None:
    """Given a cut after five bytes / when a client reads / then the head announces all, five come,
    and a client calls it incomplete.
    """
    async with HttpServer(Breaking(), clock=ManualClock()) as server:
        head, _, body = (await raw(server, "/5")).partition(b"\r\n\r\n")
        assert b"Content-Length: 10" in head
        assert body == b"01234"
        async with aiohttp.ClientSession() as session, session.get(f"{server.url}/5") as answer:
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.read()


async def test_a_body_that_is_cut_at_its_end_is_incomplete_too() -> None:
    """Given a cut after as many bytes as there are / when a client reads / then one is missing."""
    async with HttpServer(Breaking(), clock=ManualClock()) as server:
        head, _, body = (await raw(server, "/10")).partition(b"\r\n\r\n")
        assert b"Content-Length: 11" in head
        assert body == b"0123456789"


async def test_a_stream_breaks_without_its_last_chunk() -> None:
    """Given a stream that is cut / when a client reads / then what was sent comes, and no end."""
    async with HttpServer(Breaking(), clock=ManualClock()) as server:
        data = await raw(server, "/stream")
        assert data.endswith(b"4\r\none\n\r\n")
        async with aiohttp.ClientSession() as session, session.get(f"{server.url}/stream") as answer:
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.read()
