"""What is said of defaults in schemas, and how a changed object is read."""

from typing import Any

import pytest

from fakekube.apiextensions.reading import CustomReader
from fakekube.apiextensions.validation.schemas import Rules
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.schema import definitions
from fakekube.schema.structural import OBJECT_META, from_openapi
from tests.apiextensions.test_printed_schemas import of_spec

TEXT: Tree = {"type": "string"}
NUMBER: Tree = {"type": "integer"}
TEXTS: Tree = {"type": "object", "additionalProperties": TEXT}


def object_of(**fields: Tree) -> Tree:
    return {"type": "object", "properties": fields}


def embedded(**fields: Tree) -> Tree:
    return {**object_of(**fields), "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}


def ruled(schema: Tree, rule: str, **more: Any) -> Tree:
    return {**schema, "x-kubernetes-validations": [{"rule": rule, **more}]}


def named(value: str) -> Tree:
    return object_of(name={**TEXT, "default": value})


NO_VERSION = 'Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'
RESULT = "must result in valid metadata:"
SLASH = f"Invalid value: \"a/b\": {RESULT} .metadata.name: Invalid value: \"a/b\": may not contain '/'"
KIND = f'Invalid value: "A_b": {RESULT} .kind: Invalid value: "A_b": may have mixed case, but should otherwise match: '


@pytest.mark.parametrize(("schema", "told"), [
    (embedded(metadata=named("ok")), []),
    (embedded(metadata=named("a/b")), [f"properties[metadata].properties[name].default: {SLASH}"]),
    ({"type": "array", "items": embedded(metadata=named("a/b"))}, [
        f"items.properties[metadata].properties[name].default: {SLASH}"]),
    (embedded(metadata=object_of(labels={**TEXTS, "default": {"a": "b"}})), []),
    (embedded(metadata=object_of(labels={**TEXTS, "default": {"a b": "c"}})), [
        f'properties[metadata].properties[labels].default: Invalid value: {{"a b":"c"}}: {RESULT} .metadata.labels: ']),
    (embedded(metadata=object_of(finalizers={"type": "array", "items": {**TEXT, "default": "a b"}})), [
        f'properties[metadata].properties[finalizers].items.default: Invalid value: "a b": {RESULT} .metadata.finalizers: ']),
    (embedded(kind={**TEXT, "default": "Ok"}), []),
    (embedded(kind={**TEXT, "default": "A_b"}), [f"properties[kind].default: {KIND}"]),
    (object_of(e=embedded(inner=embedded(kind={**TEXT, "default": "A_b"}))), [
        f"properties[e].properties[inner].properties[kind].default: {KIND}"]),
    (embedded(apiVersion={**TEXT, "default": "a/b/c"}), [
        f'properties[apiVersion].default: Invalid value: "a/b/c": {RESULT} .apiVersion: {NO_VERSION}']),
    (embedded(apiVersion={**TEXT, "default": ""}), [
        f'properties[apiVersion].default: Invalid value: "": {RESULT} .apiVersion: Invalid value: "": must not be empty']),
    (embedded(metadata={**object_of(), "default": {"labels": {"a": 1}}}), [
        f'properties[metadata].default: Invalid value: {{"labels":{{"a":1}}}}: {RESULT} ']),
    ({**object_of(a={**TEXT, "maxLength": 1}), "default": {"a": "xx", "b": 1}}, [
        'default: Invalid value: {"a":"xx","b":1}: must not have unknown fields',
        "default.a: Too long: may not be more than 1 byte"]),
    ({**embedded(), "default": {"apiVersion": "a/b/c", "kind": "K"}}, [
        f"default.apiVersion: {NO_VERSION}"]),
    ({**object_of(e=embedded()), "default": {"e": {"kind": "K"}}}, ["default.e.apiVersion: Required value"]),
    ({**object_of(e=embedded()), "default": {"e": {"kind": 5}}}, [
        'default: Invalid value: {"e":{"kind":5}}: e.kind: Invalid value: 5: must be a string']),
    (ruled({**TEXT, "default": "b"}, "self == 'a'"), ["default: Invalid value: \"b\": failed rule: self == 'a'"]),
    (ruled({**TEXT, "default": "b"}, "self == 'b'"), []),
    (ruled({**TEXT, "default": "b"}, "self != oldSelf"), ['default: Invalid value: "b": failed rule: self != oldSelf']),
    (ruled({**TEXT, "default": "b"}, "oldSelf.hasValue()", optionalOldSelf=True), [
        'default: Invalid value: "b": failed rule: oldSelf.hasValue()']),
    ({**object_of(a=ruled(TEXT, "self == 'a'")), "default": {"a": "b"}}, [
        "default.a: Invalid value: \"b\": failed rule: self == 'a'"]),
    ({**object_of(a={"type": "array", "items": ruled(TEXT, "self == 'a'")}), "default": {"a": ["b"]}}, [
        "default.a[0]: Invalid value: \"b\": failed rule: self == 'a'"]),
    ({"type": "array", "items": NUMBER, "default": ["x"]}, [
        'default.[0]: Invalid value: "string": [0] in body must be of type integer: "string"']),
    ({"type": "array", "items": object_of(a={**NUMBER, "default": "x"})}, [
        'items.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"']),
    ({**NUMBER, "format": "int32", "default": 1 << 31}, [
        'default: Invalid value: "": Checked value must be of type integer with format int32 in ']),
    ({"type": "object", "additionalProperties": {**NUMBER, "default": "x"}}, []),
])
def test_what_is_said_of_a_default(schema: Tree, told: list[str]) -> None:
    """Given a default / when the schema is checked / then it is looked at as a value of its node,
    or as a part of the object that is embedded around it; in maps not at all.
    """
    found = of_spec(schema)
    assert len(found) == len(told), found
    for text, start in zip(found, told, strict=True):
        assert text.startswith(f"X.{start}")
        assert start.endswith((": ", " in ")) or text == f"X.{start}"


def test_defaults_that_were_not_pruned_before() -> None:
    """Given a default with unknown fields / when there were such before / then it may stay."""
    rules = Rules(pruned_defaults=False, release="1.37")
    assert of_spec({**object_of(), "default": {"b": 1}}, rules) == []
    assert of_spec({**object_of(), "default": {"b": 1}}) == ['X.default: Invalid value: {"b":1}: must not have unknown fields']


METADATA: Tree = {"name": "n", "labels": {"a": "b"}, "managedFields": [{"manager": "m"}]}


@pytest.mark.parametrize(("change", "unknown"), [
    ({}, []), ({"spec": {"a": "y", "b": 1}}, ["spec.b"]), ({"extra": 1}, ["extra"]),
    ({"metadata": {**METADATA, "odd": 1}}, ["metadata.odd"]), ({"metadata": {**METADATA, "labels": {"c": "d"}}}, []),
    ({"metadata": {"name": "n"}}, []), ({"metadata": None}, []), ({"spec": {"a": None}}, []), ({"kind": "V", "x": 1}, []),
])
def test_a_changed_object_is_read_as_a_new_one(change: Tree, unknown: list[str]) -> None:
    """Given a change that shares parts with the old object / when it is read / then it is what it
    is without the old one, and neither is changed.
    """
    reader = CustomReader(
        GroupVersionKind("x.dev", "v1", "W"), from_openapi(object_of(spec=object_of(a=TEXT), status=object_of(a=TEXT))),
        definitions.load("1.37").named(OBJECT_META))
    old: Tree = {"apiVersion": "x.dev/v1", "kind": "W", "metadata": METADATA, "spec": {"a": "x"}, "status": {"a": "z"}}
    tree = {**old, **change}
    shown = repr((old, tree))
    decoded = reader.decode(tree, old=old)
    assert repr((old, tree)) == shown
    copied = {name: dict(value) if isinstance(value, dict) else value for name, value in tree.items()}
    alone = reader.decode(copied)
    assert (decoded.tree, decoded.unknown) == (alone.tree, unknown)
    assert alone.unknown == unknown
    assert decoded.tree["status"] is old["status"]
