"""Frames of a WebSocket that no browser sends."""

import asyncio

import pytest

from fakekube.server.http import HttpServer
from fakekube.server.maskedframes import RESERVED_BIT_SET, MaskedFrames
from fakekube.util.clock import ManualClock

from .raw import read_answer, request_bytes
from .sessions import Sessions

PROTOCOL_ERROR = 1002
MASK = b"\x01\x02\x03\x04"


def frame(payload: bytes, opcode: int = 2, *, masked: bool = True) -> bytes:
    size = len(payload)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2) if size < 1 << 16 else b"\x7f" + size.to_bytes(8)
    if masked:
        length = bytes([length[0] | 0x80]) + length[1:] + MASK
        payload = bytes(byte ^ MASK[index % 4] for index, byte in enumerate(payload))
    return bytes([0x80 | opcode]) + length + payload


class Reader:
    def __init__(self) -> None:
        self.data = b""
        self.ended = False

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self.data += data
        return False, b""

    def feed_eof(self) -> None:
        self.ended = True


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
@pytest.mark.parametrize("step", [1, 2, 7, 1_000_000])
def test_masked_frames_pass_however_they_come(size: int, step: int) -> None:
    """Given frames of every form of length / when they come in pieces / then the reader gets all
    bytes, and the end.
    """
    reader = Reader()
    frames = MaskedFrames(reader)
    data = frame(b"x" * size) * 2 + frame(b"", 9)
    for start in range(0, len(data), step):
        frames.feed_data(data[start : start + step])
    frames.feed_eof()
    assert reader.data == data
    assert reader.ended


@pytest.mark.parametrize("step", [1, 3, 1_000_000])
def test_unmasked_frame_is_replaced(step: int) -> None:
    """Given a masked frame and an unmasked one / when they come / then the reader gets the first,
    and in place of the second one that it must refuse.
    """
    reader = Reader()
    frames = MaskedFrames(reader)
    good = frame(b"x" * 200)
    data = good + frame(b"y" * 5, masked=False)
    for start in range(0, len(data), step):
        frames.feed_data(data[start : start + step])
        if reader.data.endswith(RESERVED_BIT_SET):
            break
    assert reader.data == good + RESERVED_BIT_SET


@pytest.mark.parametrize("path", ["/command?stdin=1&stdout=1", "/ports?ports=80"])
@pytest.mark.parametrize("first", [b"", frame(b"\x00hello")], ids=["at once", "after a masked one"])
@pytest.mark.parametrize("opcode", [1, 2, 8, 9])
async def test_unmasked_frames_end_a_session(path: str, first: bytes, opcode: int) -> None:
    """Given a session over WebSocket / when its client sends a frame without a mask / then the
    server closes with 1002 (RFC 6455 5.1), and the session sees nothing of it.
    """
    sessions = Sessions()
    async with HttpServer(sessions, clock=ManualClock()) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        protocol = "v5.channel.k8s.io" if path.startswith("/command") else "v4.channel.k8s.io"
        writer.write(request_bytes(
            target=path, Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
            Sec_WebSocket_Version="13", Sec_WebSocket_Protocol=protocol))
        assert (await read_answer(reader)).status == 101
        writer.write(first + frame(b"\x00unmasked", opcode, masked=False))
        async with asyncio.timeout(10):
            received = await reader.read()
        writer.close()
    assert b"\x88" in received
    assert int.from_bytes(received[received.rindex(b"\x88") + 2 :][:2]) == PROTOCOL_ERROR
    assert b"UNMASKED" not in received
    assert b"unmasked" not in received
