"""From protobuf to trees and back.

Three things tell a message from the JSON of the same object: some types write themselves in their
own way (``shapes.py``), bytes are bytes, and embedded structs are messages of their own whose
fields JSON shows inline. Upstream: apimachinery/pkg/runtime/serializer/protobuf and the
generated.pb.go files. Left out: fields that Go writes although they hold nothing, which readers do
not miss.
"""

import base64
import binascii

from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.definitions import Definitions
from fakekube.schema.protobuf import shapes, wire
from fakekube.schema.protobuf.messages import VARINTS, Field, Messages
from fakekube.schema.protobuf.shapes import META, text
from fakekube.schema.protobuf.wire import WireError

PREFIX = "io.k8s."
DISCOVERY = {"APIVersions", "APIGroupList", "APIGroup", "APIResourceList"}


class ProtobufCodec:
    """Reads and writes objects of one release."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._messages = Messages()
        self._readers = shapes.readers(self.decode_message)
        self._writers = shapes.writers(self.encode_message)

    def message_of(self, gvk: GroupVersionKind) -> str | None:
        """The message of a kind, or None when it has none."""
        if gvk.kind in DISCOVERY:
            return META + gvk.kind
        if gvk.group == "apidiscovery.k8s.io":
            return f"api.apidiscovery.{gvk.version}.{gvk.kind}"
        if gvk.group == "meta.k8s.io":
            return META + gvk.kind
        schema = self._definitions.schema(gvk)
        name = schema.name.removeprefix(PREFIX) if schema else f"api.{gvk.group.partition('.')[0]}.{gvk.version}.{gvk.kind}"
        return name if name in self._messages else None

    # reading

    def decode(self, body: bytes) -> Tree:
        """The object in an envelope, with kind and apiVersion as it says. Raises WireError."""
        if not body:
            raise WireError("empty data")
        if body == wire.MAGIC:
            raise WireError("empty body")
        if body[:4] != wire.MAGIC:
            raise WireError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
        envelope = dict(wire.fields(body[4:]))
        meta = dict(wire.fields(_bytes(envelope.get(1, b""))))
        api_version, kind = (text(meta.get(number, b"")) for number in (1, 2))
        try:
            group, version = split_api_version(api_version)
        except ValueError as error:
            raise WireError(str(error)) from None
        head: Tree = ({"apiVersion": api_version} if api_version else {}) | ({"kind": kind} if kind else {})
        message = self.message_of(GroupVersionKind(group, version, kind))
        if message is None:
            return head
        try:
            return head | self.decode_message(message, _bytes(envelope.get(2, b"")))
        except RecursionError:
            raise WireError("messages are nested too deep") from None

    def decode_message(self, name: str, data: bytes) -> Tree:
        """The JSON form of a message. Raises WireError."""
        known, result = self._messages.fields(name), Tree()
        for number, raw in wire.fields(data):
            field = known.get(number)
            if field is None:
                continue
            if field.inline:
                result |= self.decode_message(field.type, _bytes(raw))
            elif field.mapped:
                key, value = self._entry(field, _bytes(raw))
                result.setdefault(field.name, {})[key] = value
            elif not field.repeated:
                result[field.name] = self._value(field.type, raw)
            elif isinstance(raw, bytes) and field.type in VARINTS:
                result.setdefault(field.name, []).extend(self._value(field.type, bits) for bits in wire.varints(raw))
            else:
                result.setdefault(field.name, []).append(self._value(field.type, raw))
        return result

    def _value(self, kind: str, raw: int | bytes) -> Json:
        if kind in VARINTS:
            bits = raw if isinstance(raw, int) else _empty(raw)
            return bool(bits) if kind == "bool" else wire.signed(bits)
        raw = _bytes(raw)
        if kind == "string":
            return raw.decode("utf-8", "replace")
        if kind == "bytes":
            return base64.b64encode(raw).decode()
        if kind == "double":
            return wire.double(raw)
        reader = self._readers.get(kind)
        if reader is not None:
            return reader(raw)
        tree = self.decode_message(kind, raw)
        return tree.get("items", []) if self._messages.wraps_list(kind) else tree

    def _entry(self, field: Field, data: bytes) -> tuple[str, Json]:
        parts = dict(wire.fields(data))
        return text(parts.get(1, b"")), self._value(field.type, parts.get(2, b""))

    # writing

    def encode(self, tree: Tree) -> bytes | None:
        """An object in its envelope; None for a kind that has no message."""
        api_version, kind = tree.get("apiVersion") or "v1", tree["kind"]
        group, version = split_api_version(api_version)
        message = self.message_of(GroupVersionKind(group, version, kind))
        if message is None:
            return None
        meta = wire.chunk(1, api_version.encode()) + wire.chunk(2, kind.encode())
        return wire.MAGIC + b"".join((
            wire.chunk(1, meta), wire.chunk(2, self.encode_message(message, tree)), wire.chunk(3, b""), wire.chunk(4, b"")))

    def encode_message(self, name: str, tree: Tree) -> bytes:
        """A message from its JSON form."""
        pieces: list[bytes] = []
        for number, field in self._messages.fields(name).items():
            if field.inline:
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
        if kind in VARINTS:
            return wire.number(number, int(value))
        if kind == "string":
            return wire.chunk(number, str(value).encode())
        if kind == "bytes":
            return wire.chunk(number, _from_base64(value))
        if kind == "double":
            return wire.float_number(number, value)
        writer = self._writers.get(kind)
        if writer is not None:
            return wire.chunk(number, writer(value))
        tree = {"items": value} if self._messages.wraps_list(kind) else value
        return wire.chunk(number, self.encode_message(kind, tree))

    def encode_event(self, type_: str, tree: Tree) -> bytes | None:
        """A watch event with its length in front, as a stream carries it; None for a kind that has
        no message.
        """
        data = self.encode(tree)
        if data is None:
            return None
        event = wire.chunk(1, type_.encode()) + wire.chunk(2, wire.chunk(1, data))
        return len(event).to_bytes(4, "big") + event


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise WireError("proto: wrong wireType = 0 for a field of bytes")
    return value


def _empty(raw: bytes) -> int:
    """A number in an entry of a map that leaves it out.

    Raises WireError when something stands there.
    """
    if raw:
        raise WireError("proto: wrong wireType = 2 for a field of numbers")
    return 0


def _from_base64(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return b""
