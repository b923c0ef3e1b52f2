"""A replica that lags: what it answers, what it has to wait for, and what it cannot know."""

import asyncio
from typing import Any

import pytest

from fakekube import Cluster
from tests.faults.asking import MAPS, ask, create, status, watching

NOT_OLDER = {"resourceVersionMatch": "NotOlderThan"}
LISTED = {**NOT_OLDER, "sendInitialEvents": "true", "allowWatchBookmarks": "true"}


def quiet() -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual")


async def change(cluster: Cluster, name: str, value: str) -> None:
    """Give a ConfigMap other data."""
    answer = await ask(cluster, "PUT", f"{MAPS}/{name}", {"metadata": {"name": name}, "data": {"x": value}})
    assert answer.status == 200


async def read(cluster: Cluster, path: str = MAPS, **query: str) -> Any:
    """What the client that has the replica reads."""
    return status(await ask(cluster, "GET", path, agent="mine", **query))


async def names(cluster: Cluster, **query: str) -> list[str]:
    """Of the ConfigMaps that it lists."""
    return [item["metadata"]["name"] for item in (await read(cluster, **query))["items"]]


async def test_one_object_of_the_past() -> None:
    """Given an object that was changed, one that is new and one that is gone / when a client gets
    them from a replica that has heard of nothing / then it gets what was, and 404 for the new one;
    without a version it gets what is.
    """
    async with quiet() as cluster:
        for name in ("a", "gone"):
            await create(cluster, name)
        cluster.faults.add(stale=True, user_agents="mine")
        await change(cluster, "a", "new")
        await create(cluster, "b")
        await ask(cluster, "DELETE", f"{MAPS}/gone")
        assert "data" not in await read(cluster, f"{MAPS}/a", resourceVersion="0")
        assert (await read(cluster, f"{MAPS}/a"))["data"] == {"x": "new"}
        assert (await read(cluster, f"{MAPS}/b", resourceVersion="0"))["code"] == 404
        assert (await read(cluster, f"{MAPS}/gone", resourceVersion="0"))["metadata"]["name"] == "gone"
        assert (await read(cluster, f"{MAPS}/gone"))["code"] == 404


async def test_lists_of_the_past_in_every_form() -> None:
    """Given a replica that lags, and more objects since / when it lists with a limit, selectors, as
    a table, not older than what it has / then all of it is of the past, and whole.
    """
    async with quiet() as cluster:
        for name in ("a", "b", "c"):
            await create(cluster, name, odd="yes" if name != "b" else "no")
        fault = cluster.faults.add(stale=True, user_agents="mine")
        await create(cluster, "d", odd="yes")
        past = str(fault.revision)
        assert await names(cluster, resourceVersion="0", limit="1") == ["a", "b", "c"]
        assert await names(cluster, resourceVersion="0", labelSelector="odd=yes") == ["a", "c"]
        assert await names(cluster, resourceVersion="0", fieldSelector="metadata.name=d") == []
        assert await names(cluster, resourceVersion=past, limit="1", **NOT_OLDER) == ["a", "b", "c"]
        assert await names(cluster, limit="4") == ["a", "b", "c", "d"]


@pytest.mark.parametrize("ends", [False, True])
async def test_a_version_that_the_replica_has_not(ends: bool) -> None:
    """Given a replica that lags / when it is asked for what it has not heard of / then it answers
    once it has caught up within three seconds, and else that the version is too large.
    """
    async with quiet() as cluster:
        fault = cluster.faults.add(stale=True, user_agents="mine", until="2s" if ends else None)
        await create(cluster, "a")
        now = str(cluster.apiserver.storage.revision)
        asked = asyncio.ensure_future(read(cluster, resourceVersion=now, **NOT_OLDER))
        await cluster.advance("5s")
        found = await asked
        if ends:
            assert [item["metadata"]["name"] for item in found["items"]] == ["a"]
        else:
            assert (found["code"], found["reason"]) == (504, "Timeout")
            assert found["message"] == f"Timeout: Too large resource version: {now}, current: {fault.revision}"


@pytest.mark.parametrize(("query", "told"), [
    ({}, ["ADDED a", "ADDED b", "|", "DELETED b", "MODIFIED a", "ADDED c"]),
    ({"resourceVersion": "0"}, ["ADDED a", "ADDED b", "|", "DELETED b", "MODIFIED a", "ADDED c"]),
    ({"resourceVersion": "0", **LISTED}, ["ADDED a", "ADDED b", "BOOKMARK", "|", "DELETED b", "MODIFIED a", "ADDED c"]),
    (LISTED, ["ADDED a", "ADDED b", "|", "DELETED b", "MODIFIED a", "ADDED c", "BOOKMARK"]),
    ({"resourceVersion": "PAST"}, ["ADDED b", "|", "DELETED b", "MODIFIED a", "ADDED c"]),
    ({"resourceVersion": "NOW"}, ["|"]),
])
async def test_a_watch_on_a_replica_that_lags(query: dict[str, str], told: list[str]) -> None:
    """Given a replica that lags / when a watch begins on it, from nothing, from a list, from a
    version that it has, from one that it has not / then it tells what the replica has, and the rest
    once that has caught up.
    """
    async with quiet() as cluster:
        await create(cluster, "a")
        versions = {"PAST": str(cluster.apiserver.storage.revision)}
        await create(cluster, "b")
        fault = cluster.faults.add(stale=True, user_agents="mine")
        await ask(cluster, "DELETE", f"{MAPS}/b")
        await change(cluster, "a", "new")
        await create(cluster, "c")
        versions["NOW"] = str(cluster.apiserver.storage.revision)
        receiver = await watching(cluster, "mine", **{name: versions.get(value, value) for name, value in query.items()})

        def seen() -> list[str]:
            return [" ".join(filter(None, (event["type"], event["object"]["metadata"].get("name")))) for event in receiver.events]

        before = seen()
        fault.remove()
        assert [*before, "|", *seen()[len(before):]] == told
        if "BOOKMARK" in before:
            assert receiver.events[2]["object"]["metadata"]["resourceVersion"] == str(fault.revision)
        await create(cluster, "d")
        assert seen()[-1] == "ADDED d"


async def test_compaction_is_none_of_the_replica() -> None:
    """Given a replica that lags / when past states are forgotten / then it still has its own, as a
    cache has.
    """
    async with quiet() as cluster:
        await create(cluster, "a")
        cluster.faults.add(stale=True, user_agents="mine")
        await create(cluster, "b")
        with cluster.faults.add(compact=True, verbs="create"):
            await create(cluster, "c")
        assert await names(cluster, resourceVersion="0") == ["a"]


async def test_another_state_has_another_past() -> None:
    """Given a replica that lags in a state that is given up for an older one / when it is asked /
    then it lags from where that state began.
    """
    async with quiet() as cluster:
        await create(cluster, "a")
        snapshot = cluster.snapshot()
        for number in range(5):
            await create(cluster, f"b{number}")
        cluster.faults.add(stale=True, user_agents="mine")
        await cluster.restore(snapshot)
        await create(cluster, "c")
        assert await names(cluster, resourceVersion="0") == ["a"]
        assert await names(cluster) == ["a", "c"]
