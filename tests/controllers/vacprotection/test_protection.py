"""Classes of volume attributes stay as long as a volume or a claim names them."""

import pytest

from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from fakekube_controllers.vacprotection import component
from tests.controllers.world import NAMESPACE, World, manual_cluster

FINALIZER = "kubernetes.io/vac-protection"
CLASS = {"metadata": {"name": "gold"}, "driverName": "csi.example.com", "parameters": {"iops": "5000"}}
CLAIM = {"metadata": {"name": "c", "namespace": NAMESPACE}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeAttributesClassName": "gold"}}
VOLUME = {"metadata": {"name": "v"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "volumeAttributesClassName": "gold",
    "csi": {"driver": "csi.example.com", "volumeHandle": "v"}}}


@pytest.fixture
async def world():
    async with manual_cluster("persistentvolume-protection", extra=[component]) as cluster:
        made = World(cluster)
        await made.client.create(VOLUME_ATTRIBUTES_CLASSES, CLASS)
        await made.settle()
        yield made


async def found(world):
    await world.settle()
    return await world.client.get(VOLUME_ATTRIBUTES_CLASSES, "gold", missing_ok=True)


async def test_a_class_that_nothing_names_goes_at_once(world):
    """Given a class / when it is deleted / then its finalizer is taken off, and it is gone."""
    assert (await found(world))["metadata"]["finalizers"] == [FINALIZER]
    await world.client.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
    assert await found(world) is None


async def test_a_class_stays_until_its_last_claim_goes(world):
    """Given a class that a claim names / when the class is deleted / then it stays until the claim
    is deleted.
    """
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, {**CLAIM, "metadata": {**CLAIM["metadata"], "finalizers": []}})
    await world.client.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
    assert (await found(world))["metadata"]["finalizers"] == [FINALIZER]
    await world.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", NAMESPACE)
    await world.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", NAMESPACE, {"metadata": {"finalizers": None}})
    assert await found(world) is None


async def test_a_class_stays_until_its_last_volume_goes(world):
    """Given a class that a volume names / when the class is deleted / then it stays until the
    volume is deleted.
    """
    await world.client.create(PERSISTENT_VOLUMES, VOLUME)
    await world.client.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
    assert "deletionTimestamp" in (await found(world))["metadata"]
    await world.client.delete(PERSISTENT_VOLUMES, "v")
    assert await found(world) is None


async def test_a_class_without_the_finalizer_gets_it(world):
    """Given a class / when somebody takes its finalizer / then it comes back."""
    await world.client.patch(VOLUME_ATTRIBUTES_CLASSES, "gold", "", {"metadata": {"finalizers": None}})
    assert (await found(world))["metadata"]["finalizers"] == [FINALIZER]
