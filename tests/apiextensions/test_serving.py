"""A definition that is written is served, in every answer, before its writer has an answer."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from tests.apiextensions.definitions import custom_object, definition, version
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/probe.dev/v1/namespaces/t/widgets"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


async def create(api: Api, tree: Tree, path: str = DEFINITIONS) -> Tree:
    answer = await api("POST", path, tree)
    assert answer.status == 201, answer.tree
    return answer.tree  # type: ignore[no-any-return]


async def conditions(api: Api, name: str = "widgets.probe.dev") -> dict[str, tuple[str, str, str]]:
    tree = (await api("GET", f"{DEFINITIONS}/{name}")).tree
    return {found["type"]: (found["status"], found["reason"], found["message"]) for found in tree["status"]["conditions"]}


@pytest.mark.spec("API-155")
async def test_a_definition_is_established_at_once(api: Api) -> None:
    """Given nothing / when a definition is created / then the answer has no conditions yet, and a
    GET tells that it is established under its names, with the version that is stored.
    """
    created = await create(api, definition())
    assert created["status"] == {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]}
    found = (await api("GET", f"{DEFINITIONS}/widgets.probe.dev")).tree
    assert found["status"]["acceptedNames"] == {
        "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    assert found["status"]["storedVersions"] == ["v1"]
    assert await conditions(api) == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted")}
    assert found["spec"]["conversion"] == {"strategy": "None"}
    assert "finalizers" not in found["metadata"]


@pytest.mark.spec("API-155")
async def test_watchers_see_each_step(api: Api) -> None:
    """Given a watch of definitions / when one is created / then its names are accepted first, and
    then it is established.
    """
    watch = await api.watch(f"{DEFINITIONS}?watch=true")
    await create(api, definition())
    steps = [(event["type"], [found["reason"] for found in event["object"]["status"]["conditions"] or ()])
             for event in watch.events]
    assert steps == [
        ("ADDED", []), ("MODIFIED", ["NoConflicts", "Installing"]), ("MODIFIED", ["NoConflicts", "InitialNamesAccepted"])]


async def test_every_verb_works_on_custom_objects(api: Api) -> None:
    """Given a definition / when its objects are created, changed, listed, watched, deleted / then
    that works as with built-in kinds.
    """
    await create(api, definition())
    watch = await api.watch(f"{WIDGETS}?watch=true")
    created = await create(api, custom_object(spec={"size": 1}), WIDGETS)
    assert created["metadata"]["generation"] == 1
    created["spec"]["size"] = 2
    assert (await api("PUT", f"{WIDGETS}/w", created)).tree["metadata"]["generation"] == 2
    assert (await api.patch(f"{WIDGETS}/w", {"spec": {"size": 3}})).tree["spec"] == {"size": 3}
    applied = await api.patch(
        f"{WIDGETS}/w?fieldManager=me&force=true", custom_object(spec={"size": 4}), "application/apply-patch+yaml")
    assert applied.tree["spec"] == {"size": 4}
    listed = (await api("GET", WIDGETS)).tree
    assert (listed["kind"], listed["apiVersion"]) == ("WidgetList", "probe.dev/v1")
    assert [item["spec"] for item in listed["items"]] == [{"size": 4}]
    assert (await api("DELETE", f"{WIDGETS}/w")).tree["status"] == "Success"
    assert (await api("GET", f"{WIDGETS}/w")).status == 404
    assert [event["type"] for event in watch.events] == ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]


@pytest.mark.spec("API-014")
async def test_discovery_follows(api: Api) -> None:
    """Given a server / when a definition comes and goes / then its group comes and goes in both
    forms of discovery, behind all built-in groups, with another entity tag each time.
    """
    aggregated = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}

    async def groups() -> tuple[list[str], list[str], str]:
        old, new = await api("GET", "/apis"), await api("GET", "/apis", headers=aggregated)
        return ([group["name"] for group in old.tree["groups"]], [item["metadata"]["name"] for item in new.tree["items"]],
                new.headers("ETag")[0])

    before = await groups()
    await create(api, definition(group="b.probe.dev"))
    await create(api, definition(group="a.probe.dev"))
    after = await groups()
    for position in (0, 1):
        assert after[position] == [*before[position], "a.probe.dev", "b.probe.dev"]
    assert after[2] != before[2]
    rows = (await api("GET", "/apis/a.probe.dev/v1")).tree["resources"]
    assert [(row["name"], row["singularName"], row["kind"], row["namespaced"]) for row in rows] == [
        ("widgets", "widget", "Widget", True)]
    assert rows[0]["verbs"] == ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    for group in ("a", "b"):
        await api("DELETE", f"{DEFINITIONS}/widgets.{group}.probe.dev")
    assert await groups() == before
    assert (await api("GET", "/apis/a.probe.dev")).status == 404


@pytest.mark.spec("API-155")
async def test_names_in_use_are_not_accepted(api: Api) -> None:
    """Given a definition / when another one of its group wants its kind / then it says so and is
    not served, until the first is gone.
    """
    await create(api, definition())
    await create(api, definition("gadgets", names={"shortNames": ["g"]}))
    assert await conditions(api, "gadgets.probe.dev") == {
        "NamesAccepted": ("False", "ListKindConflict", '"WidgetList" is already in use'),
        "Established": ("False", "NotAccepted", "not all names are accepted")}
    names = (await api("GET", f"{DEFINITIONS}/gadgets.probe.dev")).tree["status"]["acceptedNames"]
    assert names == {"plural": "gadgets", "shortNames": ["g"], "kind": ""}
    assert (await api("GET", "/apis/probe.dev/v1/gadgets")).status == 404
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    assert (await conditions(api, "gadgets.probe.dev"))["Established"][0] == "True"
    assert (await api("GET", "/apis/probe.dev/v1/gadgets")).status == 200


@pytest.mark.spec("API-156")
async def test_a_definition_stays_until_its_objects_are_gone(api: Api) -> None:
    """Given objects, one of them with a finalizer / when their definition is deleted / then it is
    terminating, takes no new objects, and is gone with the last object.
    """
    await create(api, definition())
    await create(api, custom_object("free"), WIDGETS)
    held = custom_object("held")
    held["metadata"]["finalizers"] = ["probe.dev/hold"]
    await create(api, held, WIDGETS)
    deleted = (await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")).tree
    assert deleted["metadata"]["finalizers"] == [CLEANUP]
    assert deleted["status"]["conditions"][-1]["reason"] == "InstanceDeletionPending"
    assert (await conditions(api))["Terminating"] == (
        "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
    assert (await api("GET", f"{WIDGETS}/free")).status == 404
    refused = await api("POST", WIDGETS, custom_object("new"))
    assert (refused.status, refused.message) == (
        403, 'widgets.probe.dev "new" is forbidden: create not allowed while custom resource definition is terminating')
    assert "create" not in (await api("GET", "/apis/probe.dev/v1")).tree["resources"][0]["verbs"]
    again = await api("POST", DEFINITIONS, definition())
    assert again.message == (
        'object is being deleted: customresourcedefinitions.apiextensions.k8s.io "widgets.probe.dev" already exists')
    assert (await api.patch(f"{WIDGETS}/held", {"metadata": {"finalizers": None}})).status == 200
    assert (await api("GET", f"{DEFINITIONS}/widgets.probe.dev")).status == 404
    assert (await api("GET", WIDGETS)).status == 404


@pytest.mark.spec("API-156")
async def test_objects_go_with_a_definition_that_serves_no_version(api: Api) -> None:
    """Given objects whose definition came to serve no version / when it is deleted / then they go,
    and the same names may come back with another scope, and without them.
    """
    await create(api, definition())
    await create(api, custom_object("free"), WIDGETS)
    unserved = await api.patch(f"{DEFINITIONS}/widgets.probe.dev", [
        {"op": "replace", "path": "/spec/versions/0/served", "value": False}], "application/json-patch+json")
    assert unserved.status == 200
    assert (await api("GET", WIDGETS)).status == 404
    assert (await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")).status == 200
    assert (await api("GET", f"{DEFINITIONS}/widgets.probe.dev")).status == 404
    await create(api, definition())
    assert (await api("GET", WIDGETS)).tree["items"] == []
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    await create(api, definition(scope="Cluster"))
    await create(api, custom_object("of-all"), "/apis/probe.dev/v1/widgets")


@pytest.mark.spec("API-156")
async def test_an_object_that_nobody_serves_can_hold_its_definition(api: Api) -> None:
    """Given an object with a finalizer, of a definition that serves no version / when the
    definition is deleted, served again, and the finalizer goes / then both are gone.
    """
    await create(api, definition())
    held = custom_object("held")
    held["metadata"]["finalizers"] = ["probe.dev/hold"]
    await create(api, held, WIDGETS)
    path, served = f"{DEFINITIONS}/widgets.probe.dev", "/spec/versions/0/served"
    await api.patch(path, [{"op": "replace", "path": served, "value": False}], "application/json-patch+json")
    await api("DELETE", path)
    assert (await conditions(api))["Terminating"][1] == "InstanceDeletionInProgress"
    await api.patch(path, [{"op": "replace", "path": served, "value": True}], "application/json-patch+json")
    assert "deletionTimestamp" in (await api("GET", f"{WIDGETS}/held")).tree["metadata"]
    await api.patch(f"{WIDGETS}/held", {"metadata": {"finalizers": None}})
    assert (await api("GET", path)).status == 404


@pytest.mark.spec("API-091")
async def test_watches_end_with_their_type(api: Api) -> None:
    """Given a watch of custom objects / when their definition is deleted / then the watch sees them
    go, and ends.
    """
    await create(api, definition())
    await create(api, custom_object(), WIDGETS)
    watch = await api.watch(f"{WIDGETS}?watch=true")
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    assert [event["type"] for event in watch.events] == ["ADDED", "DELETED"]
    assert watch.ended


async def test_a_type_comes_back_with_another_scope(api: Api) -> None:
    """Given a namespaced type that was used / when its definition comes back as one of the cluster
    / then its objects are where the new scope has them.
    """
    await create(api, definition())
    await create(api, custom_object(), WIDGETS)
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    await create(api, definition(scope="Cluster"))
    assert (await api("GET", WIDGETS)).status == 404
    created = await create(api, custom_object(), "/apis/probe.dev/v1/widgets")
    assert "namespace" not in created["metadata"]


@pytest.mark.spec("API-159")
async def test_versions_are_the_same_objects(api: Api) -> None:
    """Given two versions without a conversion of their own / when an object is written in one /
    then both give it, each with its own apiVersion.
    """
    await create(api, definition(versions=[version(), version("v2", storage=False)]))
    await create(api, custom_object(spec={"size": 1}), WIDGETS)
    found = (await api("GET", WIDGETS.replace("/v1/", "/v2/") + "/w")).tree
    assert (found["apiVersion"], found["spec"]) == ("probe.dev/v2", {"size": 1})


def warned(group: str, word: str, **more: Any) -> str:
    return f'299 - "{group}/{word} Widget is deprecated{more.get("use", "")}"'


async def test_deprecated_versions_warn(api: Api) -> None:
    """Given versions that are deprecated, one with words of its own / when somebody asks for them /
    then each answer warns, and names the newest version that is not.
    """
    await create(api, definition(versions=[
        version(), version("v1beta1", storage=False, deprecated=True),
        version("v1alpha1", storage=False, deprecated=True, deprecationWarning='say "v1"')]))
    assert (await api("GET", "/apis/probe.dev/v1beta1/widgets")).warnings == [
        warned("probe.dev", "v1beta1", use="; use probe.dev/v1 Widget")]
    assert (await api("GET", "/apis/probe.dev/v1alpha1/widgets")).warnings == ['299 - "say \\"v1\\""']
    assert (await api("GET", "/apis/probe.dev/v1/widgets")).warnings == []


async def test_built_in_kinds_come_first(api: Api) -> None:
    """Given a definition that is called as a built-in kind / when it comes and goes / then the
    built-in kind is served all the while, with its own rules.
    """
    tree = definition("ingresses", "Ingress", group="networking.k8s.io")
    tree["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved"}
    await create(api, tree)
    path = "/apis/networking.k8s.io/v1/namespaces/t/ingresses"
    assert (await api("POST", path, {"metadata": {"name": "i"}, "spec": {"size": 1}})).status == 422
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    await create(api, {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}}, path)
    assert (await api("DELETE", f"{DEFINITIONS}/ingresses.networking.k8s.io")).status == 200
    assert [item["metadata"]["name"] for item in (await api("GET", path)).tree["items"]] == ["i"]


LAZY = """
import asyncio, sys
from fakekube import Cluster
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, PODS, Resource
from tests.apiextensions.definitions import custom_object, definition

def loaded(package):
    return sorted(name for name in sys.modules if name.startswith(package))

async def main():
    async with Cluster(controllers="") as cluster:
        await cluster.client.list(PODS)
        assert not loaded("fakekube.apiextensions"), loaded("fakekube.apiextensions")
        await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition())
        await cluster.client.create(Resource("probe.dev", "v1", "widgets", "Widget", True), custom_object(spec={}), "default")
        assert not loaded("fakekube.cel"), loaded("fakekube.cel")
        assert not loaded("fakekube.webhooks.client"), loaded("fakekube.webhooks.client")

asyncio.run(main())
"""


def test_what_nobody_asks_for_is_not_loaded() -> None:
    """Given a new process / when a cluster serves built-in kinds, and then a definition without
    rules / then no code for custom resources is loaded before the definition, and none for CEL.
    """
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "controllers")])}
    done = subprocess.run([sys.executable, "-c", LAZY], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
