"""True is no number: a change from one to the other is a change, wherever a field may hold
anything.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.resources import Resource

REVISIONS = Resource("apps", "v1", "controllerrevisions", "ControllerRevision")
CLAIMS = Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim")
CLASSES = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False)
DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)


@pytest.fixture
async def client() -> Any:
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        yield cluster.client


def definition(default: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "x": {"x-kubernetes-preserve-unknown-fields": True, "default": default}}}}}
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def config(value: Any) -> list[dict[str, Any]]:
    return [{"opaque": {"driver": "d.example.com", "parameters": {"x": value}}}]


async def test_a_change_to_true_raises_the_generation(client: Client) -> None:
    """Given a free field of a spec, when 1 becomes true, and when nothing changes, then the
    generation rises, and stays.
    """
    made = await client.create(DEFINITIONS, definition(1))
    assert made["metadata"]["generation"] == 1
    established = await client.get(DEFINITIONS, "things.example.com")
    changed = await client.update(DEFINITIONS, {**established, "spec": definition(True)["spec"]})
    assert changed["metadata"]["generation"] == 2
    again = await client.update(DEFINITIONS, changed)
    assert again["metadata"] == changed["metadata"]


async def test_who_changes_to_true_owns_it(client: Client) -> None:
    """Given a field of somebody's, when another makes 1 of true, then it is the other's, and the
    write is one.
    """
    made = await client.with_options(user_agent="one").create(
        CLASSES, {"metadata": {"name": "c"}, "spec": {"config": config(True)}})
    changed = await client.with_options(user_agent="two").patch(
        CLASSES, "c", body={"spec": {"config": config(1)}})
    assert changed["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    assert changed["spec"]["config"][0]["opaque"]["parameters"] == {"x": 1}
    owners = {entry["manager"]: entry["fieldsV1"] for entry in changed["metadata"]["managedFields"]}
    assert "f:config" in owners["two"]["f:spec"]


@pytest.mark.parametrize(("resource", "before", "after"), [
    (REVISIONS, {"revision": 1, "data": {"a": True}}, {"data": {"a": 1}}),
    (CLAIMS, {"spec": {"devices": {"config": config(True)}}}, {"spec": {"devices": {"config": config(1)}}}),
])
async def test_what_may_not_change_may_not_change_to_true(
    client: Client, resource: Resource, before: dict[str, Any], after: dict[str, Any],
) -> None:
    """Given a field that may not change, when true becomes 1 in it, then that is refused."""
    await client.create(resource, {"metadata": {"name": "r", "namespace": "default"}, **before})
    with pytest.raises(APIError, match="field is immutable"):
        await client.patch(resource, "r", "default", after)
    assert await client.patch(resource, "r", "default", before)
