"""What a LeaderWorkerSet gets by default, and what it may not be."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.jobset import addon as jobset
from fakekube_controllers.leaderworkerset import addon
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS
from tests.controllers.leaderworkerset.conftest import label, manifest
from tests.controllers.world import NAMESPACE

DENIED = 'admission webhook "vleaderworkerset.kb.io" denied the request: '
MOVING = "spec.rolloutStrategy.rollingUpdateConfiguration"
WITHOUT_SIZE = "cannot have subgroup-exclusive-topology without subGroupSize set"
SUBGROUP = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"


def moving(**fields):
    return {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": fields}}


async def test_defaults(world):
    """Given a set that says what it must / when it is created / then it has defaults."""
    wanted = manifest(policy="Default")
    del wanted["spec"]["leaderWorkerTemplate"]["size"]
    spec = (await world.client.create(LEADER_WORKER_SETS, wanted))["spec"]
    template = spec.pop("leaderWorkerTemplate")
    assert spec == {
        "replicas": 1, "startupPolicy": "LeaderCreated", "networkConfig": {"subdomainPolicy": "Shared"},
        "rolloutStrategy": {
            "type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}}}
    assert (template["size"], template["restartPolicy"]) == (1, "None")


@pytest.mark.spec("JOB-203")
@pytest.mark.parametrize(("spec", "text"), [
    (moving(maxUnavailable=0, maxSurge=0), f"{MOVING}.maxUnavailable: Invalid value: 0: must not be 0 when `maxSurge` is 0"),
    (moving(maxUnavailable="101%"), f'{MOVING}.maxUnavailable: Invalid value: "101%": must not be greater than 100%'),
    (moving(maxUnavailable=-1), f"{MOVING}.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"),
    (moving(partition=-1), f"{MOVING}.partition: Invalid value: -1: must be greater than or equal to 0"),
    ({"size": 0}, "spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than 1"),
    ({"size": 100_000, "replicas": 100_000},
     "spec.replicas: Invalid value: 100000: the product of replicas and worker replicas must not exceed 2147483647"),
    ({"size": 5, "subgroups": {"subGroupSize": 3}},
     f"{SUBGROUP}: Invalid value: 3: size or size - 1 must be divisible by subGroupSize"),
    ({"size": 4, "subgroups": {"subGroupSize": 0}},
     f"{SUBGROUP}: Invalid value: 0: subGroupSize must be equal or greater than 1"),
    ({"size": 4, "subgroups": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}},
     f"{SUBGROUP}: Invalid value: 2: size-1 must be divisible by subGroupSize when using LeaderExcluded"),
    ({"annotations": {label("subgroup-exclusive-topology"): "rack"}},
     f'metadata.annotations.{label("subgroup-exclusive-topology")}: Invalid value: "rack": {WITHOUT_SIZE}'),
])
async def test_what_is_refused(world, spec, text):
    """Given a set that makes no sense / when it is created / then the webhook refuses it."""
    with pytest.raises(APIError) as caught:
        await world.client.create(LEADER_WORKER_SETS, manifest(**spec))
    assert (caught.value.code, caught.value.reason, caught.value.message) == (403, "Forbidden", DENIED + text)


async def test_a_share_that_is_none_is_refused_twice(world):
    """Given a text that is no share / when the set is created / then both complaints are told, as
    upstream tells them.
    """
    with pytest.raises(APIError) as caught:
        await world.client.create(LEADER_WORKER_SETS, manifest(**moving(maxUnavailable=1, maxSurge="some")))
    assert caught.value.message.startswith(f'{DENIED}[{MOVING}.maxSurge: Invalid value: "some": a valid percent string must be')
    assert caught.value.message.endswith(f'{MOVING}.maxSurge: Invalid value: "some": invalid value]')


@pytest.mark.parametrize(("before", "after", "text"), [
    ({"subGroupSize": 2}, {"subGroupSize": 4}, "Invalid value: 4: field is immutable"),
    (None, {"subGroupSize": 2}, "Invalid value: 2: cannot enable subGroupSize after the lws is already created"),
    ({"subGroupSize": 2}, None, "Invalid value: 2: cannot remove subGroupSize after enabled"),
])
async def test_subgroups_stay_as_they_are(world, before, after, text):
    """Given a set with subgroups or without / when that changes / then it is refused."""
    await world.create(size=4, subgroups=before)
    with pytest.raises(APIError) as caught:
        await world.change({"spec": {"leaderWorkerTemplate": {"subGroupPolicy": after}}})
    assert caught.value.message == f"{DENIED}{SUBGROUP}: {text}"


@pytest.mark.parametrize("spec", [
    "text", {"leaderWorkerTemplate": 5}, {"leaderWorkerTemplate": {"workerTemplate": {"spec": []}}}])
async def test_nonsense_is_a_bad_request(world, spec):
    """Given a spec of other types than it has / when the set is created / then it is refused."""
    with pytest.raises(APIError) as caught:
        await world.client.create(LEADER_WORKER_SETS, {"metadata": {"name": "l", "namespace": NAMESPACE}, "spec": spec})
    assert caught.value.code in (400, 422)


@pytest.mark.parametrize(("annotations", "name", "text"), [
    ({}, "p-0", "size annotation is unexpectedly missing for pod p-0"),
    ({label("size"): "x"}, "p-0", 'strconv.Atoi: parsing "x": invalid syntax'),
    ({label("size"): "2"}, "p", "parsing pod ordinal for pod p"),
    ({label("size"): "2"}, "p-0",
     f"Failure constructing environment variables, no group index label found for pod {NAMESPACE}/p-0"),
    ({label("size"): "2", label("subgroup-size"): "0"}, "p-1", "panic: runtime error: integer divide by zero [recovered]"),
])
async def test_a_pod_by_hand_that_is_in_no_group_is_an_error(world, annotations, name, text):
    """Given a pod with the label of a set / when it does not say where it belongs / then its
    creation fails.
    """
    with pytest.raises(APIError) as caught:
        await world.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {label("name"): "l"}, "annotations": annotations},
            "spec": {"containers": [{"name": "main", "image": "busybox"}]}})
    assert (caught.value.code, caught.value.message) == (500, f'admission webhook "mpod.kb.io" denied the request: {text}')


async def test_a_variable_counts_once(world):
    """Given a pod by hand whose container has variables of one name / when it is created / then the
    group's come first, and of two the first stays.
    """
    env = [{"name": name, "value": value} for name, value in (("A", "1"), ("LWS_GROUP_SIZE", "9"), ("A", "2"))]
    pod = await world.client.create(PODS, {
        "metadata": {
            "name": "p-1", "namespace": NAMESPACE, "annotations": {label("size"): "+2"},
            "labels": {label("name"): "l", label("group-index"): "0"}},
        "spec": {"containers": [{"name": "main", "image": "busybox", "env": env}]}})
    assert [(each["name"], each.get("value")) for each in pod["spec"]["containers"][0]["env"]] == [
        ("LWS_LEADER_ADDRESS", f"l-0..{NAMESPACE}"), ("LWS_GROUP_SIZE", "+2"), ("LWS_WORKER_INDEX", "1"), ("A", "1")]


async def test_it_stands_beside_jobset():
    """Given both add-ons, whose webhooks of pods have the same names / when a cluster starts / then
    each is asked.
    """
    async with Cluster(nodes=0, clock="manual", extra=[addon(), jobset()]) as cluster:
        await cluster.client.create(LEADER_WORKER_SETS, manifest())
        await cluster.advance(3)
        assert [pod["metadata"]["name"] for pod in (await cluster.client.list(PODS, NAMESPACE)).items] == ["l-0", "l-0-1"]
