"""Messages that JSON shows in a way of their own: quantities, times, raw JSON, and what may be one
thing or another.

Upstream: the MarshalJSON and Unmarshal methods of these types. Left out: nothing.
"""

import math
from collections.abc import Callable
from typing import Any

import orjson

from fakekube.apimachinery import times
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.protobuf import wire
from fakekube.schema.protobuf.wire import WireError

META = "apimachinery.pkg.apis.meta.v1."
EXTENSIONS = "apiextensions-apiserver.pkg.apis.apiextensions.v1."
PROPS = f"{EXTENSIONS}JSONSchemaProps"

Reader = Callable[[bytes], Json]
Writer = Callable[[Any], bytes]


def readers(decode: Callable[[str, bytes], Tree]) -> dict[str, Reader]:
    """How to read each such message; ``decode`` reads an ordinary one by its name.

    They raise WireError.
    """

    def schema_or(data: bytes, other: Callable[[Tree], Json], name: str) -> Json:
        tree = decode(EXTENSIONS + name, data)
        return tree["schema"] if "schema" in tree else other(tree)

    return {
        "apimachinery.pkg.api.resource.Quantity": lambda data: text(dict(wire.fields(data)).get(1, b"")),
        f"{META}Time": lambda data: _read_time(data, times.format_time),
        f"{META}MicroTime": lambda data: _read_time(data, times.format_micro_time),
        f"{META}FieldsV1": _read_json,
        "apimachinery.pkg.runtime.RawExtension": _read_json,
        "apimachinery.pkg.util.intstr.IntOrString": _read_int_or_string,
        f"{EXTENSIONS}JSON": _read_json,
        f"{PROPS}OrArray": lambda data: schema_or(data, lambda tree: tree.get("jSONSchemas", []), "JSONSchemaPropsOrArray"),
        f"{PROPS}OrBool": lambda data: schema_or(data, lambda tree: tree.get("allows", False), "JSONSchemaPropsOrBool"),
        f"{PROPS}OrStringArray": lambda data: schema_or(
            data, lambda tree: tree.get("property", []), "JSONSchemaPropsOrStringArray"),
    }


def writers(encode: Callable[[str, Tree], bytes]) -> dict[str, Writer]:
    """How to write each such message; ``encode`` writes an ordinary one by its name."""

    def schema(value: Tree, number: int = 1) -> bytes:
        return wire.chunk(number, encode(PROPS, value))

    def schema_or_bool(value: Tree | bool) -> bytes:
        return wire.number(1, 1) + schema(value, 2) if isinstance(value, dict) else wire.number(1, value)

    return {
        "apimachinery.pkg.api.resource.Quantity": lambda value: wire.chunk(1, str(value).encode()),
        f"{META}Time": _write_time,
        f"{META}MicroTime": _write_time,
        f"{META}FieldsV1": _write_json,
        "apimachinery.pkg.runtime.RawExtension": _write_json,
        "apimachinery.pkg.util.intstr.IntOrString": _write_int_or_string,
        f"{EXTENSIONS}JSON": _write_json,
        f"{PROPS}OrArray": lambda value: (
            schema(value) if isinstance(value, dict) else b"".join(schema(item, 2) for item in value)),
        f"{PROPS}OrBool": schema_or_bool,
        f"{PROPS}OrStringArray": lambda value: (
            schema(value) if isinstance(value, dict) else b"".join(wire.chunk(2, item.encode()) for item in value)),
    }


def text(value: int | bytes) -> str:
    """A text from what stands in its field. Raises WireError."""
    if isinstance(value, int):
        raise WireError("proto: wrong wireType = 0 for a field of bytes")
    return value.decode("utf-8", "replace")


def _read_json(data: bytes) -> Json:
    raw = dict(wire.fields(data)).get(1, b"")
    try:
        return orjson.loads(text(raw)) if raw else None
    except orjson.JSONDecodeError as error:
        raise WireError(str(error)) from None


def _write_json(value: Json) -> bytes:
    return wire.chunk(1, orjson.dumps(value))


def _read_time(data: bytes, show: Callable[[float], str]) -> Json:
    parts = dict(wire.fields(data))
    seconds, nanos = (wire.signed(int(parts.get(number, 0) or 0)) for number in (1, 2))
    return show(seconds + nanos // 1000 / 1e6) if seconds or nanos else None  # what Go prints is cut off, not rounded


def _write_time(value: str | None) -> bytes:
    if value is None:  # in a map: there, and not known
        return b""
    seconds = times.parse_time(value)
    whole = math.floor(seconds)
    nanos = round((seconds - whole) * 1e6) * 1000
    return wire.number(1, whole) + wire.number(2, nanos)


def _read_int_or_string(data: bytes) -> Json:
    parts = dict(wire.fields(data))
    if parts.get(1):
        return text(parts.get(3, b""))
    return wire.signed(int(parts.get(2, 0) or 0))


def _write_int_or_string(value: Json) -> bytes:
    if isinstance(value, str):
        return wire.number(1, 1) + wire.number(2, 0) + wire.chunk(3, value.encode())
    return wire.number(1, 0) + wire.number(2, value) + wire.chunk(3, b"")
