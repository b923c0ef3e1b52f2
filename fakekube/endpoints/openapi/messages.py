"""The parts of gnostic's messages that both versions of OpenAPI have: how fields are written, and
extensions.

Extensions travel as YAML texts, JSON being YAML.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import orjson

Encode = Callable[[Any], bytes]

VARINT, DOUBLE, BYTES = 0, 1, 2


def varint(number: int) -> bytes:
    """A whole number of protobuf's."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    """A field that holds bytes: a text or a message."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def text(number: int) -> Encode:
    """A text."""
    return lambda value: field(number, value.encode())


def texts(number: int) -> Encode:
    """Several texts."""
    return lambda values: b"".join(field(number, value.encode()) for value in values)


def boolean(number: int) -> Encode:
    """A truth; false is what nobody says."""
    return lambda value: varint(number << 3 | VARINT) + b"\x01" if value else b""


def integer(number: int) -> Encode:
    """A whole number."""
    return lambda value: varint(number << 3 | VARINT) + varint(int(value))


def double(number: int) -> Encode:
    """A number with a fraction."""
    return lambda value: varint(number << 3 | DOUBLE) + struct.pack("<d", value)


def one(number: int, inner: Encode) -> Encode:
    """A message."""
    return lambda value: field(number, inner(value))


def each(number: int, inner: Encode) -> Encode:
    """Several messages."""
    return lambda values: b"".join(field(number, inner(value)) for value in values)


def named(number: int, inner: Encode) -> Encode:
    """A map, as a list of names with values."""
    return lambda values: b"".join(
        field(number, field(1, name.encode()) + field(2, inner(value))) for name, value in values.items())


def anything(value: Any) -> bytes:
    """Whatever JSON can say, as a YAML text."""
    return field(2, orjson.dumps(value) + b"\n")


def message(fields: Mapping[str, Encode], extensions: int) -> Encode:
    """A message: known members by their fields, those that begin with ``x-`` as extensions."""
    extend = named(extensions, anything)

    def encoded(tree: Mapping[str, Any]) -> bytes:
        out = [fields[name](value) for name, value in tree.items() if name in fields]
        extra = {name: value for name, value in tree.items() if name.startswith("x-")}
        return b"".join(out) + (extend(extra) if extra else b"")

    return encoded
