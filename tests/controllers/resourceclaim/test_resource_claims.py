"""ResourceClaims that are made from templates."""

import pytest

from fakekube.client.resources import EVENTS, PODS, RESOURCE_CLAIMS, Resource
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, World

FINALIZER = "resource.kubernetes.io/delete-protection"
TEMPLATES = Resource("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate")
CLASSES = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False)
SLICES = Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False)
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
TEMPLATE = {"metadata": {"name": "t", "namespace": NAMESPACE}, "spec": {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": SPEC}}
POD = {"metadata": {"name": "p", "namespace": NAMESPACE}, "spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "i", "command": ["sleep", "60"]}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}}


@pytest.fixture
async def world():
    """A whole cluster of one node on manual time."""
    async with Cluster(nodes=1, clock="manual") as cluster:
        yield World(cluster)


async def claims(world):
    return (await world.client.list(RESOURCE_CLAIMS, NAMESPACE)).items


async def test_a_claim_is_made_from_the_template_and_named_in_the_status(world):
    """Given a template / when a pod names it / then a claim is made, the pod owns it, and the pod's
    status names it.
    """
    await world.client.create(TEMPLATES, TEMPLATE)
    pod = await world.client.create(PODS, POD)
    await world.advance(5)
    [made] = await claims(world)
    name, metadata = made["metadata"]["name"], made["metadata"]
    assert name.startswith("p-gpu-")
    assert (made["spec"]["devices"]["requests"][0]["name"], metadata["labels"], metadata["annotations"]) == (
        "r", {"a": "b"}, {"c": "d", "resource.kubernetes.io/pod-claim-name": "gpu"})
    assert metadata["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
    status = (await world.client.get(PODS, "p", NAMESPACE))["status"]
    assert status["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": name}]


async def test_a_claim_goes_when_its_pod_has_ended(world):
    """Given a claim of a pod / when the pod has ended / then the claim is gone, and none is made
    again.
    """
    await world.client.create(CLASSES, {"metadata": {"name": "gpu"}, "spec": {}})
    await world.client.create(SLICES, {"metadata": {"name": "s"}, "spec": {
        "driver": "gpu.example.com", "allNodes": True, "devices": [{"name": "a"}],
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}})
    await world.client.create(TEMPLATES, TEMPLATE)
    await world.client.create(PODS, POD)
    await world.advance(30)
    assert len(await claims(world)) == 1
    await world.advance(60)
    assert (await world.client.get(PODS, "p", NAMESPACE))["status"]["phase"] == "Succeeded"
    assert await claims(world) == []


async def test_a_claim_that_is_deleted_is_made_again(world):
    """Given a claim of a running pod / when somebody deletes it / then there is another, and the
    status names that one.
    """
    await world.client.create(TEMPLATES, TEMPLATE)
    await world.client.create(PODS, POD)
    await world.advance(5)
    [before] = await claims(world)
    await world.client.delete(RESOURCE_CLAIMS, before["metadata"]["name"], NAMESPACE)
    await world.advance(5)
    [after] = await claims(world)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    status = (await world.client.get(PODS, "p", NAMESPACE))["status"]
    assert status["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": after["metadata"]["name"]}]


async def test_a_missing_template_is_told_and_waited_for(world):
    """Given no such template / then an Event says so / when it is made / then the claim is made,
    too.
    """
    await world.client.create(PODS, POD)
    await world.advance(1)
    messages = [each["message"] for each in (await world.client.list(EVENTS, NAMESPACE)).items
                if each["reason"] == "FailedResourceClaimCreation"]
    assert messages[0] == (
        'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found')
    await world.client.create(TEMPLATES, TEMPLATE)
    await world.advance(20)
    assert len(await claims(world)) == 1


async def test_reservations_of_pods_that_are_gone_are_dropped(world):
    """Given a claim that is reserved for a pod which is not there / then the reservation goes, and
    with it the allocation and the finalizer that the scheduler put there.
    """
    await world.client.create(TEMPLATES, TEMPLATE)
    await world.client.create(PODS, POD)
    made = await world.client.create(RESOURCE_CLAIMS, {
        "metadata": {"name": "mine", "namespace": NAMESPACE, "finalizers": [FINALIZER]}, "spec": SPEC})
    status = {"allocation": {"devices": {}}, "reservedFor": [{"resource": "pods", "name": "gone", "uid": "u"}]}
    await world.client.update_status(RESOURCE_CLAIMS, {**made, "status": status})
    await world.advance(5)
    left = await world.client.get(RESOURCE_CLAIMS, "mine", NAMESPACE)
    assert left.get("status", {}) == {}
    assert "finalizers" not in left["metadata"]
