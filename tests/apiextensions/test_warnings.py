"""What a writer of a definition is warned of."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.apis.apiextensions.warnings import definition_warnings
from tests.apiextensions.definitions import definition, version
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NOT_CHECKED = 'unrecognized format "colour"'
SET = 'x-kubernetes-list-type: set for items of type "{}" is not supported by server-side apply or CEL validation rules'


def with_fields(**fields: Tree) -> Tree:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    return definition(versions=[version(schema=schema)])


def of(type_: str, format_: str) -> Tree:
    return {"type": type_, "format": format_}


def set_of(type_: str) -> Tree:
    items = {"type": type_, "x-kubernetes-map-type": "atomic"} if type_ == "object" else {
        "type": type_, "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"} if type_ == "array" else {"type": type_}
    return {"type": "array", "x-kubernetes-list-type": "set", "items": items}


async def test_what_comes_new_is_warned_of(api: Api) -> None:
    """Given a definition with a format that nobody knows and a set of objects, when it is created,
    then both are warned of; when more of them come, then of these alone; a status is not asked.
    """
    tree = with_fields(a=of("string", "colour"), b=set_of("object"))
    created = await api("POST", DEFINITIONS, tree)
    assert (created.status, [text.removeprefix("299 - ") for text in created.warnings]) == (
        201, ['"unrecognized format \\"colour\\""', '"' + SET.format("object").replace('"', '\\"') + '"'])
    here = f"{DEFINITIONS}/widgets.probe.dev"
    where = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/c"
    path = [{"op": "add", "path": where, "value": of("string", "x")}]
    patched = await api("PATCH", here, path, {"content-type": "application/json-patch+json"})
    assert (patched.status, patched.warnings) == (200, ['299 - "unrecognized format \\"x\\""'])
    status = await api("PUT", f"{here}/status", patched.tree)
    assert (status.status, status.warnings) == (200, [])


@pytest.mark.parametrize(("type_", "format_", "is_told"), [
    ("string", "date-time", False), ("string", "datetime", False), ("string", "uuid4", False), ("string", "password", False),
    ("string", "int32", True), ("string", "DateTime", True), ("integer", "int64", False), ("integer", "double", True),
    ("number", "float", False), ("number", "int32", True), ("boolean", "byte", True), ("object", "date", True),
])
def test_formats_are_checked_by_type(type_: str, format_: str, is_told: bool) -> None:
    """Given a format, when it is one that upstream checks for the type, then nothing is told."""
    told = definition_warnings(with_fields(a=of(type_, format_)), None, 37)
    assert told == ([f'unrecognized format "{format_}"'] if is_told else [])


@pytest.mark.parametrize(("minor", "told"), [
    (33, []), (34, [NOT_CHECKED]), (36, [NOT_CHECKED]), (37, [NOT_CHECKED, SET.format("array"), SET.format("object")]),
])
def test_releases_began_to_warn(minor: int, told: list[str]) -> None:
    """Given a definition, when releases look at it, then each warns of what it knows to warn of,
    once.
    """
    tree = with_fields(
        a=of("string", "colour"), b=of("string", "colour"), c=set_of("object"), d=set_of("array"), e=set_of("string"))
    assert definition_warnings(tree, None, minor) == told
    assert definition_warnings(tree, tree, minor) == []
