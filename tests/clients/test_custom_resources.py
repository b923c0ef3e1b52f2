"""Custom resources through real clients: a definition, its objects, what is shown, what goes."""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import kr8s
import kr8s.asyncio
import kubernetes_asyncio
import lightkube
import pytest
from kr8s.asyncio.objects import new_class
from kubernetes import client, dynamic, watch
from lightkube.generic_resource import create_namespaced_resource

from tests.clients.conftest import eventually

TEXT = {"type": "string"}
CONDITIONS = {"type": "array", "items": {"type": "object", "properties": {"type": TEXT, "status": TEXT}}}
SCHEMA: dict[str, Any] = {
    "type": "object", "description": "A widget of some size.", "required": ["spec"],
    "properties": {
        "spec": {"type": "object", "description": "What is wanted.", "properties": {
            "size": {"type": "integer", "minimum": 1, "default": 2, "description": "How big it is to be."},
            "colour": {"type": "string", "enum": ["red", "blue"]}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "conditions": CONDITIONS}}}}
COLUMNS = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
           {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1}]


def definition(group: str) -> dict[str, Any]:
    """Widgets with a status, a scale, columns and a short name."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "versions": [{
                "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA},
                "additionalPrinterColumns": COLUMNS, "selectableFields": [{"jsonPath": ".spec.colour"}],
                "subresources": {
                    "status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"}}}]}}


@pytest.fixture
def group(api: client.ApiClient, namespace: str) -> Iterator[str]:
    """The group of an established definition, gone at the end."""
    name = f"{namespace}.probe.dev"
    extensions = client.ApiextensionsV1Api(api)
    extensions.create_custom_resource_definition(definition(name))
    objects = client.CustomObjectsApi(api)
    eventually(lambda: objects.list_namespaced_custom_object(name, "v1", namespace, "widgets"))
    yield name
    extensions.delete_custom_resource_definition(f"widgets.{name}")


def widget(group: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


@pytest.mark.spec("API-155", "API-157", "API-091")
def test_the_official_client(api: client.ApiClient, group: str, namespace: str) -> None:
    """Given a definition / when its objects are created, patched, watched, scaled and deleted /
    then defaults, refusals and events are those of a cluster.
    """
    objects = client.CustomObjectsApi(api)
    where = (group, "v1", namespace, "widgets")
    made = objects.create_namespaced_custom_object(*where, widget(group, "a", colour="red"))
    assert made["spec"] == {"colour": "red", "size": 2}
    with pytest.raises(client.ApiException) as refused:
        objects.create_namespaced_custom_object(*where, widget(group, "b", size=0, colour="green"))
    assert refused.value.status == 422
    assert "spec.size in body should be greater than or equal to 1" in refused.value.body
    assert 'spec.colour: Unsupported value: \\"green\\": supported values: \\"red\\", \\"blue\\"' in refused.value.body
    objects.patch_namespaced_custom_object_status(*where, "a", {"status": {"replicas": 1}})
    scale = objects.get_namespaced_custom_object_scale(*where, "a")
    assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (2, 1)
    objects.patch_namespaced_custom_object_scale(*where, "a", {"spec": {"replicas": 5}})
    found = objects.list_namespaced_custom_object(*where, field_selector="spec.colour=red")
    assert [(item["metadata"]["name"], item["spec"]["size"], item["metadata"]["generation"]) for item in found["items"]] == [
        ("a", 5, 2)]
    objects.delete_namespaced_custom_object(*where, "a")
    seen = []
    since = made["metadata"]["resourceVersion"]
    for event in watch.Watch().stream(objects.list_namespaced_custom_object, *where, resource_version=since, timeout_seconds=10):
        seen.append(event["type"])
        if event["type"] == "DELETED":
            break
    assert seen == ["MODIFIED", "MODIFIED", "DELETED"]


def test_the_dynamic_client_finds_the_kind(api: client.ApiClient, group: str, namespace: str) -> None:
    """Given a definition / when the dynamic client asks for its kind / then it finds it, and
    applies an object.
    """
    resource = dynamic.DynamicClient(api).resources.get(api_version=f"{group}/v1", kind="Widget")
    made = resource.server_side_apply(widget(group, "a", size=3), "a", namespace, field_manager="suite")
    assert made.spec.size == 3
    assert [item.metadata.name for item in resource.get(namespace=namespace).items] == ["a"]


async def test_the_asyncio_client(kubeconfig: Path, group: str, namespace: str) -> None:
    """Given a definition / when an object is created and listed with kubernetes_asyncio / then it
    is there.
    """
    settings = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(str(kubeconfig), client_configuration=settings)
    async with kubernetes_asyncio.client.ApiClient(settings) as connected:
        objects = kubernetes_asyncio.client.CustomObjectsApi(connected)
        where = (group, "v1", namespace, "widgets")
        await objects.create_namespaced_custom_object(*where, widget(group, "a"))
        assert [item["spec"] for item in (await objects.list_namespaced_custom_object(*where))["items"]] == [{"size": 2}]


@pytest.fixture
async def connected(kubeconfig: Path, namespace: str) -> AsyncIterator[kr8s.asyncio.Api]:
    """The asynchronous API of kr8s, in the test's namespace."""
    api = await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    yield api
    await api._session.aclose()


@pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning")
async def test_kr8s(connected: kr8s.asyncio.Api, group: str, namespace: str) -> None:
    """Given a definition / when kr8s creates, scales and deletes an object of a class for it / then
    the object is as it says.
    """
    kind = new_class("Widget", version=f"{group}/v1", plural="widgets", namespaced=True, scalable=True, scalable_spec="size")
    made = await kind(widget(group, "a") | {"metadata": {"name": "a", "namespace": namespace}}, api=connected)
    await made.create()
    assert made.raw["spec"] == {"size": 2}
    await made.patch({"spec": {"size": 4}})
    found = [item async for item in connected.get(f"widgets.{group}", namespace=namespace)]
    assert [item.raw["spec"]["size"] for item in found] == [4]
    await made.delete()
    assert not await made.exists()


def test_lightkube(kubeconfig: Path, group: str, namespace: str) -> None:
    """Given a definition / when lightkube applies and lists a generic resource of it / then the
    objects come back with their defaults.
    """
    connected = lightkube.Client(lightkube.KubeConfig.from_file(kubeconfig), namespace=namespace, field_manager="light")
    kind = create_namespaced_resource(group, "v1", "Widget", "widgets")
    connected.create(kind(metadata={"name": "a"}, spec={"colour": "blue"}))
    connected.apply(kind(metadata={"name": "b"}, spec={"size": 7}))
    assert [item.spec for item in connected.list(kind)] == [{"colour": "blue", "size": 2}, {"size": 7}]
    connected._client._client.close()


@pytest.mark.kubectl
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
@pytest.mark.spec("API-160", "API-172")
def test_kubectl(kubectl: Callable[..., str], group: str, namespace: str) -> None:
    """Given a definition / when kubectl applies, gets, explains, describes, scales, waits for and
    deletes objects of it / then it prints what it prints on a cluster.
    """
    here = ("-n", namespace)
    applied = kubectl("apply", "-f", "-", *here, stdin=json.dumps(widget(group, "a", colour="red")))
    assert applied == f"widget.{group}/a created\n"
    shown = kubectl("get", "wd", *here).splitlines()
    assert (shown[0].split(), shown[1].split()) == (["NAME", "SIZE"], ["a", "2"])
    assert kubectl("get", "widgets", "-o", "wide", *here).splitlines()[1].split() == ["a", "2", "red"]
    assert f"widget.{group}/a" in kubectl("get", "all", *here)
    assert kubectl("get", "widget", "a", "-o", "jsonpath={.spec.size}", *here) == "2"
    explained = kubectl("explain", "wd.spec", f"--api-version={group}/v1")
    assert "How big it is to be." in explained
    assert "What is wanted." in explained
    described = kubectl("describe", "widget", "a", *here)
    assert "Colour:  red" in described
    assert kubectl("scale", "widget/a", "--replicas=3", *here) == f"widget.{group}/a scaled\n"
    refused = kubectl("patch", "widget", "a", "--type=merge", "-p", '{"spec":{"size":"x"}}', *here, code=1)
    assert 'spec.size in body must be of type integer: "string"' in refused
    unknown = kubectl("apply", "-f", "-", *here, stdin=json.dumps(widget(group, "b", sise=1)), code=1)
    assert 'unknown field "spec.sise"' in unknown
    established = kubectl("wait", "--for=condition=Established", f"crd/widgets.{group}", "--timeout=10s")
    assert "condition met" in established
    assert f"widgets.{group}" in kubectl("get", "crds")
    assert group in kubectl("api-versions")
    assert kubectl("delete", "widget", "a", *here).startswith(f'widget.{group} "a" deleted')
