"""Requests that two servers could read differently, or that are too slow to be any."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock

from .raw import Recorder, ask, read_answer, request_bytes

POST = b"POST /x HTTP/1.1\r\nHost: localhost\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def wall() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def server(recorder: Recorder, wall: ManualClock) -> AsyncIterator[HttpServer]:
    async with HttpServer(recorder, clock=ManualClock(), wall=wall) as server:
        yield server


@pytest.mark.parametrize(("data", "status"), [
    (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    (POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: gzip\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: identity\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: \r\n\r\n", 501),
    (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n", 400),
    (POST + b"Content-Length: 0, 0\r\n\r\n", 400),
    (POST + b"Content-Length: +0\r\n\r\n", 400),
    (POST + b"Content-Length : 0\r\n\r\n", 400),
    (b"POST /x HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: localhost\r\n.evil.example\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: localhost\r\nX: folded\r\n line\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\n Host: localhost\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\nHost: localhost\n\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n", 400),
    (b"GET /x HTTP/1.1\r\nHost: local\x00host\r\n\r\n", 400),
    (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    (b"CONNECT localhost:80 HTTP/1.0\r\n\r\n", 405),
    (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 405),
])
async def test_frames_that_can_be_read_twice_are_refused(
    server: HttpServer, recorder: Recorder, data: bytes, status: int,
) -> None:
    """Given a request whose end, host or protocol is a matter of opinion, and another behind it /
    when both are sent / then the first is refused in Go's words, the connection is closed, and
    nobody sees the second.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(data + SMUGGLED)
    answer = await read_answer(reader)
    assert (answer.status, answer.headers["connection"]) == (status, "close")
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()
    assert recorder.asked == []
    if status == 501:
        assert answer.body == b"Unsupported transfer encoding"
    if status == 405:
        assert answer.message == "the server does not allow this method on the requested resource"


@pytest.mark.parametrize("data", [b"GET /x\r\n\r\n", b"GET /x HTTP/2.0\r\nHost: localhost\r\n\r\n"])
async def test_other_versions_are_refused(server: HttpServer, recorder: Recorder, data: bytes) -> None:
    """Given a request of a version of HTTP that is not spoken / when it is sent / then 505 in Go's
    words.
    """
    answer = await ask(server.host, server.port, data)
    assert (answer.status, answer.body) == (505, b"505 HTTP Version Not Supported: unsupported protocol version")
    assert recorder.asked == []


@pytest.mark.parametrize("coding", ["chunked", "Chunked", "CHUNKED"])
async def test_chunked_bodies_are_read(server: HttpServer, recorder: Recorder, coding: str) -> None:
    """Given a body in chunks, as client-go streams one / when it is sent / then the handler gets it
    whole.
    """
    data = POST + f"Transfer-Encoding: {coding}\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n".encode()
    assert (await ask(server.host, server.port, data)).status == 200
    assert recorder.asked[0].body == b"abcd"


def fire_all(wall: ManualClock, seconds: float) -> None:
    """Let so much time pass on the wall."""
    end = wall.time() + seconds
    while (due := wall.next_due()) is not None and due <= end:
        wall.fire_next()
    wall.move_to(end)


async def waiting(wall: ManualClock, count: int) -> None:
    """Wait until so many timers wait on the wall: one for each head that has begun."""
    async with asyncio.timeout(10):
        while len(wall.timers()) != count:  # noqa: ASYNC110  # the server has no event for it
            await asyncio.sleep(0)


async def test_slow_heads_end(server: HttpServer, wall: ManualClock) -> None:
    """Given a client that never ends its head, though it sends some of it now and then / when 32
    seconds have passed on the wall / then it is disconnected without a word, as by net/http, and
    not before.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /x HTTP/1.1\r\n")
    await waiting(wall, 1)
    fire_all(wall, 31)
    writer.write(b"Host: localhost\r\n")
    # by then that has come
    assert (await ask(server.host, server.port, request_bytes())).status == 200
    assert not reader.at_eof()
    fire_all(wall, 1)
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()


async def test_heads_that_come_in_time_leave_no_timer(server: HttpServer, wall: ManualClock) -> None:
    """Given heads that come in pieces, one of a connection that ends early / when they have come /
    then nothing waits on the wall, and a connection lives on.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    for _ in range(2):
        data = request_bytes()
        writer.write(data[:20])
        await waiting(wall, 1)
        writer.write(data[20:])
        assert (await read_answer(reader)).status == 200
        assert wall.timers() == []
    fire_all(wall, 100)
    writer.write(b"GET")
    await waiting(wall, 1)
    writer.close()
    await waiting(wall, 0)
