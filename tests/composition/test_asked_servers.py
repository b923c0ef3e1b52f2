"""Servers behind APIServices, as an API server asks them: who they are, what is sent, and how an
answer that comes in pieces is passed on.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest
from yarl import URL

from fakekube.aggregator.servers import Call
from fakekube.apimachinery.http import Frame
from fakekube.composition import aggregatedservers
from fakekube.composition.aggregatedservers import AggregatedServers, Registered, _Stream
from fakekube.composition.httppool import HTTPPool, Reused
from fakekube.util.tasks import Tasks
from fakekube.webhooks.services import Endpoint
from fakekube.webhooks.transport import NoAnswer


def api_service(name: str, **spec: Any) -> dict[str, Any]:
    version, _, group = name.partition(".")
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": name},
        "spec": {"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": 15, **spec},
    }


def add(known: Registered, name: str, server: Any, ca_bundle: bytes = b"") -> Any:
    return known.add(name, server, ca_bundle=ca_bundle, group_priority=1000, version_priority=15)


def test_the_service_of_a_server() -> None:
    """Given a function, a URL and a URL with an authority, when they are registered, then each has
    its APIService; and a name that is taken is refused, whoever has it.
    """
    known, handler = Registered(), object()
    assert add(known, "v1.shop.example.com", handler) == api_service(
        "v1.shop.example.com",
        service={"namespace": "handlers.fakekube.invalid", "name": "v1.shop.example.com"},
        insecureSkipTLSVerify=True,
    )
    assert add(known, "v1.a.b", "http://h:1") == api_service(
        "v1.a.b", service={"namespace": "urls.fakekube.invalid", "name": "v1.a.b"}, insecureSkipTLSVerify=True
    )
    assert add(known, "v2.a.b", "https://h:2", b"PEM") == api_service(
        "v2.a.b", service={"namespace": "urls.fakekube.invalid", "name": "v2.a.b"}, caBundle="UEVN"
    )
    for name in ("v1.shop.example.com", "v1.a.b"):
        with pytest.raises(ValueError, match=f"^there is a server for '{name}' already$"):
            add(known, name, "http://h")
    assert (aggregatedservers.GROUP_PRIORITY, aggregatedservers.VERSION_PRIORITY) == (1000, 15)


class Resolver:
    """Knows one service, ``a/s:443``."""

    def is_known(self, namespace: str, name: str, port: int) -> bool:
        return (namespace, name, port) == ("a", "s", 443)

    def resolve(self, namespace: str, name: str, port: int) -> Endpoint:
        return Endpoint(f"{namespace}.{name}.{port}")


def servers(known: Registered | None = None) -> AggregatedServers:
    return AggregatedServers(known or Registered(), cast("Any", Resolver()), Tasks(), lambda: None)


async def test_where_a_server_listens() -> None:
    """Given what is registered, when the places of servers are asked for, then URLs lead to their
    hosts, other services to where the resolver says, and what nobody knows to nowhere.
    """
    known, handler = Registered(), object()
    add(known, "v1.h", handler)
    add(known, "v1.plain", "http://h:1/x")
    add(known, "v1.tls", "https://h:2/x")
    asked = servers(known)
    assert (asked.handler("v1.h"), asked.handler("v1.plain")) == (handler, None)
    assert asked.resolve("urls.fakekube.invalid", "v1.plain", 443) == Endpoint("h:1", True)
    assert asked.resolve("urls.fakekube.invalid", "v1.tls", 443) == Endpoint("h:2", False)
    assert asked.resolve("a", "s", 443) == Endpoint("a.s.443")
    with pytest.raises(NoAnswer, match=r"^no URL v1\.x is registered$"):
        asked.resolve("urls.fakekube.invalid", "v1.x", 443)
    assert [
        asked.is_mapped(*place)
        for place in (("urls.fakekube.invalid", "v1.x", 1), ("a", "s", 443), ("a", "s", 1), ("a", "t", 443))
    ] == [True, True, False, False]
    await asked.close()


class Answer:
    """What aiohttp gives: pieces of a body. It notes how often it was closed."""

    def __init__(self, *pieces: bytes | Exception, status: int = 200, **headers: str) -> None:
        self.status, self.url = status, URL("http://h/p")
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.closed = 0
        self.content = SimpleNamespace(iter_any=lambda: self._pieces(pieces))

    @staticmethod
    async def _pieces(pieces: tuple[bytes | Exception, ...]) -> AsyncIterator[bytes]:
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def __aenter__(self) -> "Answer":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed += 1

    def close(self) -> None:
        self.closed += 1


Send = Callable[[Any, Any, Any], Awaitable[Any]]


async def sent(monkeypatch: pytest.MonkeyPatch, call: Call, answer: Answer) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The answer to a call, what was asked of the pool, and of the session."""
    asked: list[Any] = []

    async def request(method: str, url: URL, **given: Any) -> Answer:
        asked.append({"method": method, "url": str(url), **given})
        return answer

    async def ask(self: HTTPPool, trust: object, name: str, address: str, send: Send) -> object:
        asked.append((trust, name, address))
        return await send(SimpleNamespace(request=request), "context", "reused")

    monkeypatch.setattr(HTTPPool, "ask", ask)
    return await servers().send(call), asked[0], asked[1]


