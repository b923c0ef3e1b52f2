"""The encoding of protobuf itself: varints and length-delimited fields.

Upstream: protobuf.dev/programming-guides/encoding.

Left out: groups, and 32 bits of fixed width, which no message of the API has.
"""

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MASK = (1 << 64) - 1

MAGIC = b"k8s\x00"
"""What every body begins with."""


class WireError(ValueError):
    """The bytes are no protobuf message."""


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and raw value (a varint's bits, or bytes) of each field of a message.

    Raises WireError.
    """
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if not number:
            raise WireError(f"proto: illegal tag {number} (wire type {kind})")
        value: int | bytes
        if kind == VARINT:
            value, at = _varint(data, at)
        elif kind == BYTES:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            value, at = data[at : at + size], at + size
        else:
            raise WireError(f"proto: illegal wireType {kind}")
        if at > end:
            raise WireError("unexpected EOF")
        yield number, value


def varints(data: bytes) -> Iterator[int]:
    """The numbers of a packed list. Raises WireError."""
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise WireError("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & MASK, at
        shift += 7
        if shift > 63:
            raise WireError("proto: integer overflow")


def signed(bits: int) -> int:
    """An int32 or int64 from a varint's bits."""
    return bits - (1 << 64) if bits >> 63 else bits


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return _encoded(field << 3 | VARINT) + _encoded(value & MASK)


def double(data: bytes) -> int | float:
    """A float64, whole ones as JSON shows them. Raises WireError."""
    if len(data) != 8:
        raise WireError("proto: wrong wireType = 2 for a field of numbers")
    value: float = struct.unpack("<d", data)[0]
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


def float_number(field: int, value: float) -> bytes:
    """A field with a float64."""
    return _encoded(field << 3 | FIXED64) + struct.pack("<d", value)


def chunk(field: int, data: bytes) -> bytes:
    """A field with bytes, a text or a message."""
    return _encoded(field << 3 | BYTES) + _encoded(len(data)) + data


def _encoded(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
