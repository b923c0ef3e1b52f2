"""What a definition makes of its versions: the kinds, their deprecations and texts that select, and
cells of columns.
"""

from typing import Any

import pytest

from fakekube.apiextensions.kinds import kinds_of, stored_kind, values_of
from fakekube.apiextensions.printing import printer_of
from fakekube.apiextensions.validation import paths
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.kind import Kind, ScalePaths
from tests.apiextensions.definitions import definition, version

NAMES: Tree = {
    "plural": "ws", "singular": "w", "kind": "W", "listKind": "WList", "shortNames": ["x", "y"], "categories": ["all", "mine"]}


def defined(*entries: Tree, accepted: Tree | None = None, terminating: bool = False, scope: str = "Namespaced",
            stored: list[str] | None = None) -> Tree:
    conditions = [{"type": "Terminating", "status": "True"}] if terminating else []
    tree = definition(versions=list(entries), scope=scope, conversion={"strategy": "None"})
    return {**tree, "status": {
        "acceptedNames": accepted or NAMES, "conditions": conditions, "storedVersions": stored or [entries[0]["name"]]}}


def made(tree: Tree) -> list[Kind]:
    nothing: Any = None
    return [kind for kind, _ in kinds_of(tree, b"", nothing, nothing, nothing)]


def test_all_of_a_kind() -> None:
    """Given a definition with all names and sub-resources / when its kinds are made / then they
    have them, with verbs in the order of upstream's discovery.
    """
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
    entry = version(subresources={"status": {}, "scale": scale}, selectableFields=[{"jsonPath": ".spec.a"}, {"jsonPath": ".b"}])
    [kind] = made(defined(entry))
    assert (kind.group, kind.version, kind.kind, kind.plural, kind.singular) == ("probe.dev", "v1", "W", "ws", "w")
    assert (kind.namespaced, kind.custom, kind.tracks_generation, kind.status_keeps_metadata) == (True, True, True, True)
    assert (kind.unconditional_update, kind.own_list_kind, kind.refuses_new) == (False, "WList", False)
    assert (kind.short_names, kind.categories) == (("x", "y"), ("all", "mine"))
    assert kind.verbs == ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
    of_part, scales = ("get", "patch", "update"), GroupVersionKind("autoscaling", "v1", "Scale")
    assert [(part.name, part.verbs, part.kind, part.table) for part in kind.subresources] == [
        ("status", of_part, None, True), ("scale", of_part, scales, True)]
    assert kind.scale_paths == ScalePaths(".spec.n", ".status.n", ".status.s")
    assert (kind.conversion, kind.deprecation) == (None, "")
    assert kind.selectable is not None
    assert kind.selectable.labels == ("spec.a", "b")


