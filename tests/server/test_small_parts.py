"""Small parts of the server: heads, slow clients, the ends of streams, and what is no answer."""

import asyncio
import logging
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import HttpVersion10, HttpVersion11

from fakekube.aggregator.remote import PassedStream, stop
from fakekube.apimachinery.http import Frame, Request, Response, Sink, Stream
from fakekube.apimachinery.streams import PortSession, PortStreams, StreamError
from fakekube.server import channels, http, websocket, writer
from fakekube.server.exchange import Rest, _complaint
from fakekube.server.framing import frame_refusal
from fakekube.server.http import HttpServer
from fakekube.server.kubeconfigfile import KubeconfigFile
from fakekube.server.responder import Peer, peer_of
from fakekube.server.upgraded import _breaking, _nobody, _Receiver
from fakekube.server.writer import Answer, Flusher, HeadWriter
from fakekube.util.clock import ManualClock
from fakekube.util.pipe import Pipe
from fakekube.util.tasks import turn
from tests.server.raw import ask, request_bytes

BROKEN = "net/http: HTTP/1.x transport connection broken: "
DATE = "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"


class Transport:
    """Keeps what is written."""

    def __init__(self, waiting: int = 0) -> None:
        self.written, self.waiting, self.aborted, self.closing = b"", waiting, 0, False

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def abort(self) -> None:
        self.aborted += 1


class Frames(Stream):
    """A stream that tests feed."""

    def __init__(self) -> None:
        self.sink: Any = None
        self.stopped = 0

    def start(self, sink: Sink) -> None:
        self.sink = sink

    def stop(self) -> None:
        self.stopped += 1


def answer(response: Response, **options: Any) -> Answer:
    """An answer that is not compressed."""
    return Answer(HeadWriter(ManualClock(), lambda: False), Flusher(), Request("GET", "/"), response, {}, **options)


@pytest.mark.parametrize(("status", "line"), [(200, "200 OK"), (418, "418 I'm a Teapot"), (799, "799 status code 799")])
def test_every_status_has_a_phrase(status: int, line: str) -> None:
    """Given a status, known or not / when a head is written / then it has Go's phrase."""
    found = HeadWriter(ManualClock(), lambda: False).head(Response(status, content_type="", headers=[("A", "b")]))
    assert found == f"HTTP/1.1 {line}\r\n{DATE}A: b\r\n"


@pytest.mark.parametrize(("version", "reusable", "said"), [
    (HttpVersion11, True, ""), (HttpVersion10, True, "Connection: keep-alive\r\n"),
    (HttpVersion11, False, "Connection: close\r\n"), (HttpVersion10, False, "Connection: close\r\n"),
])
def test_whether_a_connection_goes_on(version: Any, reusable: bool, said: str) -> None:
    """Given a request of each version / when it is answered / then old clients are told that the
    connection goes on, and all of them that it does not.
    """
    transport: Any = Transport()
    answer(Response(200, b"{}", content_type=""), reusable=reusable).begin(transport, "GET", version)
    assert transport.written.decode() == f"HTTP/1.1 200 OK\r\n{DATE}{said}Content-Length: 2\r\n\r\n{{}}"


async def test_a_watcher_that_does_not_read_is_cut() -> None:
    """Given a client with so much unread, and one byte more / when a frame is written / then the
    latter is cut.
    """
    for waiting, aborted in ((writer.SLOW_WATCHER_BYTES, 0), (writer.SLOW_WATCHER_BYTES + 1, 1)):
        transport: Any = Transport(waiting)
        found = answer(Response(200, stream=Frames()))
        found.begin(transport)
        found.send(Frame(b"{}\n"))
        await turn()
        assert (transport.aborted, found.keep_alive) == (aborted, not aborted)
        assert transport.written.endswith(b"\r\n\r\n3\r\n{}\n\r\n")


async def test_a_stream_ends_once() -> None:
    """Given a stream / when it ends, ends again, or never began / then one last chunk is written.
    """
    transport: Any = Transport()
    found = answer(Response(200, stream=Frames()))
    found.end()
    found.begin(transport)
    found.send(Frame(b"{}\n"))
    for _ in range(2):
        found.end()
    assert transport.written.count(b"0\r\n\r\n") == 1
    assert transport.written.endswith(b"3\r\n{}\n\r\n0\r\n\r\n")
    await found.write_eof()


