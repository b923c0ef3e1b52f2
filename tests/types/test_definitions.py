"""The definition of a custom resource, from its typed model."""

from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import Field

from fakekube.client.resources import Resource
from fakekube.composition.addons import DEFINITIONS
from fakekube.composition.cluster import Cluster
from fakekube.runtime import AddOn
from fakekube.types import (
    Bool,
    Condition,
    Definition,
    Int,
    IntOrString,
    Json,
    Model,
    Number,
    Object,
    PodTemplateSpec,
    PrinterColumn,
    Quantity,
    ScalePaths,
    Time,
    definition_of,
    empty,
)
from fakekube.types.definitions import schema_of

INT_OR_STRING = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}


class Port(Model):
    """Where it listens."""

    number: Int
    name: str = ""


class Knot(Model):
    inner: "Knot | None" = None


class Everything(Model):
    needed: str
    count: Annotated[int, Field(ge=0, lt=10, multiple_of=2)] = 4
    none: int = 0
    on: Bool = False
    ratio: Number = 0
    mode: Literal["fast", "slow"] = "fast"
    name: Annotated[str, Field(min_length=1, max_length=63, pattern="^[a-z]+$")] = "a"
    when: Time | None = None
    amount: Quantity | None = None
    target: IntOrString | None = None
    ports: Annotated[list[Port], Field(
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["number"]})] = empty(list)
    labels: dict[str, str] = empty(dict)
    anything: Json = None
    either: Port | Knot | None = None
    tree: dict[str, Any] = empty(dict)
    knot: Knot | None = None
    conditions: list[Condition] = empty(list)
    template: PodTemplateSpec = empty(PodTemplateSpec)


class Thing(Object):
    """A thing of every sort."""

    resource: ClassVar[Resource] = Resource("example.com", "v1", "things", "Thing", namespaced=False)
    definition: ClassVar[Definition] = Definition(
        short_names=("th",), categories=("all",), scale=ScalePaths(".spec.count", ".status.count", ".status.selector"),
        columns=(PrinterColumn("Count", ".spec.count", "integer", priority=1), PrinterColumn("Mode", ".spec.mode")),
        selectable_fields=(".spec.mode",), rules={"self.spec.count < 9": "too many"})

    spec: Everything
    status: dict[str, Any] = empty(dict)


class OldThing(Object):
    resource: ClassVar[Resource] = Thing.resource._replace(version="v1beta1")
    definition: ClassVar[Definition] = Definition(deprecated="use v1")

    spec: Json = None


class Other(Object):
    resource: ClassVar[Resource] = Resource("example.com", "v1", "others", "Other")


