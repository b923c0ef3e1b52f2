"""Connections whose client goes, does not read, or sends more than it may."""

import asyncio
from typing import Any

import pytest

from fakekube.apimachinery.http import Frame, Request, Response, Sink, Stream
from fakekube.server.connection import Connection
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.server.raw import request_bytes
from tests.server.test_ends_of_connections import Wire, turns

LARGE = b"x" * 70_000


class Waiting:
    """Answers what the test says, when it says so."""

    def __init__(self, *answers: Response) -> None:
        self.answers, self.asked, self.gate = list(answers), list[str](), asyncio.Event()

    async def handle(self, request: Request) -> Response:
        self.asked.append(request.path)
        await self.gate.wait()
        return self.answers.pop(0)


class Watched(Stream):
    """A stream that says whether it began and was stopped."""

    def __init__(self, error: Exception | None = None) -> None:
        self.said: list[str] = []
        self._error = error

    def start(self, sink: Sink) -> None:
        self.said.append("start")
        if self._error is not None:
            raise self._error
        sink.send(Frame(b"{}\n"))

    def stop(self) -> None:
        self.said.append("stop")


def connected(handler: Waiting) -> tuple[Connection, Wire]:
    """A connection to a server, and its other end."""
    connection, wire = HttpServer(handler, clock=ManualClock())._connection(), Wire()
    connection.connection_made(wire)
    return connection, wire


async def test_a_client_that_reads_slowly_is_waited_for() -> None:
    """Given two requests at once / when the first answer is large and its client does not read /
    then the second is not begun until it does; a small one is not waited for.
    """
    for body, begun in ((LARGE, ["/a"]), (b"small", ["/a", "/b"])):
        handler = Waiting(Response(body=body), Response(body=b"second"))
        connection, wire = connected(handler)
        connection.data_received(request_bytes(target="/a") + request_bytes(target="/b"))
        await turns()
        connection.pause_writing()
        handler.gate.set()
        await turns()
        assert handler.asked == begun
        connection.resume_writing()
        connection.resume_writing()
        await turns()
        assert handler.asked == ["/a", "/b"]
        assert wire.written.endswith(b"\r\n\r\nsecond")


async def test_a_client_that_goes_while_it_does_not_read() -> None:
    """Given a client that does not read / when it goes / then nobody waits for it."""
    handler = Waiting(Response(body=LARGE))
    connection, _ = connected(handler)
    connection.data_received(request_bytes(target="/a"))
    connection.pause_writing()
    handler.gate.set()
    await turns()
    assert connection._busy
    connection.connection_lost(None)
    await turns()
    assert not connection._busy


async def test_nothing_follows_a_request_that_closes() -> None:
    """Given a request whose target is none, and another that comes later / when the first is
    refused / then the other is not answered.
    """
    handler = Waiting(Response(body=b"second"))
    connection, wire = connected(handler)
    handler.gate.set()
    connection.data_received(request_bytes(target="/%zz"))
    await turns()
    connection.data_received(request_bytes(target="/b"))
    await turns()
    assert (handler.asked, wire.written.count(b"HTTP/1.1 400 "), wire.written.count(b"HTTP/1.1"), wire.closed) == ([], 1, 1, 1)


async def test_an_answer_that_breaks_closes_its_connection() -> None:
    """Given a stream that fails as it begins / when it is asked for / then its connection is
    closed.
    """
    stream = Watched(ValueError("why"))
    handler = Waiting(Response(200, stream=stream))
    connection, wire = connected(handler)
    handler.gate.set()
    connection.data_received(request_bytes())
    await turns()
    assert (stream.said, wire.closed) == (["start"], 1)


@pytest.mark.parametrize("stream", [None, Watched()])
async def test_a_client_that_goes_before_its_answer(stream: Watched | None) -> None:
    """Given a client that goes before it is answered / when the answer is there / then nothing is
    written, and a stream is stopped.
    """
    handler = Waiting(Response(200, b"" if stream else b"{}", stream=stream))
    connection, wire = connected(handler)
    connection.data_received(request_bytes())
    await turns()
    connection.connection_lost(None)
    handler.gate.set()
    await turns()
    assert (wire.written, stream and stream.said) == (b"", stream and ["stop"])


@pytest.mark.parametrize(("cut", "written"), [(0, b""), (2, b"HTTP/1.1 200 OK\r\n")])
async def test_a_stream_that_is_cut_never_begins(cut: int, written: bytes) -> None:
    """Given a stream whose answer is to break off / when it is asked for / then the stream is
    stopped, and at most its head goes out.
    """
    stream = Watched()
    response = Response(200, stream=stream)
    response.cut = cut
    handler = Waiting(response)
    connection, wire = connected(handler)
    handler.gate.set()
    connection.data_received(request_bytes())
    await turns()
    assert (stream.said, wire.written.startswith(written), bool(wire.written), wire.closed) == (["stop"], True, bool(cut), 1)


async def test_another_protocol_is_asked_for_too_early() -> None:
    """Given a request that is not answered yet / when its client asks for another protocol / then
    the connection is closed.
    """
    handler = Waiting(Response(body=b"first"))
    connection, wire = connected(handler)
    connection.data_received(request_bytes(target="/a"))
    await turns()
    upgrade: dict[str, Any] = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    connection.data_received(request_bytes(target="/b", **upgrade))
    await turns()
    assert (handler.asked, wire.written, wire.closed) == (["/a"], b"", 1)
