"""The OpenAPI v2 document in protobuf: what kubectl up to 1.26 validates manifests with, and will
not do without.

Field numbers are those of gnostic's openapiv2/OpenAPIv2.proto. Left out: what the document never
has (headers, examples, discriminators, tags with texts).
"""

from collections.abc import Mapping
from typing import Any

from fakekube.endpoints.openapi.messages import (
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
    """The document as a gnostic ``Document``."""
    return _document(document)


def _schema(tree: Mapping[str, Any]) -> bytes:
    return _SCHEMA(tree)


def _as_texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _additional(value: Any) -> bytes:
    return field(1, _schema(value)) if isinstance(value, Mapping) else boolean(2)(value)


_SCHEMA = message({
    "$ref": text(1), "format": text(2), "title": text(3), "description": text(4), "default": one(5, anything),
    "multipleOf": double(6), "maximum": double(7), "exclusiveMaximum": boolean(8), "minimum": double(9),
    "exclusiveMinimum": boolean(10), "maxLength": integer(11), "minLength": integer(12), "pattern": text(13),
    "maxItems": integer(14), "minItems": integer(15), "uniqueItems": boolean(16), "maxProperties": integer(17),
    "minProperties": integer(18), "required": texts(19), "enum": each(20, anything), "additionalProperties": one(21, _additional),
    "type": lambda value: field(22, texts(1)(_as_texts(value))), "items": lambda value: field(23, field(1, _schema(value))),
    "allOf": each(24, _schema), "properties": lambda value: field(25, named(1, _schema)(value)),
}, 31)

_BODY = message({"description": text(1), "name": text(2), "in": text(3), "required": boolean(4), "schema": one(5, _schema)}, 6)
_QUERY = message({
    "required": boolean(1), "in": text(2), "description": text(3), "name": text(4), "type": text(6), "format": text(7),
    "uniqueItems": boolean(20),
}, 23)
_PATH = message({
    "required": boolean(1), "in": text(2), "description": text(3), "name": text(4), "type": text(5), "format": text(6),
    "uniqueItems": boolean(19),
}, 22)


def _parameter(tree: Mapping[str, Any]) -> bytes:
    if tree["in"] == "body":
        return field(1, field(1, _BODY(tree)))
    other = field(4, _PATH(tree)) if tree["in"] == "path" else field(3, _QUERY(tree))
    return field(1, field(2, other))


_RESPONSE = message({"description": text(1), "schema": lambda value: field(2, field(1, _schema(value)))}, 5)
_OPERATION = message({
    "tags": texts(1), "summary": text(2), "description": text(3), "operationId": text(5), "produces": texts(6),
    "consumes": texts(7), "parameters": each(8, _parameter),
    "responses": lambda value: field(9, named(1, lambda answer: field(1, _RESPONSE(answer)))(value)), "schemes": texts(10),
    "deprecated": boolean(11),
}, 13)
_ITEM = message({
    "get": one(2, _OPERATION), "put": one(3, _OPERATION), "post": one(4, _OPERATION), "delete": one(5, _OPERATION),
    "options": one(6, _OPERATION), "head": one(7, _OPERATION), "patch": one(8, _OPERATION),
    "parameters": each(9, _parameter),
}, 10)
_INFO = message({"title": text(1), "version": text(2), "description": text(3)}, 7)
_KEY = message({"type": text(1), "name": text(2), "in": text(3), "description": text(4)}, 5)

_document = message({
    "swagger": text(1), "info": one(2, _INFO), "paths": lambda value: field(8, named(2, _ITEM)(value)),
    "definitions": lambda value: field(9, named(1, _schema)(value)),
    "security": each(12, named(1, texts(1))),
    "securityDefinitions": lambda value: field(13, named(1, lambda one: field(2, _KEY(one)))(value)),
}, 16)
