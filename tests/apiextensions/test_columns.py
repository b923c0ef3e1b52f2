"""How custom objects are shown and selected, as their definition says."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from tests.apiextensions.definitions import custom_object, definition, version
from tests.apiextensions.test_serving import DEFINITIONS, WIDGETS, create
from tests.apiserver.conftest import TABLE, Api, api

__all__ = ["api"]

FIELDS: Tree = {
    "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"}, "on": {"type": "boolean"},
    "when": {"type": "string"},
    "list": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
SCHEMA: Tree = {"type": "object", "properties": {"spec": {"type": "object", "properties": FIELDS}}}


def column(name: str, type_: str, path: str, **more: Any) -> Tree:
    return {"name": name, "type": type_, "jsonPath": path, **more}


@pytest.mark.spec("API-160")
async def test_columns_of_a_definition(api: Api) -> None:
    """Given printer columns of every type / when the objects are listed as a Table / then each cell
    is what upstream makes of the value, and nothing where it has another type.
    """
    columns = [
        column("Text", "string", ".spec.text"), column("Count", "integer", ".spec.count", format="int32", description="how many"),
        column("Ratio", "number", ".spec.ratio", priority=1), column("On", "boolean", ".spec.on"),
        column("When", "date", ".spec.when"), column("All", "string", ".spec.list"), column("First", "string", ".spec.list[*].k")]
    await create(api, definition(versions=[version(schema=SCHEMA, additionalPrinterColumns=columns)]))
    full = {"text": "t", "count": 3, "ratio": 1.5, "on": True, "when": "2025-12-31T23:00:00Z", "list": [{"k": "p"}, {"k": "q"}]}
    await create(api, custom_object("a", spec=full), WIDGETS)
    await create(api, custom_object("b", spec={"when": "soon"}), WIDGETS)
    table = (await api("GET", WIDGETS, headers=TABLE)).tree
    assert [row["cells"] for row in table["rows"]] == [
        ["a", "t", 3, 1.5, True, "60m", '[{"k":"p"},{"k":"q"}]', "p"], ["b", None, None, None, None, "<invalid>", None, None]]
    described = {found["name"]: (found["type"], found["format"], found["description"], found["priority"])
                 for found in table["columnDefinitions"]}
    assert described["Text"] == ("string", "", "Custom resource definition column (in JSONPath format): .spec.text", 0)
    assert (described["Count"], described["Ratio"][3]) == (("integer", "int32", "how many", 0), 1)
    assert list(table["metadata"]) == ["resourceVersion"]


@pytest.mark.spec("API-160")
async def test_without_columns_there_is_the_age(api: Api) -> None:
    """Given a definition without columns / when an object is shown as a Table / then there are its
    name and its age.
    """
    await create(api, definition())
    await create(api, custom_object("a"), WIDGETS)
    table = (await api("GET", f"{WIDGETS}/a", headers=TABLE)).tree
    assert [(found["name"], found["type"]) for found in table["columnDefinitions"]] == [("Name", "string"), ("Age", "date")]
    assert table["rows"][0]["cells"] == ["a", "0s"]


async def names(api: Api, selector: str) -> list[str]:
    answer = await api("GET", f"{WIDGETS}?fieldSelector={selector}")
    assert answer.status == 200, answer.tree
    return [item["metadata"]["name"] for item in answer.tree["items"]]


@pytest.mark.spec("API-069")
async def test_selectable_fields(api: Api) -> None:
    """Given selectable fields of several types / when lists and watches name them / then they
    choose by their texts; other fields are refused.
    """
    fields = [{"jsonPath": ".spec.text"}, {"jsonPath": ".spec.count"}, {"jsonPath": ".spec.on"}]
    await create(api, definition(versions=[version(schema=SCHEMA, selectableFields=fields)]))
    await create(api, custom_object("a", spec={"text": "red", "count": 1, "on": True}), WIDGETS)
    await create(api, custom_object("b", spec={"text": "blue"}), WIDGETS)
    assert await names(api, "spec.text%3Dred") == ["a"]
    assert await names(api, "spec.text!%3Dred") == ["b"]
    assert await names(api, "spec.count%3D1,spec.on%3Dtrue") == ["a"]
    assert await names(api, "spec.count%3D") == ["b"]
    refused = await api("GET", f"{WIDGETS}?fieldSelector=spec.ratio%3D1")
    assert (refused.status, refused.message) == (400, "field label not supported: spec.ratio")
    watch = await api.watch(f"{WIDGETS}?watch=true&fieldSelector=spec.text%3Dred")
    await api.patch(f"{WIDGETS}/b", {"spec": {"text": "red"}})
    await api.patch(f"{WIDGETS}/b", {"spec": {"text": "green"}})
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in watch.events] == [
        ("ADDED", "a"), ("ADDED", "b"), ("DELETED", "b")]


@pytest.mark.spec("API-069")
async def test_objects_that_are_there_become_selectable(api: Api) -> None:
    """Given objects / when their definition makes a field selectable / then they are found by
    it.
    """
    await create(api, definition(versions=[version(schema=SCHEMA)]))
    await create(api, custom_object("a", spec={"text": "red"}), WIDGETS)
    entry = version(schema=SCHEMA, selectableFields=[{"jsonPath": ".spec.text"}])
    assert (await api.patch(f"{DEFINITIONS}/widgets.probe.dev", {"spec": {"versions": [entry]}})).status == 200
    assert await names(api, "spec.text%3Dred") == ["a"]
    assert await names(api, "spec.text%3Dblue") == []


@pytest.mark.spec("API-131")
async def test_paths_that_no_definition_has(api: Api) -> None:
    """Given a definition without sub-resources / when paths are asked for that it has not / then
    the answers are those of upstream's handler of custom resources.
    """
    await create(api, definition())
    await create(api, custom_object("w"), WIDGETS)
    status = await api("GET", f"{WIDGETS}/w/status")
    assert (status.status, status.message) == (404, 'widgets.probe.dev "w" not found')
    for path in ("v9", "v9/widgets", "v1/gadgets", "v1/widgets/w"):
        assert bytes((await api("GET", f"/apis/probe.dev/{path}")).response.body) == b"404 page not found\n", path
    refused = await api("PUT", WIDGETS, custom_object("w"))
    assert (refused.status, refused.message) == (405, 'update is not supported on resources of kind "widgets.probe.dev"')


@pytest.mark.spec("API-107")
async def test_custom_objects_take_no_strategic_merge_patch(api: Api) -> None:
    """Given a custom object / when a strategic merge patch comes / then it is refused with the
    types that are taken.
    """
    await create(api, definition())
    await create(api, custom_object("w"), WIDGETS)
    refused = await api.patch(f"{WIDGETS}/w", {}, "application/strategic-merge-patch+json")
    assert refused.status == 415
    assert refused.message.endswith(
        "accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
