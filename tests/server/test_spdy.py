"""SPDY/3.1: frames and headers, and commands and ports over its streams, bare or inside a
WebSocket.
"""

import asyncio
import contextlib
import json

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_aiohttp.plugin import AiohttpClient

from fakekube.server import spdy
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.aiohttp_servers import Http, Serving, served
from tests.server.sessions import RawConnection, Sessions, SpdyClient

V4 = {"X_Stream_Protocol_Version": "v4.channel.k8s.io"}
PORTS = {"X_Stream_Protocol_Version": "portforward.k8s.io"}
TUNNEL = "SPDY/3.1+portforward.k8s.io"

NAMES = st.text("abcdefghij-", min_size=1, max_size=12)


@pytest.fixture
async def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
async def http(sessions: Sessions, aiohttp_client: AiohttpClient) -> Http:
    return await aiohttp_client(Serving(HttpServer(sessions, clock=ManualClock())))


@pytest.fixture
def server(http: Http) -> HttpServer:
    return served(http)


def raw(server: HttpServer, path: str, **headers: str) -> RawConnection:
    return RawConnection(server.host, server.port, path, **headers)


@given(st.lists(st.dictionaries(NAMES, st.text(st.characters(codec="latin-1"), max_size=30), max_size=5), max_size=5))
def test_headers_are_read_as_they_were_written(blocks: list[dict[str, str]]) -> None:
    """Given header blocks of one connection / when they are written and read / then they are the
    same, one after the other.
    """
    writer, reader = spdy.HeaderWriter(), spdy.HeaderReader()
    assert [reader.read(writer.write(block)) for block in blocks] == blocks


@given(st.lists(st.tuples(st.integers(1, 2**31 - 1), st.binary(max_size=40), st.integers(0, 1)), max_size=6), st.data())
def test_frames_come_out_whole(sent: list[tuple[int, bytes, int]], draw: st.DataObject) -> None:
    """Given frames cut anywhere on their way / when the pieces are fed / then the frames come out,
    each once.
    """
    whole = b"".join(spdy.data(*frame) for frame in sent) + spdy.control(spdy.PING, b"\0\0\0\1")
    deframer, found, position = spdy.Deframer(), list[spdy.Frame](), 0
    while position < len(whole):
        end = draw.draw(st.integers(position + 1, len(whole)))
        found += deframer.feed(whole[position:end])
        position = end
    assert [(frame.stream, frame.payload, frame.flags) for frame in found[:-1]] == sent
    assert found[-1].kind == spdy.PING


@given(st.lists(st.one_of(
    st.binary(max_size=30),
    st.builds(spdy.control, st.integers(0, 9), st.binary(max_size=30), st.integers(0, 3)),
    st.builds(spdy.data, st.integers(0, 9), st.binary(max_size=9), st.integers(0, 1)),
    st.builds(lambda number, headers: spdy.control(spdy.SYN_STREAM, number.to_bytes(4) + bytes(6) + headers),
              st.integers(0, 9), st.just(spdy.HeaderWriter().write({"port": "80"}))),
), max_size=8))
def test_whatever_comes_is_served_or_refused(pieces: list[bytes]) -> None:
    """Given any bytes, well formed or not / when a connection takes them in / then it goes on, or
    says BadFrame; what it writes are frames.
    """
    written = list[bytes]()

    async def write(data: bytes) -> None:
        written.append(data)

    async def feed() -> None:
        connection = spdy.Connection(write, lambda stream: stream.number != 3)
        with contextlib.suppress(spdy.BadFrame):
            for piece in pieces:
                await connection.feed(piece)

    asyncio.run(feed())
    frames = list(spdy.Deframer().feed(b"".join(written)))
    assert len(frames) == len(written)


@pytest.mark.parametrize("block", [b"", b"garbage", spdy.HeaderWriter().write({"a": "x" * 70_000})])
def test_bad_headers_are_refused(block: bytes) -> None:
    """Given what is no header block, or too long a one / when it is read / then it is refused, or
    read as no headers.
    """
    if block:
        with pytest.raises(spdy.BadFrame):
            spdy.HeaderReader().read(block)
    else:
        assert spdy.HeaderReader().read(block) == {}


