"""Versions that a webhook converts: what it is asked, what it may answer, and what is stored."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.webhooks.callables import Callables
from fakekube.webhooks.client import CallError, ReviewKind
from tests.apiextensions.definitions import custom_object, definition, version
from tests.apiextensions.test_serving import DEFINITIONS, WIDGETS, create
from tests.apiserver.conftest import TABLE, Api, api

__all__ = ["api"]

V1, V2 = WIDGETS, WIDGETS.replace("/v1/", "/v2/")
COLUMN = {"name": "Width", "type": "integer", "jsonPath": ".spec.width"}
CLIENT = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://h"}, "conversionReviewVersions": ["v1"]}}


def of(field: str) -> Tree:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": {field: {"type": "integer"}}}}}


VERSIONS = [version(schema=of("size")), version("v2", storage=False, schema=of("width"), additionalPrinterColumns=[COLUMN])]


class Webhook:
    """In place of the client of webhooks: ``size`` of v1 is ``width`` of v2."""

    def __init__(self) -> None:
        self.callables = Callables()
        self.asked: list[tuple[str, int]] = []
        self.change: Callable[[Tree], Any] = lambda response: response

    async def call(self, config: Tree, review: Tree, *, timeout_seconds: int, expected: ReviewKind) -> Tree:
        request = review["request"]
        self.asked.append((request["desiredAPIVersion"], len(request["objects"])))
        objects = [self.converted(tree, request["desiredAPIVersion"]) for tree in request["objects"]]
        response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
        changed: Any = self.change(response)
        return {"apiVersion": expected.api_version, "kind": expected.kind, "response": changed}

    @staticmethod
    def converted(tree: Tree, api_version: str) -> Tree:
        old, new = ("size", "width") if api_version.endswith("v2") else ("width", "size")
        spec = {new: tree["spec"][old], "unknown": 1} if old in tree.get("spec", {}) else {}
        return {**tree, "apiVersion": api_version, "spec": spec}


@pytest.fixture
def webhook(api: Api) -> Webhook:
    """What converts the objects of this server."""
    made = Webhook()
    api.server.use_webhooks(lambda: made)  # type: ignore[arg-type,return-value]  # it has the one method
    return made


def in_v2(name: str, width: int) -> Tree:
    return {"apiVersion": "probe.dev/v2", "kind": "Widget", "metadata": {"name": name}, "spec": {"width": width}}


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.spec("API-159")
async def test_every_verb_speaks_the_version_of_its_path(api: Api, webhook: Webhook) -> None:
    """Given two versions with different fields and a webhook / when objects are written and read in
    either / then each shows them in its own fields, pruned, and they are stored once.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    await create(api, custom_object("a", spec={"size": 1}), V1)
    assert webhook.asked == []
    assert (await create(api, in_v2("b", 2), V2))["spec"] == {"width": 2}
    assert (await api("GET", f"{V1}/b")).tree["spec"] == {"size": 2}
    listed = (await api("GET", V2)).tree
    assert [(item["apiVersion"], item["spec"]) for item in listed["items"]] == [
        ("probe.dev/v2", {"width": 1}), ("probe.dev/v2", {"width": 2})]
    assert webhook.asked[-1] == ("probe.dev/v2", 1), "what is known is not asked for again"
    patched = await api.patch(f"{V2}/a", {"spec": {"width": 5}})
    assert (patched.tree["spec"], patched.tree["metadata"]["generation"]) == ({"width": 5}, 2)
    assert (await api("GET", f"{V1}/a")).tree["spec"] == {"size": 5}
    table = (await api("GET", V2, headers=TABLE)).tree
    assert [row["cells"] for row in table["rows"]] == [["a", 5], ["b", 2]]
    assert (await api("DELETE", f"{V2}/a")).tree["status"] == "Success"
    assert [item["metadata"]["name"] for item in (await api("GET", V1)).tree["items"]] == ["b"]


