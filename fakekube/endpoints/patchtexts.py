"""How upstream quotes a patch, or what came of one, in the error that refuses it.

A JSON or merge patch is quoted as the patched object, whose touched levels have their keys sorted
while untouched ones keep the order in which they were; a strategic merge patch as a Go map.
Upstream: evanphx/json-patch, fmt, and apimachinery/pkg/runtime/converter.go.
"""

import re
from collections.abc import Iterable

from fakekube.apimachinery.field_errors import go_json
from fakekube.apimachinery.types import Json, Tree
from fakekube.patch.json_patch import unescaped
from fakekube.schema.structural import Schema

_UNMARSHAL = re.compile(r"json: cannot unmarshal (\w+)(?: (\S+))? into Go (?:struct field (\S+)|value) of type (\S+)")
DECODED_BY_THEMSELVES = (".Time", ".MicroTime", ".Quantity", ".Duration")



def patched_text(patched: Tree, schema: Schema | None, *, merged: Json = None, paths: Iterable[str] = ()) -> str:
    """The patched object as JSON. Give its schema, and the merge patch, or the pointers of a JSON
    patch, that made it.
    """
    touched: Json = merged
    if touched is None:
        touched = {}
        for path in paths:
            level = touched
            for part in path.split("/")[1:-1]:
                level = level.setdefault(unescaped(part), {})
    return go_json(_sorted_where(in_go_order(patched, schema), touched))


def custom_text(patched: Tree) -> str:
    """A patched custom object as JSON: it is a Go map, and all its keys are sorted."""
    return go_json(patched, sort_keys=True)


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
    if isinstance(touched, list):
        return sorted_keys(value)
    if isinstance(value, list) and isinstance(touched, dict):
        return [_sorted_where(item, touched.get(str(number))) for number, item in enumerate(value)]
    return value


def sorted_keys(value: Json) -> Json:
    """A value with the keys of all its maps sorted: so is what comes whole from a merge patch."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


def convert_error(text: str, schema: Schema | None = None) -> str:
    """An error of the decoder in the words of the converter that strategic merge and apply go
    through.

    ``schema`` is that of the kind; the error names a field of it.
    """
    if text.startswith("illegal base64"):
        return f"error decoding from json: {text}"
    match = _UNMARSHAL.search(text)
    if match is None:
        return text
    source, number, path, target = match.groups()
    node = _node_at(schema, (path or "").split(".")[1:], target)
    given = _kind(source, number)
    if target.startswith("map[") or target.endswith(".ResourceList"):
        return f"cannot restore map from {given}"
    if node is not None and (node.int_or_string or node.name.endswith(DECODED_BY_THEMSELVES)):
        return f"json: cannot unmarshal {source}{f' {number}' if number else ''} into Go value of type {target}"
    if target.startswith("[]"):
        return f"cannot restore slice from {given}"
    kind = _go_kind(node, target)
    if kind == "struct":
        return f"cannot restore struct from: {given}"
    convertible = source == "number" and (kind != "bool") and not (given == "float64" and kind == "string")
    return f"cannot convert {given} to {target}" if convertible else f"unrecognized type: {kind}"


def _node_at(schema: Schema | None, path: list[str], target: str) -> Schema | None:
    """The node that an error is about: names of embedded structs on the way stand for nothing."""
    node = schema
    for name in path:
        while node is not None and (inner := node.items or node.additional) is not None:
            node = inner
        if node is not None and name in node.properties:
            node = node.properties[name]
    while node is not None and not target.startswith(("[]", "map[")) and (inner := node.items or node.additional) is not None:
        node = inner
    return node


def _go_kind(node: Schema | None, target: str) -> str:
    """What reflect calls the kind of a type: struct, string, bool, int32, int64 or float64."""
    kind = node.type if node is not None else ""
    if "." not in target:
        return target
    if kind == "integer":
        return node.format or "int64" if node is not None else "int64"
    return "string" if kind == "string" else "struct"


def _kind(source: str, number: str | None) -> str:
    if source == "number":
        return "float64" if number and not re.fullmatch(r"-?\d+", number) else "int64"
    return {"array": "slice", "object": "map"}.get(source, source)
