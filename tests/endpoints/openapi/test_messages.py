"""The messages of OpenAPI v2 in protobuf, field by field, by gnostic's numbers."""

import struct
from typing import Any

import pytest

from fakekube.endpoints.openapi import protobuf

Fields = list[tuple[int, Any]]


def number(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value % 128 + 128]), value // 128
    return out + bytes([value])


def message(*fields: tuple[int, Any]) -> bytes:
    """A message of numbered fields: texts, numbers, truths and other messages."""
    out = b""
    for field, value in fields:
        if isinstance(value, bool | int):
            out += number(field * 8) + number(int(value))
        elif isinstance(value, float):
            out += number(field * 8 + 1) + struct.pack("<d", value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += number(field * 8 + 2) + number(len(data)) + data
    return out


def named(field: int, name: str, value: bytes) -> tuple[int, bytes]:
    return field, message((1, name), (2, value))


def anything(text: str) -> bytes:
    return message((2, text + "\n"))


SCHEMA = {
    "$ref": "#/definitions/x",
    "format": "f",
    "title": "t",
    "description": "d" * 200,
    "default": {"a": [1, None]},
    "multipleOf": 0.5,
    "maximum": 5,
    "exclusiveMaximum": True,
    "minimum": 1.5,
    "exclusiveMinimum": True,
    "maxLength": 300,
    "minLength": 1,
    "pattern": "p",
    "maxItems": 2,
    "minItems": 3,
    "uniqueItems": True,
    "maxProperties": 4,
    "minProperties": 5,
    "required": ["a", "b"],
    "enum": ["x", 1],
    "additionalProperties": {"type": "string"},
    "type": ["string", "null"],
    "items": {"type": "integer"},
    "allOf": [{"type": "a"}, {"type": "b"}],
    "properties": {"p": {"type": "c"}},
    "x-one": {"a": 1},
    "x-two": [],
    "unknown": 1,
}


def of_type(text: str) -> bytes:
    return message((22, message((1, text))))


def test_a_schema_of_v2() -> None:
    """Given a schema with every member, when it is written for v2, then each has its number, in the
    order of the members, and what begins with x- follows.
    """
    assert protobuf._schema(SCHEMA) == message(
        (1, "#/definitions/x"),
        (2, "f"),
        (3, "t"),
        (4, "d" * 200),
        (5, anything('{"a":[1,null]}')),
        (6, 0.5),
        (7, 5.0),
        (8, True),
        (9, 1.5),
        (10, True),
        (11, 300),
        (12, 1),
        (13, "p"),
        (14, 2),
        (15, 3),
        (16, True),
        (17, 4),
        (18, 5),
        (19, "a"),
        (19, "b"),
        (20, anything('"x"')),
        (20, anything("1")),
        (21, message((1, of_type("string")))),
        (22, message((1, "string"), (1, "null"))),
        (23, message((1, of_type("integer")))),
        (24, of_type("a")),
        (24, of_type("b")),
        (25, message(named(1, "p", of_type("c")))),
        named(31, "x-one", anything('{"a":1}')),
        named(31, "x-two", anything("[]")),
    )


@pytest.mark.parametrize(("value", "expected"), [(True, message((2, True))), (False, b"")])
def test_additional_properties_of_v2_may_be_a_truth(value: bool, expected: bytes) -> None:
    """Given additionalProperties that are a truth, then true is a field, and false is none."""
    assert protobuf._schema({"additionalProperties": value}) == message((21, expected))
    assert protobuf._schema({"uniqueItems": False}) == b""


def test_a_document_of_v2() -> None:
    """Given a document with every member, when it is written for v2, then each has its number."""
    query = {
        "required": True,
        "in": "query",
        "description": "d",
        "name": "q",
        "type": "t",
        "format": "f",
        "uniqueItems": True,
        "x-a": 1,
    }
    path = {**query, "in": "path", "name": "p"}
    body = {"description": "d", "name": "body", "in": "body", "required": True, "schema": {"type": "s"}, "x-b": 2}
    operation = {
        "tags": ["a", "b"],
        "summary": "s",
        "description": "d",
        "operationId": "o",
        "produces": ["p"],
        "consumes": ["c", "e"],
        "parameters": [query, path, body],
        "responses": {"200": {"description": "OK", "schema": {"type": "r"}, "x-c": 3}},
        "schemes": ["https"],
        "deprecated": True,
        "x-d": 4,
    }
    document = {
        "swagger": "2.0",
        "info": {"title": "t", "version": "v", "description": "d", "x-e": 5},
        "paths": {
            "/x": {
                "get": operation,
                **{verb: {} for verb in ("put", "post", "delete", "options", "head", "patch")},
                "parameters": [query],
                "x-f": 6,
            }
        },
        "definitions": {"n": {"type": "a"}},
        "security": [{"k": ["v"]}],
        "securityDefinitions": {"k": {"type": "apiKey", "name": "a", "in": "header", "description": "d", "x-g": 7}},
        "x-h": 8,
    }

    def extension(field: int, name: str, text: str) -> tuple[int, bytes]:
        return named(field, name, anything(text))

    in_query = message((1, True), (2, "query"), (3, "d"), (4, "q"), (6, "t"), (7, "f"), (20, True), extension(23, "x-a", "1"))
    in_path = message((1, True), (2, "path"), (3, "d"), (4, "p"), (5, "t"), (6, "f"), (19, True), extension(22, "x-a", "1"))
    in_body = message((1, "d"), (2, "body"), (3, "body"), (4, True), (5, of_type("s")), extension(6, "x-b", "2"))
    asked = message((1, message((2, message((3, in_query))))))
    parameters = [asked, message((1, message((2, message((4, in_path)))))), message((1, message((1, in_body))))]
    answer = message((1, "OK"), (2, message((1, of_type("r")))), extension(5, "x-c", "3"))
    get = message(
        (1, "a"),
        (1, "b"),
        (2, "s"),
        (3, "d"),
        (5, "o"),
        (6, "p"),
        (7, "c"),
        (7, "e"),
        *((8, parameter) for parameter in parameters),
        (9, message(named(1, "200", message((1, answer))))),
        (10, "https"),
        (11, True),
        extension(13, "x-d", "4"),
    )
    item = message((2, get), (3, b""), (4, b""), (5, b""), (6, b""), (7, b""), (8, b""), (9, asked), extension(10, "x-f", "6"))
    key = message((1, "apiKey"), (2, "a"), (3, "header"), (4, "d"), extension(5, "x-g", "7"))
    assert protobuf.encode(document) == message(
        (1, "2.0"),
        (2, message((1, "t"), (2, "v"), (3, "d"), extension(7, "x-e", "5"))),
        (8, message(named(2, "/x", item))),
        (9, message(named(1, "n", of_type("a")))),
        (12, message(named(1, "k", message((1, "v"))))),
        (13, message(named(1, "k", message((2, key))))),
        extension(16, "x-h", "8"),
    )
