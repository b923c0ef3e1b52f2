"""What a cluster holds when it is first seen: there from the beginning, whenever somebody asks for it."""

import asyncio
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS, SERVICES, Resource
from fakekube.composition.snapshot import decode

NAMESPACE_DEFAULTS = (SERVICE_ACCOUNTS, CONFIG_MAPS)


def cluster_of(**options: Any) -> Cluster:
    return Cluster(**{"nodes": 0, "clock": "manual", "controllers": "namespace,serviceaccount", **options})


async def namespace_defaults(client: Client) -> list[Tree]:
    return [obj for resource in NAMESPACE_DEFAULTS for obj in (await client.list(resource)).items]


def without_identity(obj: Tree) -> Tree:
    meta = {key: value for key, value in obj["metadata"].items() if key not in ("uid", "resourceVersion")}
    return {**obj, "metadata": meta}


async def test_the_first_namespaces_hold_what_their_controller_would_have_made() -> None:
    """Given a new cluster with the service account controller
    When all accounts and certificates are deleted, and come back
    Then the new ones are like those that the cluster was found with, in all but uid and version."""
    async with cluster_of() as cluster:
        found = await namespace_defaults(cluster.client)
        assert len(found) == 8
        for resource, name in zip(NAMESPACE_DEFAULTS, ("default", "kube-root-ca.crt"), strict=True):
            for namespace in (await cluster.client.list(NAMESPACES)).items:
                await cluster.client.delete(resource, name, namespace["metadata"]["name"])
        await cluster.settle()
        made = await namespace_defaults(cluster.client)
        assert [without_identity(obj) for obj in made] == [without_identity(obj) for obj in found]
        assert not {obj["metadata"]["uid"] for obj in found} & {obj["metadata"]["uid"] for obj in made}


@pytest.mark.parametrize("resource", [*NAMESPACE_DEFAULTS, SERVICES, NAMESPACES])
async def test_who_asks_late_finds_what_was_there_all_along(resource: Resource) -> None:
    """Given a cluster in which something was written
    When a watch goes on from the version before, and then its first objects are asked for
    Then the watch hears nothing of them, and each has a version of its own that lies before."""
    async with cluster_of(controllers="serviceaccount") as cluster:
        before = int((await cluster.client.list(SECRETS, "default")).resource_version)
        await cluster.client.create(SECRETS, {"metadata": {"name": "x"}}, "default")
        async with await cluster.client.watch(resource, resource_version=str(before)) as events:
            versions = [int(obj["metadata"]["resourceVersion"]) for obj in (await cluster.client.list(resource)).items]
            assert len(set(versions)) == len(versions) > 0
            assert max(versions) <= before
            mine = {"metadata": {"name": "mine"}, **({"spec": {"ports": [{"port": 80}]}} if resource == SERVICES else {})}
            await cluster.client.create(resource, mine, "default" if resource.namespaced else "")
            async for event in events:
                assert event.object["metadata"]["name"] == "mine"
                break


@pytest.mark.parametrize("way", ["fork", "snapshot", "file"])
@pytest.mark.parametrize("controllers", ["*", ""])
async def test_a_cluster_that_goes_on_has_the_same_ones(way: str, controllers: str) -> None:
    """Given a cluster whose first objects nobody has asked for
    When another goes on from it, with or without the controller
    Then both hold the same objects, byte for byte."""
    async with cluster_of() as cluster:
        if way == "fork":
            other = cluster.fork(controllers=controllers)
        else:
            taken = cluster.snapshot()
            other = Cluster(state=decode(taken.encode()) if way == "file" else taken, controllers=controllers)
        async with other:
            assert await namespace_defaults(other.client) == await namespace_defaults(cluster.client)
            assert (await other.client.list(SERVICES)).items == (await cluster.client.list(SERVICES)).items


async def test_where_no_controller_ran_nothing_is_found_until_one_does() -> None:
    """Given a cluster without the service account controller
    When another goes on from its state with that controller
    Then the first has no accounts, and the other makes them now."""
    async with cluster_of(controllers="") as cluster:
        taken = cluster.snapshot()
        assert await namespace_defaults(cluster.client) == []
        await cluster.client.create(SECRETS, {"metadata": {"name": "x"}}, "default")
        async with Cluster(state=taken, controllers="serviceaccount") as other:
            made = await namespace_defaults(other.client)
            assert len(made) == 8
            assert min(int(obj["metadata"]["resourceVersion"]) for obj in made) > taken.revision


async def test_asking_for_first_objects_disturbs_nobodys_history() -> None:
    """Given two clusters of one seed
    When somebody looks at what came with one of them
    Then what is made afterwards has the same uid in both."""
    uids = []
    for look in (False, True):
        async with cluster_of() as cluster:
            if look:
                await namespace_defaults(cluster.client)
                await cluster.client.list(SERVICES)
            made = await cluster.client.create(SECRETS, {"metadata": {"name": "x"}}, "default")
            uids.append((made["metadata"]["uid"], made["metadata"]["resourceVersion"]))
    assert uids[0] == uids[1]


def test_a_snapshot_wakes_nobody() -> None:
    """Given a cluster whose caches sleep over what nobody has asked for
    When a snapshot of it is taken, outside its event loop too
    Then it holds the first objects, and the cluster goes on as it was."""
    async def life(cluster: Cluster) -> None:
        await cluster.start()
        tied = {"name": "tied", "finalizers": ["orphan"]}
        await cluster.client.create(SECRETS, {"metadata": tied}, "default")
        await cluster.settle()

    with asyncio.Runner() as runner:
        cluster = Cluster(nodes=0, clock="manual")
        runner.run(life(cluster))
        asked = [(entry.verb, entry.resource) for entry in cluster.apiserver.log]
        taken = cluster.snapshot()
        assert [len(bucket) for bucket in taken.storage.buckets if bucket.resource.resource == "serviceaccounts"] == [4]
        runner.run(cluster.settle())
        assert [(entry.verb, entry.resource) for entry in cluster.apiserver.log] == asked
        runner.run(cluster.stop())
