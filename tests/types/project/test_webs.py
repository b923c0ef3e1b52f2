"""Its tests."""

from webs import Web, webs

from fakekube.client.typed import TypedClient
from fakekube.composition.cluster import Cluster
from fakekube.types import ConfigMap, ObjectMeta, Pod


async def test_webs(fake_cluster: Cluster) -> None:
    fake_cluster.manager.add(webs)
    await fake_cluster.manager.start_component("webs")
    client = TypedClient(fake_cluster.client)
    await client.create(ConfigMap(metadata=ObjectMeta(name="shop"), data={"image": "shop:1", "replicas": "2"}))

    async def ready() -> bool:
        return (await client.get(ConfigMap, "shop")).data.get("ready") == "2"

    await fake_cluster.run_until(ready)
    pods = await client.list(Pod, label_selector="app=shop")
    names: list[str] = [pod.metadata.name for pod in pods.items]
    assert names == ["shop-0", "shop-1"]


def test_a_kind_of_its_own() -> None:
    web = Web.from_tree({"metadata": {"name": "shop"}, "spec": {"replicas": 2, "theme": "dark"}})
    web.spec.replicas += 1
    assert web.to_tree() == {
        "apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "shop"}, "spec": {"replicas": 3, "theme": "dark"}}
