"""The HTTP front, in front of a handler that says what it got."""

import asyncio
import io
import json
import socket
from typing import Any

import aiohttp
import pytest
from pytest_aiohttp.plugin import AiohttpClient

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.aiohttp_servers import Http, Serving, served


class Echo:
    def __init__(self) -> None:
        self.streams: list[Ticker] = []

    async def handle(self, request: Request) -> Response:
        if request.path == "/stream":
            self.streams.append(Ticker(int(request.param("count"))))
            return Response(stream=self.streams[-1])
        if request.path == "/large":
            return Response(body=b"x" * 200_000)
        if request.path == "/nothing":
            return Response(204, content_type="")
        told = {"method": request.method, "path": request.path, "query": dict(request.query), "size": len(request.body)}
        return Response(body=json.dumps(told).encode(), headers=[("Warning", "one"), ("Warning", "two")])


class Ticker:
    def __init__(self, count: int) -> None:
        self.count, self.stopped = count, 0
        self.sink: Sink | None = None
        self.gone = asyncio.Event()

    def start(self, sink: Sink) -> None:
        self.sink = sink
        for number in range(self.count):
            sink.send(Frame(b"%d\n" % number))
        if self.count:
            sink.end()

    def stop(self) -> None:
        self.stopped += 1
        self.gone.set()


async def stopped(server: HttpServer) -> None:
    """Wait for the server to see that its only stream's client has gone."""
    assert isinstance(server.handler, Echo)
    async with asyncio.timeout(5):
        await server.handler.streams[0].gone.wait()


@pytest.fixture
async def http(aiohttp_client: AiohttpClient) -> Http:
    return await aiohttp_client(Serving(HttpServer(Echo(), clock=ManualClock())))


@pytest.fixture
def server(http: Http) -> HttpServer:
    return served(http)


async def test_request_reaches_the_handler_decoded(http: Http) -> None:
    """Given a path and a query with escapes / when they are sent / then the handler sees them
    decoded.
    """
    async with http.get("/a%20b?x=1&x=2&y=") as answer:
        assert await answer.json() == {
            "method": "GET",
            "path": "/a b",
            "query": {"x": ["1", "2"], "y": [""]},
            "size": 0,
        }
        assert answer.headers.getall("Warning") == ["one", "two"]
        assert answer.headers["Date"] == "Thu, 01 Jan 2026 00:00:00 GMT"


async def test_body_is_read_no_further_than_the_limit(http: Http) -> None:
    """Given a body of 4 MiB / when it is posted / then the handler gets one byte more than may be,
    and an answer comes.
    """
    async with http.post("/x", data=io.BytesIO(b"y" * (4 << 20))) as answer:
        assert (await answer.json())["size"] == (3 << 20) + 1


async def test_connection_is_reused(http: Http) -> None:
    """Given an open connection / when HEAD, GET and an answer without a body follow each other /
    then none disturbs the next.
    """
    for method, path in (("HEAD", "/x"), ("GET", "/x"), ("GET", "/nothing"), ("GET", "/x")):
        async with http.request(method, path) as answer:
            assert answer.status == (204 if path == "/nothing" else 200)


@pytest.mark.spec("API-075")
async def test_large_answer_is_compressed_for_who_asks(http: Http, server: HttpServer) -> None:
    """Given an answer beyond 128 KiB / when gzip is accepted, and when not / then it comes
    compressed, or as it is.
    """
    async with http.get("/large") as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert len(await answer.read()) == 200_000
    async with http.get("/large", headers={"Accept-Encoding": "identity"}) as answer:
        assert "Content-Encoding" not in answer.headers
        assert len(await answer.read()) == 200_000


async def test_stream_ends_cleanly_and_is_stopped(http: Http, server: HttpServer) -> None:
    """Given a stream of three frames / when it is read / then they come in order, the body ends,
    the connection lives on.
    """
    async with http.get("/stream?count=3") as answer:
        assert answer.headers["Transfer-Encoding"] == "chunked"
        assert await answer.read() == b"0\n1\n2\n"
    async with http.get("/x") as answer:
        assert answer.status == 200
    assert isinstance(server.handler, Echo)
    assert server.handler.streams[0].stopped


