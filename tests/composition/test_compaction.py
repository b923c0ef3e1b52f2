"""Old states can be read for an interval or two, and then no more; what looks back at a cluster's
life sees all of it.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.testing.history import History

EXPIRED = "The resourceVersion for the provided list is too old."


def cluster_of(**options: Any) -> Cluster:
    return Cluster(**{"nodes": 0, "controllers": "", "clock": "manual", "etcd_compaction_interval": "5m", **options})


async def make(cluster: Cluster, *names: str) -> str:
    """Create ConfigMaps; the version after the last one."""
    for name in names:
        made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default"}})
    version: str = made["metadata"]["resourceVersion"]
    return version


async def at(cluster: Cluster, version: str) -> list[str]:
    """The names of what was there at exactly that version."""
    listed = await cluster.client.list(
        CONFIG_MAPS, "default", resource_version=version, resource_version_match="Exact")
    return [each["metadata"]["name"] for each in listed.items]


async def test_a_version_expires_with_the_second_compaction_after_it() -> None:
    """Given a version that is not the present one, when one interval passes, then it can be read;
    after two it is 410.
    """
    async with cluster_of() as cluster:
        first = await make(cluster, "a")
        await make(cluster, "b")
        await cluster.advance("5m")
        noted = await make(cluster, "c")
        assert await at(cluster, first) == ["a"]
        await cluster.advance("5m")
        with pytest.raises(APIError, match=EXPIRED) as refused:
            await at(cluster, first)
        assert (refused.value.code, refused.value.reason) == (410, "Expired")
        await make(cluster, "d")
        assert await at(cluster, noted) == ["a", "b", "c"]


async def test_a_continue_token_expires_and_leads_on() -> None:
    """Given a page of a list, when two intervals pass and something is written, then the token is
    410, with one that goes on.
    """
    async with cluster_of() as cluster:
        await make(cluster, "a", "b", "c")
        page = await cluster.client.list(CONFIG_MAPS, "default", limit=2)
        await make(cluster, "d")
        await cluster.advance("10m")
        with pytest.raises(APIError, match="The provided continue parameter is too old") as refused:
            await cluster.client.list(CONFIG_MAPS, "default", limit=2, continue_token=page.continue_token)
        assert refused.value.code == 410
        token = (refused.value.metadata or {})["continue"]
        rest = await cluster.client.list(CONFIG_MAPS, "default", limit=2, continue_token=token)
        assert [each["metadata"]["name"] for each in rest.items] == ["c", "d"]


async def test_a_leap_over_many_intervals_leaves_the_present_alone() -> None:
    """Given two versions, when a day passes at once, then the present one is read and the one
    before it is not.
    """
    async with cluster_of() as cluster:
        first = await make(cluster, "a")
        last = await make(cluster, "b")
        await cluster.advance("1d")
        assert await at(cluster, last) == ["a", "b"]
        with pytest.raises(APIError, match=EXPIRED):
            await at(cluster, first)
        await make(cluster, "c")
        assert await at(cluster, last) == ["a", "b"]


async def test_a_history_tells_what_the_api_no_longer_does() -> None:
    """Given versions that have expired, when the history, a fork and a watch are asked, then
    nothing is missing.
    """
    async with cluster_of() as cluster:
        first = await make(cluster, "a")
        await make(cluster, "b")
        await cluster.advance("1h")
        assert [change.name for change in History.of(cluster).changes] == ["configmaps default/a", "configmaps default/b"]
        events = await cluster.client.watch(CONFIG_MAPS, "default", resource_version=first)
        async with events:
            assert (await anext(aiter(events))).object["metadata"]["name"] == "b"
        async with cluster.fork() as other:
            with pytest.raises(APIError, match=EXPIRED):
                await at(other, first)


async def test_a_restored_cluster_begins_anew() -> None:
    """Given a cluster that goes back to a snapshot, when intervals pass, then versions from before
    expire as they would have.
    """
    async with cluster_of() as cluster:
        first = await make(cluster, "a")
        await make(cluster, "b")
        before = cluster.snapshot()
        await cluster.advance("1h")
        await cluster.restore(before)
        assert await at(cluster, first) == ["a"]
        await cluster.advance("11m")
        with pytest.raises(APIError, match=EXPIRED):
            await at(cluster, first)


@pytest.mark.parametrize(("options", "seconds"), [
    ({"clock": "real"}, 300), ({"clock": 60}, 300), ({"clock": "auto"}, 0), ({"clock": "manual"}, 0), ({}, 0),
    ({"clock": "auto", "etcd_compaction_interval": "90s"}, 90), ({"clock": "real", "etcd_compaction_interval": 0}, 0),
])
def test_how_long_states_stay_unless_it_is_said(options: dict[str, Any], seconds: float) -> None:
    """Given a clock, when nothing is said of compaction, then it is upstream's, or never where time
    leaps.
    """
    assert ClusterOptions.of(**options).compaction_seconds == seconds


@pytest.mark.parametrize(("name", "value", "text"), [
    ("etcd_compaction_interval", "soon", "etcd_compaction_interval: 'soon' is no duration"),
    ("resource_quota_sync_period", "-1", "resource_quota_sync_period: '-1' is no duration"),
    ("resource_quota_sync_period", 0, "resource_quota_sync_period: 0 is not above zero"),
])
def test_intervals_that_cannot_be_meant_are_refused(name: str, value: Any, text: str) -> None:
    """Given an interval that is none, when options are made, then the option is named."""
    with pytest.raises(OptionError, match=text):
        ClusterOptions.of(**{name: value})
