"""From protobuf to trees and back.

Three things tell a message from the JSON of the same object: some types write themselves in their own way (quantities,
times), bytes are bytes, and embedded structs are messages of their own whose fields JSON shows inline; which those are the
schema knows. Upstream: apimachinery/pkg/runtime/serializer/protobuf and the generated.pb.go files. Left out: fields that
Go writes although they hold nothing, which readers do not miss.
"""

import base64
import binascii
import math
from collections.abc import Callable
from typing import Any

import orjson

from fakekube.apimachinery import times
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.definitions import Definitions
from fakekube.schema.protobuf import wire
from fakekube.schema.protobuf.messages import Field, Messages
from fakekube.schema.protobuf.wire import WireError

MAGIC = b"k8s\x00"
PREFIX = "io.k8s."
META = "apimachinery.pkg.apis.meta.v1."
LISTS = ("ExtraValue", "Verbs")  # JSON shows what is in them and not the message
DISCOVERY = {"APIVersions", "APIGroupList", "APIGroup", "APIResourceList"}


class ProtobufCodec:
    """Reads and writes objects of one release."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._messages = Messages()
        self._inline: dict[str, dict[str, Field]] = {}
        self._readers: dict[str, Callable[[bytes], Json]] = {
            "apimachinery.pkg.api.resource.Quantity": lambda data: self._plain(data, 1, ""),
            f"{META}Time": lambda data: _read_time(data, times.format_time),
            f"{META}MicroTime": lambda data: _read_time(data, times.format_micro_time),
            f"{META}FieldsV1": _read_json, "apimachinery.pkg.runtime.RawExtension": _read_json,
            "apimachinery.pkg.util.intstr.IntOrString": _read_int_or_string,
        }
        self._writers: dict[str, Callable[[Any], bytes]] = {
            "apimachinery.pkg.api.resource.Quantity": lambda value: wire.chunk(1, str(value).encode()),
            f"{META}Time": _write_time, f"{META}MicroTime": _write_time, f"{META}FieldsV1": _write_json,
            "apimachinery.pkg.runtime.RawExtension": _write_json,
            "apimachinery.pkg.util.intstr.IntOrString": _write_int_or_string,
        }

    def message_of(self, gvk: GroupVersionKind) -> str | None:
        """The message of a kind, or None when it has none."""
        if gvk.kind in DISCOVERY:
            return META + gvk.kind
        if gvk.group == "apidiscovery.k8s.io":
            return f"api.apidiscovery.{gvk.version}.{gvk.kind}"
        if gvk.group == "meta.k8s.io":
            return META + gvk.kind
        schema = self._definitions.schema(gvk)
        name = schema.name.removeprefix(PREFIX) if schema else ""
        return name if name in self._messages else None

    # reading

    def decode(self, body: bytes) -> Tree:
        """The object in an envelope, with kind and apiVersion as it says. Raises WireError."""
        if body[:4] != MAGIC:
            raise WireError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
        envelope = dict(wire.fields(body[4:]))
        meta = dict(wire.fields(_bytes(envelope.get(1, b""))))
        api_version, kind = (_bytes(meta.get(number, b"")).decode() for number in (1, 2))
        try:
            group, version = split_api_version(api_version)
        except ValueError as error:
            raise WireError(str(error)) from None
        head: Tree = ({"apiVersion": api_version} if api_version else {}) | ({"kind": kind} if kind else {})
        message = self.message_of(GroupVersionKind(group, version, kind))
        return head | self.decode_message(message, _bytes(envelope.get(2, b""))) if message else head

    def decode_message(self, name: str, data: bytes) -> Tree:
        """The JSON form of a message. Raises WireError."""
        known, result = self._messages.fields(name), Tree()
        inline = self._inline_fields(name)
        for number, raw in wire.fields(data):
            field = known.get(number)
            if field is None:
                continue
            if field.name in inline:
                result |= self.decode_message(field.type, _bytes(raw))
            elif field.mapped:
                key, value = self._entry(field, _bytes(raw))
                result.setdefault(field.name, {})[key] = value
            elif not field.repeated:
                result[field.name] = self._value(field.type, raw)
            elif isinstance(raw, bytes) and field.type in ("int32", "int64", "bool"):
                result.setdefault(field.name, []).extend(self._value(field.type, bits) for bits in wire.varints(raw))
            else:
                result.setdefault(field.name, []).append(self._value(field.type, raw))
        return result

    def _value(self, kind: str, raw: int | bytes) -> Json:
        if isinstance(raw, int):
            return bool(raw) if kind == "bool" else wire.signed(raw)
        if kind == "string":
            return raw.decode("utf-8", "replace")
        if kind == "bytes":
            return base64.b64encode(raw).decode()
        reader = self._readers.get(kind)
        if reader is not None:
            return reader(raw)
        tree = self.decode_message(kind, raw)
        return tree.get("items", []) if kind.rpartition(".")[2] in LISTS else tree

    def _entry(self, field: Field, data: bytes) -> tuple[str, Json]:
        parts = dict(wire.fields(data))
        return _bytes(parts.get(1, b"")).decode(), self._value(field.type, parts.get(2, b""))

    def _plain(self, data: bytes, number: int, default: str) -> str:
        return _bytes(dict(wire.fields(data)).get(number, default.encode())).decode()

    def _inline_fields(self, name: str) -> dict[str, Field]:
        """The fields of a message that JSON does not show: embedded structs."""
        found = self._inline.get(name)
        if found is None:
            try:
                shown = self._definitions.named(PREFIX + name).properties
            except KeyError:
                shown = None
            found = self._inline[name] = {} if not shown else {
                field.name: field for field in self._messages.fields(name).values()
                if field.name not in shown and field.is_message and not field.repeated and not field.mapped
            }
        return found

    # writing

    def encode(self, tree: Tree) -> bytes | None:
        """An object in its envelope; None for a kind that has no message."""
        api_version, kind = tree.get("apiVersion") or "v1", tree["kind"]
        group, version = split_api_version(api_version)
        message = self.message_of(GroupVersionKind(group, version, kind))
        if message is None:
            return None
        meta = wire.chunk(1, api_version.encode()) + wire.chunk(2, kind.encode())
        return MAGIC + b"".join((
            wire.chunk(1, meta), wire.chunk(2, self.encode_message(message, tree)), wire.chunk(3, b""), wire.chunk(4, b"")))

    def encode_message(self, name: str, tree: Tree) -> bytes:
        """A message from its JSON form."""
        pieces: list[bytes] = []
        inline = self._inline_fields(name)
        for number, field in self._messages.fields(name).items():
            if field.name in inline:
                if data := self.encode_message(field.type, tree):
                    pieces.append(wire.chunk(number, data))
                continue
            value = tree.get(field.name)
            if value is None:
                continue
            if field.mapped:
                pieces += [
                    wire.chunk(number, wire.chunk(1, key.encode()) + self._written(2, field.type, value[key]))
                    for key in sorted(value)
                ]
            elif field.repeated:
                pieces += [self._written(number, field.type, item) for item in value]
            else:
                pieces.append(self._written(number, field.type, value))
        return b"".join(pieces)

    def _written(self, number: int, kind: str, value: Json) -> bytes:
        if kind in ("int32", "int64", "bool"):
            return wire.number(number, int(value))
        if kind == "string":
            return wire.chunk(number, str(value).encode())
        if kind == "bytes":
            return wire.chunk(number, _from_base64(value))
        writer = self._writers.get(kind)
        if writer is not None:
            return wire.chunk(number, writer(value))
        tree = {"items": value} if kind.rpartition(".")[2] in LISTS else value
        return wire.chunk(number, self.encode_message(kind, tree))

    def encode_event(self, type_: str, tree: Tree) -> bytes | None:
        """A watch event with its length in front, as a stream carries it; None for a kind that has no message."""
        data = self.encode(tree)
        if data is None:
            return None
        event = wire.chunk(1, type_.encode()) + wire.chunk(2, wire.chunk(1, data))
        return len(event).to_bytes(4, "big") + event


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise WireError("proto: wrong wireType = 0 for a field of bytes")
    return value


def _read_json(data: bytes) -> Json:
    raw = _bytes(dict(wire.fields(data)).get(1, b""))
    try:
        return orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError as error:
        raise WireError(str(error)) from None


def _write_json(value: Json) -> bytes:
    return wire.chunk(1, orjson.dumps(value))


def _read_time(data: bytes, show: Callable[[float], str]) -> Json:
    parts = dict(wire.fields(data))
    seconds, nanos = (wire.signed(int(parts.get(number, 0) or 0)) for number in (1, 2))
    return show(seconds + nanos / 1e9) if seconds or nanos else None


def _write_time(value: str) -> bytes:
    seconds = times.parse_time(value)
    whole = math.floor(seconds)
    nanos = round((seconds - whole) * 1e6) * 1000
    return wire.number(1, whole) + wire.number(2, nanos)


def _read_int_or_string(data: bytes) -> Json:
    parts = dict(wire.fields(data))
    if parts.get(1):
        return _bytes(parts.get(3, b"")).decode()
    return wire.signed(int(parts.get(2, 0) or 0))


def _write_int_or_string(value: Json) -> bytes:
    if isinstance(value, str):
        return wire.number(1, 1) + wire.number(2, 0) + wire.chunk(3, value.encode())
    return wire.number(1, 0) + wire.number(2, value) + wire.chunk(3, b"")


def _from_base64(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return b""
