"""ResourceClaims that all pods of a PodGroup share."""

import pytest

from fakekube.client.resources import EVENTS, PODS, RESOURCE_CLAIMS, Resource
from tests.controllers.world import NAMESPACE, World, manual_cluster

TEMPLATES = Resource("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate")
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
FINALIZER = "resource.kubernetes.io/delete-protection"
CONTROLLERS = "resourceclaim,podgroup-protection-controller,garbagecollector,serviceaccount"


class ClaimWorld(World):
    """A cluster in which groups have claims."""

    def __init__(self, cluster, release):
        super().__init__(cluster)
        self.version = {"1.37": "v1beta1", "1.36": "v1alpha2"}[release]
        self.POD_GROUPS = Resource("scheduling.k8s.io", self.version, "podgroups", "PodGroup")

    async def claims(self):
        return [*(await self.client.list(RESOURCE_CLAIMS, NAMESPACE)).items]

    async def make_template(self, name="t"):
        await self.client.create(TEMPLATES, {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": SPEC}})
        await self.settle()

    async def make_group(self, *claims):
        made = await self.client.create(self.POD_GROUPS, {"metadata": {"name": "g", "namespace": NAMESPACE}, "spec": {
            "schedulingPolicy": {"basic": {}}, "resourceClaims": [*claims]}})
        await self.advance(1)
        return made

    async def group(self):
        return await self.client.get(self.POD_GROUPS, "g", NAMESPACE, missing_ok=True)

    async def make_pod(self, name, *claims):
        """A pod of the group; what its status says of claims after a while."""
        await self.client.create(PODS, {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
            "schedulingGroup": {"podGroupName": "g"}, "containers": [{"name": "c", "image": "i"}], "resourceClaims": [*claims]}})
        await self.advance(1)
        return await self.told(name)

    async def told(self, name):
        pod = await self.client.get(PODS, name, NAMESPACE)
        return {each["name"]: each["resourceClaimName"] for each in pod["status"].get("resourceClaimStatuses") or ()}


@pytest.fixture(params=["1.37", "1.36"])
async def world(request):
    async with manual_cluster(CONTROLLERS, feature_gates="workload-aware", kubernetes_version=request.param) as cluster:
        yield ClaimWorld(cluster, request.param)


GPU = {"name": "gpu", "resourceClaimTemplateName": "t"}


@pytest.mark.spec("WAS-095")
async def test_a_group_has_its_claim_before_there_are_pods(world):
    """Given a PodGroup with a template and a claim that there is / when it is made / then one claim
    is made of the template, owned by the group and not allocated, and the group's status names it.
    """
    await world.make_template()
    group = await world.make_group(GPU, {"name": "given", "resourceClaimName": "there"})
    [claim] = await world.claims()
    metadata = claim["metadata"]
    assert metadata["generateName"] == "g-gpu-"
    assert metadata["labels"] == {"a": "b"}
    assert metadata["annotations"] == {"c": "d", "resource.kubernetes.io/pod-claim-name": "gpu"}
    assert metadata["ownerReferences"] == [{
        "apiVersion": f"scheduling.k8s.io/{world.version}", "kind": "PodGroup", "name": "g", "uid": group["metadata"]["uid"],
        "controller": True}]
    assert "finalizers" not in metadata
    assert claim.get("status", {}) == {}
    statuses = [{"name": "gpu", "resourceClaimName": metadata["name"]}]
    assert (await world.group())["status"]["resourceClaimStatuses"] == statuses


@pytest.mark.spec("WAS-097")
async def test_pods_share_a_claim_that_they_name_alike(world):
    """Given a group's claim / when two pods name it alike, and one names it otherwise or takes
    another template / then the first two are told the group's claim, and the others get their own.
    """
    await world.make_template()
    await world.make_template("other")
    await world.make_group(GPU)
    [claim] = await world.claims()
    shared = {"gpu": claim["metadata"]["name"]}
    assert await world.make_pod("a", GPU) == await world.make_pod("b", GPU) == shared
    assert len(await world.claims()) == 1
    [own] = (await world.make_pod("c", {"name": "mine", "resourceClaimTemplateName": "t"})).values()
    [another] = (await world.make_pod("d", {"name": "gpu", "resourceClaimTemplateName": "other"})).values()
    assert sorted([own, another, *shared.values()]) == sorted(each["metadata"]["name"] for each in await world.claims())


async def test_pods_from_before_their_group_are_told_later(world):
    """Given a pod whose group has no claim yet, since there is no template / when there is one /
    then the group's Events have told why, and the pod is told the group's claim.
    """
    await world.make_group(GPU)
    assert await world.make_pod("a", GPU) == {}
    [text, *_] = [
        event["message"] for event in (await world.client.list(EVENTS, NAMESPACE)).items
        if event["reason"] == "FailedResourceClaimCreation"]
    assert text == (
        'PodGroupResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found')
    await world.make_template()
    await world.advance(60)
    [claim] = await world.claims()
    assert await world.told("a") == {"gpu": claim["metadata"]["name"]}


async def test_a_claim_that_is_deleted_is_made_again(world):
    """Given a group's claim / when somebody deletes it / then there is another, of which group and
    pods are told.
    """
    await world.make_template()
    await world.make_group(GPU)
    [claim] = await world.claims()
    await world.make_pod("a", GPU)
    await world.client.delete(RESOURCE_CLAIMS, claim["metadata"]["name"], NAMESPACE)
    await world.advance(5)
    [again] = await world.claims()
    assert again["metadata"]["name"] != claim["metadata"]["name"]
    statuses = [{"name": "gpu", "resourceClaimName": again["metadata"]["name"]}]
    assert (await world.group())["status"]["resourceClaimStatuses"] == statuses
    assert await world.told("a") == {"gpu": again["metadata"]["name"]}


@pytest.mark.spec("WAS-098")
async def test_a_claim_stays_until_its_group_goes(world):
    """Given a claim that is allocated and reserved for a group / when the group's pods are deleted
    / then it stays as it is; when the group is deleted, then it is freed and gone; one that the
    user made is freed and stays.
    """
    await world.make_template()
    given = await world.client.create(RESOURCE_CLAIMS, {
        "metadata": {"name": "there", "namespace": NAMESPACE, "finalizers": [FINALIZER]}, "spec": SPEC})
    group = await world.make_group(GPU, {"name": "given", "resourceClaimName": "there"})
    reserved = [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": group["metadata"]["uid"]}]
    status = {"allocation": {"devices": {}}, "reservedFor": reserved}
    generated = next(each for each in await world.claims() if each["metadata"]["name"] != "there")
    for claim in (generated, given):
        held = {**claim, "metadata": {**claim["metadata"], "finalizers": [FINALIZER]}}
        held = await world.client.update(RESOURCE_CLAIMS, held)
        await world.client.update_status(RESOURCE_CLAIMS, {**held, "status": status})
    await world.make_pod("a", GPU)
    await world.delete_pods(await world.client.get(PODS, "a", NAMESPACE), grace_period_seconds=0)
    await world.advance(5)
    assert [claim["status"] for claim in await world.claims()] == [status, status]
    await world.client.delete(world.POD_GROUPS, "g", NAMESPACE)
    await world.advance(10)
    assert await world.group() is None
    [left] = await world.claims()
    assert (left["metadata"]["name"], left.get("status", {})) == ("there", {})
    assert "finalizers" not in left["metadata"]


async def test_without_the_gate_nobody_looks_at_groups():
    """Given the gate off / when a pod of a group has claims / then they are its own."""
    async with manual_cluster(CONTROLLERS, feature_gates="workload-aware,DRAWorkloadResourceClaims=false") as cluster:
        world = ClaimWorld(cluster, "1.37")
        await world.make_template()
        await world.make_group()
        [name] = (await world.make_pod("a", GPU)).values()
        assert name.startswith("a-gpu-")


@pytest.mark.parametrize("shared", [True, False])
async def test_claims_that_are_heard_of_late_are_made_once(world, shared):
    """Given a controller that hears of claims late / when a group or a pod needs one / then it
    makes one.
    """
    await world.make_template()
    with world.cluster.faults.add(watch="stall", resources="resourceclaims.resource.k8s.io", lasting="5s", optional=True):
        await world.make_group(*([GPU] if shared else []))
        await world.make_pod("p", GPU)
        await world.advance(10)
    assert len(await world.claims()) == 1
    assert len(await world.told("p")) == 1
