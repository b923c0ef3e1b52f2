"""Owners whose version does not know every field of the object."""

from typing import Any

from fakekube.managedfields.manager import FieldManager
from fakekube.schema.structural import Schema, from_openapi
from tests.managedfields.world import T0, T1

TEXT = {"type": "string"}


def of_fields(*names: str) -> Schema:
    spec = {"type": "object", "properties": dict.fromkeys(names, TEXT)}
    metadata = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return from_openapi({"type": "object", "properties": {
        "apiVersion": TEXT, "kind": TEXT, "metadata": metadata, "spec": spec}})


def widget(**spec: str) -> dict[str, Any]:
    return {"kind": "Widget", "apiVersion": "example.com/v2", "metadata": {"name": "w"}, "spec": spec}


def written(*, by_version: str, sibling: Schema | None) -> list[tuple[str, Any]]:
    """Who owns what after a write of a field that another owner of ``by_version`` had."""
    manager = FieldManager(
        of_fields("a", "b"), "example.com/v2", kind="Widget",
        sibling=lambda api_version: sibling if api_version == "example.com/v1" else None)
    entry = {"manager": "old", "operation": "Update", "apiVersion": by_version, "time": T0, "fieldsType": "FieldsV1",
             "fieldsV1": {"f:spec": {"f:a": {}, "f:b": {}}}}
    live = {**widget(a="1", b="2"), "metadata": {"name": "w", "managedFields": [entry]}}
    new = widget(a="3", b="2")
    manager.update(live, new, manager="new", now=T1)
    return [(found["manager"], found["fieldsV1"]) for found in new["metadata"]["managedFields"]]


def test_ownership_stays_where_an_owners_version_lacks_a_field() -> None:
    """Given an owner of a version that lacks a field of the object, that has all, that nobody
    serves, or that is the written one / when somebody else writes a field of it / then the owner
    loses it, but where its version lacks a field: then all stays as it was.
    """
    both = {"f:spec": {"f:a": {}, "f:b": {}}}
    moved = [("old", {"f:spec": {"f:b": {}}}), ("new", {"f:spec": {"f:a": {}}})]
    assert written(by_version="example.com/v1", sibling=of_fields("a")) == [("old", both)]
    assert written(by_version="example.com/v1", sibling=of_fields("a", "b")) == moved
    assert written(by_version="example.com/v0", sibling=of_fields("a")) == moved
    assert written(by_version="example.com/v2", sibling=of_fields("a")) == moved
    assert written(by_version="example.com/v1", sibling=None) == moved


def test_owners_of_a_version_that_is_not_registered_are_dropped() -> None:
    """Given owners of two versions of which one is registered / when somebody else updates or
    applies / then the other's entry is gone.
    """
    manager = FieldManager(
        of_fields("a", "b"), "example.com/v2", kind="Widget", is_registered=lambda version: version == "example.com/v1")
    entries = [
        {"manager": name, "operation": "Update", "apiVersion": f"example.com/{name}", "time": T0, "fieldsType": "FieldsV1",
         "fieldsV1": {"f:spec": {"f:b": {}}}} for name in ("v0", "v1")]
    live = {**widget(a="1", b="2"), "metadata": {"name": "w", "managedFields": entries}}
    new = widget(a="3", b="2")
    manager.update(live, new, manager="new", now=T1)
    assert [found["manager"] for found in new["metadata"]["managedFields"]] == ["v1", "new"]
    applied = manager.apply(live, widget(a="1"), manager="new", now=T1)
    assert {found["manager"] for found in applied["metadata"]["managedFields"]} == {"v1", "new"}
