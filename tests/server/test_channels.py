"""Commands and ports over WebSocket channels, as the different sub-protocols have it."""

import asyncio
import json
from base64 import b64decode, b64encode

import aiohttp
import pytest
from pytest_aiohttp.plugin import AiohttpClient

from fakekube.server import channels
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock
from tests.aiohttp_servers import Http, Serving, served
from tests.server.sessions import Sessions

V5, V4, OLD = "v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"
ALL = "?stdin=1&stdout=1&stderr=1"


@pytest.fixture
async def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
async def http(sessions: Sessions, aiohttp_client: AiohttpClient) -> Http:
    server = Serving(HttpServer(sessions, clock=ManualClock()))
    return await aiohttp_client(server, timeout=aiohttp.ClientTimeout(total=20))


@pytest.fixture
def server(http: Http) -> HttpServer:
    return served(http)


async def heard(socket: aiohttp.ClientWebSocketResponse) -> list[tuple[int, bytes]]:
    """All messages until the end, as channel and content."""
    return [(message.data[0], message.data[1:]) async for message in socket]


def joined(messages: list[tuple[int, bytes]], channel: int) -> bytes:
    return b"".join(data for number, data in messages if number == channel)


@pytest.mark.spec("API-137")
@pytest.mark.parametrize("offered", [(V5,), (V5, V4), (V4, V5)])
async def test_the_fifth_protocol_closes_streams_one_by_one(http: Http, offered: tuple[str, ...]) -> None:
    """Given a client that offers version 5 / when it sends input and closes that channel / then the
    command sees its end, output and error output come on their channels, and Success on the error
    channel.
    """
    async with http.ws_connect(f"/command{ALL}", protocols=offered) as socket:
        assert socket.protocol == V5
        await socket.send_bytes(b"\x00hello")
        assert (await socket.receive_bytes(), await socket.receive_bytes()) == (b"\x01", b"\x01HELLO")
        await socket.send_bytes(b"\xff\x00")
        rest = await heard(socket)
    assert joined(rest, 2) == b"!"
    assert json.loads(joined(rest, 3)) == {"metadata": {}, "status": "Success"}
    assert socket.close_code == 1000


@pytest.mark.spec("API-137")
@pytest.mark.parametrize(("protocol", "text"), [
    (V5, "command terminated with exit code 3"), (V4, "error executing command [run it], exit code 3")])
