"""Keys that a JSON body gives twice. The last one counts, but a client is told, or refused when it asked to be.

Upstream: DisallowDuplicateFields of sigs.k8s.io/json. Parsers that keep the last value are fast, so a body is looked at
closely only when counting quotation marks says that something got lost.
"""

import json
from typing import Any

import orjson

from fakekube.apimachinery.types import Json
from fakekube.schema.structural import Schema

LIMIT = 100
"""So many are told for one body at most."""


class _Pairs(list[Any]):
    """The members of an object as they stand, repetitions included."""


def may_repeat(body: bytes, tree: Json) -> bool:
    """Whether a body may give a key twice; ``tree`` is what it was parsed to, still unchanged. When in doubt, yes."""
    # Every key brings two marks, and marks inside texts are escaped the same way when written again.
    return b"\\u0022" in body or orjson.dumps(tree).count(b'"') != body.count(b'"')


def duplicate_keys(body: bytes, tree: Json = None, schema: Schema | None = None) -> list[str]:
    """The paths of keys given more than once, in the order of the body: ``spec.replicas``, ``spec.containers[0].name``.

    ``tree`` is the parsed body, if the caller has it. With ``schema``, what lies below unknown fields and in values
    that decode themselves is not looked at, as upstream does for built-in kinds. ValueError when the body is not JSON.
    """
    if not may_repeat(body, orjson.loads(body) if tree is None else tree):
        return []
    found: list[str] = []
    _look(json.loads(body, object_pairs_hook=_Pairs, parse_int=str, parse_float=str), "", schema, found)
    return found[:LIMIT]


def _look(value: Json, path: str, schema: Schema | None, found: list[str]) -> None:
    if isinstance(value, _Pairs):
        seen: dict[str, None] = {}
        for key, item in value:
            child = None
            if schema is not None:
                child = schema.properties.get(key) or schema.additional
                if child is None:
                    continue
            where = f"{path}.{key}" if path else key
            if key in seen and where not in found:
                found.append(where)
            seen[key] = None
            _look(item, where, child, found)
    elif isinstance(value, list):
        child = schema.items if schema is not None else None
        if schema is not None and child is None:
            return
        for index, item in enumerate(value):
            _look(item, f"{path}[{index}]", child, found)
