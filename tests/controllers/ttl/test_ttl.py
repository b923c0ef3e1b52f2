"""The annotation that tells kubelets for how long they may keep what they read."""

import pytest

from fakekube.client.resources import NODES
from fakekube.composition.cluster import Cluster
from tests.controllers.world import World

ANNOTATION = "node.alpha.kubernetes.io/ttl"


@pytest.fixture
async def world():
    """A cluster with this controller alone."""
    async with Cluster(nodes=0, clock="manual", controllers="ttl-controller") as cluster:
        yield World(cluster)


async def told(world):
    """The annotation's values, each once."""
    nodes = (await world.client.list(NODES)).items
    return sorted({(node["metadata"].get("annotations") or {}).get(ANNOTATION) for node in nodes})


async def test_the_more_nodes_the_longer(world):
    """Given a hundred nodes / then they say 0 / with one more all say 15 / with 90 left still /
    with 89 they say 0 again.
    """
    for number in range(100):
        await world.client.create(NODES, {"metadata": {"name": f"n{number}"}})
    await world.settle()
    assert await told(world) == ["0"]
    await world.client.create(NODES, {"metadata": {"name": "one-more"}})
    await world.settle()
    assert await told(world) == ["15"]
    for number in range(11):
        await world.client.delete(NODES, f"n{number}")
    await world.settle()
    assert await told(world) == ["15"]
    await world.client.delete(NODES, "n50")
    await world.settle()
    assert await told(world) == ["0"]


async def test_it_runs_only_where_it_is_asked_for():
    """Given a cluster as it is by default / then its nodes say nothing."""
    async with Cluster(nodes=1, clock="manual") as cluster:
        assert await told(World(cluster)) == [None]
