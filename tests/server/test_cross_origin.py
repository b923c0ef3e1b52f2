"""Whose requests are answered, by ``Host``, ``Origin`` and ``Sec-Fetch-Site``."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from fakekube.server.crossorigin import CrossOriginProtection
from fakekube.server.http import HttpServer
from fakekube.util.clock import ManualClock

from .raw import Answer, Recorder, ask, read_answer, request_bytes
from .sessions import RawConnection, Sessions

UPGRADE = {"Connection": "Upgrade", "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec_WebSocket_Version": "13"}
FOREIGN = "http://evil.example"


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def server(recorder: Recorder) -> AsyncIterator[HttpServer]:
    async with HttpServer(recorder, clock=ManualClock()) as server:
        yield server


async def sent(server: HttpServer, method: str = "GET", target: str = "/x", **headers: str) -> Answer:
    return await ask(server.host, server.port, request_bytes(method, target, **headers))


@pytest.mark.parametrize("host", [
    "localhost", "localhost:1", "LocalHost:65535", "localhost.", "localhost:", "127.0.0.1", "127.0.0.1:80", "127.9.9.9:1",
    "[::1]", "[::1]:80", "[0:0:0:0:0:0:0:1]:80", "[::1%25lo]:80", "[::ffff:127.0.0.1]:80", "cluster.localhost:80",
    "kubernetes.default.svc", "kubernetes.default.svc.cluster.local:443",
])
async def test_own_names_are_answered(server: HttpServer, recorder: Recorder, host: str) -> None:
    """Given a name or an address of loopback, any port, or the name that pods know / when it is
    asked / then it answers.
    """
    assert (await sent(server, host=host)).status == 200
    assert len(recorder.asked) == 1


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:80", "localhost.evil.example", "evil-localhost", "127.0.0.1.evil.example", "0.0.0.0", "[::]",
    "192.168.0.10:80", "[fe80::1%25eth0]:80", "localhost@evil.example", "evil.example@localhost", "localhost:80@evil.example",
    "localhost:80:80", "localhost:x", "localhost/evil", "localhost, evil.example", "::1", "[::1", "[localhost]", "[127.0.0.1]",
    "", ".", "localhost..", "-localhost", "l\N{LATIN SMALL LETTER O WITH DIAERESIS}calhost", "localhost:\N{SUPERSCRIPT TWO}",
    "x" * 100_000,
])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "DELETE"])
async def test_other_names_are_refused(server: HttpServer, recorder: Recorder, host: str, method: str) -> None:
    """Given a name that is not the server's, or none at all, as after DNS rebinding / when it is
    asked / then 403.
    """
    answer = await sent(server, method, host=host)
    assert answer.status == 403
    if method != "HEAD":
        assert "--allow-host" in answer.message
        assert len(answer.body) < 1000
    assert recorder.asked == []


async def test_no_host_of_old_http_is_answered(server: HttpServer) -> None:
    """Given a client of HTTP/1.0 / when it names no host / then it is answered; and refused when it
    names another one.
    """
    assert (await ask(server.host, server.port, b"GET /x HTTP/1.0\r\n\r\n")).status == 200
    assert (await ask(server.host, server.port, b"GET /x HTTP/1.0\r\nHost: evil.example\r\n\r\n")).status == 403


@pytest.mark.parametrize(("target", "status"), [
    ("http://localhost/x", 200), ("http://127.0.0.1:1/x?a=b", 200), ("http://evil.example/x", 403),
    ("http://localhost@evil.example/x", 403), ("http://evil.example@localhost/x", 403), ("https://evil.example", 403),
])
async def test_host_of_an_absolute_target_counts_too(server: HttpServer, target: str, status: int) -> None:
    """Given a target with a host in it, as for a proxy / when it is asked under our name / then
    both must be ours.
    """
    assert (await sent(server, target=target)).status == status


@pytest.mark.parametrize(("origin", "site"), [
    ("http://localhost", ""), ("http://localhost:3000", "same-site"), ("http://127.0.0.1:80", "same-origin"),
    ("http://[::1]:80", ""), ("https://localhost", ""), ("", "none"), ("", "same-origin"), ("", "same-site"),
])
async def test_own_pages_are_answered(server: HttpServer, origin: str, site: str) -> None:
    """Given a page of this machine, or a reader who typed the address / when it asks / then it is
    answered.
    """
    given = {name: value for name, value in (("Origin", origin), ("Sec_Fetch_Site", site)) if value}
    answer = await sent(server, "POST", **given)
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(("origin", "site"), [
    (FOREIGN, ""), (FOREIGN, "cross-site"), ("", "cross-site"), ("", "Cross-Site"), ("", "unknown"), ("", "none, cross-site"),
    ("null", ""), ("null", "same-origin"), ("http://localhost:3000", "cross-site"), ("http://localhost.evil.example", ""),
    ("http://evil.example/localhost", ""), ("http://evil.example@localhost", ""), ("file://localhost", ""),
    ("chrome-extension://localhost", ""), ("localhost", ""), ("http://localhost, http://evil.example", ""), ("http://", ""),
    ("//localhost", ""), ("http://203.0.113.5", ""),
])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PATCH"])
async def test_foreign_pages_are_refused(
    server: HttpServer, recorder: Recorder, origin: str, site: str, method: str,
) -> None:
    """Given a page of another site, by what its browser says of it / when it asks for anything /
    then 403, and no CORS.
    """
    given = {name: value for name, value in (("Origin", origin), ("Sec_Fetch_Site", site)) if value}
    answer = await sent(server, method, **given)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]
    if method != "HEAD":
        assert "--allow-origin" in answer.message
    assert recorder.asked == []


async def test_two_origins_are_none(server: HttpServer) -> None:
    """Given a request with one origin of ours and a foreign one / when it is sent / then 403."""
    data = b"GET /x HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n\r\n"
    assert (await ask(server.host, server.port, data)).status == 403


async def test_foreign_page_is_refused_before_its_body_is_read(server: HttpServer, recorder: Recorder) -> None:
    """Given a POST without Content-Type of a foreign page / when only its head has come / then it
    is refused and closed, and nobody asks it to go on.
    """
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(request_bytes("POST", Origin=FOREIGN, Content_Length="1000000", Expect="100-continue"))
    answer = await read_answer(reader)
    assert (answer.status, answer.headers["connection"]) == (403, "close")
    writer.close()
    assert recorder.asked == []


async def test_connection_goes_on_after_a_refusal(server: HttpServer) -> None:
    """Given a refused request without a body / when another follows / then that one is answered."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(request_bytes(Origin=FOREIGN) + request_bytes())
    assert [(await read_answer(reader)).status for _ in range(2)] == [403, 200]
    writer.close()


