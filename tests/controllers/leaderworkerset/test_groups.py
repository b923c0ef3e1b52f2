"""Groups of a leader and its workers, from their beginning to their end."""

from hashlib import sha1

import pytest

from fakekube.client.resources import CONTROLLER_REVISIONS, NODES, PODS
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS
from tests.controllers.leaderworkerset.conftest import label, pods_of
from tests.controllers.world import NAMESPACE


@pytest.mark.spec("JOB-201")
async def test_two_groups_of_three(world):
    """Given two groups of three / when they are created / then there are two leaders, each with a
    StatefulSet of two workers, and all know where they are.
    """
    await world.create(replicas=2, size=3, leader=pods_of(labels={"role": "leader"}), worker=pods_of(labels={"role": "worker"}))
    pods = await world.named()
    assert [*pods] == ["l-0", "l-0-1", "l-0-2", "l-1", "l-1-1", "l-1-2"]
    assert {name: pod["metadata"]["labels"]["role"] for name, pod in pods.items() if "-0" in name} == {
        "l-0": "leader", "l-0-1": "worker", "l-0-2": "worker"}
    sets = await world.sets()
    assert {name: each["spec"]["replicas"] for name, each in sets.items()} == {"l": 2, "l-0": 2, "l-1": 2}
    assert sets["l-0"]["spec"]["ordinals"] == {"start": 1}
    assert sets["l-0"]["metadata"]["ownerReferences"][0]["kind"] == "Pod"
    worker = pods["l-1-2"]
    assert [worker["metadata"]["labels"][label(name)] for name in ("name", "group-index", "worker-index", "group-key")] == [
        "l", "1", "2", sha1(f"{NAMESPACE}/l-1".encode()).hexdigest()]
    assert worker["spec"]["containers"][0]["env"] == [
        {"name": "LWS_LEADER_ADDRESS", "value": f"l-1.l.{NAMESPACE}"}, {"name": "LWS_GROUP_SIZE", "value": "3"},
        {"name": "LWS_WORKER_INDEX", "value": "2"}]
    assert await world.services() == ["l"]


@pytest.mark.spec("JOB-204")
async def test_available_once_all_groups_are_ready(world):
    """Given two groups / when leaders and workers get ready / then the set is available with the
    last of them, and not any more when one is not.
    """
    await world.create(replicas=2)
    assert await world.conditions() == {"Progressing": "True"}
    await world.start("l-0", "l-0-1", "l-1")
    assert (await world.status())["readyReplicas"] == 1
    await world.start("l-1-1")
    assert await world.conditions() == {"Progressing": "False", "Available": "True"}
    assert ("Normal", "AllGroupsReady", "All replicas are ready, with 2 groups ready of total 2 groups") in await world.told()
    await world.run((await world.named())["l-1-1"], ready=False)
    await world.advance(1)
    assert await world.conditions() == {"Progressing": "True", "Available": "False"}


@pytest.mark.spec("JOB-202")
async def test_workers_wait_for_a_leader_that_is_ready(world):
    """Given that policy of startup / when the leader is ready / then its workers are made."""
    await world.create(startupPolicy="LeaderReady")
    assert [*await world.named()] == ["l-0"]
    await world.start("l-0")
    assert [*await world.named()] == ["l-0", "l-0-1"]


@pytest.mark.spec("JOB-201")
@pytest.mark.parametrize("how", ["restart", "delete", "delete without a node"])
async def test_a_group_is_made_anew_where_a_pod_fails(world, how):
    """Given two groups / when a worker's container restarts, or it is deleted, even if it is gone
    at once since no node has it / then all of its group are made anew, and the other group stays.
    """
    await world.create(replicas=2)
    await world.start()
    before = {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()}
    if how == "restart":
        await world.restart_container("l-1-1")
    elif how == "delete without a node":
        await world.client.delete(PODS, "l-1-1", NAMESPACE)
        await world.advance(10)
    else:
        await world.bind((await world.named())["l-1-1"])
        await world.client.delete(PODS, "l-1-1", NAMESPACE)
        await world.advance(1)
        await world.client.delete(PODS, "l-1-1", NAMESPACE, grace_period_seconds=0, missing_ok=True)
        await world.advance(10)
    after = {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()}
    assert [name for name in before if after.get(name) != before[name]] == ["l-1", "l-1-1"]
    assert [*after] == [*before]
    text = "Worker pod l-1-1 failed, deleted leader pod l-1 to recreate group 1"
    assert ("Normal", "RecreateGroup", text) in await world.told()


