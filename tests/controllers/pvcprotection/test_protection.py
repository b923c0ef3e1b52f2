"""Claims stay as long as pods on nodes use them."""

import pytest

from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from tests.controllers.world import NAMESPACE, World, manual_cluster

FINALIZER = "kubernetes.io/pvc-protection"
CLAIM = {"metadata": {"name": "data", "namespace": NAMESPACE}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
POD = {"metadata": {"name": "user", "namespace": NAMESPACE}, "spec": {
    "containers": [{"name": "c", "image": "i"}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}


@pytest.fixture
async def world():
    """A cluster with the controller that protects claims, no nodes, on manual time."""
    async with manual_cluster("persistentvolumeclaim-protection-controller,serviceaccount") as cluster:
        yield World(cluster)


async def claim(world):
    return await world.client.get(PERSISTENT_VOLUME_CLAIMS, "data", NAMESPACE, missing_ok=True)


async def delete_claim(world):
    await world.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", NAMESPACE)
    await world.settle()


async def test_a_claim_that_nobody_uses_goes_at_once(world):
    """Given a claim / when it is deleted / then it is gone."""
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    await world.settle()
    assert (await claim(world))["metadata"]["finalizers"] == [FINALIZER]
    await delete_claim(world)
    assert await claim(world) is None


async def test_a_claim_in_use_stays_until_the_pod_is_gone(world):
    """Given a claim that a pod on a node uses / when the claim is deleted / then it goes with the
    pod, and not before.
    """
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    pod = await world.client.create(PODS, POD)
    await world.bind(pod)
    await delete_claim(world)
    assert (await claim(world))["metadata"]["finalizers"] == [FINALIZER]
    await world.delete_pods(pod, grace_period_seconds=0)
    await world.settle()
    assert await claim(world) is None


async def test_a_pod_without_a_node_holds_nothing(world):
    """Given a pod that waits for a node / when its claim is deleted / then the claim is gone."""
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    await world.client.create(PODS, POD)
    await delete_claim(world)
    assert await claim(world) is None


async def test_a_claim_without_protection_gets_it(world):
    """Given a claim whose finalizer was taken off / when all is still / then it has it again."""
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    await world.settle()
    await world.client.patch(PERSISTENT_VOLUME_CLAIMS, "data", NAMESPACE, {"metadata": {"finalizers": None}})
    await world.settle()
    assert (await claim(world))["metadata"]["finalizers"] == [FINALIZER]
