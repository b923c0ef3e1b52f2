"""Custom resources in a whole cluster: the garbage collector, namespaces, caches of controllers."""

from typing import Any

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, Resource
from tests.apiextensions.definitions import custom_object, definition

WIDGETS = Resource("probe.dev", "v1", "widgets", "Widget", True)
CONTROLLERS = "garbagecollector,namespace,serviceaccount"


def owned(tree: Tree, owner: Tree) -> Tree:
    """The object with an owner."""
    meta = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {**tree, "metadata": {**tree["metadata"], "ownerReferences": [reference]}}


def config_map(name: str) -> Tree:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


async def names(cluster: Cluster, resource: Resource, namespace: str = "default") -> list[str]:
    items = (await cluster.client.list(resource, namespace)).items
    return [item["metadata"]["name"] for item in items if item["metadata"]["name"] != "kube-root-ca.crt"]


async def test_the_garbage_collector_knows_custom_kinds() -> None:
    """Given a custom object that owns a ConfigMap and another custom object / when it is deleted /
    then both are, and so is what it owns when its definition goes.
    """
    async with Cluster(controllers=CONTROLLERS) as cluster:
        await cluster.load([definition()])
        for gone in ("object", "definition"):
            owner = await cluster.client.create(WIDGETS, custom_object("owner"), "default")
            await cluster.client.create(CONFIG_MAPS, owned(config_map("child"), owner), "default")
            await cluster.client.create(WIDGETS, owned(custom_object("child"), owner), "default")
            if gone == "object":
                await cluster.client.delete(WIDGETS, "owner", "default")
            else:
                await cluster.client.delete(CUSTOM_RESOURCE_DEFINITIONS, "widgets.probe.dev")

            async def is_collected() -> bool:
                return await names(cluster, CONFIG_MAPS) == []

            await cluster.run_until(is_collected)
            if gone == "object":
                assert await names(cluster, WIDGETS) == []


async def test_a_custom_owner_in_the_foreground() -> None:
    """Given a custom object that a built-in one blocks / when it is deleted in the foreground /
    then it goes after what it owns.
    """
    async with Cluster(controllers=CONTROLLERS) as cluster:
        await cluster.load([definition()])
        owner = await cluster.client.create(WIDGETS, custom_object("owner"), "default")
        child = owned(config_map("child"), owner)
        child["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = True
        child["metadata"]["finalizers"] = ["probe.dev/hold"]
        await cluster.client.create(CONFIG_MAPS, child, "default")
        await cluster.client.delete(WIDGETS, "owner", "default", propagation_policy="Foreground")
        await cluster.settle()
        assert await names(cluster, WIDGETS) == ["owner"]
        await cluster.client.patch(CONFIG_MAPS, "child", "default", {"metadata": {"finalizers": None}}, type="merge")

        async def is_gone() -> bool:
            return await names(cluster, WIDGETS) == []

        await cluster.run_until(is_gone)


async def test_a_namespace_goes_with_its_custom_objects() -> None:
    """Given a namespace with a custom object / when it is deleted / then the object goes, and the
    namespace after it.
    """
    async with Cluster(controllers=CONTROLLERS) as cluster:
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "ours"}})
        await cluster.load([definition()])
        await cluster.client.create(WIDGETS, custom_object("w"), "ours")
        await cluster.client.delete(NAMESPACES, "ours")

        async def is_gone() -> bool:
            return "ours" not in await names(cluster, NAMESPACES, "")

        await cluster.run_until(is_gone)
        assert await names(cluster, WIDGETS, "ours") == []


async def test_a_cache_fills_when_its_definition_comes() -> None:
    """Given an informer of a custom kind that nobody has defined yet / when its definition and an
    object come / then the cache holds the object; so it does when the definition changes.
    """
    async with Cluster(controllers="garbagecollector") as cluster:
        informer = cluster.manager.informers.get(WIDGETS)
        await cluster.load([definition()])
        await cluster.client.create(WIDGETS, custom_object("a"), "default")

        def held() -> Any:
            return sorted(meta["name"] for meta in (item["metadata"] for item in informer.lister.list()))

        await cluster.run_until(lambda: held() == ["a"])
        changed = {"spec": {"names": {"shortNames": ["w"], "plural": "widgets", "kind": "Widget"}}}
        await cluster.client.patch(CUSTOM_RESOURCE_DEFINITIONS, "widgets.probe.dev", body=changed, type="merge")
        await cluster.client.create(WIDGETS, custom_object("b"), "default")
        await cluster.run_until(lambda: held() == ["a", "b"])
