"""What has ended is not kept: who plays thousands of clusters in one process needs their memory."""

import gc
import weakref

import pytest

from fakekube import Cluster
from fakekube.composition.fleet import Fleet
from tests.apiextensions.definitions import custom_object, definition, version


async def lived(cluster: Cluster) -> "weakref.ref[Cluster]":
    """Serve a kind of its own, look at all that is served, and let time pass."""
    webhook = {"clientConfig": {"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": ["v1"]}
    versions = [version(), version("v2", storage=False)]
    await cluster.load([definition(), definition(
        "gadgets", "Gadget", versions=versions, conversion={"strategy": "Webhook", "webhook": webhook})])
    await cluster.load([{**custom_object(), "metadata": {"name": "w", "namespace": "default"}}])  # asks for its resource
    await cluster.advance("1h")
    return weakref.ref(cluster)


@pytest.mark.parametrize("clock", ["manual", "auto"])
async def test_a_cluster_that_ended_is_not_kept(clock: str) -> None:
    """Given a cluster with a kind of its own, when it has ended and the loop goes on, then nothing
    holds it: no timer of the loop, and nothing that the process remembers.
    """
    async with Cluster(clock=clock) as cluster:
        kept = await lived(cluster)
    del cluster
    gc.collect()
    assert kept() is None


async def test_the_clusters_of_a_fleet_that_ended_are_not_kept() -> None:
    """The same of a fleet."""
    async with Fleet("a", "b") as fleet:
        kept = [await lived(cluster) for cluster in fleet.values()]
    del fleet
    gc.collect()
    assert [one() for one in kept] == [None, None]