@pytest.mark.parametrize("path", ["/command?stdin=1&stdout=1", "/ports?ports=80"])
async def test_sessions_of_foreign_pages_are_refused(path: str) -> None:
    """Given exec and port-forward / when a page of another site asks by WebSocket, or anyone by
    SPDY with its origin or under another name / then 403; from here it is agreed to.
    """
    sessions = Sessions()
    async with HttpServer(sessions, clock=ManualClock()) as server:
        for headers in ({"Origin": FOREIGN}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"host": "evil.example"}):
            answer = await sent(server, target=path, Upgrade="websocket", **UPGRADE, **headers)
            assert (answer.status, answer.headers["connection"]) == (403, "close")
        async with RawConnection(server.host, server.port, path, Origin=FOREIGN) as connection:
            assert connection.head.startswith("HTTP/1.1 403 ")
        async with aiohttp.ClientSession(server.url, headers={"Origin": server.url}) as http, http.ws_connect(path) as socket:
            assert not socket.closed


async def test_allowed_origin_reads_by_cors() -> None:
    """Given an allowed origin / when its page asks first whether it may, then asks / then the
    browser is told that it may.
    """
    recorder, origin = Recorder(), "https://board.example"
    protection = CrossOriginProtection(allow_origins=["https://Board.example:443"])
    async with HttpServer(recorder, clock=ManualClock(), protection=protection) as server:
        before = await sent(
            server, "OPTIONS", Origin=origin, Sec_Fetch_Site="cross-site", Access_Control_Request_Method="PATCH")
        assert (before.status, before.body, recorder.asked) == (204, b"", [])
        answer = await sent(server, "PATCH", Origin=origin, Sec_Fetch_Site="cross-site")
        assert answer.status == 200
        for headers in (before.headers, answer.headers):
            assert headers["access-control-allow-origin"] == origin
            assert "PATCH" in headers["access-control-allow-methods"]
            assert "Authorization" in headers["access-control-allow-headers"]
            assert headers["vary"] == "Origin"
        assert (await sent(server, Origin="https://other.example")).status == 403
        assert (await sent(server, Origin="http://board.example")).status == 403
        assert (await sent(server, Origin=origin, host="evil.example")).status == 403