@pytest.mark.parametrize(("field", "schema"), [
    ("needed", {"type": "string"}),
    ("count", {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10, "exclusiveMaximum": True,
               "multipleOf": 2, "default": 4}),
    ("none", {"type": "integer", "format": "int64"}),
    ("on", {"type": "boolean"}),
    ("ratio", {"type": "number", "format": "double"}),
    ("mode", {"type": "string", "enum": ["fast", "slow"], "default": "fast"}),
    ("name", {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z]+$", "default": "a"}),
    ("when", {"type": "string", "format": "date-time"}),
    ("target", INT_OR_STRING),
    ("labels", {"type": "object", "additionalProperties": {"type": "string"}}),
    ("anything", ANYTHING),
    ("either", ANYTHING),
    ("tree", {"type": "object"} | ANYTHING),
    ("knot", {"type": "object", "properties": {"inner": {"type": "object"} | ANYTHING}}),
    ("ports", {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["number"], "items": {
        "type": "object", "description": "Where it listens.", "required": ["number"], "properties": {
            "number": {"type": "integer", "format": "int64"}, "name": {"type": "string"}}}}),
])
def test_a_field_is_what_its_type_says(field: str, schema: dict[str, Any]) -> None:
    """Given a field of a model, when the schema is made, then it says the same of the field."""
    assert schema_of(Thing)["properties"]["spec"]["properties"][field] == schema


def test_a_quantity_is_a_number_or_a_text_of_its_form() -> None:
    """Given a quantity, when the schema is made, then it is what controller-gen writes."""
    schema = schema_of(Thing)["properties"]["spec"]["properties"]["amount"]
    assert schema.pop("pattern").startswith(r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|")
    assert schema == INT_OR_STRING


def test_what_is_required_has_no_default() -> None:
    """Given fields with and without defaults, when it is made, then the latter are required."""
    schema = schema_of(Thing)
    assert (schema["required"], schema["properties"]["spec"]["required"]) == (["spec"], ["needed"])
    assert schema["properties"]["metadata"] == {"type": "object"}
    assert schema["description"] == "A thing of every sort."


def test_a_definition_says_what_the_class_says() -> None:
    """Given a kind in two versions, when its definition is made, then names, columns, paths and
    rules are there, and the first version is stored.
    """
    definition = definition_of(Thing, OldThing)
    spec = definition["spec"]
    assert definition["metadata"]["name"] == "things.example.com"
    assert (spec["scope"], spec["names"]) == ("Cluster", {
        "kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList", "shortNames": ["th"],
        "categories": ["all"]})
    new, old = spec["versions"]
    assert (new["name"], new["storage"], old["name"], old["storage"]) == ("v1", True, "v1beta1", False)
    assert (old["deprecated"], old["deprecationWarning"]) == (True, "use v1")
    assert new["additionalPrinterColumns"] == [
        {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1},
        {"name": "Mode", "type": "string", "jsonPath": ".spec.mode"}]
    assert new["subresources"] == {"status": {}, "scale": {
        "specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count", "labelSelectorPath": ".status.selector"}}
    assert new["selectableFields"] == [{"jsonPath": ".spec.mode"}]
    assert new["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] == [
        {"rule": "self.spec.count < 9", "message": "too many"}]
    assert "subresources" not in old


def test_versions_of_two_kinds_make_no_definition() -> None:
    """Given models of two kinds, when one definition is asked for, then it is refused."""
    with pytest.raises(ValueError, match=r"others\.v1\.example\.com is no version of things\.example\.com"):
        definition_of(Thing, Other)


async def test_a_server_takes_the_definition_and_objects_of_it() -> None:
    """Given a model with fields of every sort, when a cluster has it as an add-on, then its
    definition is accepted as it is, and an object reads back as it was written.
    """
    addon = AddOn("things", kinds=(Thing, OldThing))
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon]) as cluster:
        stored = await cluster.client.get(DEFINITIONS, "things.example.com")
        assert [condition["type"] for condition in stored["status"]["conditions"] if condition["status"] == "True"] == [
            "NamesAccepted", "Established"]
        thing = Thing.from_tree({"metadata": {"name": "a"}, "spec": {"needed": "x", "amount": "1Gi", "target": "50%"}})
        made = await cluster.client.create(Thing.resource, thing.to_tree())
        assert made["spec"] == {
            "needed": "x", "amount": "1Gi", "target": "50%", "count": 4, "mode": "fast", "name": "a"}
        old = await cluster.client.get(OldThing.resource, "a")
        assert (old["apiVersion"], old["spec"]["needed"]) == ("example.com/v1beta1", "x")


async def test_a_cluster_that_has_it_already_stays_as_it_is() -> None:
    """Given a snapshot of a cluster with an add-on, when one goes on from it with the same add-on,
    then nothing was written.
    """
    addon = AddOn("things", kinds=(Thing,))
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon]) as cluster:
        snapshot = cluster.snapshot()
        before = (await cluster.client.get(DEFINITIONS, "things.example.com"))["metadata"]["resourceVersion"]
    async with Cluster(state=snapshot, extra=[addon]) as later:
        after = (await later.client.get(DEFINITIONS, "things.example.com"))["metadata"]["resourceVersion"]
        assert after == before
        assert (await later.client.list(Thing.resource)).items == []