async def test_stream_is_stopped_when_its_client_goes(http: Http, server: HttpServer) -> None:
    """Given a stream that never ends / when the client closes / then the stream is told to stop."""
    assert isinstance(server.handler, Echo)
    answer = await http.get("/stream?count=0")
    stream = server.handler.streams[0]
    assert not stream.stopped
    answer.close()
    await stopped(server)


async def test_stop_ends_streams() -> None:
    """Given a stream that never ends / when the server stops / then the client sees the end of the
    body.
    """
    server = HttpServer(Echo(), clock=ManualClock())
    await server.start()
    async with aiohttp.ClientSession(server.url) as http, http.get("/stream?count=0") as answer:
        await server.stop()
        assert await answer.read() == b""


@pytest.mark.spec("API-089")
async def test_stream_over_websocket(http: Http, server: HttpServer) -> None:
    """Given a stream / when it is asked for by WebSocket / then each frame is a message, and the
    end closes the socket.
    """
    async with http.ws_connect("/stream?count=2") as socket:
        assert [message.data async for message in socket] == ["0", "1"]
    await stopped(server)


async def test_websocket_whose_client_goes(http: Http, server: HttpServer) -> None:
    """Given an endless stream over WebSocket / when the client closes / then the stream is stopped.
    """
    assert isinstance(server.handler, Echo)
    async with http.ws_connect("/stream?count=0"):
        assert not server.handler.streams[0].stopped
    await stopped(server)


async def test_method_that_is_none(server: HttpServer) -> None:
    """Given a method that HTTP does not know / when it is sent / then 405 in JSON, and no log."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"BREW /tea HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = await reader.read()
    writer.close()
    assert b" 405 Method Not Allowed\r\n" in answer
    assert b'"reason":"MethodNotAllowed"' in answer


async def test_expecting_to_go_on(server: HttpServer) -> None:
    """Given a client that waits for leave to send its body / when it asks / then it is told to
    continue, and answered.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    assert (await reader.readline()) == b"HTTP/1.1 100 Continue\r\n"
    await reader.readline()
    writer.write(b"ab")
    assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
    writer.close()


async def test_old_http_closes(server: HttpServer) -> None:
    """Given a client of HTTP/1.0 / when it asks / then it gets its answer and the connection is
    closed.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /x HTTP/1.0\r\n\r\n")
    answer = await reader.read()
    writer.close()
    assert b"Connection: close\r\n" in answer
    assert answer.endswith(b"}")


@pytest.mark.parametrize(("head", "status"), [
    (b"GET /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1", b"400 Bad Request"),
    (b"GET /x HTTP/1.1\r\nHost: localhost\r\nno colon", b"400 Bad Request"),
    (b"GET /%zz HTTP/1.1\r\nHost: localhost", b"400 Bad Request"),
    (b"\x16\x03\x01\x02", b"400 Bad Request"),
    (b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost", b"431 Request Header Fields Too Large"),
    (b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz", b"400 Bad Request"),
], ids=["length", "header", "path", "tls", "too long", "chunk"])
async def test_what_is_no_http(
    server: HttpServer, caplog: pytest.LogCaptureFixture, head: bytes, status: bytes,
) -> None:
    """Given bytes that are no request / when they are sent / then a short answer in Go's words, a
    close, and no log.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(head + b"\r\n\r\n")
    async with asyncio.timeout(5):
        answer = await reader.read()
    writer.close()
    assert status in answer.partition(b"\r\n")[0]
    assert answer.endswith(b"\r\n\r\n" + status)
    assert caplog.records == []


async def test_headers_that_are_no_text_do_no_harm(server: HttpServer) -> None:
    """Given header values with bytes that are no UTF-8 / when they are sent / then an answer comes.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /x HTTP/1.1\r\nHost: localhost\r\nAudit-ID: \xff\xfe\r\nUser-Agent: \xff\r\n\r\n")
    assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
    writer.close()


async def test_body_that_ends_too_soon(server: HttpServer, caplog: pytest.LogCaptureFixture) -> None:
    """Given a client that promises ten bytes, sends two and goes / when it has gone / then nothing
    is logged.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nab")
    await writer.drain()
    writer.close()
    async with asyncio.timeout(5):
        await reader.read()
    await server.stop()
    assert caplog.records == []