@pytest.mark.parametrize(("allowed", "origin", "status"), [
    ("*", FOREIGN, 200), ("*", "null", 200), ("null", "null", 200), ("null", FOREIGN, 403), (FOREIGN, "null", 403),
])
async def test_all_and_opaque_origins_can_be_allowed(allowed: str, origin: str, status: int) -> None:
    """Given every origin, or that of files and sandboxes, allowed / when pages ask / then those
    may, and others not.
    """
    async with HttpServer(Recorder(), clock=ManualClock(), protection=CrossOriginProtection(allow_origins=[allowed])) as server:
        assert (await sent(server, Origin=origin)).status == status


@pytest.mark.parametrize(("protection", "host", "status"), [
    (CrossOriginProtection(allow_hosts=["Fake.example."]), "fake.example:8443", 200),
    (CrossOriginProtection(allow_hosts=["fake.example"]), "other.example", 403),
    (CrossOriginProtection(allow_hosts=["*"]), "other.example", 200),
    (CrossOriginProtection(allow_hosts=["fd00::1"]), "[fd00:0::1]:80", 200),
    (CrossOriginProtection(names=["api.example"]), "api.example", 200),
    (CrossOriginProtection("192.168.0.10"), "192.168.0.10:80", 200),
    (CrossOriginProtection("192.168.0.10"), "192.168.0.11:80", 403),
    (CrossOriginProtection("fe80::1%eth0"), "[fe80::1]:80", 200),
    (CrossOriginProtection("box.example"), "box.example:80", 200),
    (CrossOriginProtection("0.0.0.0"), "192.168.0.10:80", 200),
    (CrossOriginProtection("::"), "[fd00::1]:80", 200),
    (CrossOriginProtection(""), "192.168.0.10:80", 200),
    (CrossOriginProtection("0.0.0.0"), "evil.example", 403),
])
async def test_what_else_the_server_is_known_as(protection: CrossOriginProtection, host: str, status: int) -> None:
    """Given names that are allowed, and an address that is listened on (all of them: any address) /
    when it is asked by them / then it answers, and by no other.
    """
    async with HttpServer(Recorder(), clock=ManualClock(), protection=protection) as server:
        assert (await sent(server, host=host)).status == status


async def test_pages_of_any_address_are_foreign_all_the_same() -> None:
    """Given a server on all addresses / when a page of some address that is not the asked one
    writes / then 403.
    """
    async with HttpServer(Recorder(), clock=ManualClock(), protection=CrossOriginProtection("0.0.0.0")) as server:
        assert (await sent(server, "POST", host="192.168.0.10:80", Origin="http://203.0.113.5")).status == 403
        assert (await sent(server, "POST", host="192.168.0.10:80", Origin="http://192.168.0.10:80")).status == 200


async def test_refusals_say_what_to_do(server: HttpServer) -> None:
    """Given refusals / when they are read / then they name the option, and give back no bytes that
    do harm.
    """
    assert (await sent(server, host="Fake.Example:80")).message == (
        'this server is not known as "Fake.Example:80", and a page that rebinds a name of its own would ask like this: '
        "start it with --allow-host fake.example if it is to be")
    answer = await sent(server, Origin="https://board.example")
    assert answer.message == (
        'a page of origin "https://board.example" has sent this request, and pages of other sites may not use this server: '
        "start it with --allow-origin https://board.example if this one may")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