@pytest.mark.spec("JOB-201")
async def test_no_group_is_made_anew_where_the_policy_says_so(world):
    """Given the policy None / when a worker's container restarts and the worker is deleted / then
    only the worker is made anew.
    """
    await world.create(policy="None")
    await world.start()
    before = {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()}
    await world.restart_container("l-0-1")
    assert {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()} == before
    await world.client.delete(PODS, "l-0-1", NAMESPACE)
    await world.advance(5)
    after = {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()}
    assert [name for name in before if after[name] != before[name]] == ["l-0-1"]


@pytest.mark.parametrize("how", ["policy", "annotation"])
async def test_a_group_that_has_not_started_is_not_made_anew(world, how):
    """Given a policy, or an annotation, that waits / when a container restarts while another pod
    is pending / then the group stays until all have started.
    """
    annotations = {label("experimental-recreate-group-after-start"): "true"} if how == "annotation" else {}
    await world.create(policy="RecreateGroupAfterStart" if how == "policy" else None, annotations=annotations)
    uid = (await world.named())["l-0"]["metadata"]["uid"]
    await world.restart_container("l-0-1")
    assert (await world.named())["l-0"]["metadata"]["uid"] == uid
    await world.start("l-0")
    await world.restart_container("l-0-1")
    assert (await world.named())["l-0"]["metadata"]["uid"] != uid


async def test_a_pod_that_is_gone_at_once_fails_its_group_where_all_have_started(world):
    """Given a policy that waits until all have started / when a worker on no node is deleted while
    its leader is pending, and once more when it runs / then the group is made anew the second time.
    """
    await world.create(policy="RecreateGroupAfterStart")
    uid = (await world.named())["l-0"]["metadata"]["uid"]
    for started in ((), ("l-0", "l-0-1")):
        assert (await world.named())["l-0"]["metadata"]["uid"] == uid
        if started:
            await world.start(*started)
        await world.client.delete(PODS, "l-0-1", NAMESPACE)
        await world.advance(5)
    assert (await world.named())["l-0"]["metadata"]["uid"] != uid


async def test_a_group_of_one_has_a_leader_alone(world):
    """Given groups of one / when they are ready / then the set is available without workers."""
    await world.create(size=1, replicas=2)
    assert [*await world.sets()] == ["l"]
    await world.start()
    assert (await world.conditions())["Available"] == "True"


async def test_groups_come_and_go_with_the_scale(world):
    """Given two groups / when there are to be three, one and none / then there are."""
    await world.create(replicas=2)
    for wanted in (3, 1, 0):
        await world.change({"spec": {"replicas": wanted}})
        await world.advance(5)
        assert len(await world.named()) == 2 * wanted
        assert (await world.status()).get("replicas", 0) == wanted


async def test_each_group_may_have_a_service(world):
    """Given a subdomain for each replica / when groups are made / then each has a Service, and its
    pods find the leader there.
    """
    await world.create(replicas=2, networkConfig={"subdomainPolicy": "UniquePerReplica"})
    assert await world.services() == ["l-0", "l-1"]
    worker = (await world.named())["l-1-1"]
    assert worker["spec"]["subdomain"] == "l-1"
    assert worker["spec"]["containers"][0]["env"][0]["value"] == f"l-1.l-1.{NAMESPACE}"


async def test_a_group_may_have_a_rack_for_itself(world):
    """Given an exclusive topology / when a leader has a node / then its workers are made for that
    rack, and terms keep other groups out.
    """
    rack = "example.com/rack"
    await world.client.create(NODES, {"metadata": {"name": "n", "labels": {rack: "a"}}})
    await world.create(annotations={label("exclusive-topology"): rack})
    [leader] = (await world.named()).values()
    key, required = leader["metadata"]["labels"][label("group-key")], "requiredDuringSchedulingIgnoredDuringExecution"
    assert leader["spec"]["affinity"]["podAffinity"][required] == [{
        "labelSelector": {"matchExpressions": [{"key": label("group-key"), "operator": "In", "values": [key]}]},
        "topologyKey": rack}]
    [apart] = leader["spec"]["affinity"]["podAntiAffinity"][required]
    assert [each["operator"] for each in apart["labelSelector"]["matchExpressions"]] == ["Exists", "NotIn"]
    await world.bind(leader, node="n")
    await world.advance(2)
    assert (await world.named())["l-0-1"]["spec"]["nodeSelector"] == {rack: "a"}


