"""Only masked frames reach the reader of a WebSocket.

RFC 6455 5.1: a server closes with 1002 when a client's frame is not masked, since masks are what
keeps a page from writing bytes of its choice through its browser. aiohttp's reader does not look;
it does close with 1002 when a reserved bit is set, so such a frame takes an unmasked one's place.
"""

from typing import Protocol

MASKED = 0x80
LENGTH = 0x7F
LENGTH_BYTES = {126: 2, 127: 8}
"""How many bytes a length has that does not fit into a frame's second byte, which says so."""
MASK_BYTES = 4
RESERVED_BIT_SET = b"\xb0\x80"


class FrameReader(Protocol):
    """What aiohttp gives the bytes of a WebSocket to."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take bytes; whether that was the end, and what is left."""

    def feed_eof(self) -> None:
        """No bytes follow."""


class MaskedFrames:
    """Stands in front of a reader."""

    def __init__(self, reader: FrameReader) -> None:
        self._reader = reader
        self._begun = b""  # of a frame's head
        self._missing = 0  # bytes of a frame whose head is complete

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take bytes; whether that was the end, and what is left."""
        data = self._begun + data
        start, self._begun = self._missing, b""
        while start < len(data):
            size = _frame_bytes(data[start : start + 10])
            if size < 0:
                return self._reader.feed_data(data[:start] + RESERVED_BIT_SET)
            if not size:
                self._begun, data = data[start:], data[:start]
            start += size
        self._missing = start - len(data)
        return self._reader.feed_data(data)

    def feed_eof(self) -> None:
        """No bytes follow."""
        self._reader.feed_eof()


def _frame_bytes(head: bytes) -> int:
    """How long a frame is, all in all; 0 when its head is not complete, below when it is not
    masked.
    """
    if len(head) < 2:
        return 0
    if not head[1] & MASKED:
        return -1
    short = head[1] & LENGTH
    more = LENGTH_BYTES.get(short, 0)
    if len(head) < 2 + more:
        return 0
    return 2 + more + MASK_BYTES + (int.from_bytes(head[2 : 2 + more]) if more else short)
