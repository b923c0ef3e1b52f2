"""Claims for the generic ephemeral volumes of pods."""

import pytest

from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.volumes import Storage, claim, pod, storage_class
from tests.controllers.world import NAMESPACE, condition

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": claim(storageClassName="made")["spec"]}
SCRATCH = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": TEMPLATE}}]
POD = {**pod(claims=[]), "spec": {**pod(claims=[])["spec"], "volumes": SCRATCH}}


@pytest.fixture
async def storage():
    """A whole cluster of one node on manual time."""
    async with Cluster(nodes=1, clock="manual") as cluster:
        yield Storage(cluster)


async def test_a_pod_has_a_claim_of_its_own_and_takes_it_along(storage):
    """Given a pod with an ephemeral volume / then it runs with a claim that it owns / when it goes
    / then so does the claim.
    """
    await storage.make(storage_class(), POD)
    await storage.advance(10)
    made, owner = await storage.claim("p-scratch"), await storage.pod()
    [reference] = made["metadata"]["ownerReferences"]
    assert reference == {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner["metadata"]["uid"], "controller": True,
                         "blockOwnerDeletion": True}
    assert (made["metadata"]["labels"], made["status"]["phase"], owner["status"]["phase"]) == ({"a": "b"}, "Bound", "Running")
    await storage.client.delete(PODS, "p", NAMESPACE, grace_period_seconds=0)
    await storage.advance(10)
    assert await storage.claim("p-scratch") is None
    assert await storage.volumes() == []


async def test_a_claim_of_somebody_else_is_not_used(storage):
    """Given a claim that has the name already / then the pod is not scheduled, and an Event says
    why.
    """
    await storage.make(storage_class(), claim("p-scratch", storageClassName="made"), POD)
    why = "PVC default/p-scratch was not created for pod default/p (pod is not owner)"
    assert condition(await storage.pod(), "PodScheduled")["message"] == f"0/1 nodes are available: {why}. not found"
    assert (await storage.messages("p", "FailedBinding"))[0] == f"ephemeral volume scratch: {why}"


async def test_without_the_controller_a_pod_waits_for_it():
    """Given no such controller / then the message says what the pod waits for."""
    async with Cluster(nodes=1, clock="manual", controllers="*,-ephemeral-volume-controller") as cluster:
        storage = Storage(cluster)
        await storage.make(POD)
        assert condition(await storage.pod(), "PodScheduled")["message"] == (
            '0/1 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch". '
            "not found")