@pytest.mark.parametrize(("kind", "size", "wanted"), [
    ("LeaderWorker", 4, {"l-0": "0", "l-0-1": "0", "l-0-2": "1", "l-0-3": "1"}),
    ("LeaderWorker", 5, {"l-0": "0", "l-0-1": "0", "l-0-2": "0", "l-0-3": "1", "l-0-4": "1"}),
    ("LeaderExcluded", 5, {"l-0": None, "l-0-1": "0", "l-0-2": "0", "l-0-3": "1", "l-0-4": "1"}),
])
async def test_pods_are_sorted_into_subgroups(world, kind, size, wanted):
    """Given subgroups of two / when pods are made / then each is in one, and the leader in the
    first, in it as one more, or in none.
    """
    await world.create(size=size, subgroups={"subGroupPolicyType": kind, "subGroupSize": 2})
    pods = await world.named()
    assert {name: pod["metadata"]["labels"].get(label("subgroup-index")) for name, pod in pods.items()} == wanted
    assert pods["l-0-3"]["metadata"]["labels"][label("subgroup-key")] == sha1(b"l-0/1").hexdigest()


async def test_everything_goes_with_the_set(world):
    """Given a set / when it is deleted / then pods, StatefulSets, Services and revisions are gone.
    """
    await world.create(replicas=2)
    await world.client.delete(LEADER_WORKER_SETS, "l", NAMESPACE, propagation_policy="Background")
    await world.advance(20)
    assert (await world.named(), await world.sets(), await world.services(), await world.named(CONTROLLER_REVISIONS)) == (
        {}, {}, [], {})


async def test_a_restart_of_the_controllers_changes_nothing(world):
    """Given groups / when the controllers are stopped and started / then the same pods run, and no
    more Events are told.
    """
    await world.create(replicas=2)
    await world.start()
    before, told = {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()}, await world.told()
    for component in ("lws", "lws-pod"):
        await world.restart(component)
    await world.advance(5)
    assert {name: pod["metadata"]["uid"] for name, pod in (await world.named()).items()} == before
    assert await world.told() == told


async def test_containers_with_tpus_are_told_of_each_other(world):
    """Given workers that ask for TPUs, and a leader that does not / when they are made / then each
    knows its number and where the others are.
    """
    worker = pods_of()
    worker["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": "4"}}
    await world.create(size=3, worker=worker, leader=pods_of())
    pods = await world.named()
    env = {each["name"]: each["value"] for each in pods["l-0-2"]["spec"]["containers"][0]["env"]}
    assert {name: env[name] for name in env if name.startswith("TPU")} == {
        "TPU_WORKER_HOSTNAMES": "l-0-1.l,l-0-2.l", "TPU_WORKER_ID": "1", "TPU_NAME": "l-0",
        "TPU_PROCESS_ADDRESSES": "l-0-1.l:8476,l-0-2.l:8476", "TPU_PROCESS_PORT": "8476"}
    assert not [each for each in pods["l-0"]["spec"]["containers"][0]["env"] if each["name"].startswith("TPU")]


@pytest.mark.parametrize(("index", "number"), [(1, "1"), (2, "0")])
async def test_subgroups_with_tpus_are_told_of_their_own(world, index, number):
    """Given subgroups of two whose leader asks for TPUs, too / when they are made / then each knows
    those of its subgroup.
    """
    worker = pods_of()
    worker["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": "4"}}
    await world.create(size=4, worker=worker, subgroups={"subGroupSize": 2})
    pods = await world.named()
    env = {each["name"]: each["value"] for each in pods[f"l-0-{index}"]["spec"]["containers"][0]["env"]}
    hosts = "l-0.l,l-0-1.l" if index == 1 else "l-0-2.l,l-0-3.l"
    assert (env["TPU_WORKER_ID"], env["TPU_WORKER_HOSTNAMES"]) == (number, hosts)