def test_the_least_of_a_kind() -> None:
    """Given a definition with the names that it must have / when its kinds are made / then there is
    nothing more; and one that is being deleted takes no new objects.
    """
    tree = defined(version(), accepted={"plural": "ws", "kind": "W"}, scope="Cluster", terminating=True)
    for kind in (*made(tree), stored_kind(tree, *([None] * 3))):  # type: ignore[arg-type]
        assert (kind.singular, kind.short_names, kind.categories, kind.own_list_kind) == ("", (), (), "")
        assert (kind.namespaced, kind.refuses_new, kind.subresources, kind.scale_paths) == (False, True, (), None)
    [kind] = made(defined(version(subresources={"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}})))
    assert [part.name for part in kind.subresources] == ["scale"]
    assert kind.scale_paths == ScalePaths(".spec.n", ".status.n", "")


def test_which_versions_are_kinds() -> None:
    """Given several versions / when their kinds are made / then those that are served are, and all
    but the stored one convert to that.
    """
    entries = [version("v1"), version("v2", storage=False), {**version("v3", storage=False), "served": False}]
    kinds = made(defined(*entries))
    assert [(kind.version, kind.conversion and kind.conversion.stored) for kind in kinds] == [
        ("v1", None), ("v2", GroupVersionKind("probe.dev", "v1", "W"))]
    unserved = defined({**version("v1"), "served": False}, version("v2", storage=False))
    assert [kind.version for kind in made(unserved)] == ["v2"]
    assert stored_kind(unserved, *([None] * 3)).version == "v1"  # type: ignore[arg-type]


@pytest.mark.parametrize(("entries", "told"), [
    ([version("v1", deprecated=True)], ["probe.dev/v1 W is deprecated"]),
    ([version("v1", deprecated=True, deprecationWarning="go")], ["go"]), ([version("v1", deprecated=False)], [""]),
    ([version("v1"), version("v1beta1", storage=False, deprecated=True)], [
        "", "probe.dev/v1beta1 W is deprecated; use probe.dev/v1 W"]),
    ([version("v1", deprecated=True), version("v1beta1", storage=False)], ["probe.dev/v1 W is deprecated", ""]),
    ([version("v1", deprecated=True), version("v2", storage=False), version("v3", storage=False),
      version("v2beta1", storage=False)],
     ["probe.dev/v1 W is deprecated; use probe.dev/v3 W", "", "", ""]),
    ([version("v1", deprecated=True), version("v2", storage=False, deprecated=True)], [
        "probe.dev/v1 W is deprecated", "probe.dev/v2 W is deprecated"]),
    ([version("v1", deprecated=True), {**version("v2", storage=False), "served": False}], ["probe.dev/v1 W is deprecated"]),
])
def test_what_is_told_of_deprecated_versions(entries: list[Tree], told: list[str]) -> None:
    """Given versions of which some are deprecated / when their kinds are made / then they name the
    newest that is served and better.
    """
    assert [kind.deprecation for kind in made(defined(*entries))] == told


def test_texts_that_select() -> None:
    """Given selectable fields of several versions / when an object is selected / then the texts are
    those of all, and of what is not there, or null, it is empty.
    """
    fields = [{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.b"}]
    values = values_of(defined(version(selectableFields=fields), version("v2", storage=False, selectableFields=[
        {"jsonPath": ".spec.b"}, {"jsonPath": ".c"}])))
    assert values is not None
    assert values({"spec": {"a": "x", "b": 5}, "c": True}) == {"spec.a": "x", "spec.b": "5", "c": "true"}
    assert values({"spec": {"a": None}, "c": False}) == {"spec.a": "", "spec.b": "", "c": "false"}
    assert values({"spec": "text"}) == {"spec.a": "", "spec.b": "", "c": ""}
    assert values_of(defined(version())) is None


@pytest.mark.parametrize(("type_", "cells"), [
    ("string", ["a", "5", "1.5", "true", "", '{"k":1}', "[1]"]), ("integer", [None, 5, 1, None, None, None, None]),
    ("number", [None, 5, 1.5, None, None, None, None]), ("boolean", [None, None, None, True, None, None, None]),
    ("date", ["<invalid>", None, None, None, "<unknown>", None, None]),
])
def test_cells_by_type(type_: str, cells: list[Json]) -> None:
    """Given values of every type / when they stand in a column / then a cell has those of the
    column's type.
    """
    printer = printer_of([{"name": "C", "type": type_, "jsonPath": ".v"}])
    values: list[Json] = ["a", 5, 1.5, True, "", {"k": 1}, [1]]
    rows = [printer.cells({"metadata": {"name": "n"}, "v": value}, 0.0) for value in values]
    assert repr(rows) == repr([["n", cell] for cell in cells])
    assert printer.cells({"metadata": {}}, 0.0) == ["", None]


def test_dates_in_cells() -> None:
    """Given times / when they stand in a column of dates / then their age does."""
    printer = printer_of([{"name": "C", "type": "date", "jsonPath": ".v"}])
    now = parse_time("2026-01-01T00:00:00Z")
    assert [printer.cells({"metadata": {"name": "n"}, "v": value}, now)[1] for value in (
        "2025-12-31T23:59:00Z", "2026-01-01T00:00:00Z", "null", "2025-13-01T00:00:00Z")] == [
            "60s", "0s", "<unknown>", "<invalid>"]


def test_columns_as_they_are_told() -> None:
    """Given columns, of which one has a path that cannot be read / when the printer is made / then
    those ahead of it are told, with what they leave out.
    """
    good = {"name": "A", "type": "string", "jsonPath": ".a"}
    full = {"name": "B", "type": "integer", "jsonPath": ".b", "format": "int32", "description": "how many", "priority": 1}
    printer = printer_of([good, full, {**good, "jsonPath": ".a["}, good])
    told = [(column.name, column.type, column.format, column.description, column.priority) for column in printer.columns]
    assert told[1:] == [
        ("A", "string", "", "Custom resource definition column (in JSONPath format): .a", 0),
        ("B", "integer", "int32", "how many", 1)]
    assert told[0][:3] == ("Name", "string", "name")
    assert printer.cells({"metadata": {"name": "n"}, "a": "x", "b": 2}, 0.0) == ["n", "x", 2]
    [_, age] = printer_of([]).columns
    assert (age.name, age.type, age.format, age.priority) == ("Age", "date", "", 0)


def errors(found: Any) -> list[str]:
    return [str(error) for error in found]


TYPES = "must be one of boolean,date,integer,number,string"


@pytest.mark.parametrize(("column", "told"), [
    ({}, ["c.name: Required value", f"c.type: Required value: {TYPES}", "c.JSONPath: Required value"]),
    ({"name": "A", "type": "x", "jsonPath": "a", "format": "y"}, [
        f'c.type: Invalid value: "x": {TYPES}',
        'c.format: Invalid value: "y": must be one of byte,date,date-time,double,float,int32,int64,password',
        'c.JSONPath: Invalid value: "a": must be a simple json path starting with .']),
    *(({"name": "A", "type": kind, "jsonPath": "."}, []) for kind in ("boolean", "date", "integer", "number", "string")),
    *(({"name": "A", "type": "string", "jsonPath": ".", "format": kind}, []) for kind in (
        "byte", "date", "date-time", "double", "float", "int32", "int64", "password", "")),
])
def test_what_is_wrong_with_a_column(column: Tree, told: list[str]) -> None:
    """Given a column / when it is looked at / then all that is wrong with it is told."""
    assert errors(paths.column_errors(column, "c")) == told


@pytest.mark.parametrize(("spec", "status", "selector", "told"), [
    (".spec.a", ".status.a", None, []), (".spec.a", ".status.a", "", []), (".spec.a", ".status.a", ".spec.s", []),
    (".spec.a", ".status.a", ".status.s", []),
    ("", "", None, ["specReplicasPath: Required value", "statusReplicasPath: Required value"]),
    ("spec.a", "status.a", "s", [f'{name}Path: Invalid value: "{text}": must be a simple json path starting with .'
                                   for name, text in (("specReplicas", "spec.a"), ("statusReplicas", "status.a"),
                                                      ("labelSelector", "s"))]),
    (".status.a", ".spec.a", ".specs", [
        'specReplicasPath: Invalid value: ".status.a": should be a json path under .spec',
        'statusReplicasPath: Invalid value: ".spec.a": should be a json path under .status',
        'labelSelectorPath: Invalid value: ".specs": should be a json path under either .spec or .status']),
    (".spec", ".status", ".spec", [
        'specReplicasPath: Invalid value: ".spec": should be a json path under .spec',
        'statusReplicasPath: Invalid value: ".status": should be a json path under .status',
        'labelSelectorPath: Invalid value: ".spec": should be a json path under either .spec or .status']),
])
def test_what_is_wrong_with_a_scale(spec: str, status: str, selector: str | None, told: list[str]) -> None:
    """Given the paths of a scale / when they are looked at / then each stands where it should."""
    scale = {"specReplicasPath": spec, "statusReplicasPath": status, "labelSelectorPath": selector}
    assert errors(paths.subresource_errors({"scale": scale}, "s")) == [f"s.scale.{text}" for text in told]
    undeclared: list[Tree | None] = [None, {}, {"scale": None}, {"status": {}}]
    for nothing in undeclared:
        assert paths.subresource_errors(nothing, "s") == []


def test_how_many_fields_may_select() -> None:
    """Given fields of a map that select / when there are eight, or nine / then nine are too many,
    unless they were there before; those that are told twice count once.
    """
    schema = {"type": "object", "additionalProperties": {"type": "string"}}

    def told(count: int, *, any_number: bool = False, more: tuple[str, ...] = ()) -> list[str]:
        fields: list[Tree] = [{"jsonPath": text} for text in (*(f".x{number}" for number in range(count)), *more)]
        return errors(paths.selectable_field_errors(fields, schema, "f", any_number=any_number))

    assert (told(8), told(9, any_number=True)) == ([], [])
    assert told(9) == ["f: Too many: 9: must have at most 8 items"]
    assert told(8, more=(".x0",)) == ['f[8].jsonPath: Duplicate value: ".x0"']
    assert told(0, more=("", ".x['a']", "x", ".metadata")) == [
        "f[0].jsonPath: Required value",
        "f[1].jsonPath: Invalid value: \".x['a']\": is an invalid path: array notation is not allowed",
        'f[2].jsonPath: Invalid value: "x": is an invalid path: expected [ or . but got: x',
        'f[3].jsonPath: Invalid value: ".metadata": must not point to fields in metadata']