async def test_what_is_sent_to_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given calls, when they are sent, then method, URL, body and headers are as they are given,
    and the name that the certificate must have is the service's, or the host of a URL.
    """
    call = Call("PUT", "https://h:2/a%2Fb?x=%3D", [("A", "b")], b"body", "s.a.svc", b"PEM", False)
    answer = Answer(b"1", b"2", status=201, Content_Type="text/x", Content_Encoding="gzip", X="y")
    response, pool, session = await sent(monkeypatch, call, answer)
    assert (response.status, response.body, response.content_type, response.headers, response.stream) == (
        201,
        b"12",
        "text/x",
        [("Content-Type", "text/x"), ("X", "y")],
        None,
    )
    assert (pool, answer.closed) == (((b"PEM", False), "s.a.svc", "h:2"), 1)
    assert session == {
        "method": "PUT",
        "url": "https://h:2/a%2Fb?x=%3D",
        "data": b"body",
        "headers": [("A", "b")],
        "ssl": "context",
        "server_hostname": "s.a.svc",
        "trace_request_ctx": "reused",
        "allow_redirects": False,
        "skip_auto_headers": ("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
    }
    url = Call("GET", "http://h:1/", [], b"", "v1.a.urls.fakekube.invalid.svc", b"", True)
    response, pool, session = await sent(monkeypatch, url, Answer())
    assert (response.content_type, pool) == ("", ((b"", True), "h", "h:1"))
    assert (session["data"], session["server_hostname"]) == (None, None)
    tls = url._replace(url="https://h:1/")
    assert (await sent(monkeypatch, tls, Answer()))[2]["server_hostname"] == "h"


@pytest.mark.parametrize(
    ("streams", "status", "is_stream"), [(True, 200, True), (True, 399, True), (True, 400, False), (False, 200, False)]
)
async def test_answers_that_are_streams(
    streams: bool,
    status: int,
    is_stream: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a call whose answer may come in pieces, when it is no error, then it is a stream, with
    its headers; any other answer is read to its end.
    """
    call = Call("GET", "http://h:1/", [], streams=streams)
    answer = Answer(b"x", status=status, Content_Type="application/json", Content_Encoding="br", X="y")
    response, *_ = await sent(monkeypatch, call, answer)
    assert (response.stream is not None, response.is_watch, response.status) == (is_stream, is_stream, status)
    assert (response.content_type, response.headers) == ("application/json", [("Content-Type", "application/json"), ("X", "y")])
    assert (response.body, answer.closed) == ((b"", 0) if is_stream else (b"x", 1))


class Sink:
    """Notes what comes; ``ended`` is how often it was told the end."""

    def __init__(self) -> None:
        self.got, self.ended = list[bytes](), 0

    def send(self, frame: Frame) -> None:
        self.got.append(frame.data)

    def end(self) -> None:
        self.ended += 1


async def read(answer: Answer, media: str) -> Sink:
    """What a sink gets of an answer."""
    sink = Sink()
    stream = _Stream(cast("Any", answer), Tasks(), media)
    stream.start(cast("Any", sink))
    for _ in range(20):
        await asyncio.sleep(0)
    return sink


LINES = (b'{"a"', b':1}\n{"b":2}\n\n{"c', b'":3', b'}\n{"d"')