async def test_a_large_answer_waits_for_its_client() -> None:
    """Given an answer that is larger than what a connection holds / when it is asked for / then it
    comes whole, and so does the next.
    """
    class Large:
        """Answers with many bytes."""

        async def handle(self, request: Request) -> Response:
            return Response(body=request.path.encode()[-1:] * 30_000_000)

    async with HttpServer(Large(), clock=ManualClock()) as server:
        for letter in ("a", "b"):
            found = await ask(server.host, server.port, request_bytes(target=f"/{letter}"))
            assert (found.status, found.body == letter.encode() * 30_000_000) == (200, True)


def test_nobody_is_at_the_other_end() -> None:
    """Given a connection that is gone / when it is asked who was there / then nobody."""
    assert peer_of(None) == Peer("", b"")


def test_an_answer_that_breaks_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Given an answer that failed / when that is noticed / then the log has it with its error."""
    error = ValueError("why")
    with caplog.at_level(logging.ERROR):
        http._log(error)
    record, = caplog.records
    assert (record.getMessage(), record.exc_info and record.exc_info[1]) == ("an answer broke", error)


async def test_a_race_is_over_with_its_first() -> None:
    """Given work and a client / when the client leaves, or work fails / then the work is cancelled,
    or its failure is told; a connection that is lost is none.
    """
    cancelled: list[str] = []

    async def lasts() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("cancelled")
            raise

    async def fails(error: BaseException) -> None:
        raise error

    await channels.race(lasts(), asyncio.sleep(0))
    await channels.race(fails(ConnectionResetError()), lasts())
    assert cancelled == ["cancelled"] * 2
    failure = StreamError("why")
    with pytest.raises(StreamError) as caught:
        await channels.race(fails(failure), lasts())
    assert caught.value is failure


@pytest.mark.parametrize(("coding", "version", "method", "status"), [
    (None, (1, 1), "GET", None), ("chunked", (1, 1), "GET", None), ("CHUNKED", (1, 1), "GET", None), (None, (1, 0), "GET", None),
    ("chunked", (1, 0), "GET", 400), ("gzip", (1, 1), "GET", 501), (None, (2, 0), "GET", 505), (None, (1, 1), "CONNECT", 405),
])
def test_what_is_not_read_any_further(coding: str | None, version: Any, method: str, status: int | None) -> None:
    """Given a head / when its body's end could be seen in two ways / then it is refused."""
    http_version = type(HttpVersion11)(*version)
    message: Any = SimpleNamespace(
        headers={"Transfer-Encoding": coding} if coding else {}, version=http_version, method=method)
    found = frame_refusal(message)
    assert (found and found.status) == status


@pytest.mark.parametrize(("head", "said"), [
    ("", "EOF"), ("HTTP/1.1 200 OK", "unexpected EOF"), ("HTTP/1.1 200 OK\r\nA: b\r\n", "unexpected EOF"),
    ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", ""), ("HTTP/1.1 200 OK\r\n\r\nbody\r\n", ""),
    ("hello", f'{BROKEN}malformed HTTP response "hello"'), ("HTTP/1.1 20 OK\r\n", f'{BROKEN}malformed HTTP status code "20"'),
    ("HTTP/1.1 2x0\r\n", f'{BROKEN}malformed HTTP status code "2x0"'),
    ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", f"{BROKEN}malformed MIME header line: no colon"),
    ("HTTP/1.1 200 OK\r\nContent-Length: x \r\n\r\n", f'{BROKEN}bad Content-Length "x"'),
])
def test_what_is_wrong_with_a_head(head: str, said: str) -> None:
    """Given the head of an answer / when it is none / then it is told as Go tells it."""
    assert _complaint(head) == said


async def test_the_rest_of_a_body_ends_with_its_server() -> None:
    """Given a body that comes in pieces / when its server fails on the way / then what came is
    there, and the stream ends.
    """
    got: list[Any] = []
    pieces: list[bytes | StreamError] = [b"two", StreamError("gone")]

    async def piece() -> bytes:
        found = pieces.pop(0)
        if isinstance(found, StreamError):
            raise found
        return found

    def background(work: Coroutine[Any, Any, None]) -> None:
        got.append(work)

    connection = SimpleNamespace(background=background, hang_up=lambda: got.append("hung up"))
    sink: Any = SimpleNamespace(send=lambda frame: got.append(frame.data), end=lambda: got.append("end"))
    rest = Rest(SimpleNamespace(piece=piece, connection=connection), b"one")  # type: ignore[arg-type]
    rest.start(sink)
    await got.pop()
    assert got == [b"one", b"two", "end", "hung up"]
    rest.stop()
    assert got[4:] == ["hung up"]


def test_a_socket_that_is_not_read_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a client that leaves frames unread / when there is one too many / then it is cut, and
    gets no more.
    """
    monkeypatch.setattr(websocket, "MAX_WAITING_FRAMES", 2)
    sink = websocket.SocketSink()
    for ended in (False, False, True, True):
        sink.send(Frame(b"{}\n"))
        assert sink.ended is ended
    sink.waiting.clear()
    sink.send(Frame(b"{}\n"))
    assert (len(sink.waiting), sink.news.is_set()) == (0, True)


def test_who_sends_and_does_not_read_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given bytes of a client that wait / when they are too many / then nothing follows."""
    monkeypatch.setattr(channels, "MAX_WAITING_BYTES", 3)
    received = Pipe()
    receiver = _Receiver(received)
    assert receiver.feed_data(b"abc") == (False, b"")
    assert (received.waiting, received.ended) == (3, False)
    receiver.feed_data(b"d")
    assert (received.waiting, received.ended) == (4, True)


async def test_a_port_breaks_at_its_first_bytes_or_at_its_end() -> None:
    """Given a session that is to break / when something comes out of it, or it ends / then it
    breaks there, and goes no further.
    """
    async def ends(streams: PortStreams) -> None:
        sent.append(str(streams.port).encode())

    async def sends(streams: PortStreams) -> None:
        await streams.send(b"first")
        await streams.send(b"second")

    async def send(data: bytes) -> None:
        sent.append(data)

    for forward, said in ((ends, b"80"), (sends, b"first")):
        sent, broken = list[bytes](), asyncio.Event()
        session = _breaking(PortSession("", False, {}, (), forward), broken)
        assert isinstance(session, PortSession)
        task = asyncio.ensure_future(session.forward(PortStreams(80, Pipe(), send)))
        await broken.wait()
        await turn()
        assert (sent, task.done()) == ([said], False)
        task.cancel()
    with pytest.raises(ConnectionResetError):
        await _nobody(b"x")


def test_a_file_that_was_never_written_is_left(tmp_path: Any) -> None:
    """Given a file to which nothing was added / when what is ours is to go / then it stays, and so
    it does where there is none.
    """
    path = tmp_path / "config"
    KubeconfigFile(path).remove()
    assert not path.exists()
    path.write_text("kind: Config\n")
    KubeconfigFile(path).remove()
    assert path.read_text() == "kind: Config\n"


def test_the_stream_of_another_server() -> None:
    """Given a stream of another server / when it goes through another sink, before or after it
    began, and is stopped / then what comes goes through that.
    """
    inner, opened, got = Frames(), dict[PassedStream, None](), list[Any]()

    def through(name: str) -> Any:
        return lambda sink: SimpleNamespace(send=lambda frame: got.append((name, sink, frame)), end=lambda: None)

    passed = PassedStream(inner, opened)
    passed.divert(through("early"))
    end: Any = SimpleNamespace(send=got.append, end=lambda: None)
    passed.start(end)
    passed.send(Frame(b"1"))
    assert (got[-1][0], got[-1][1], got[-1][2].data) == ("early", end, b"1")
    passed.divert(through("late"))
    passed.send(Frame(b"2"))
    assert (got[-1][0], got[-1][2].data) == ("late", b"2")
    stop(Response(200, stream=inner))
    stop(Response(200))
    assert inner.stopped == 1