@pytest.mark.spec("API-137")
async def test_a_command_has_a_stream_for_each_of_its_ends(server: HttpServer, sessions: Sessions) -> None:
    """Given an old client / when it asks for SPDY and opens its streams / then input is answered on
    them, a size is heard, and the exit is a Status; then the server says goodbye.
    """
    async with raw(server, "/command/3?stdin=1&stdout=1&stderr=1&tty=1", **V4) as connection:
        assert connection.head.startswith("HTTP/1.1 101 Switching Protocols\r\n")
        assert "X-Stream-Protocol-Version: v4.channel.k8s.io" in connection.head
        client = SpdyClient(connection.send)
        error = await client.open(streamType="error", fin=True)
        stdin, stdout = await client.open(streamType="stdin"), await client.open(streamType="stdout")
        stderr, resize = await client.open(streamType="stderr", fin=True), await client.open(streamType="resize")
        await client.write(resize, b'{"Width":80,"Height":24}')
        await client.write(stdin, b"hello")
        await connection.until(client, lambda: client.data.get(stdout) == b"HELLO")
        await client.write(stdin, b" you", fin=True)
        await connection.until(client, lambda: False)
    assert (client.data[stdout], client.data[stderr]) == (b"HELLO YOU", b"!!")
    assert json.loads(client.data[error])["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]
    assert {error, stdout, stderr} <= client.finished
    assert client.frames[-1].kind == spdy.GOAWAY
    assert sessions.sizes == [(80, 24)]


@pytest.mark.parametrize(("headers", "status", "text"), [
    ({}, 400, "unable to upgrade: header X-Stream-Protocol-Version does not exist in request"),
    ({"X_Stream_Protocol_Version": "v9"}, 403,
     "unable to upgrade: unable to negotiate protocol: client supports [v9], server accepts [v4.channel.k8s.io "),
    ({"X_Stream_Protocol_Version": ""}, 400, "but no valid protocols"),
    ({**V4, "Upgrade": "SPDY/2"}, 400, "unable to upgrade: missing upgrade headers in request"),
])
async def test_what_cannot_be_agreed_upon_is_told(server: HttpServer, headers: dict[str, str], status: int, text: str) -> None:
    """Given a client whose protocol nobody speaks / when it asks for it / then it is told what
    would be spoken.
    """
    async with raw(server, "/command?stdout=1", **headers) as connection:
        assert connection.head.startswith(f"HTTP/1.1 {status} ")
        assert text in (await connection.reader.read(1000)).decode()
    assert status != 403 or "X-Accepted-Stream-Protocol-Versions: v4.channel.k8s.io" in connection.head


@pytest.mark.parametrize("sent", [
    b"\x80\x02" + bytes(6), spdy.control(spdy.SYN_STREAM, bytes(10) + b"no headers"), spdy.control(spdy.GOAWAY, bytes(8)), b"",
])
async def test_nothing_is_left_of_a_client_that_goes_or_talks_nonsense(
    server: HttpServer, sessions: Sessions, sent: bytes) -> None:
    """Given a command that waits for ever / when its client breaks the protocol, says goodbye or
    vanishes / then the command is cancelled.
    """
    async with raw(server, "/command/waits?stdout=1", **V4) as connection:
        client = SpdyClient(connection.send)
        await client.open(streamType="error")
        stdout = await client.open(streamType="stdout")
        await connection.until(client, lambda: client.saw(spdy.SYN_REPLY, stdout))
        if sent:
            await connection.send(sent)
            await connection.until(client, lambda: False)
    await asyncio.wait_for(sessions.ended.wait(), 5)


async def test_pings_are_answered_and_streams_reset(server: HttpServer) -> None:
    """Given a connection / when the client pings, opens a number twice or resets a stream / then
    the ping comes back, the second stream is reset, and data of a reset stream is dropped.
    """
    async with raw(server, "/ports", **PORTS) as connection:
        client = SpdyClient(connection.send)
        await client.control(spdy.PING, b"\0\0\0\5")
        await client.control(spdy.PING, b"\0\0\0\4")
        await client.open(streamType="error", port="80", number=1)
        await client.open(streamType="error", port="80", number=1)
        await client.control(spdy.RST_STREAM, b"\0\0\0\1" + b"\0\0\0\5")
        await client.write(1, b"late")
        await client.write(99, b"never opened")
        last = await client.open(streamType="error", port="81", number=5)
        await connection.until(client, lambda: client.saw(spdy.SYN_REPLY, last))
    assert [frame.payload for frame in client.frames if frame.kind == spdy.PING] == [b"\0\0\0\5"]
    assert client.kinds[1] == [spdy.SYN_REPLY, spdy.RST_STREAM]


@pytest.mark.parametrize("headers", [
    {"streamType": "data"}, {"streamType": "data", "port": "x"}, {"streamType": "data", "port": "0"},
    {"streamType": "data", "port": "65536"}, {"port": "80"}, {"streamType": "video", "port": "80"}])
async def test_streams_of_no_port_are_reset(server: HttpServer, headers: dict[str, str]) -> None:
    """Given a port-forward / when a stream names no port, or no purpose / then it is reset, and
    others are served.
    """
    async with raw(server, "/ports", **PORTS) as connection:
        client = SpdyClient(connection.send)
        bad, good = await client.open(**headers), await client.open(streamType="error", port="80")
        await connection.until(client, lambda: client.saw(spdy.SYN_REPLY, good))
    assert client.kinds[bad] == [spdy.RST_STREAM]


async def test_connections_to_ports_are_pairs_of_streams(server: HttpServer) -> None:
    """Given a port-forward, as old clients do without request ids and new ones with / when both
    connections send / then each gets its own answer, and ends when its client ends it; one that is
    refused has the reason, and its streams are reset.
    """
    async with raw(server, "/ports", **PORTS) as connection:
        client = SpdyClient(connection.send)
        await client.open(streamType="error", port="80", fin=True)
        old = await client.open(streamType="data", port="80")
        error = await client.open(streamType="error", port="1", requestID="7")
        new = await client.open(streamType="data", port="81", requestID="8")
        refused = await client.open(streamType="data", port="1", requestID="7")
        await client.open(streamType="error", port="81", requestID="8")
        await client.write(old, b"one", fin=True)
        await client.write(new, b"two")
        await connection.until(client, lambda: old in client.finished and new in client.data and client.saw(3, refused))
        await client.write(refused, b"too late")
        await client.write(new, b"!", fin=True)
        await connection.until(client, lambda: new in client.finished)
    assert (client.data[old], client.data[new]) == (b"one", b"two!")
    assert client.data[error] == b"error forwarding port 1 to pod p, uid u-1: connection refused"


async def test_a_request_id_may_come_again(server: HttpServer) -> None:
    """Given a connection to a port that has ended / when another has its request id / then it is
    served as the first was.
    """
    async with raw(server, "/ports", **PORTS) as connection:
        client = SpdyClient(connection.send)
        for text in (b"one", b"two"):
            await client.open(streamType="error", port="80", requestID="7", fin=True)
            data = await client.open(streamType="data", port="80", requestID="7")
            await client.write(data, text, fin=True)
            await connection.until(client, lambda data=data: data in client.finished)
            assert client.data[data] == text


async def test_a_tunnel_carries_it_through_a_websocket(server: HttpServer) -> None:
    """Given kubectl of today / when it offers the tunnel / then SPDY is spoken in binary messages;
    text ends the connection.
    """
    async with aiohttp.ClientSession(server.url) as http, http.ws_connect("/ports", protocols=(TUNNEL,)) as socket:
        assert socket.protocol == TUNNEL
        client = SpdyClient(socket.send_bytes)
        await client.open(streamType="error", port="80", requestID="0", fin=True)
        data = await client.open(streamType="data", port="80", requestID="0")
        await client.write(data, b"ping", fin=True)
        while data not in client.finished:
            client.feed(await socket.receive_bytes(timeout=5))
        assert client.data[data] == b"ping"
        await socket.send_str("no")
        async with asyncio.timeout(5):
            rest = [message async for message in socket]
    assert all(message.type is aiohttp.WSMsgType.BINARY for message in rest)
    assert socket.close_code == 1000
