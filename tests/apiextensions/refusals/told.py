"""What is said of schemas, columns, paths and rules that are wrong, in upstream's words.

``python -m tests.apiextensions.refusals.told`` writes it down again, for review.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fakekube.apiextensions.validation import paths
from fakekube.apiextensions.validation.schemas import Rules, schema_errors
from fakekube.apimachinery.field_errors import FieldError

FOLDER = Path(__file__).parent
P = "x-kubernetes-"
TEXT: dict[str, Any] = {"type": "string"}
META: dict[str, Any] = {"type": "object", "properties": {"name": TEXT}}


def fields(**of: Any) -> dict[str, Any]:
    return {"type": "object", "properties": of}


def mapped(items: Any, *keys: str) -> dict[str, Any]:
    return {"type": "array", f"{P}list-type": "map", f"{P}list-map-keys": list(keys), "items": items}


def ruled(schema: dict[str, Any], **rule: Any) -> dict[str, Any]:
    return {**schema, f"{P}validations": [{"rule": "true", **rule}]}


IN_JUNCTORS: list[dict[str, Any]] = [{"properties": {"b": {}}}, {"type": "string"}, {"required": ["a"]}]
SPECS: list[dict[str, Any]] = [
    {}, {"type": "null"}, {"type": "x"}, {"type": "array"}, {"type": "array", "items": [TEXT]}, {"type": "array", "items": []},
    {"type": "array", "items": {}}, {"type": "array", "items": TEXT, "uniqueItems": True}, {"type": "object",
        "uniqueItems": True},
    {"type": "object", "additionalProperties": {}}, {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": False}, {**fields(a=TEXT), "additionalProperties": True},
    {**fields(a=TEXT), "additionalProperties": False}, {**fields(a=TEXT), "additionalProperties": TEXT}, fields(a={}),
    *({**TEXT, name: value} for name, value in (
        ("id", "a"), ("$schema", "a"), ("$ref", ""), ("$ref", "a"), ("definitions", {"a": TEXT}), ("definitions", {}),
        ("dependencies", {}), ("dependencies", {"a": TEXT}), ("dependencies", {"a": ["b"]}), ("patternProperties", {"a": TEXT}),
        ("additionalItems", True), ("additionalItems", TEXT), ("pattern", "("), ("nullable", True), ("deprecated", True),
        ("default", 1), ("default", "a"), ("default", None), ("enum", ["a"]), ("format", "x"))),
    *({"type": kind, f"{P}preserve-unknown-fields": value} for kind in ("object", "string") for value in (True, False)),
    {f"{P}preserve-unknown-fields": True}, {f"{P}int-or-string": True}, {"type": "integer", f"{P}int-or-string": True},
    {f"{P}int-or-string": True, f"{P}preserve-unknown-fields": True}, {f"{P}int-or-string": True, f"{P}embedded-resource": True},
    {f"{P}int-or-string": True, "anyOf": [{"type": "string"}, {"type": "integer"}]},
    {f"{P}int-or-string": True, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"type": "string"}]},
    {f"{P}embedded-resource": True}, {"type": "object", f"{P}embedded-resource": True},
    {"type": "string", f"{P}embedded-resource": True, f"{P}preserve-unknown-fields": True},
    {"type": "object", f"{P}embedded-resource": True, f"{P}preserve-unknown-fields": True},
    {"type": "object", f"{P}embedded-resource": True, "additionalProperties": TEXT},
    {**fields(metadata=TEXT, kind={"type": "integer"}, apiVersion={"type": "object"}), f"{P}embedded-resource": True},
    {**fields(metadata={"type": "object", f"{P}embedded-resource": True, f"{P}preserve-unknown-fields": True}),
     f"{P}embedded-resource": True},
    {**fields(metadata={"type": "object", "additionalProperties": {**TEXT, "default": "a"}}), f"{P}embedded-resource": True},
    *({"type": "object", name: value} for name, value in (
        (f"{P}map-type", "atomic"), (f"{P}map-type", "x"), (f"{P}list-type", "atomic"), (f"{P}list-map-keys", ["a"]))),
    {"type": "array", "items": TEXT, f"{P}map-type": "granular"}, {f"{P}map-type": "granular",
        f"{P}preserve-unknown-fields": True},
    {f"{P}list-type": "atomic", f"{P}preserve-unknown-fields": True},
    *({"type": "array", "items": items, f"{P}list-type": kind} for kind in ("atomic", "set", "x") for items in (
        TEXT, fields(a=TEXT), {"type": "array", "items": TEXT})),
    {"type": "array", "items": {**fields(a=TEXT), f"{P}map-type": "atomic"}, f"{P}list-type": "set"},
    {"type": "array", "items": {"type": "array", "items": TEXT, f"{P}list-type": "atomic"}, f"{P}list-type": "set"},
    {"type": "array", "items": {"type": "array", "items": TEXT, f"{P}list-type": "set"}, f"{P}list-type": "set"},
    {"type": "array", "items": TEXT, f"{P}list-map-keys": ["a"]},
    {"type": "array", "items": TEXT, f"{P}list-type": "set", f"{P}list-map-keys": ["a"]},
    mapped(TEXT, "a"), mapped(fields(a=TEXT)), mapped(fields(a=TEXT), "a"), mapped(fields(a=TEXT), "b"),
    mapped({**fields(a=TEXT), "required": ["a"]}, "a", "a"), mapped({**fields(a=TEXT), "required": ["a"]}, "a"),
    mapped(fields(a={**TEXT, "default": "x"}), "a"), mapped({**fields(a={**TEXT, "nullable": True}), "required": ["a"]}, "a"),
    mapped({**fields(a={**TEXT, "nullable": True, "default": "x"}), "required": ["a"]}, "a"),
    mapped({**fields(a={"type": "object"}), "required": ["a"]}, "a"),
    mapped({**fields(a={"type": "array", "items": TEXT}), "required": ["a"]}, "a"),
    {"type": "array", f"{P}list-type": "map", f"{P}list-map-keys": ["a"]},
    *({**fields(a=TEXT), junctor: [below]} for junctor in ("allOf", "anyOf", "oneOf") for below in IN_JUNCTORS),
    {**fields(a=TEXT), "not": {"properties": {"b": {}}}}, {**fields(a=TEXT), "not": {"items": {"properties": {"b": {}}}}},
    *({**fields(a=TEXT), "anyOf": [{name: value}]} for name, value in (
        ("title", "a"), ("description", "a"), ("default", "a"), ("additionalProperties", True), ("additionalProperties", False),
        ("nullable", True), (f"{P}preserve-unknown-fields", True), (f"{P}embedded-resource", True), (f"{P}int-or-string", True),
        (f"{P}list-type", "set"), (f"{P}list-map-keys", ["a"]), (f"{P}map-type", "atomic"), (f"{P}validations",
        [{"rule": "true"}]),
        ("properties", {"metadata": {}}), ("pattern", "("), ("items", {"type": "string"}),
        ("allOf", [{"oneOf": [{"not": {"type": "string"}}]}]), ("properties", {"a": {"type": "string"}}))),
    {"type": "array", "items": TEXT, "anyOf": [{"items": {"minLength": 1}}]}, {"type": "object", "anyOf": [{"items": {}}]},
    *(ruled(TEXT, **rule) for rule in (
        {"rule": ""}, {"rule": " "}, {"rule": "a\nb"}, {"rule": "true\n&& true"}, {"rule": "true\n&& true", "message": "m"},
        {"message": " "}, {"message": "a\nb"}, {"message": "a\rb"}, {"message": "\n a"}, {"messageExpression": " "},
        {"messageExpression": "'a'"}, {"messageExpression": "1"}, {"messageExpression": "x"}, {"reason": "X"},
        {"reason": "FieldValueDuplicate"}, {"reason": "FieldValueForbidden"}, {"reason": "FieldValueInvalid"},
        {"reason": "FieldValueRequired"}, {"fieldPath": ".a"}, {"fieldPath": " "}, {"fieldPath": ".a\n"}, {"rule": "1"},
        {"rule": "self"}, {"rule": "oldSelf"}, {"rule": "self == oldSelf"}, {"optionalOldSelf": True},
        {"rule": "self == oldSelf", "optionalOldSelf": True}, {"rule": "oldSelf.hasValue()", "optionalOldSelf": True},
        {"rule": "self.all(x, true)"}, {"rule": "self.matches('(')"})),
    *(ruled(fields(a=TEXT, b=fields(c=TEXT), d={"type": "object", "additionalProperties": TEXT}), fieldPath=path) for path in (
        ".a", "a", ".x", ".b.c", ".b.x", ".d.e", ".d['e.f']", ".b['c']", "['a']", ".b[c]", ".b['c", ".b['c'", ".b['c'.", ".", "",
        ".a.b", ".b..c")),
    {"type": "array", "items": ruled(TEXT, rule="self == oldSelf")},
    {"type": "array", f"{P}list-type": "set", "items": ruled(TEXT, rule="self == oldSelf")},
    mapped(ruled({**fields(a=TEXT), "required": ["a"]}, rule="self.a == oldSelf.a"), "a"),
    {"type": "object", f"{P}map-type": "atomic", "properties": {"a": ruled(TEXT, rule="self == oldSelf")}},
    {"type": "object", "additionalProperties": ruled(TEXT, rule="self == oldSelf")},
    {"type": "array", "items": ruled(TEXT, rule="self.contains(self)")},
    {"type": "array", "items": TEXT, f"{P}validations": [{"rule": "self.all(x, self.all(y, x == y))"}]},
    {"type": "array", "maxItems": 10, "items": {"type": "array", "maxItems": 1000, "items": ruled(
        {"type": "array", "maxItems": 1000, "items": {**TEXT, "maxLength": 1000}}, rule="self.all(x, self.all(y, x == y))")}},
    ruled({"type": "array", "items": TEXT}, messageExpression="self.join(self[0])"),
    mapped({**fields(a=TEXT), "required": ["a"], "nullable": True}, "a"),
    {"type": "array", "items": {**TEXT, "nullable": True}, f"{P}list-type": "set"},
    {"type": "array", "items": {**TEXT, "nullable": True}, f"{P}list-type": "atomic"},
    mapped({**fields(a=TEXT, b=TEXT), "required": ["a"]}, "a", "b", "a"),
    *({"type": "array", "items": fields(a=TEXT), "allOf": [{"items": {"properties": {name: {"items": {"minLength": 1}}}}}]}
      for name in ("a", "b")),
    {**fields(a=fields(b=TEXT)), "not": {"allOf": [{"properties": {"a": {"properties": {"b": {}, "c": {}}}}}]}},
    *(ruled({**TEXT, "maxLength": 9}, **rule) for rule in (
        {"rule": "self.find('(') == ''"}, {"rule": "self.find('(')"}, {"messageExpression": "self.find('(')"},
        {"messageExpression": "self.find('(') == ''"}, {"rule": "self.size"}, {"rule": "self == oldSelf.value()"},
        {"rule": "oldSelf.value() == self", "optionalOldSelf": False})),
    ruled({f"{P}preserve-unknown-fields": True}, rule="true"), ruled({"type": "array", "items": {}}, rule="true"),
    ruled({**fields(a=TEXT), f"{P}preserve-unknown-fields": True}, rule="self.b == 1"),
    ruled({**fields(**{"a.b": {**TEXT, "maxLength": 9}, "x y": TEXT}), "maxProperties": 1}, rule="self.a__dot__b == ''"),
]
"""Schemas of a field ``spec``."""

ROOTS: list[dict[str, Any]] = [
    {}, {"type": "string"}, {"type": "object", "nullable": True}, {"type": "object", f"{P}preserve-unknown-fields": True},
    {"type": "object", f"{P}int-or-string": True}, {"type": "object", f"{P}embedded-resource": True},
    {"type": "object", "additionalProperties": TEXT}, {"type": "object", "default": {}}, {"type": "object", "description": "d"},
    {"type": "object", "title": "t"}, {"type": "object", "required": ["spec"]}, {"type": "object", "minProperties": 1},
    {"type": "object", "maxProperties": 1, "enum": [1]}, {"type": "object", "anyOf": [{}]}, {"type": "object", "not": {}},
    *(fields(**{name: of}) for name in ("metadata", "kind", "apiVersion") for of in (
        {"type": "integer"}, {**TEXT, "default": "a"}, {"type": "object", "properties": {"name": TEXT, "x": TEXT}},
        {"type": "object", "properties": {"name": {**TEXT, "pattern": "a"}, "generateName": TEXT}}, {**META,
            "description": "d"})),
    fields(metadata={"type": "object", "properties": {"name": {**TEXT, "default": "a"}}}),
    fields(metadata={"type": "object", "additionalProperties": TEXT}),
    fields(metadata=ruled(META, rule="self.name == 'a'")), ruled(fields(spec=TEXT), rule="self.metadata.name == 'a'"),
    ruled(fields(spec=TEXT), rule="self.metadata.labels.size() > 0"),
    *(fields(spec={"type": kind, "default": value}) for kind, value in (
        ("integer", 1.5), ("integer", 1.0), ("number", 1), ("boolean", "true"), ("object", {}), ("array", []), ("string", {}))),
    fields(spec={**fields(a={**TEXT, "default": "x"}), "default": {"a": 1}}),
    fields(spec={**fields(a={**TEXT, "minLength": 3}), "default": {"a": "b", "c": 1}}),
    fields(spec={"type": "array", "items": {**TEXT, "default": "x"}, "default": [1]}),
    fields(spec={**TEXT, "default": "a", **ruled(TEXT, rule="self == 'b'", message="has to be b")}),
    fields(spec={**TEXT, "enum": ["a"], "default": "b"}), fields(spec={**TEXT, "format": "date", "default": "b"}),
    fields(spec={**fields(metadata={"type": "object"}), f"{P}embedded-resource": True,
                 f"{P}preserve-unknown-fields": True, "default": {"metadata": {"name": 7}}}),
    fields(spec={"type": "object", f"{P}embedded-resource": True, f"{P}preserve-unknown-fields": True, "default": {
        "apiVersion": "a/b/c", "kind": "a b", "metadata": {"name": "A_", "labels": {"a b": "c"}}}}),
    *({**fields(spec=fields(a={"type": "array", "items": fields(b=TEXT)})), **junctor} for junctor in (
        {"anyOf": [{}, {"properties": {"x": {}, "spec": {"properties": {"y": {}, "a": {"items": {"properties": {"z": {}}}}}}}}]},
        {"not": {"items": {"minLength": 1}}},
        {"oneOf": [{"not": {"properties": {"spec": {"allOf": [{"properties": {"w": {}}}]}}}}]},
        {"allOf": [{"properties": {"spec": {"properties": {"a": {"items": {"properties": {"b": {"minLength": 1}}}}}}}}]})),
]
"""Whole schemas; each is looked at with a status sub-resource, too."""

COLUMNS: list[dict[str, Any]] = [
    {}, {"name": "A", "type": "string", "jsonPath": ".a"}, {"name": "A", "type": "x", "jsonPath": "a", "format": "x"},
    *({"name": "A", "type": kind, "jsonPath": ".a"} for kind in ("boolean", "date", "integer", "number", "object")),
    *({"name": "A", "type": "string", "format": kind, "jsonPath": ".a"} for kind in (
        "byte", "date", "date-time", "double", "float", "int32", "int64", "password", "", "uuid")),
]
SCALES: list[dict[str, Any]] = [
    {}, {"scale": None}, {"scale": {}}, {"scale": {"specReplicasPath": "a", "statusReplicasPath": "b", "labelSelectorPath": "c"}},
    {"scale": {"specReplicasPath": ".status.a", "statusReplicasPath": ".spec.a", "labelSelectorPath": ".x.a"}},
    {"scale": {"specReplicasPath": ".spec", "statusReplicasPath": ".status", "labelSelectorPath": ".spec"}},
    {"scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a", "labelSelectorPath": ".spec.a"}},
    {"scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a", "labelSelectorPath": ".status.a"}},
    {"scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a", "labelSelectorPath": ""}},
]
SELECTED = fields(
    metadata=META, spec=fields(a=TEXT, b={"type": "integer"}, c={"type": "boolean"}, d={"type": "number"}, e={"type": "object"},
                               m={"type": "object", "additionalProperties": TEXT}))
SELECTABLE: list[list[str]] = [
    [""], [".spec.a", ".spec.b", ".spec.c"], [".spec.a", ".spec.a"], [".spec.d"], [".spec.e"], [".spec.x"], [".spec['a']"],
    [".metadata.name"], ["spec.a"], [".spec."], [".spec"], [".spec.m.x"], [".spec.a.b"], [".spec[0]"], [".spec.m]x"],
    [f".spec.m.x{number}" for number in range(9)], [f".spec.m.x{number}" for number in range(8)],
]


def lines() -> Iterator[str]:
    """Of each what is wrong."""
    rules = Rules(release="1.37")
    for schema in SPECS:
        yield from _told(schema, schema_errors({"openAPIV3Schema": fields(spec=schema)}, "schema", rules, status=False))
    for schema in ROOTS:
        for status in (False, True):
            name = "with status " if status else ""
            yield from _told(schema, schema_errors({"openAPIV3Schema": schema}, "schema", rules, status=status), name)
    lenient = Rules(valid_types=False, structural=False, pruned_defaults=False, atomic_sets=False, map_keys=False, release="1.37")
    for schema in (*SPECS[:40], *SPECS[60:100]):
        found = schema_errors({"openAPIV3Schema": fields(spec=schema)}, "schema", lenient, status=False)
        yield from _told(schema, found, "as stored ")
    for column in COLUMNS:
        yield from _told(column, paths.column_errors(column, "columns[0]"))
    for scale in SCALES:
        yield from _told(scale, paths.subresource_errors(scale, "subresources"))
    for texts in SELECTABLE:
        selectable = [{"jsonPath": text} if text else {} for text in texts]
        for any_number in (False, True):
            found = paths.selectable_field_errors(selectable, SELECTED, "selectableFields", any_number=any_number)
            yield from _told(texts, found, "any number " if any_number else "")


def _told(about: Any, errors: list[FieldError], name: str = "") -> Iterator[str]:
    yield f"{name}{json.dumps(about)}"
    for error in errors:
        yield f"    {error}"


if __name__ == "__main__":
    (FOLDER / "told.txt").write_text("\n".join(lines()) + "\n")
