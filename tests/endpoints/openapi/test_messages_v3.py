"""The messages of OpenAPI v3 in protobuf, field by field, by gnostic's numbers."""

from typing import Any

import pytest

from fakekube.endpoints.openapi import protobuf_v3
from tests.endpoints.openapi.test_messages import SCHEMA, Fields, anything, message, named


def schema_v3(*fields: tuple[int, Any]) -> bytes:
    return message((1, message(*fields)))


def test_a_schema_of_v3() -> None:
    """Given a schema with every member, when it is written for v3, then each has its number."""
    tree = {
        **{name: value for name, value in SCHEMA.items() if name not in ("$ref", "type", "default")},
        "nullable": True,
        "type": "object",
        "default": "x",
        "oneOf": [{"type": "a"}],
        "anyOf": [{"$ref": "r"}],
    }
    of = {name: schema_v3((25, name)) for name in ("string", "integer", "a", "b", "c")}
    assert protobuf_v3._schema(tree) == schema_v3(
        (35, "f"),
        (9, "t"),
        (34, "d" * 200),
        (10, 0.5),
        (11, 5.0),
        (12, True),
        (13, 1.5),
        (14, True),
        (15, 300),
        (16, 1),
        (17, "p"),
        (18, 2),
        (19, 3),
        (20, True),
        (21, 4),
        (22, 5),
        (23, "a"),
        (23, "b"),
        (24, anything('"x"')),
        (24, anything("1")),
        (32, message((1, of["string"]))),
        (30, message((1, of["integer"]))),
        (26, of["a"]),
        (26, of["b"]),
        (31, message(named(1, "p", of["c"]))),
        (1, True),
        (25, "object"),
        (33, message((3, "x"))),
        (27, of["a"]),
        (28, message((2, message((1, "r"))))),
        named(36, "x-one", anything('{"a":1}')),
        named(36, "x-two", anything("[]")),
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, message((2, True))),
        (False, b""),
        ("t", message((3, "t"))),
        (0, message((1, 0.0))),
        (1.5, message((1, 1.5))),
        ({}, b""),
        ([1], b""),
    ],
)
def test_a_default_of_v3(value: Any, expected: bytes) -> None:
    """Given defaults, then truths, texts and numbers have their fields, and an object has none."""
    assert protobuf_v3._schema({"default": value}) == schema_v3((33, expected))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, message((2, True))),
        (False, b""),
        ({"$ref": "r"}, message((1, message((2, message((1, "r"))))))),
    ],
)
def test_additional_properties_of_v3(value: Any, expected: bytes) -> None:
    """Given additionalProperties, then they are a truth, or a schema or a reference to one."""
    assert protobuf_v3._schema({"additionalProperties": value}) == schema_v3((32, expected))


def test_a_document_of_v3() -> None:
    """Given a document with every member, when it is written for v3, then each has its number."""
    content = {"application/json": {"schema": {"type": "s"}, "x-a": 1}}
    parameter = {"name": "n", "in": "query", "description": "d", "required": True, "schema": {"type": "p"}, "x-b": 2}
    operation = {
        "tags": ["a"],
        "summary": "s",
        "description": "d",
        "operationId": "o",
        "parameters": [parameter],
        "requestBody": {"description": "b", "content": content, "required": True, "x-c": 3},
        "responses": {"200": {"description": "OK", "content": content, "x-d": 4}},
        "deprecated": True,
        "x-e": 5,
    }
    document = {
        "openapi": "3.0.0",
        "info": {"title": "t", "description": "d", "version": "v", "x-f": 6},
        "paths": {
            "/x": {
                "description": "i",
                "get": operation,
                **{verb: {} for verb in ("put", "post", "delete", "options", "head", "patch")},
                "parameters": [parameter],
                "x-g": 7,
            }
        },
        "components": {
            "schemas": {"n": {"type": "a"}},
            "securitySchemes": {
                "k": {"type": "apiKey", "description": "d", "name": "a", "in": "header", "scheme": "s", "x-h": 8}
            },
        },
        "x-i": 9,
    }

    def extension(field: int, name: str, text: str) -> tuple[int, bytes]:
        return named(field, name, anything(text))

    told = message(named(1, "application/json", message((1, schema_v3((25, "s"))), extension(5, "x-a", "1"))))
    in_content = message(*_fields_of(told))
    asked = message(
        (1, message((1, "n"), (2, "query"), (3, "d"), (4, True), (10, schema_v3((25, "p"))), extension(14, "x-b", "2")))
    )
    body = message((1, message((1, "b"), (2, in_content), (3, True), extension(4, "x-c", "3"))))
    answer = message((1, message((1, "OK"), (3, in_content), extension(5, "x-d", "4"))))
    get = message(
        (1, "a"),
        (2, "s"),
        (3, "d"),
        (5, "o"),
        (6, asked),
        (7, body),
        (8, message(named(2, "200", answer))),
        (10, True),
        extension(13, "x-e", "5"),
    )
    item = message(
        (3, "i"), (4, get), (5, b""), (6, b""), (7, b""), (8, b""), (9, b""), (10, b""), (13, asked), extension(14, "x-g", "7")
    )
    key = message((1, message((1, "apiKey"), (2, "d"), (3, "a"), (4, "header"), (5, "s"), extension(9, "x-h", "8"))))
    assert protobuf_v3.encode(document) == message(
        (1, "3.0.0"),
        (2, message((1, "t"), (2, "d"), (6, "v"), extension(7, "x-f", "6"))),
        (4, message(named(1, "/x", item))),
        (5, message((1, message(named(1, "n", schema_v3((25, "a"))))), (7, message(named(1, "k", key))))),
        extension(9, "x-i", "9"),
    )


def _fields_of(data: bytes) -> Fields:
    """The one field of a short message."""
    return [(data[0] // 8, data[2:] if data[1] < 128 else data[3:])]