async def test_junk_over_websocket(server: HttpServer, caplog: pytest.LogCaptureFixture) -> None:
    """Given an endless stream over WebSocket / when its client sends bytes that are no frame / then
    the stream is stopped.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(
        b"GET /stream?count=0 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    assert (await reader.readline()) == b"HTTP/1.1 101 Switching Protocols\r\n"
    writer.write(b"\xff" * 200)
    await stopped(server)
    writer.close()
    assert caplog.records == []


async def read_answer(reader: asyncio.StreamReader) -> dict[str, Any]:
    """What the echo says in the next answer of a connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    told: dict[str, Any] = json.loads(await reader.readexactly(int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])))
    return told


async def test_requests_sent_ahead_are_answered_in_their_order(server: HttpServer) -> None:
    """Given forty requests in one piece, more than are taken at once / when they are sent / then
    each is answered, in order.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"".join(b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number for number in range(40)))
    for number in range(40):
        assert (await read_answer(reader))["path"] == f"/{number}"
    writer.close()


async def test_head_and_body_may_come_in_pieces(server: HttpServer) -> None:
    """Given a request of which every byte is sent alone / when the last has come / then it is
    answered.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc":
        writer.write(bytes([byte]))
        await writer.drain()
    assert (await read_answer(reader))["size"] == 3
    writer.close()


async def test_wish_for_a_protocol_that_is_not_spoken_is_ignored(server: HttpServer) -> None:
    """Given a client that would rather speak HTTP/2, as Java's does / when it asks / then it is
    answered, and asks again.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    for _ in range(2):
        writer.write(
            b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
            b"HTTP2-Settings: AA\r\n\r\n")
        assert (await read_answer(reader))["path"] == "/x"
    writer.close()


async def test_connection_that_nobody_uses_is_closed(server: HttpServer) -> None:
    """Given two idle connections and a stream / when the server has looked three times, and one was
    used meanwhile / then the other is closed, and nothing else.
    """
    async with aiohttp.ClientSession(server.url) as http, http.get("/stream?count=0"):
        idle, idle_writer = await asyncio.open_connection(server.host, server.port)
        used, used_writer = await asyncio.open_connection(server.host, server.port)
        for _ in range(3):
            used_writer.write(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await read_answer(used)
            server.close_idle_connections()
        assert await idle.read() == b""
        assert not used.at_eof()
        assert isinstance(server.handler, Echo)
        assert not server.handler.streams[0].stopped
        idle_writer.close()
        used_writer.close()


async def test_answer_under_way_is_finished_by_a_stop() -> None:
    """Given a request that takes a moment / when the server stops meanwhile / then its answer still
    comes, and a close.
    """
    asked, go = asyncio.Event(), asyncio.Event()

    class Slow:
        async def handle(self, request: Request) -> Response:
            asked.set()
            await go.wait()
            return Response(body=b"late")

    server = HttpServer(Slow(), clock=ManualClock())
    await server.start()
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await asked.wait()
    async with asyncio.TaskGroup() as group:
        group.create_task(server.stop(5))
        go.set()
        answer = await reader.read()
    writer.close()
    assert b"Connection: close\r\n" in answer
    assert answer.endswith(b"late")


def test_faster_loop_serves_too() -> None:
    """Given uvloop, whose transports are of another class / when requests and a stream are made /
    then they are answered.
    """
    uvloop = pytest.importorskip("uvloop", reason="needs the extra fast")

    async def use() -> None:
        async with HttpServer(Echo(), clock=ManualClock()) as server, aiohttp.ClientSession(server.url) as http:
            async with http.post("/x", data=b"abc") as answer:
                assert (await answer.json())["size"] == 3
            async with http.get("/stream?count=3") as answer:
                assert await answer.read() == b"0\n1\n2\n"
            async with http.ws_connect("/stream?count=2") as socket:
                assert [message.data async for message in socket] == ["0", "1"]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(use())
