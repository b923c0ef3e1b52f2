"""Connections that break before and in the middle of sessions and of streams over WebSocket."""

import asyncio
import contextlib

import aiohttp
import pytest
from pytest_aiohttp.plugin import AiohttpClient

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.aiohttp_servers import Http, Serving, served
from tests.server.sessions import RawConnection, Sessions, SpdyClient
from tests.server.test_channels import ALL, V5, heard, joined
from tests.server.test_spdy import TUNNEL, V4

WEBSOCKET = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
             "Sec-WebSocket-Version": "13"}


class Cutting(Sessions):
    """Agrees to sessions, and cuts them: ``cut`` as a response has it. ``/refused`` is no session.
    """

    def __init__(self, cut: int) -> None:
        super().__init__()
        self.cut = cut

    async def handle(self, request: Request) -> Response:
        """The answer with its session, or another."""
        if request.path == "/refused":
            return Response(403, b"0123456789", cut=self.cut)
        if request.path == "/watch":
            response = Response(is_watch=True)
            response.stream = Watch(response, self.cut)
            return response
        response = await super().handle(request)
        response.cut = self.cut
        return response


class Watch:
    """A stream of one frame, which is then cut."""

    def __init__(self, response: Response, cut: int) -> None:
        self._response, self._cut = response, cut

    def start(self, sink: Sink) -> None:
        """Send it, and break."""
        sink.send(Frame(b"{}\n"))
        self._response.cut = self._cut
        sink.end()

    def stop(self) -> None:
        """Nothing runs."""


@pytest.fixture(params=[1])
async def sessions(request: pytest.FixtureRequest) -> Cutting:
    return Cutting(request.param)


@pytest.fixture
async def http(sessions: Cutting, aiohttp_client: AiohttpClient) -> Http:
    return await aiohttp_client(Serving(HttpServer(sessions, clock=ManualClock())), timeout=aiohttp.ClientTimeout(total=20))


@pytest.fixture
def server(http: Http) -> HttpServer:
    return served(http)


async def everything(server: HttpServer, path: str, **headers: str) -> bytes:
    """All that comes on a connection which asks for another protocol, until it is closed."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
    async with asyncio.timeout(10):
        data = await reader.read()
    writer.close()
    return data


@pytest.mark.parametrize("sessions", [0], indirect=True)
@pytest.mark.parametrize("path", [f"/command/waits{ALL}", "/ports?ports=80"])
@pytest.mark.parametrize(
    "headers", [WEBSOCKET | {"Sec-WebSocket-Protocol": V5}, {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", **V4}])
async def test_nothing_comes_of_a_session_that_is_cut_at_once(
    server: HttpServer, sessions: Cutting, path: str, headers: dict[str, str],
) -> None:
    """Given a cut before the head / when a client asks for a session / then the connection closes
    without a byte, and a command that had begun ends.
    """
    assert await everything(server, path, **headers) == b""
    if path.startswith("/command"):
        await asyncio.wait_for(sessions.ended.wait(), 5)


async def test_a_command_breaks_after_its_first_output(http: Http, sessions: Cutting) -> None:
    """Given a cut in the middle / when a command has said something over WebSocket / then that has
    come, no status and no goodbye follow, and the command ends.
    """
    async with http.ws_connect(f"/command{ALL}", protocols=(V5,)) as socket:
        await socket.send_bytes(b"\x00hello")
        messages = await heard(socket)
    assert (joined(messages, 1), joined(messages, 2), joined(messages, 3)) == (b"HELLO", b"", b"")
    assert socket.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE
    await asyncio.wait_for(sessions.ended.wait(), 5)


async def test_a_command_that_says_nothing_breaks_at_its_end(http: Http) -> None:
    """Given a cut in the middle / when a command ends without output / then no status comes."""
    async with http.ws_connect("/command/deaf?stdout=1", protocols=(V5,)) as socket:
        assert joined(await heard(socket), 3) == b""
    assert socket.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE


async def test_a_command_over_spdy_breaks_too(server: HttpServer, sessions: Cutting) -> None:
    """Given a cut in the middle / when a command has said something over SPDY / then that has come,
    its streams are not finished, and the connection is closed.
    """
    async with RawConnection(server.host, server.port, f"/command{ALL}", **V4) as connection:
        client = SpdyClient(connection.send)
        for kind in ("error", "stdin", "stdout", "stderr"):
            await client.open(streamtype=kind)
        await client.write(3, b"hello")
        await connection.until(client, lambda: False)
    assert client.data[5] == b"HELLO"
    assert (client.data.get(1), 5 in client.finished) == (None, False)
    await asyncio.wait_for(sessions.ended.wait(), 5)


async def test_a_forwarded_port_breaks_after_its_first_data(http: Http) -> None:
    """Given a cut in the middle / when a pod has answered on a forwarded port in a tunnel / then
    the connection closes without a goodbye.
    """
    async with http.ws_connect("/ports", protocols=(TUNNEL,)) as socket:
        client = SpdyClient(socket.send_bytes)
        await client.open(streamtype="error", port="80", requestid="0")
        number = await client.open(streamtype="data", port="80", requestid="0")
        await client.write(number, b"ping")
        with contextlib.suppress(asyncio.TimeoutError):
            async for message in socket:
                client.feed(message.data)
    assert client.data[number] == b"ping"
    assert socket.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE


@pytest.mark.parametrize("sessions", [1, 5], indirect=True)
async def test_a_refusal_is_cut_in_its_body(server: HttpServer, sessions: Cutting) -> None:
    """Given an upgrade that is refused, cut in the body / when a client reads / then so many bytes
    come of it.
    """
    head, _, body = (await everything(server, "/refused", **WEBSOCKET)).partition(b"\r\n\r\n")
    assert b" 403 " in head.splitlines()[0]
    assert body == b"0123456789"[:sessions.cut]


async def test_a_watch_over_websocket_breaks_without_a_goodbye(http: Http) -> None:
    """Given a watch that is cut / when a client reads it over WebSocket / then what was told has
    come, and the connection breaks.
    """
    async with http.ws_connect("/watch") as socket:
        assert [message.data async for message in socket] == ["{}"]
    assert socket.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE
