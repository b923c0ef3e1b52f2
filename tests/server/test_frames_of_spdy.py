"""What a SPDY connection writes for what it receives, frame by frame."""

import zlib

import pytest

from fakekube.server import spdy
from fakekube.server.spdy import Connection, Deframer, Frame, HeaderReader, HeaderWriter, Stream


class Client:
    """Feeds frames to a connection, and keeps what it writes."""

    def __init__(self, *, accepts: bool = True) -> None:
        self.sent: list[Frame] = []
        self.opened: list[Stream] = []
        self._out, self.headers = Deframer(), HeaderWriter()

        async def write(data: bytes) -> None:
            self.sent += self._out.feed(data)

        def opened(stream: Stream) -> bool:
            self.opened.append(stream)
            return accepts

        self.connection = Connection(write, opened)

    async def syn(self, number: int, flags: int = 0, **headers: str) -> None:
        payload = number.to_bytes(4) + bytes(6) + self.headers.write(headers)
        assert await self.connection.feed(spdy.control(1, payload, flags))


def test_the_dictionary() -> None:
    """Given the text that compression starts from / then it is that of SPDY/3."""
    assert len(spdy.DICTIONARY) == 1423
    assert zlib.adler32(spdy.DICTIONARY) == 0xE3C6A7C2


def test_frames_as_bytes() -> None:
    """Given a control frame and one of data / then their bytes are those of the draft."""
    assert spdy.control(6, b"abcd", 1) == b"\x80\x03\x00\x06\x01\x00\x00\x04abcd"
    assert spdy.data(7, b"xy", 1) == b"\x00\x00\x00\x07\x01\x00\x00\x02xy"
    found = list(Deframer().feed(b"\x80\x03\x00\x06\x01\x00\x00\x04\xff\xff\xff\xff" + b"\x7f\xff\xff\xff\x00\x00\x00\x00"))
    assert found == [Frame(6, 1, 0x7FFFFFFF, b"\xff" * 4), Frame(0, 0, 0x7FFFFFFF, b"")]
    with pytest.raises(spdy.BadFrame, match="version 2"):
        list(Deframer().feed(b"\x80\x02\x00\x06\x00\x00\x00\x00"))


def test_header_blocks() -> None:
    """Given names in capitals, blocks cut short and one too long / then names are in lower case,
    and the rest is refused.
    """
    deflate = zlib.compressobj(zdict=spdy.DICTIONARY)

    def block(plain: bytes) -> bytes:
        return deflate.compress(plain) + deflate.flush(zlib.Z_SYNC_FLUSH)

    reader = HeaderReader()
    assert reader.read(block(b"\0\0\0\2" b"\0\0\0\1A" b"\0\0\0\2Bc" b"\0\0\0\1d" b"\0\0\0\0")) == {"a": "Bc", "d": ""}
    for plain in (b"\0\0\0\1", (b"\0\0\0\1" b"\0\0\0\1a" b"\0\0\0\2b"), (b"\0\0\0\1" b"\0\0\0\1a")):
        with pytest.raises(spdy.BadFrame, match="headers are cut short"):
            reader.read(block(plain))
    with pytest.raises(spdy.BadFrame, match="headers are too long"):
        HeaderReader().read(HeaderWriter().write({"a": "x" * 65536}))
    with pytest.raises(spdy.BadFrame):
        HeaderReader().read(b"nonsense")


async def test_a_stream_lives_and_ends() -> None:
    """Given a stream that is accepted / when both send and end / then frames come in order, data in
    pieces, and nothing after the end.
    """
    client = Client()
    await client.syn(1, streamtype="data")
    [stream] = client.opened
    assert (stream.number, stream.headers) == (1, {"streamtype": "data"})
    assert [(frame.kind, frame.stream) for frame in client.sent] == [(spdy.SYN_REPLY, 1)]
    assert HeaderReader().read(client.sent[0].payload[4:]) == {}
    await client.connection.feed(spdy.data(1, b"hello") + spdy.data(9, b"lost"))
    assert (stream.received.waiting, await stream.received.read()) == (5, b"hello")
    await client.connection.feed(spdy.data(1, b"", 1))
    assert await stream.received.read() == b""
    client.sent.clear()
    await stream.send(b"x" * (32 * 1024 + 1))
    await stream.end()
    await stream.end()
    await stream.send(b"late")
    await stream.reset()
    assert client.sent == [Frame(0, 0, 1, b"x" * 32 * 1024), Frame(0, 0, 1, b"x"), Frame(0, 1, 1, b"")]


@pytest.mark.parametrize("number", [1, 3, 4])
async def test_numbers_that_no_stream_may_have(number: int) -> None:
    """Given a stream of number 3 / when another has that number, a lower or an even one / then it
    is reset as an error of the protocol.
    """
    client = Client()
    await client.syn(3)
    client.sent.clear()
    await client.syn(number)
    assert client.sent == [Frame(spdy.RST_STREAM, 0, number, number.to_bytes(4) + b"\0\0\0\1")]
    assert len(client.opened) == 1


async def test_streams_that_are_refused_reset_and_already_ended() -> None:
    """Given a stream that is not wanted, one that the client resets and one that it ends at once /
    then it is cancelled, ended, and has nothing to read.
    """
    refusing = Client(accepts=False)
    await refusing.syn(1)
    assert refusing.sent == [Frame(spdy.RST_STREAM, 0, 1, b"\0\0\0\1\0\0\0\5")]
    client = Client()
    await client.syn(1, 1)
    await client.syn(3)
    assert await client.opened[0].received.read() == b""
    client.sent.clear()
    await client.connection.feed(spdy.control(spdy.RST_STREAM, b"\0\0\0\3\0\0\0\5") + spdy.control(
        spdy.RST_STREAM, b"\0\0\0\7\0\0\0\5"))
    assert await client.opened[1].received.read() == b""
    await client.opened[1].send(b"late")
    assert client.sent == []


async def test_pings_farewells_and_what_nobody_asks_for() -> None:
    """Given pings of both sides, headers, a reply and a farewell / then the client's pings come
    back, headers keep compression going, and the farewell ends it.
    """
    client = Client()
    assert await client.connection.feed(spdy.control(spdy.PING, b"\0\0\0\2"))
    assert await client.connection.feed(spdy.control(spdy.PING, b"\0\0\0\1"))
    assert client.sent == [Frame(spdy.PING, 0, 1, b"\0\0\0\1")]
    for kind in (spdy.HEADERS, spdy.SYN_REPLY):
        await client.connection.feed(spdy.control(kind, b"\0\0\0\1" + client.headers.write({"a": "b"})))
    await client.syn(5, port="80")
    assert client.opened[0].headers == {"port": "80"}
    client.sent.clear()
    await client.connection.go_away()
    assert client.sent == [Frame(spdy.GOAWAY, 0, 5, b"\0\0\0\5\0\0\0\0")]
    assert not await client.connection.feed(spdy.control(spdy.GOAWAY, bytes(8)) + spdy.control(spdy.PING, b"\0\0\0\3"))
    assert len(client.sent) == 1


async def test_what_is_left_unread_and_how_many_streams() -> None:
    """Given limits of what waits and of streams / when they are passed / then the connection
    breaks, and a stream too many is reset.
    """
    client = Client()
    for number in range(4096):
        await client.syn(2 * number + 1)
    client.sent.clear()
    await client.syn(8193)
    assert [frame.kind for frame in client.sent] == [spdy.RST_STREAM]
    piece = bytes(16 * 1024 * 1024 - 1)
    for _ in range(4):
        await client.connection.feed(spdy.data(1, piece))
    await client.connection.feed(spdy.data(1, bytes(4)))
    with pytest.raises(spdy.BadFrame, match="too much is left unread"):
        await client.connection.feed(spdy.data(1, b"x"))