async def test_an_exit_code_is_a_cause(http: Http, protocol: str, text: str) -> None:
    """Given a command that fails / when it ends / then the error channel has the exit code among
    the causes.
    """
    async with http.ws_connect("/command/3?stdout=1", protocols=(protocol,)) as socket:
        status = json.loads(joined(await heard(socket), 3))
    assert status == {
        "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: {text}",
        "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}}


async def test_a_command_that_cannot_run_is_an_internal_error(http: Http) -> None:
    """Given a command that cannot be run / when a client waits for it / then the error channel has
    a Status that says why.
    """
    async with http.ws_connect("/command/fails?stdout=1", protocols=(V4,)) as socket:
        status = json.loads(joined(await heard(socket), 3))
    assert (status["reason"], status["code"]) == ("InternalError", 500)
    assert status["message"] == "Internal error occurred: error executing command in container: no"


@pytest.mark.parametrize("protocols", [(), (OLD,)])
async def test_old_protocols_tell_an_exit_in_words(http: Http, protocols: tuple[str, ...]) -> None:
    """Given a client of an old protocol, or of none / when its command succeeds or fails / then the
    error channel has nothing, or a text.
    """
    async with http.ws_connect("/command?stdout=1", protocols=protocols) as socket:
        assert socket.protocol == (protocols[0] if protocols else None)
        assert joined(await heard(socket), 3) == b""
    async with http.ws_connect("/command/2?stdout=1", protocols=protocols) as socket:
        assert joined(await heard(socket), 3).startswith(b"command terminated with non-zero exit code: ")


@pytest.mark.parametrize("protocol", ["base64.channel.k8s.io", "v4.base64.channel.k8s.io"])
async def test_base64_travels_as_text(http: Http, protocol: str) -> None:
    """Given a client that cannot do bytes / when it sends base64 / then it gets base64, with the
    channel as a digit; what is no base64 is dropped.
    """
    async with http.ws_connect(f"/command{ALL}", protocols=(protocol,)) as socket:
        assert await socket.receive_str() == "1"
        await socket.send_str("0%%%")
        await socket.send_str("0" + b64encode(b"hi").decode())
        answer = await socket.receive_str()
    assert (answer[0], b64decode(answer[1:])) == ("1", b"HI")


async def test_streams_that_were_not_asked_for_are_silent(http: Http) -> None:
    """Given a client that asked for standard error alone / when input is sent all the same / then
    none arrives and no output comes; the first message is on the lowest channel that it has.
    """
    async with http.ws_connect("/command?stderr=1", protocols=(V5,)) as socket:
        await socket.send_bytes(b"\x00ignored")
        messages = await heard(socket)
    assert [channel for channel, _ in messages] == [2, 3]
    assert json.loads(joined(messages, 3))["status"] == "Success"


async def test_output_comes_in_pieces(http: Http) -> None:
    """Given a command with much to say / when it says it at once / then it comes in messages of
    limited size, and whole.
    """
    async with http.ws_connect("/command/large?stdout=1", protocols=(V5,)) as socket:
        messages = await heard(socket)
    assert joined(messages, 1) == b"x" * 100_000
    assert max(len(data) for _, data in messages) == channels.PIECE_BYTES


@pytest.mark.parametrize(("sent", "size"), [
    ([b'\x04{"Width":80,"Height":24}'], (80, 24)), ([b'\x04{"Width":80,', b'\x04"Height":24}{"Width":81,"Height":25}'], (81, 25)),
    ([b"\x04nonsense", b'\x04{"Width":80,"Height":24}'], (0, 0)), ([b'\x04{"Width":"x"}'], (0, 0)), ([b"\x04[]"], (0, 0)),
])
async def test_a_terminal_tells_its_size(
    http: Http, sessions: Sessions, sent: list[bytes], size: tuple[int, int]) -> None:
    """Given the resize channel / when sizes come on it, in any pieces / then the last one counts;
    nonsense ends it, no more.
    """
    async with http.ws_connect(f"/command{ALL}&tty=1", protocols=(V5,)) as socket:
        for message in [*sent, b"\xff\x00"]:
            await socket.send_bytes(message)
        await heard(socket)
    assert sessions.sizes == [size]


@pytest.mark.parametrize("sent", [b"\xff", b"\xff\x00\x00", b"\xff\x09"])
async def test_a_broken_close_ends_the_connection(http: Http, sessions: Sessions, sent: bytes) -> None:
    """Given version 5 / when a close names no channel, or more than one / then the connection ends,
    and the command too.
    """
    async with http.ws_connect(f"/command/waits{ALL}", protocols=(V5,)) as socket:
        await socket.send_bytes(sent)
        assert joined(await heard(socket), 3) == b""
    assert sessions.ended.is_set()


@pytest.mark.parametrize("sent", [b"", b"\x09x", b"\x03x", b"\x01x", b"\x00"])
async def test_strange_messages_are_passed_over(http: Http, sent: bytes) -> None:
    """Given a running command / when messages come that mean nothing / then the command goes on."""
    async with http.ws_connect(f"/command{ALL}", protocols=(V5,)) as socket:
        await socket.send_bytes(sent)
        await socket.send_bytes(b"\x00on")
        await socket.send_bytes(b"\xff\x00")
        messages = await heard(socket)
    assert joined(messages, 1) == b"ON"


async def test_a_message_that_is_too_long_ends_the_connection(
    http: Http, sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a limit of messages / when one is longer / then the connection is closed as WebSocket
    has it, the command ends.
    """
    monkeypatch.setattr(channels, "MAX_MESSAGE_BYTES", 1000)
    async with http.ws_connect(f"/command/waits{ALL}", protocols=(V5,)) as socket:
        await socket.send_bytes(bytes(2000))
        await heard(socket)
        assert socket.close_code == 1009
    await asyncio.wait_for(sessions.ended.wait(), 5)


async def test_a_client_that_sends_what_nobody_reads_is_cut(
    http: Http, sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a command that does not read / when more input comes than may wait / then the
    connection and the command end.
    """
    monkeypatch.setattr(channels, "MAX_WAITING_BYTES", 1000)
    async with http.ws_connect(f"/command/waits{ALL}", protocols=(V5,)) as socket:
        await socket.send_bytes(bytes(2000))
        await heard(socket)
    assert sessions.ended.is_set()


@pytest.mark.parametrize("polite", [True, False])
async def test_nothing_is_left_when_the_client_goes(
    server: HttpServer, http: Http, sessions: Sessions, polite: bool) -> None:
    """Given a command that waits for ever / when its client closes, or just vanishes / then the
    command is cancelled and no task of it is left.
    """
    before = len(asyncio.all_tasks())
    socket = await http.ws_connect(f"/command/waits{ALL}", protocols=(V5,))
    await socket.receive()
    if polite:
        await socket.close()
    else:
        assert socket._response.connection is not None
        assert socket._response.connection.transport is not None
        socket._response.connection.transport.abort()
    await asyncio.wait_for(sessions.ended.wait(), 5)
    assert server._upgrading is not None
    async with asyncio.timeout(5):
        while server._upgrading._upgraded or len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 (no event says that tasks are gone)
            await asyncio.sleep(0)


async def test_a_stop_ends_what_runs(server: HttpServer, http: Http, sessions: Sessions) -> None:
    """Given a command that waits for ever / when the server stops / then the command ends, and the
    client's connection.
    """
    socket = await http.ws_connect(f"/command/waits{ALL}", protocols=(V4,))
    await socket.receive()
    await asyncio.gather(server.stop(), heard(socket))
    assert sessions.ended.is_set()


@pytest.mark.parametrize("offered", [("v6.channel.k8s.io",), ("soap",), ("base64url.bearer.authorization.k8s.io.eA", "soap")])
async def test_unknown_protocols_are_refused(http: Http, offered: tuple[str, ...]) -> None:
    """Given a client that offers what nobody speaks / when it connects / then the answer is 403."""
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await http.ws_connect("/command?stdout=1", protocols=offered)
    assert caught.value.status == 403


async def test_a_token_is_no_protocol(http: Http) -> None:
    """Given a browser that sends its token as a sub-protocol / when it offers another one too /
    then that one is chosen.
    """
    offered = ("base64url.bearer.authorization.k8s.io.c2VjcmV0", V4)
    async with http.ws_connect("/command?stdout=1", protocols=offered) as socket:
        assert socket.protocol == V4


async def test_what_is_sent_to_a_port_that_is_over_is_dropped(
    http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given two ports, of which one is over / when much is sent to that one / then the other goes
    on.
    """
    monkeypatch.setattr(channels, "MAX_WAITING_BYTES", 1000)
    async with http.ws_connect("/ports?ports=80&ports=1", protocols=(V4,)) as socket:
        for _ in range(5):
            await socket.receive_bytes()
        await socket.send_bytes(b"\x02" + bytes(2000))
        await socket.send_bytes(b"\x00ping")
        assert await socket.receive_bytes() == b"\x00ping"


@pytest.mark.parametrize("protocols", [(), (V4,), (V5, V4)])
async def test_each_port_has_two_channels(http: Http, protocols: tuple[str, ...]) -> None:
    """Given two ports / when a client connects / then each has a data and an error channel, which
    begin with its number; what is sent comes back; a port that refuses says so on its error
    channel.
    """
    async with http.ws_connect("/ports?ports=8080&ports=1", protocols=protocols) as socket:
        assert socket.protocol == (V4 if protocols else None)
        first = [await socket.receive_bytes() for _ in range(5)]
        assert first[:4] == [b"\x00\x90\x1f", b"\x01\x90\x1f", b"\x02\x01\x00", b"\x03\x01\x00"]
        assert first[4] == b"\x03error forwarding port 1 to pod p, uid u-1: connection refused"
        await socket.send_bytes(b"\x00ping")
        assert await socket.receive_bytes() == b"\x00ping"
