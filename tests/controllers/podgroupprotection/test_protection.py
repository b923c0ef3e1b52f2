"""Groups stay as long as pods that are not finished belong to them."""

import pytest

from fakekube.client.resources import NAMESPACES, PODS, Resource
from tests.controllers.world import NAMESPACE, World, manual_cluster

POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
FINALIZER = "scheduling.k8s.io/podgroup-protection"
GROUP = {"metadata": {"name": "gang", "namespace": NAMESPACE}, "spec": {"schedulingPolicy": {"basic": {}}}}
POD = {"metadata": {"name": "member", "namespace": NAMESPACE}, "spec": {
    "schedulingGroup": {"podGroupName": "gang"}, "containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture
async def world():
    """A cluster with workload-aware scheduling and the controller that protects groups, no nodes,
    on manual time.
    """
    async with manual_cluster(
        "podgroup-protection-controller,serviceaccount", feature_gates={"GenericWorkload": True},
        runtime_config={"scheduling.k8s.io/v1beta1": True},
    ) as cluster:
        yield World(cluster)


async def group(world):
    return await world.client.get(POD_GROUPS, "gang", NAMESPACE, missing_ok=True)


async def delete_group(world):
    await world.client.delete(POD_GROUPS, "gang", NAMESPACE)
    await world.settle()


@pytest.mark.spec("WAS-033")
async def test_a_group_without_pods_goes_at_once(world):
    """Given a group / when it is deleted / then it is gone."""
    await world.client.create(POD_GROUPS, GROUP)
    await world.settle()
    assert (await group(world))["metadata"]["finalizers"] == [FINALIZER]
    await delete_group(world)
    assert await group(world) is None


@pytest.mark.spec("WAS-032")
@pytest.mark.parametrize("end", ["Succeeded", "Failed", "deleted"])
async def test_a_group_stays_until_its_last_pod_ends(world, end):
    """Given a group with a pod / when the group is deleted / then it stays until the pod succeeds,
    fails or is deleted.
    """
    await world.client.create(POD_GROUPS, GROUP)
    pod = await world.client.create(PODS, POD)
    await delete_group(world)
    assert (await group(world))["metadata"]["finalizers"] == [FINALIZER]
    if end == "deleted":
        await world.delete_pods(pod, grace_period_seconds=0)
    else:
        await world.client.patch(PODS, "member", NAMESPACE, {"status": {"phase": end}}, subresource="status")
    await world.settle()
    assert await group(world) is None


async def test_pods_of_other_groups_hold_nothing(world):
    """Given a group, and a pod of another one / when the group is deleted / then it is gone."""
    await world.client.create(POD_GROUPS, GROUP)
    await world.client.create(PODS, {**POD, "spec": {**POD["spec"], "schedulingGroup": {"podGroupName": "other"}}})
    await delete_group(world)
    assert await group(world) is None


@pytest.mark.spec("WAS-034", "WAS-035")
async def test_a_pod_that_terminates_still_counts(world):
    """Given a group whose pod is on a node and is being deleted / when the group is deleted / then
    it waits for the pod; a pod of the same name without the group holds nothing.
    """
    await world.client.create(POD_GROUPS, GROUP)
    pod = await world.client.create(PODS, POD)
    await world.bind(pod)
    await world.delete_pods(pod)
    await delete_group(world)
    assert "deletionTimestamp" in (await world.pods())[0]["metadata"]
    assert await group(world) is not None
    await world.delete_pods(pod, grace_period_seconds=0)
    await world.client.create(PODS, {**POD, "spec": {"containers": POD["spec"]["containers"]}})
    await world.settle()
    assert await group(world) is None


@pytest.mark.spec("WAS-037")
async def test_pods_of_another_namespace_hold_nothing(world):
    """Given a pod of another namespace in a group of the same name / when the group is deleted /
    then it is gone.
    """
    await world.client.create(NAMESPACES, {"metadata": {"name": "elsewhere"}})
    await world.settle()
    await world.client.create(POD_GROUPS, GROUP)
    await world.client.create(PODS, {**POD, "metadata": {"name": "member", "namespace": "elsewhere"}})
    await delete_group(world)
    assert await group(world) is None


async def test_it_does_nothing_where_there_are_no_groups():
    """Given a cluster without workload-aware scheduling / when it starts / then the controller asks
    for nothing.
    """
    async with manual_cluster("podgroup-protection") as cluster:
        assert cluster.manager.is_running("podgroup-protection")
        assert [entry.path for entry in cluster.apiserver.log] == []
