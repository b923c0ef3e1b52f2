"""Requests that ask for another protocol and get a stream, a refusal, or half of an answer."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from fakekube.apimachinery.http import Frame, Request, Response, Sink, Stream
from fakekube.server import websocket
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.server.raw import ask, request_bytes


class Told(Stream):
    """A stream that sends two frames, and says when it was stopped."""

    def __init__(self, *, ends: bool) -> None:
        self.ends, self.stopped, self.sink = ends, asyncio.Event(), list[Sink]()

    def start(self, sink: Sink) -> None:
        self.sink.append(sink)
        sink.send(Frame(b'{"a":1}\n'))
        sink.send(Frame(b'{"a":2}\n'))
        if self.ends:
            sink.end()

    def stop(self) -> None:
        self.stopped.set()


class Handler:
    """Answers every request with the response that the test set."""

    def __init__(self) -> None:
        self.response = Response(200)

    async def handle(self, request: Request) -> Response:
        return self.response


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
async def server(handler: Handler) -> AsyncIterator[HttpServer]:
    async with HttpServer(handler, clock=ManualClock()) as made:
        yield made


async def test_a_watch_over_websocket_goes_on_until_its_client_leaves(server: HttpServer, handler: Handler) -> None:
    """Given a watch over WebSocket / when its client says something, and leaves / then that is
    dropped, what happens comes, and the watch is stopped.
    """
    told = Told(ends=False)
    handler.response = Response(200, content_type="application/json", stream=told)
    async with asyncio.timeout(10), aiohttp.ClientSession() as session, session.ws_connect(
            f"http://{server.host}:{server.port}/x") as socket:
        await socket.send_str("anything")
        assert [(await socket.receive()).data for _ in range(2)] == ['{"a":1}', '{"a":2}']
        told.sink[0].send(Frame(b'{"a":3}\n'))
        assert (await socket.receive()).data == '{"a":3}'
        await socket.close()
        await told.stopped.wait()


async def test_a_client_that_does_not_read_its_watch(
    server: HttpServer, handler: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a watch over WebSocket / when more frames come at once than may wait / then those that
    waited come, and the socket is closed.
    """
    monkeypatch.setattr(websocket, "MAX_WAITING_FRAMES", 1)
    told = Told(ends=False)
    handler.response = Response(200, content_type="application/json", stream=told)
    async with asyncio.timeout(10), aiohttp.ClientSession() as session, session.ws_connect(
            f"http://{server.host}:{server.port}/x") as socket:
        found = [message.data async for message in socket]
        assert (found, socket.close_code) == (['{"a":1}'], 1000)
        await told.stopped.wait()


async def test_other_protocols_that_get_a_stream(server: HttpServer, handler: Handler) -> None:
    """Given a request for a protocol that is not spoken / when the answer is a stream / then it
    comes as one over HTTP, and the connection is closed.
    """
    handler.response = Response(200, content_type="text/plain", stream=Told(ends=True))
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(request_bytes(Connection="Upgrade", Upgrade="other/1"))
    async with asyncio.timeout(10):
        data = await reader.readuntil(b"\r\n0\r\n\r\n")
    writer.close()
    assert data.startswith(b"HTTP/1.1 200 OK\r\n")
    assert data.endswith(b'8\r\n{"a":1}\n\r\n8\r\n{"a":2}\n\r\n0\r\n\r\n')


async def test_a_target_that_is_none_is_refused(server: HttpServer) -> None:
    """Given a request for another protocol whose target is none / when it comes / then it is
    refused.
    """
    found = await ask(server.host, server.port, request_bytes(target="/%zz", Connection="Upgrade", Upgrade="websocket"))
    assert found.status == 400


@pytest.mark.parametrize(("cut", "size"), [(0, 0), (2, 1)])
async def test_a_stream_for_an_upgrade_breaks_off(server: HttpServer, handler: Handler, cut: int, size: int) -> None:
    """Given a stream for an upgrade that is to break off / when it is asked for / then it is
    stopped, and at most the head comes.
    """
    told = Told(ends=False)
    handler.response = Response(200, content_type="text/plain", stream=told, cut=cut)
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(request_bytes(Connection="Upgrade", Upgrade="other/1"))
    async with asyncio.timeout(10):
        data = await reader.read()
        await told.stopped.wait()
    writer.close()
    assert (data.count(b"HTTP/1.1 200 OK\r\n"), told.sink) == (size, [])
