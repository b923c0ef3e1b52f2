"""Events leave an hour after their last write, on the cluster's clock."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.resources import CONFIG_MAPS, EVENTS
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.composition.snapshot import decode
from fakekube.registry.expiry import PORTION
from fakekube.storage.memory import Event

EVENTS_BUCKET = GroupResource("", "events")
REFERENCE = {"kind": "Node", "name": "n", "apiVersion": "v1"}


def cluster_of(**options: Any) -> Cluster:
    return Cluster(**{"nodes": 0, "controllers": "", "clock": "manual", **options})


async def make(cluster: Cluster, name: str) -> None:
    await cluster.client.create(EVENTS, {
        "metadata": {"name": name, "namespace": "default"}, "involvedObject": REFERENCE, "reason": "Why", "message": "what"})


async def names(cluster: Cluster) -> list[str]:
    return [event["metadata"]["name"] for event in (await cluster.client.list(EVENTS, "default")).items]


async def test_an_event_leaves_an_hour_after_its_last_write() -> None:
    """Given two Events of which one is counted later, when time passes, then each leaves an hour
    after it was written last.
    """
    async with cluster_of() as cluster:
        await make(cluster, "a")
        await make(cluster, "b")
        await cluster.advance("30m")
        await cluster.client.patch(EVENTS, "a", "default", {"count": 2})
        await cluster.advance("29m59s")
        assert await names(cluster) == ["a", "b"]
        await cluster.advance("1s")
        assert await names(cluster) == ["a"]
        await cluster.advance("30m")
        assert await names(cluster) == []


async def test_a_watch_sees_it_go() -> None:
    """Given a watch of Events, when one leaves, then it is DELETED at a revision of its own;
    nothing else ever leaves.
    """
    async with cluster_of(event_ttl="90s") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "default"}})
        await make(cluster, "a")
        made = await cluster.client.get(EVENTS, "a", "default")
        events = await cluster.client.watch(EVENTS, "default", resource_version=made["metadata"]["resourceVersion"])
        async with events:
            await cluster.advance(90)
            event = await anext(aiter(events))
        assert (event.type, event.object["metadata"]["uid"]) == ("DELETED", made["metadata"]["uid"])
        assert int(event.object["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
        assert await cluster.client.get(CONFIG_MAPS, "c", "default")


@pytest.mark.parametrize("way", ["fork", "file", "restore"])
async def test_it_leaves_in_time_after_a_snapshot(way: str) -> None:
    """Given Events of half an hour and none, when a cluster goes on from a snapshot, then they
    leave when they would have.
    """
    async with cluster_of() as cluster:
        await make(cluster, "a")
        await cluster.advance("30m")
        await make(cluster, "b")
        taken = cluster.snapshot()
        if way == "restore":
            await cluster.advance("3h")
            assert await names(cluster) == []
            await cluster.restore(taken)
            await goes_on(cluster)
            return
        state = decode(taken.encode()) if way == "file" else taken
        async with Cluster(state=state) as other:
            await goes_on(other)


async def goes_on(cluster: Cluster) -> None:
    await cluster.advance("29m59s")
    assert await names(cluster) == ["a", "b"]
    await cluster.advance("1s")
    assert await names(cluster) == ["b"]
    await cluster.advance("30m")
    assert await names(cluster) == []


async def test_automatic_time_does_not_hurry_to_it() -> None:
    """Given automatic time and an Event, when nothing else is to be done, then time stands still
    and the Event stays.
    """
    async with cluster_of(clock="auto") as cluster:
        await make(cluster, "a")
        before = cluster.clock.now()
        await cluster.settle()
        assert (cluster.clock.now(), await names(cluster)) == (before, ["a"])


async def test_one_timer_is_enough() -> None:
    """Given many Events, when they are written, then one timer waits; when a cluster stops, none
    does.
    """
    async with cluster_of() as cluster:
        idle = len(cluster._clock.timers())
        for number in range(20):
            await make(cluster, f"a{number}")
            await cluster.advance(1)
        assert len(cluster._clock.timers()) == idle + 1
    assert len(cluster._clock.timers()) <= idle


def test_how_the_time_is_said() -> None:
    """Given a duration in any form, when options are read, then it is seconds; what is none is
    refused.
    """
    assert [ClusterOptions.of(event_ttl=value).event_ttl for value in ("1h0m0s", 90, timedelta(minutes=2))] == [3600, 90, 120]
    assert ClusterOptions().event_ttl == 3600
    with pytest.raises(OptionError, match="event_ttl: 'soon' is no duration"):
        ClusterOptions.of(event_ttl="soon")


async def test_no_time_is_for_ever() -> None:
    """Given a time to live of 0, when days pass, then an Event stays, as upstream's leases of no
    time have it.
    """
    async with cluster_of(event_ttl=0) as cluster:
        await make(cluster, "a")
        await cluster.advance("10d")
        assert await names(cluster) == ["a"]


async def test_very_many_leave_in_portions() -> None:
    """Given more Events than a portion that are due at once, when their time comes, then all leave
    at that instant, and whoever asks meanwhile is answered after a portion.
    """
    async with cluster_of(event_ttl="90s") as cluster:
        for number in range(3 * PORTION // 2):
            await make(cluster, f"e-{number}")
        bucket = cluster.apiserver.buckets.bucket(EVENTS_BUCKET)
        left: list[int] = []

        def look(event: Event) -> None:
            if event.type == "DELETED" and not left:
                asyncio.get_running_loop().call_soon(lambda: left.append(len(bucket)))

        bucket.subscribe(bucket.revision, "", look)
        await cluster.advance("90s")
        assert left[0] == PORTION // 2
        assert await names(cluster) == []
