"""A definition that was looked at before: the second answer is the first, and a change is seen."""

from copy import deepcopy

import pytest

from fakekube import Cluster
from fakekube.apiextensions.rules import checking
from fakekube.apiextensions.validation import schemas
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiextensions import warnings
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from fakekube.util.memory import ENABLED
from tests.apiextensions.definitions import SCHEMA, custom_object, definition, version
from tests.apiextensions.test_refusals import errors
from tests.apiextensions.test_serving import DEFINITIONS
from tests.apiserver.conftest import Api, api

__all__ = ["api"]


def with_size(**fields: object) -> Tree:
    schema = deepcopy(SCHEMA)
    schema["properties"]["spec"]["properties"]["size"] = fields
    return definition(versions=[version(schema=schema)])


async def test_a_schema_that_was_sound_is_refused_once_it_is_not(api: Api) -> None:
    """Given definitions that were taken, and one that was refused, when each is sent again, and
    with one word changed, then each answer is what the tree deserves.
    """
    sound, unsound = with_size(type="integer"), with_size(type="whole")
    complaint = 'spec.validation.openAPIV3Schema.properties[spec].properties[size].type: Unsupported value: "whole"'
    for _ in range(2):
        assert await errors(api, sound) == []
        assert [text.partition(": supported")[0] for text in await errors(api, unsound)] == [complaint]
    sound["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"]["type"] = "whole"
    assert [text.partition(": supported")[0] for text in await errors(api, sound)] == [complaint]


async def test_what_a_status_forbids_is_asked_of_a_schema_that_is_sound_without(api: Api) -> None:
    """Given a schema that was taken without a status, when a definition has it with one, which
    allows less at its root, then it is refused.
    """
    schema = {**SCHEMA, "not": {"required": ["other"]}}
    assert await errors(api, definition(versions=[version(schema=schema)])) == []
    told = await errors(api, definition(versions=[version(schema=schema, subresources={"status": {}})]))
    assert len(told) == 1
    assert "fields are allowed at the root of the schema if the status subresource is enabled" in told[0]


async def test_a_writer_is_warned_each_time(api: Api) -> None:
    """Given a definition with a format that nobody knows, when it is sent again and again, then
    each answer warns of it.
    """
    for _ in range(2):
        answer = await api("POST", f"{DEFINITIONS}?dryRun=All", with_size(type="string", format="colour"))
        assert answer.warnings == ['299 - "unrecognized format \\"colour\\""']


@pytest.mark.skipif(not ENABLED, reason="nothing is remembered where memos are switched off")
async def test_a_sound_schema_is_looked_at_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a definition that was taken, when it is sent again, then its schema is not walked
    through once more, neither for what is wrong nor for what is odd.
    """
    tree = with_size(type="integer", description="of this test alone")
    assert await errors(api, tree) == []

    def walked(*_: object, **__: object) -> None:
        raise AssertionError("it was looked at again")

    monkeypatch.setattr(schemas, "structural_errors", walked)
    monkeypatch.setattr(warnings.structural, "every_schema", walked)
    assert await errors(api, tree) == []


WIDGETS = Resource("probe.dev", "v1", "widgets", "Widget", namespaced=True)


async def told_of(most: int, size: int, default: Tree, release: str = "1.37") -> tuple[str, object]:
    """What a cluster with a rule about sizes says of one, and what it fills in elsewhere."""
    schema = deepcopy(SCHEMA)
    schema["properties"]["spec"]["properties"]["size"] = {
        "type": "integer", "x-kubernetes-validations": [{"rule": f"self < {most}", "message": f"not below {most}"}]}
    schema["properties"]["more"] = {"type": "object", "default": default, "x-kubernetes-preserve-unknown-fields": True}
    async with Cluster(kubernetes_version=release) as cluster:
        client = cluster.client
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition(versions=[version(schema=schema)]))
        await cluster.settle()
        made = await client.create(WIDGETS, custom_object("small", spec={"size": 0}), "default")
        found = deepcopy(made["more"])
        made["more"]["changed"] = True  # which is the caller's own
        try:
            await client.create(WIDGETS, custom_object("large", spec={"size": size}), "default")
        except APIError as error:
            return str(error).rpartition(": ")[2], found
        return "", found


async def test_clusters_with_other_rules_know_nothing_of_each_other() -> None:
    """Given clusters whose definitions differ in a number of a rule, or in a default, one after the
    other and again, then each says what its own definition says.
    """
    for _ in range(2):
        assert await told_of(5, 7, {"a": 1}) == ("not below 5", {"a": 1})
        assert await told_of(9, 7, {"a": 1}) == ("", {"a": 1})
        assert await told_of(9, 9, {"a": 2}) == ("not below 9", {"a": 2})
        assert await told_of(9, 9, {"a": 2}, "1.35") == ("not below 9", {"a": 2})


@pytest.mark.skipif(not ENABLED, reason="nothing is remembered where memos are switched off")
async def test_rules_are_compiled_once_for_all_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a cluster with a definition, when another has the same, then its rules are not compiled
    once more, and hold there too.
    """
    assert await told_of(11, 12, {}) == ("not below 11", {})

    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("they were compiled again")

    monkeypatch.setattr(checking, "compile_rules", compiled)
    assert await told_of(11, 12, {}) == ("not below 11", {})