async def test_a_finalizer_keeps_what_is_deleted_in_another_version(api: Api, webhook: Webhook) -> None:
    """Given an object with a finalizer / when it is deleted in the version that is not stored /
    then it stays with all its fields, in both versions.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    held = custom_object("a", spec={"size": 1})
    held["metadata"]["finalizers"] = ["probe.dev/hold"]
    await create(api, held, V1)
    deleted = (await api("DELETE", f"{V2}/a")).tree
    assert ("deletionTimestamp" in deleted["metadata"], deleted["spec"]) == (True, {"width": 1})
    assert (await api("GET", f"{V1}/a")).tree["spec"] == {"size": 1}
    assert (await api.patch(f"{V2}/a", {"metadata": {"finalizers": None}})).status == 200
    assert (await api("GET", f"{V1}/a")).status == 404


async def test_a_watch_tells_in_order(api: Api, webhook: Webhook) -> None:
    """Given a watch in the version that is not stored / when objects are written in both / then it
    tells of each in its own fields, in order, and ends with its type.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    await create(api, custom_object("a", spec={"size": 1}), V1)
    watch = await api.watch(f"{V2}?watch=true")
    await create(api, in_v2("b", 2), V2)
    await api.patch(f"{V1}/a", {"spec": {"size": 3}})
    await api("DELETE", f"{V1}/a")
    await turns()
    seen = [(event["type"], event["object"]["metadata"]["name"], event["object"]["spec"]) for event in watch.events]
    assert seen == [
        ("ADDED", "a", {"width": 1}), ("ADDED", "b", {"width": 2}), ("MODIFIED", "a", {"width": 3}),
        ("DELETED", "a", {"width": 3})]
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    await turns()
    assert watch.ended


async def test_another_stored_version(api: Api, webhook: Webhook) -> None:
    """Given objects / when another version becomes the stored one / then they are read as before,
    and written anew in it.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    await create(api, custom_object("a", spec={"size": 1}), V1)
    turned = [{**VERSIONS[0], "storage": False}, {**VERSIONS[1], "storage": True}]
    assert (await api.patch(f"{DEFINITIONS}/widgets.probe.dev", {"spec": {"versions": turned}})).status == 200
    assert (await api("GET", f"{V2}/a")).tree["spec"] == {"width": 1}
    assert (await api("GET", f"{V1}/a")).tree["spec"] == {"size": 1}
    assert (await api.patch(f"{V1}/a", {"spec": {"size": 4}})).tree["spec"] == {"size": 4}
    webhook.asked.clear()
    assert (await api("GET", f"{V2}/a")).tree["spec"] == {"width": 4}
    assert webhook.asked == []


def raising(_: Tree) -> Any:
    raise CallError("nobody there")


@pytest.mark.spec("API-159")
@pytest.mark.parametrize(("change", "words"), [
    (raising, "failed: nobody there"),
    (lambda _: None, "failed: no response provided"),
    (lambda response: response | {"result": {"status": "Failure", "message": "will not"}}, "failed: will not"),
    (lambda response: response | {"result": {}}, "failed: response.result.status was '', not 'Success'"),
    (lambda response: response | {"convertedObjects": []}, "returned 0 objects, expected 1"),
    (lambda response: response | {"convertedObjects": [{**response["convertedObjects"][0], "kind": "Other"}]},
     "returned invalid object at index 0: invalid kind (expected Widget, received Other)"),
    (lambda response: response | {"convertedObjects": [{**response["convertedObjects"][0], "metadata": {"name": "other"}}]},
     "returned invalid object: must have the same name: x != other"),
    (lambda response: response | {"convertedObjects": [7]}, ("returned invalid object at index 0: missing metadata in converted "
     "object")),
])
async def test_a_webhook_that_fails(api: Api, webhook: Webhook, change: Callable[[Tree], Any], words: str) -> None:
    """Given a webhook that answers with nothing of use / when a request needs it / then that
    request is a 500 in upstream's words, nothing is stored, and the stored version works on.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    await create(api, custom_object("a", spec={"size": 1}), V1)
    webhook.change = change
    refused = await api("POST", V2, in_v2("x", 1))
    assert (refused.status, refused.message) == (500, f"conversion webhook for probe.dev/v2, Kind=Widget {words}")
    assert (await api("GET", f"{V2}/a")).tree["reason"] == "InternalError"
    assert (await api("GET", V2)).tree["reason"] == "StorageReadError"
    assert (await api("DELETE", f"{V2}/a")).status == 500
    assert [item["metadata"]["name"] for item in (await api("GET", V1)).tree["items"]] == ["a"]


async def test_metadata_is_kept_but_for_labels_and_annotations(api: Api, webhook: Webhook) -> None:
    """Given a webhook that changes all of metadata / when an object is read through it / then only
    labels and annotations are as it says.
    """
    await create(api, definition(versions=VERSIONS, conversion=CLIENT))
    made = await create(api, custom_object("a", spec={"size": 1}), V1)

    def change(response: Tree) -> Tree:
        for tree in response["convertedObjects"]:
            tree["metadata"] = {
                **tree["metadata"], "labels": {"by": "webhook"}, "generation": 77, "finalizers": ["probe.dev/x"]}
        return response

    webhook.change = change
    read = (await api("GET", f"{V2}/a")).tree["metadata"]
    assert read == {**made["metadata"], "labels": {"by": "webhook"}}
