"""Each group is a gang, where the scheduler is told of it."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS
from fakekube_controllers.leaderworkerset.scheduling import POD_GROUPS, WORKLOADS
from tests.controllers.leaderworkerset.conftest import Groups, cluster_with, manifest
from tests.controllers.world import NAMESPACE


@pytest.fixture
async def aware():
    """A cluster with workload-aware scheduling, in which LeaderWorkerSet takes part."""
    async with cluster_with(WorkloadAwareScheduling=True) as cluster:
        yield Groups(cluster)


async def policies(world):
    return {name: group["spec"]["schedulingPolicy"] for name, group in (await world.named(POD_GROUPS)).items()}


async def test_each_group_is_a_gang_of_its_pods(aware):
    """Given two groups of three / when they are created / then each is a gang of three, to which
    its pods belong.
    """
    await aware.create(replicas=2, size=3)
    assert await policies(aware) == {"l-0": {"gang": {"minCount": 3}}, "l-1": {"gang": {"minCount": 3}}}
    groups = {name: pod["spec"]["schedulingGroup"]["podGroupName"] for name, pod in (await aware.named()).items()}
    assert groups == {"l-0": "l-0", "l-0-1": "l-0", "l-0-2": "l-0", "l-1": "l-1", "l-1-1": "l-1", "l-1-2": "l-1"}
    [workload] = (await aware.named(WORKLOADS)).values()
    assert workload["spec"]["controllerRef"]["kind"] == "LeaderWorkerSet"


async def test_workers_that_wait_are_no_gang(aware):
    """Given workers that wait for a ready leader / when the set is created / then its pods are
    scheduled one by one, as no gang would ever be whole.
    """
    await aware.create(startupPolicy="LeaderReady")
    assert await policies(aware) == {"l-0": {"basic": {}}}


async def test_users_say_how(aware):
    """Given blocks in the spec / when the set is created / then its groups are scheduled so."""
    constraints = {"topology": [{"key": "example.com/rack"}]}
    await aware.create(size=3, scheduling={
        "schedulingPolicy": {"gang": {"minCount": 2}}, "schedulingConstraints": constraints, "disruptionMode": {"all": {}}})
    [group] = (await aware.named(POD_GROUPS)).values()
    assert (group["spec"]["schedulingPolicy"], group["spec"]["schedulingConstraints"], group["spec"]["disruptionMode"]) == (
        {"gang": {"minCount": 2}}, constraints, {"all": {}})


async def test_groups_follow_the_scale(aware):
    """Given two groups / when there are to be three and one / then there are as many PodGroups."""
    await aware.create(replicas=2)
    for wanted in (3, 1):
        await aware.change({"spec": {"replicas": wanted}})
        await aware.advance(10)
        assert len(await policies(aware)) == wanted


async def test_what_makes_no_sense_is_refused(aware):
    """Given blocks that are wrong, or change / when they are written / then they are refused."""
    with pytest.raises(APIError, match=r"spec\.scheduling\.schedulingPolicy\.gang\.minCount: Invalid value: 0"):
        await aware.create(scheduling={"schedulingPolicy": {"gang": {"minCount": 0}}})
    await aware.create()
    with pytest.raises(APIError, match="field is immutable"):
        await aware.change({"spec": {"scheduling": {"schedulingPolicy": {"basic": {}}}}})


async def test_an_object_of_that_name_is_not_taken_over(aware):
    """Given a Workload of somebody else / when the set is created / then an Event says so."""
    await aware.client.create(WORKLOADS, {
        "metadata": {"name": "l", "namespace": NAMESPACE},
        "spec": {"podGroupTemplates": [{"name": "t", "schedulingPolicy": {"basic": {}}}]}})
    await aware.create()
    text = f"Workload {NAMESPACE}/l already exists and is not controlled by the LeaderWorkerSet"
    assert ("Warning", "FailedCreate", f"Failed to create scheduling objects: {text}") in await aware.told()
    assert await aware.named() == {}


async def test_without_the_feature_the_field_is_unknown(world):
    """Given LeaderWorkerSet as it is released / when a set says how it is scheduled / then that is
    dropped.
    """
    created = await world.client.create(LEADER_WORKER_SETS, manifest(scheduling={"schedulingPolicy": {"basic": {}}}))
    assert "scheduling" not in created["spec"]
