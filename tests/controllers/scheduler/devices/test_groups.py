"""Claims that the pods of a PodGroup share, in a cluster with groups."""

import pytest

from fakekube.composition.cluster import Cluster
from tests.controllers.scheduler.devices.cases import devices, request
from tests.controllers.scheduler.devices.worlds import TEMPLATE, Devices
from tests.controllers.scheduler.groups.gangs import POD_GROUPS
from tests.controllers.world import NAMESPACE

CONTROLLERS = "scheduler,serviceaccount,resourceclaim,garbagecollector,podgroup-protection"


class Groups(Devices):
    """A cluster with groups."""

    async def group(self, minimum, *claims):
        made = await self.client.create(POD_GROUPS, {"metadata": {"name": "g", "namespace": NAMESPACE}, "spec": {
            "schedulingPolicy": {"gang": {"minCount": minimum}}, "resourceClaims": [*claims]}})
        await self.cluster.advance(1)
        return made

    async def member(self, name, *claims, **spec):
        await self.pod(name, *claims, schedulingGroup={"podGroupName": "g"}, **spec)


@pytest.fixture
async def world():
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, feature_gates="workload-aware") as cluster:
        made = Groups(cluster)
        await made.device_class()
        await made.template()
        yield made


@pytest.mark.spec("WAS-095", "WAS-096")
async def test_pods_of_a_group_share_its_claim(world):
    """Given a group with a claim, which is there before any pod, and two nodes / when two pods with
    the same entry come / then both go to the node of the one device; the claim is reserved for the
    group, once. The second pod is bound a little later, as upstream.
    """
    await world.node("n1")
    await world.node("n2")
    await world.slice(devices("a", "b"), node="n2")
    await world.group(2, TEMPLATE)
    [name] = await world.claims()
    assert await world.status(name) == {}
    await world.member("p", TEMPLATE)
    await world.member("q", TEMPLATE)
    await world.cluster.advance(5)
    assert await world.where("p", "q") == ["n2", "n2"]
    assert await world.given(name) == ["a"]
    assert (await world.status(name))["reservedFor"] == [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g"}]
    assert await world.messages("FailedScheduling") == [
        f'running PreBind plugin "DynamicResources": claim default/{name} got allocated elsewhere in the meantime']


@pytest.mark.spec("WAS-097")
async def test_an_entry_of_another_source_is_a_pods_own(world):
    """Given a group's claim / when a pod's entry of the same name has another source / then the pod
    gets a device of its own, reserved for it alone, beside the group's.
    """
    await world.node("n1")
    await world.slice(devices("a", "b"))
    await world.group(2, TEMPLATE)
    [shared] = await world.claims()
    await world.claim("mine")
    await world.member("p", TEMPLATE)
    await world.member("q", {"name": "gpu", "resourceClaimName": "mine"})
    assert await world.where("p", "q") == ["n1", "n1"]
    assert sorted([*await world.given(shared), *await world.given("mine")]) == ["a", "b"]
    assert (await world.status("mine"))["reservedFor"] == [{"resource": "pods", "name": "q"}]


async def test_shared_and_own_claims_are_not_mixed_up(world):
    """Given pods that name the group's claim before one of their own / when they are bound / then
    each claim has what it asked for, and no device is given twice.
    """
    await world.node("n1")
    await world.slice(devices("a", "b", "c", "d", "e"))
    await world.group(2, TEMPLATE)
    [shared] = await world.claims()
    await world.claim("one", request(count=2))
    await world.claim("two", request(count=2))
    await world.member("p", TEMPLATE, "one")
    await world.member("q", TEMPLATE, "two")
    await world.cluster.advance(5)
    assert await world.where("p", "q") == ["n1", "n1"]
    given = [await world.given(each) for each in (shared, "one", "two")]
    assert [len(each) for each in given] == [1, 2, 2]
    assert sorted(device for each in given for device in each) == ["a", "b", "c", "d", "e"]


@pytest.mark.spec("WAS-098")
async def test_a_groups_claim_stays_until_the_group_goes(world):
    """Given a group's claim that is allocated / when all pods are deleted / then it stays as it is;
    when the group is deleted, it is freed, and gone.
    """
    await world.node("n1")
    await world.slice(devices("a"))
    await world.group(1, TEMPLATE)
    [name] = await world.claims()
    await world.member("p", TEMPLATE)
    assert await world.given(name) == ["a"]
    await world.delete("p")
    await world.cluster.advance(30)
    assert await world.given(name) == ["a"]
    assert (await world.status(name))["reservedFor"][0]["name"] == "g"
    await world.client.delete(POD_GROUPS, "g", NAMESPACE)
    await world.cluster.advance(30)
    assert await world.claims() == []
    await world.claim("next")
    await world.pod("other", "next")
    assert await world.given("next") == ["a"]


@pytest.mark.spec("WAS-099")
async def test_a_gang_that_fails_holds_no_claim(world):
    """Given a gang of two whose pods share a claim, and room for one / when it is tried / then no
    pod is bound, the claim is neither allocated nor reserved, and another pod has its device.
    """
    await world.node("n1", cpu="1")
    await world.slice(devices("a"))
    await world.group(2, TEMPLATE)
    [name] = await world.claims()
    one_cpu = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    await world.member("p", TEMPLATE, **one_cpu)
    await world.member("q", TEMPLATE, **one_cpu)
    await world.cluster.advance(30)
    assert await world.where("p", "q") == ["", ""]
    assert await world.status(name) == {}
    await world.claim("next")
    await world.pod("other", "next")
    assert await world.given("next") == ["a"]


@pytest.mark.spec("WAS-099")
async def test_a_reservation_of_a_gang_that_cannot_be_placed_any_more_is_taken_back(world):
    """Given a gang whose claim is reserved for it, and whose pods are gone / when new pods of it
    fit nowhere / then the group is not left in the claim's reservations.
    """
    await world.node("n1", cpu="1")
    await world.slice(devices("a"))
    await world.group(1, TEMPLATE)
    [name] = await world.claims()
    await world.member("p", TEMPLATE)
    assert (await world.status(name))["reservedFor"]
    await world.delete("p")
    large = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}
    await world.member("q", TEMPLATE, **large)
    await world.cluster.advance(5)
    assert await world.where("q") == [""]
    assert (await world.status(name)).get("reservedFor") is None


async def test_a_groups_claim_on_a_node_that_its_pods_cannot_use_is_freed(world):
    """Given a gang whose claim is allocated on a node that is full for its new pods / when these
    come / then the claim is freed, and they go where there is room and another device.
    """
    await world.node("n1", cpu="1")
    await world.slice(devices("a"), pool="x")
    await world.group(1, TEMPLATE)
    [name] = await world.claims()
    await world.member("p", TEMPLATE)
    await world.delete("p")
    await world.node("n2", labels={"large": "yes"})
    await world.slice(devices("b"), pool="y", node="n2")
    await world.member("q", TEMPLATE, nodeSelector={"large": "yes"})
    await world.cluster.advance(30)
    assert await world.where("q") == ["n2"]
    assert await world.given(name) == ["b"]
