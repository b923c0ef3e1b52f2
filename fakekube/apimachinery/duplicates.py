"""Keys that a JSON body gives twice.

They are read one into the other, and a client is told, or refused when it asked to be.

Upstream: DisallowDuplicateFields of sigs.k8s.io/json. Parsers that keep the last value are fast, so
a body is looked at closely only when counting quotation marks says that something got lost.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import orjson

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json, Tree

LIMIT = 100
"""So many are told for one body at most."""


class Members(dict[str, Any]):
    """An object whose ``items`` are the members as they stand, repetitions included."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def items(self) -> Iterable[tuple[str, Any]]:  # type: ignore[override]  # a view cannot hold a key twice
        return self.pairs


def may_repeat(body: bytes, tree: Json) -> bool:
    """Whether a body may give a key twice; ``tree`` is what it was parsed to, still unchanged.

    When in doubt, yes.
    """
    # Every key brings two marks, and marks inside texts are escaped the same way when written
    # again.
    return b"\\u0022" in body or orjson.dumps(tree).count(b'"') != body.count(b'"')


def merged(body: bytes) -> Json:
    """What Go makes of a body with repeated keys: a text or a number counts as it was given last,
    objects are merged, and the items of a list are read into those that stood there before.
    ``body`` is valid JSON.
    """
    return json.loads(body, object_pairs_hook=_merge_pairs)


def _merge_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        result[key] = _read_into(result[key], value) if key in result else value
    return result


def _read_into(old: Any, new: Any) -> Any:
    """The value after both; ``old`` is changed in place, so that a key given a thousand times costs
    what it says.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in new.items():
            old[key] = _read_into(old[key], value) if key in old else value
        return old
    if isinstance(old, list) and isinstance(new, list):
        shared = min(len(old), len(new))
        old[:shared] = [_read_into(before, item) for before, item in zip(old, new, strict=False)]
        old[shared:] = new[shared:]
        return old
    return new


def duplicate_keys(body: bytes, tree: Json = None) -> list[str]:
    """The paths of keys given more than once, in the order of the body: ``spec.replicas``,
    ``spec.containers[0].name``.

    ``tree`` is the parsed body, if the caller has it. Of a body whose kind is known,
    ``Codec.strict`` tells more exactly. ValueError when the body is not JSON.
    """
    if not may_repeat(body, orjson.loads(body) if tree is None else tree):
        return []
    return repeated_keys(json.loads(body, object_pairs_hook=Members, parse_int=str, parse_float=str))


def faults_of_operations(body: bytes, operations: Sequence[Tree | None], known: Collection[str]) -> list[str]:
    """What a strict reader says of a JSON patch, in the order of the body: ``duplicate field
    "[0].op"``.

    ``operations`` is what ``body`` was parsed to, ``known`` are the members of an operation. What
    is below others is not looked at.
    """
    if may_repeat(body, operations):
        operations = json.loads(body, object_pairs_hook=Members, parse_int=str, parse_float=str) or ()
    found: dict[str, None] = {}
    for number, operation in enumerate(operations):
        seen: dict[str, None] = {}
        for key, item in (operation or {}).items():
            where = f"[{number}].{key}"
            if key not in known:
                found[f"unknown field {go_quote(where)}"] = None
                continue
            if key in seen:
                found[f"duplicate field {go_quote(where)}"] = None
            seen[key] = None
            found.update((f"duplicate field {go_quote(path)}", None) for path in repeated_keys(item, where))
    return list(found)[:LIMIT]


def repeated_keys(value: Json, path: str = "") -> list[str]:
    """The paths of keys given more than once in a value that was parsed to ``Members``, ``LIMIT``
    at most.
    """
    found: list[str] = []
    _look(value, path, found)
    return found


def _look(value: Json, path: str, found: list[str]) -> None:
    if isinstance(value, Members):
        seen: dict[str, None] = {}
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            if key in seen and len(found) < LIMIT and where not in found:
                found.append(where)
            seen[key] = None
            _look(item, where, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _look(item, f"{path}[{index}]", found)
