"""What a caller in the same process does with the trees that it handed over, or was handed, is its
own business.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.composition.cluster import Cluster
from tests.differential.servers import Tree, new_cluster

POD: Tree = {"metadata": {"name": "p", "namespace": "default", "labels": {"app": "a"}}, "spec": {
    "containers": [{"name": "main", "image": "busybox", "env": [{"name": "A", "value": "1"}]}],
    "tolerations": [{"key": "a", "operator": "Exists"}], "nodeSelector": {"pool": "a"}}}


def spoil(value: Any) -> None:
    """Change every map and list in a tree."""
    if isinstance(value, dict):
        for part in list(value.values()):
            spoil(part)
        value["spoilt"] = "yes"
    elif isinstance(value, list):
        for part in value:
            spoil(part)
        value.append("spoilt")


def fresh() -> Tree:
    """The pod, none of whose parts anybody else has."""
    return {
        "metadata": {**POD["metadata"], "labels": dict(POD["metadata"]["labels"])},
        "spec": {"containers": [{**POD["spec"]["containers"][0], "env": [{"name": "A", "value": "1"}]}],
                 "tolerations": [dict(POD["spec"]["tolerations"][0])], "nodeSelector": {"pool": "a"}}}


async def test_one_tree_is_created_many_times_under_other_names() -> None:
    """Given one tree / when its caller changes the name, a label and an image in it and creates it
    again and again Then each object is as the tree was at that time, and stays so.
    """
    body = fresh()
    async with new_cluster() as cluster:
        for number in range(6):
            body["metadata"]["name"] = f"p{number}"
            body["metadata"]["labels"]["app"] = f"a{number}"
            body["spec"]["containers"][0]["image"] = f"image:{number // 3}"
            created = await cluster.client.create(PODS, body)
            assert created["spec"]["containers"][0]["image"] == f"image:{number // 3}"
        for number in range(6):
            found = await cluster.client.get(PODS, f"p{number}")
            assert found["metadata"]["labels"] == {"app": f"a{number}"}
            assert found["spec"]["containers"][0]["image"] == f"image:{number // 3}"


async def test_a_tree_that_was_handed_over_is_as_it_was() -> None:
    """Given a tree / when it is created, updated with, or applied as a patch / then the caller's
    tree has not changed.
    """
    async with new_cluster() as cluster:
        body = fresh()
        pod = await cluster.client.create(PODS, body)
        assert body == fresh()
        pod["metadata"]["labels"] = {"b": "c"}
        copy = await cluster.client.get(PODS, "p")
        copy["metadata"]["labels"] = {"b": "c"}
        assert copy == pod
        await cluster.client.update(PODS, pod)
        assert pod == copy
        patch: Tree = {"metadata": {"labels": {"d": "e"}}}
        await cluster.client.patch(PODS, "p", body=patch)
        assert patch == {"metadata": {"labels": {"d": "e"}}}


async def got(client: Client) -> Tree:
    return await client.get(PODS, "p")


async def listed(client: Client) -> Tree:
    return (await client.list(PODS, "default")).items[0]


async def patched(client: Client) -> Tree:
    return await client.patch(PODS, "p", body={"metadata": {"labels": {"app": "a"}}})


async def updated(client: Client) -> Tree:
    return await client.update(PODS, await client.get(PODS, "p"))


async def dry(client: Client) -> Tree:
    return await client.create(PODS, {**fresh(), "metadata": {"name": "dry", "namespace": "default"}}, dry_run=True)


ANSWERS: dict[str, Callable[[Client], Awaitable[Tree]]] = {
    "get": got, "list": listed, "a patch that changes nothing": patched, "an update that changes nothing": updated,
    "a dry run": dry}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_what_a_client_hands_out_is_the_callers_own(answer: Callable[[Client], Awaitable[Tree]]) -> None:
    """Given a pod and others of its template / when a caller spoils every part of what it was
    answered, time and again Then the stored pod and the next of the template are as before.
    """
    async with new_cluster() as cluster:
        created = await cluster.client.create(PODS, fresh())
        before = await state(cluster)
        spoil(created)
        for number in range(5):
            spoil(await answer(cluster.client))
            assert await state(cluster) == before
            other = await cluster.client.create(PODS, {**fresh(), "metadata": {"name": f"n{number}", "namespace": "default"}})
            assert other["spec"]["tolerations"] == before["spec"]["tolerations"]
            assert other["spec"]["containers"][0]["env"] == before["spec"]["containers"][0]["env"]
            await cluster.client.delete(PODS, f"n{number}", "default", grace_period_seconds=0)


async def state(cluster: Cluster) -> Tree:
    return await cluster.client.get(PODS, "p")


async def test_refusals_and_lists_are_the_callers_own_too() -> None:
    """Given maps / when a list of them is spoilt / then the next list, which has the same bytes, is
    not.
    """
    async with new_cluster() as cluster:
        for name in ("a", "b"):
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default"}, "data": {"k": name}})
        first = (await cluster.client.list(CONFIG_MAPS, "default")).items
        kept = [dict(item["data"]) for item in first]
        spoil(first)
        second = (await cluster.client.list(CONFIG_MAPS, "default")).items
        assert [item["data"] for item in second] == kept
