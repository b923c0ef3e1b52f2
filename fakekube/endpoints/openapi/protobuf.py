"""The OpenAPI v2 document in protobuf: what kubectl up to 1.26 validates manifests with, and will not do without.

Field numbers are those of gnostic's openapiv2/OpenAPIv2.proto. Extensions travel as YAML texts, JSON being YAML. Left out:
what the document never has (headers, examples, discriminators, tags with texts).
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import orjson

Encode = Callable[[Any], bytes]

VARINT, DOUBLE, BYTES = 0, 1, 2


def encode(document: Mapping[str, Any]) -> bytes:
    """The document as a gnostic ``Document``."""
    return _document(document)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(len(data)) + data


def _text(number: int) -> Encode:
    return lambda value: _field(number, value.encode())


def _texts(number: int) -> Encode:
    return lambda values: b"".join(_field(number, value.encode()) for value in values)


def _bool(number: int) -> Encode:
    return lambda value: _varint(number << 3 | VARINT) + b"\x01" if value else b""


def _int(number: int) -> Encode:
    return lambda value: _varint(number << 3 | VARINT) + _varint(int(value))


def _double(number: int) -> Encode:
    return lambda value: _varint(number << 3 | DOUBLE) + struct.pack("<d", value)


def _one(number: int, inner: Encode) -> Encode:
    return lambda value: _field(number, inner(value))


def _each(number: int, inner: Encode) -> Encode:
    return lambda values: b"".join(_field(number, inner(value)) for value in values)


def _named(number: int, inner: Encode) -> Encode:
    """A map, as a list of names with values."""
    return lambda values: b"".join(
        _field(number, _field(1, name.encode()) + _field(2, inner(value))) for name, value in values.items())


def _any(value: Any) -> bytes:
    return _field(2, orjson.dumps(value) + b"\n")


def _message(fields: Mapping[str, Encode], extensions: int) -> Encode:
    """A message: known members by their fields, those that begin with ``x-`` as extensions."""
    extend = _named(extensions, _any)

    def encoded(tree: Mapping[str, Any]) -> bytes:
        out = [fields[name](value) for name, value in tree.items() if name in fields]
        extra = {name: value for name, value in tree.items() if name.startswith("x-")}
        return b"".join(out) + (extend(extra) if extra else b"")

    return encoded


def _schema(tree: Mapping[str, Any]) -> bytes:
    return _SCHEMA(tree)


def _as_texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _additional(value: Any) -> bytes:
    return _field(1, _schema(value)) if isinstance(value, Mapping) else _bool(2)(value)


_SCHEMA = _message({
    "$ref": _text(1), "format": _text(2), "title": _text(3), "description": _text(4), "default": _one(5, _any),
    "multipleOf": _double(6), "maximum": _double(7), "exclusiveMaximum": _bool(8), "minimum": _double(9),
    "exclusiveMinimum": _bool(10), "maxLength": _int(11), "minLength": _int(12), "pattern": _text(13), "maxItems": _int(14),
    "minItems": _int(15), "uniqueItems": _bool(16), "maxProperties": _int(17), "minProperties": _int(18),
    "required": _texts(19), "enum": _each(20, _any), "additionalProperties": _one(21, _additional),
    "type": lambda value: _field(22, _texts(1)(_as_texts(value))), "items": lambda value: _field(23, _field(1, _schema(value))),
    "allOf": _each(24, _schema), "properties": lambda value: _field(25, _named(1, _schema)(value)),
}, 31)

_BODY = _message({"description": _text(1), "name": _text(2), "in": _text(3), "required": _bool(4), "schema": _one(5, _schema)}, 6)
_QUERY = _message({
    "required": _bool(1), "in": _text(2), "description": _text(3), "name": _text(4), "type": _text(6), "format": _text(7),
    "uniqueItems": _bool(20),
}, 23)
_PATH = _message({
    "required": _bool(1), "in": _text(2), "description": _text(3), "name": _text(4), "type": _text(5), "format": _text(6),
    "uniqueItems": _bool(19),
}, 22)


def _parameter(tree: Mapping[str, Any]) -> bytes:
    if tree["in"] == "body":
        return _field(1, _field(1, _BODY(tree)))
    other = _field(4, _PATH(tree)) if tree["in"] == "path" else _field(3, _QUERY(tree))
    return _field(1, _field(2, other))


_RESPONSE = _message({"description": _text(1), "schema": lambda value: _field(2, _field(1, _schema(value)))}, 5)
_OPERATION = _message({
    "tags": _texts(1), "summary": _text(2), "description": _text(3), "operationId": _text(5), "produces": _texts(6),
    "consumes": _texts(7), "parameters": _each(8, _parameter),
    "responses": lambda value: _field(9, _named(1, lambda one: _field(1, _RESPONSE(one)))(value)), "schemes": _texts(10),
    "deprecated": _bool(11),
}, 13)
_ITEM = _message({
    "get": _one(2, _OPERATION), "put": _one(3, _OPERATION), "post": _one(4, _OPERATION), "delete": _one(5, _OPERATION),
    "options": _one(6, _OPERATION), "head": _one(7, _OPERATION), "patch": _one(8, _OPERATION),
    "parameters": _each(9, _parameter),
}, 10)
_INFO = _message({"title": _text(1), "version": _text(2), "description": _text(3)}, 7)
_KEY = _message({"type": _text(1), "name": _text(2), "in": _text(3), "description": _text(4)}, 5)

_document = _message({
    "swagger": _text(1), "info": _one(2, _INFO), "paths": lambda value: _field(8, _named(2, _ITEM)(value)),
    "definitions": lambda value: _field(9, _named(1, _schema)(value)),
    "security": _each(12, _named(1, _texts(1))),
    "securityDefinitions": lambda value: _field(13, _named(1, lambda one: _field(2, _KEY(one)))(value)),
}, 16)