@pytest.mark.parametrize(
    ("media", "pieces", "got"),
    [
        ("application/json", LINES, [b'{"a":1}\n', b'{"b":2}\n', b'{"c":3}\n', b'{"d"']),
        ("application/json;stream=watch", (b"1\n2\n",), [b"1\n", b"2\n"]),
        ("application/json", (b"1",), [b"1"]),
        ("text/plain", (b"a\nb", b"", b"c"), [b"a\nb", b"c"]),
        ("application/vnd.kubernetes.protobuf", (b"a\n",), [b"a\n"]),
        ("application/json", (b"1\n2", aiohttp.ClientPayloadError()), [b"1\n"]),
        ("application/json", (b"1\n", TimeoutError()), [b"1\n"]),
        ("text/plain", (b"1", OSError()), [b"1"]),
        ("application/json", (), []),
    ],
)
async def test_an_answer_in_pieces(media: str, pieces: tuple[Any, ...], got: list[bytes]) -> None:
    """Given an answer that comes in pieces, when it is passed on, then JSON is by lines, all else
    as it comes, and one that breaks ends.
    """
    answer = Answer(*pieces)
    sink = await read(answer, media)
    assert (sink.got, sink.ended, answer.closed) == (got, 1, 1)


@pytest.mark.parametrize(
    ("pieces", "got"),
    [
        ((b"1234", b"5678", b"\n9"), [b"12345678\n", b"9"]),
        ((b"1234", b"56789", b"\n0\n"), []),
        ((b"1\n12345678",), [b"1\n", b"12345678"]),
        ((b"1234567\n", b"123456", b"7\n"), [b"1234567\n", b"1234567\n"]),
    ],
)
async def test_lines_that_are_too_long(pieces: tuple[bytes, ...], got: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an answer by lines, when one is longer than is kept, then the answer is cut off."""
    monkeypatch.setattr(aggregatedservers, "MAX_LINE_BYTES", 8)
    answer = Answer(*pieces)
    sink = await read(answer, "application/json")
    assert (sink.got, sink.ended, answer.closed) == (got, 1, 1)


async def test_a_stream_that_nobody_wants_any_more() -> None:
    """Given a stream, when it is stopped before it begins or at its first piece, then nothing more
    is passed on, its end neither.
    """
    answer, sink, tasks = Answer(b"1\n2\n", b"3"), Sink(), Tasks()
    stream = _Stream(cast("Any", answer), tasks, "application/json")
    stream.stop()
    stream.start(cast("Any", sink))
    await asyncio.sleep(0)
    assert (sink.got, sink.ended, answer.closed) == ([], 0, 1)
    later = _Stream(cast("Any", Answer(b"1\n2\n", b"3")), tasks, "application/json")

    class Leaves(Sink):
        """Wants one piece."""

        def send(self, frame: Frame) -> None:
            super().send(frame)
            later.stop()

    leaves = Leaves()
    later.start(cast("Any", leaves))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (leaves.got, leaves.ended) == ([b"1\n"], 0)


async def test_a_pool_asks_once_more_where_a_used_connection_was_closed() -> None:
    """Given a connection that was used before, when the server has closed it, then the request is
    sent once more; on a new one it is not, and a second closing is told.
    """
    for used, failures, times in ((True, 1, 2), (True, 2, 2), (False, 1, 1)):
        prepared: list[ssl.SSLContext] = []
        pool, calls = HTTPPool(prepared.append), list[ssl.SSLContext]()

        async def send(
            _session: object,
            context: ssl.SSLContext,
            reused: Reused,
            *,
            made: list[ssl.SSLContext] = calls,
            old: bool = used,
            failing: int = failures,
        ) -> str:
            made.append(context)
            assert not reused.connection
            reused.connection = old
            if len(made) <= failing:
                raise aiohttp.ServerDisconnectedError
            return "answer"

        if times > failures:
            assert await pool.ask((b"", True), "s", "h:1", send) == "answer"
        else:
            with pytest.raises(NoAnswer, match=r"^EOF$"):
                await pool.ask((b"", True), "s", "h:1", send)
        assert (len(calls), prepared) == (times, [calls[0]])
        assert (calls[0].check_hostname, calls[0].verify_mode) == (False, ssl.CERT_NONE)
        await pool.close()
        await pool.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConnectionResetError(), "read: connection reset by peer"),
        (BrokenPipeError(), "read: connection reset by peer"),
        (aiohttp.ServerDisconnectedError(), "EOF"),
        (aiohttp.ClientPayloadError(), "unexpected EOF"),
        (OSError("x"), "x"),
        (ValueError("y"), "y"),
    ],
)
async def test_failures_of_a_pool(error: Exception, told: str) -> None:
    """Given a request that fails, when it is asked, then there is no answer, in Go's words."""

    async def send(*_: object) -> None:
        raise error

    pool = HTTPPool()
    with pytest.raises(NoAnswer) as refused:
        await pool.ask((b"", False), "s", "h:1", send)
    assert str(refused.value) == told
    await pool.close()
