"""The OpenAPI v3 documents in protobuf, for clients that ask for that.

Field numbers are those of gnostic's openapiv3/OpenAPIv3.proto. Left out: what the documents never
have (servers, links, callbacks, headers, examples, ``not``). A default that is an object has no
place in the message, and is left empty.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.endpoints.openapi.messages import (
    Encode,
    anything,
    boolean,
    double,
    each,
    field,
    integer,
    message,
    named,
    one,
    text,
    texts,
)


def encode(document: Mapping[str, Any]) -> bytes:
    """A document as a gnostic ``Document``."""
    return _document(document)


def _schema(tree: Mapping[str, Any]) -> bytes:
    """A schema, or a reference to one."""
    if "$ref" in tree:
        return field(2, text(1)(tree["$ref"]))
    return field(1, _SCHEMA(tree))


def _default(value: Any) -> bytes:
    if isinstance(value, bool):
        return boolean(2)(value)
    if isinstance(value, str):
        return text(3)(value)
    return double(1)(value) if isinstance(value, int | float) else b""


def _additional(value: Any) -> bytes:
    return field(1, _schema(value)) if isinstance(value, Mapping) else boolean(2)(value)


def _map(number: int, inner: Encode) -> Encode:
    """A message that holds nothing but a map."""
    return one(number, named(1, inner))


_SCHEMA = message({
    "nullable": boolean(1), "title": text(9), "multipleOf": double(10), "maximum": double(11), "exclusiveMaximum": boolean(12),
    "minimum": double(13), "exclusiveMinimum": boolean(14), "maxLength": integer(15), "minLength": integer(16),
    "pattern": text(17), "maxItems": integer(18), "minItems": integer(19), "uniqueItems": boolean(20),
    "maxProperties": integer(21), "minProperties": integer(22), "required": texts(23), "enum": each(24, anything),
    "type": text(25), "allOf": each(26, _schema), "oneOf": each(27, _schema), "anyOf": each(28, _schema),
    "items": lambda tree: field(30, field(1, _schema(tree))),
    "properties": _map(31, _schema), "additionalProperties": one(32, _additional), "default": one(33, _default),
    "description": text(34), "format": text(35),
}, 36)
_CONTENT = named(1, message({"schema": one(1, _schema)}, 5))
_PARAMETER = message({
    "name": text(1), "in": text(2), "description": text(3), "required": boolean(4), "schema": one(10, _schema),
}, 14)
_RESPONSE = message({"description": text(1), "content": one(3, _CONTENT)}, 5)
_BODY = message({"description": text(1), "content": one(2, _CONTENT), "required": boolean(3)}, 4)


def _inline(inner: Encode) -> Encode:
    """What could be a reference too, and never is one here."""
    return one(1, inner)


_OPERATION = message({
    "tags": texts(1), "summary": text(2), "description": text(3), "operationId": text(5),
    "parameters": each(6, _inline(_PARAMETER)), "requestBody": one(7, _inline(_BODY)),
    "responses": one(8, named(2, _inline(_RESPONSE))), "deprecated": boolean(10),
}, 13)
_ITEM = message({
    "description": text(3), "get": one(4, _OPERATION), "put": one(5, _OPERATION), "post": one(6, _OPERATION),
    "delete": one(7, _OPERATION), "options": one(8, _OPERATION), "head": one(9, _OPERATION), "patch": one(10, _OPERATION),
    "parameters": each(13, _inline(_PARAMETER)),
}, 14)
_KEY = message({"type": text(1), "description": text(2), "name": text(3), "in": text(4), "scheme": text(5)}, 9)
_COMPONENTS = message({"schemas": _map(1, _schema), "securitySchemes": _map(7, _inline(_KEY))}, 10)
_INFO = message({"title": text(1), "description": text(2), "version": text(6)}, 7)
_document = message({
    "openapi": text(1), "info": one(2, _INFO), "paths": _map(4, _ITEM), "components": one(5, _COMPONENTS),
}, 9)
