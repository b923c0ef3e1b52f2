"""Volumes stay as long as they are bound."""

import pytest

from fakekube.client.resources import PERSISTENT_VOLUMES
from tests.controllers.world import World, manual_cluster

VOLUME = {"metadata": {"name": "v"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/v"}}}


@pytest.fixture
async def world():
    async with manual_cluster("persistentvolume-protection") as cluster:
        yield World(cluster)


async def volume(world):
    await world.settle()
    return await world.client.get(PERSISTENT_VOLUMES, "v", missing_ok=True)


async def test_a_volume_that_is_not_bound_goes_at_once(world):
    """Given a volume / when it is deleted / then it is gone."""
    await world.client.create(PERSISTENT_VOLUMES, VOLUME)
    assert (await volume(world))["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    await world.client.delete(PERSISTENT_VOLUMES, "v")
    assert await volume(world) is None


async def test_a_bound_volume_stays_until_it_is_released(world):
    """Given a bound volume / when it is deleted / then it stays; when it is released / then it
    goes.
    """
    await world.client.create(PERSISTENT_VOLUMES, VOLUME)
    await world.client.patch(PERSISTENT_VOLUMES, "v", "", {"status": {"phase": "Bound"}}, subresource="status")
    await world.client.delete(PERSISTENT_VOLUMES, "v")
    assert "deletionTimestamp" in (await volume(world))["metadata"]
    await world.client.patch(PERSISTENT_VOLUMES, "v", "", {"status": {"phase": "Released"}}, subresource="status")
    assert await volume(world) is None


async def test_a_volume_without_the_finalizer_gets_it(world):
    """Given a volume / when somebody takes its finalizer / then it comes back."""
    await world.client.create(PERSISTENT_VOLUMES, VOLUME)
    await world.client.patch(PERSISTENT_VOLUMES, "v", "", {"metadata": {"finalizers": None}})
    assert (await volume(world))["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
