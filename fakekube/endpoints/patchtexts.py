"""How upstream quotes a patch, or what came of one, in the error that refuses it.

A JSON or merge patch is quoted as the patched object, whose touched levels have their keys sorted while untouched ones
keep the order in which they were; a strategic merge patch as a Go map. Upstream: evanphx/json-patch, fmt, and
apimachinery/pkg/runtime/converter.go.
"""

import re
from collections.abc import Iterable
from typing import Any

import orjson

from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.structural import Schema

_UNMARSHAL = re.compile(r"json: cannot unmarshal (\w+)(?: (\S+))? into Go (?:struct field \S+|value) of type (\S+)")


def patched_text(patched: Tree, schema: Schema | None, *, merged: Json = None, paths: Iterable[str] = ()) -> str:
    """The patched object as JSON. Give its schema, and the merge patch, or the pointers of a JSON patch, that made it."""
    touched: Json = merged
    if touched is None:
        touched = {}
        for path in paths:
            level = touched
            for part in path.split("/")[1:-1]:
                level = level.setdefault(part.replace("~1", "/").replace("~0", "~"), {})
    return orjson.dumps(_sorted_where(in_go_order(patched, schema), touched)).decode()


def in_go_order(value: Json, schema: Schema | None) -> Json:
    """A value whose keys are in the order in which Go prints them, those of maps sorted."""
    if schema is None:
        return value
    if isinstance(value, list):
        return [in_go_order(item, schema.items) for item in value]
    if not isinstance(value, dict):
        return value
    if schema.go is None:
        return {key: in_go_order(value[key], schema.additional) for key in sorted(value)} if schema.additional else value
    known = [key for key in schema.go.fields if key in value]
    return {key: in_go_order(value[key], schema.properties.get(key)) for key in dict.fromkeys([*known, *value])}


def _sorted_where(value: Json, touched: Json) -> Json:
    if isinstance(value, dict) and isinstance(touched, dict):
        return {key: _sorted_where(value[key], touched.get(key)) for key in sorted(value)}
    if isinstance(value, list) and isinstance(touched, dict):
        return [_sorted_where(item, touched.get(str(number))) for number, item in enumerate(value)]
    return value


def go_map(value: Any) -> str:
    """A value as Go's ``%v`` prints it: ``map[a:1 b:[x y]]``."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_map(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_map, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def convert_error(text: str) -> str:
    """A type error of the decoder in the words of the converter that strategic merge goes through."""
    match = _UNMARSHAL.search(text)
    if match is None:
        return text
    source, number, target = match.groups()
    if target.startswith("map["):
        return f"cannot restore map from {_kind(source, number)}"
    if target.startswith("[]"):
        return f"cannot restore slice from {_kind(source, number)}"
    if source in ("object", "array") or re.fullmatch(
        r"v\d\w*\.[A-Z]\w*(Spec|Status|Source|Template|Meta|Context)", target
    ):
        return f"cannot restore struct from: {_kind(source, number)}"
    return f"cannot convert {_kind(source, number)} to {target}"


def _kind(source: str, number: str | None) -> str:
    if source == "number":
        return "float64" if number and not re.fullmatch(r"-?\d+", number) else "int64"
    return {"array": "slice", "object": "map"}.get(source, source)
