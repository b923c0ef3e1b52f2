"""When the server closes a connection: at once, or after its client had time to read."""

import asyncio
from typing import Any

import aiohttp
import pytest

from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.server.raw import Recorder, request_bytes
from tests.server.sessions import Sessions
from tests.server.test_channels import V5


class Wire(asyncio.Transport):
    """A transport that keeps what is written, and says whether it was closed."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written, self.closed = b"", 0

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return bool(self.closed)

    def close(self) -> None:
        self.closed += 1


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_client_that_has_sent_all_is_not_waited_for() -> None:
    """Given a request that asks to close / when it is answered / then the connection is closed at
    once, and once; one that does not ask stays open.
    """
    for data, closed in ((request_bytes(Connection="close"), 1), (request_bytes(), 0)):
        connection, wire = HttpServer(Recorder(), clock=ManualClock())._connection(), Wire()
        connection.connection_made(wire)
        connection.data_received(data)
        await turns()
        assert wire.written.startswith(b"HTTP/1.1 200 OK\r\n")
        assert wire.closed == closed


async def test_a_client_that_is_still_sending_is_given_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a foreign page that has sent half of a body / when it is refused / then the connection
    is closed a second later, or when the rest has come.
    """
    later: list[Any] = []
    half = request_bytes("POST", body=b"abcd", Origin="http://evil.example")[:-2]
    wires = []
    for _ in range(2):
        connection, wire = HttpServer(Recorder(), clock=ManualClock())._connection(), Wire()
        connection.connection_made(wire)
        with monkeypatch.context() as patched:
            patched.setattr(asyncio.get_running_loop(), "call_later", lambda *each: later.append(each))
            connection.data_received(half)
            await turns()
        assert wire.written.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert wire.closed == 0
        wires.append((connection, wire))
    assert [seconds for seconds, _ in later] == [1.0, 1.0]
    (_, first), (second, other) = wires
    later[0][1]()
    assert (first.closed, other.closed) == (1, 0)
    second.data_received(b"cd")
    assert other.closed == 1
    later[1][1]()
    assert other.closed == 1


async def test_a_server_that_breaks_off() -> None:
    """Given a server with an idle connection and a session, and one with neither / when they break
    off / then the connection is aborted and the session ended, and the other has nothing to do.
    """
    async with HttpServer(Sessions(), clock=ManualClock()) as server, HttpServer(Recorder(), clock=ManualClock()) as bare:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        async with aiohttp.ClientSession() as http, http.ws_connect(f"{server.url}/command?stdin=1", protocols=[V5]) as socket:
            await socket.receive(10)
            server.break_off()
            async with asyncio.timeout(10):
                assert await reader.read() == b""
                assert isinstance(server.handler, Sessions)
                await server.handler.ended.wait()
        writer.close()
        bare.break_off()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(bare.host, bare.port)
