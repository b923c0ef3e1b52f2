"""Groups of pods of which a driver makes the others: PodGroupSets."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod import sets
from tests.controllers.kueue.jobs.conftest import QUEUE, condition_of
from tests.controllers.kueue.pods.conftest import Pods, manifest, member
from tests.controllers.kueue.pods.test_any_group import queue
from tests.controllers.world import CONTROLLERS, NAMESPACE

ON = Configuration(features=Features(PodGroupSets=True))
WORKER = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "200m"}}}]}}
SETS = [{"name": "driver", "count": 1}, {"name": "worker", "count": 2, "template": WORKER}]
GROUP = {**QUEUE, names.POD_GROUP_NAME_LABEL: "g"}


def driver(name="d", told=SETS, **fields):
    """The driver of the group ``g``."""
    text = told if isinstance(told, str) else json.dumps(told)
    return manifest(name, labels={**GROUP}, annotations={names.POD_GROUP_SETS_ANNOTATION: text}, **fields)


def worker(name, role="worker", **fields):
    return manifest(name, labels={**GROUP, names.POD_GROUP_ROLE_LABEL: role}, cpu="200m", **fields)


@pytest.fixture
async def pods():
    """Whole Kueue, with a queue for two CPUs."""
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon(ON)]) as cluster:
        await queue(cluster.client)
        world = Pods(cluster, ON)
        await world.advance(2)
        yield world


async def usage(pods):
    found = await pods.client.get(names.CLUSTER_QUEUES, "cq")
    return found["status"]["flavorsReservation"][0]["resources"][0]["total"]


async def quota(pods, cpu):
    patch = [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": cpu}]
    await pods.client.patch(names.CLUSTER_QUEUES, "cq", "", patch, type="json")
    await pods.advance(3)


async def test_a_driver_waits_for_quota_for_its_workers(pods):
    """Given quota for the driver alone, when it comes, then it waits; with quota for its workers it
    runs, and all of it is reserved before a worker is there.
    """
    await quota(pods, "400m")
    await pods.add(driver())
    assert await pods.gated() == ["d"]
    workload = await pods.workload()
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("driver", 1), ("worker", 2)]
    assert workload["spec"]["podSets"][1]["template"]["spec"] == WORKER["spec"]
    await quota(pods, "500m")
    assert await pods.gated() == []
    assert await usage(pods) == "500m"
    assert condition_of(await pods.workload(), "WaitingForReplacementPods") is None


async def test_workers_run_when_they_come_and_no_more_than_were_told(pods):
    """Given a driver that runs, when three workers of two come, then two run and the last is
    deleted; so is a pod of a role that there is not.
    """
    await pods.add(driver())
    await pods.says("d", "Running", ready=True)
    for name in "abc":
        await pods.add(worker(name))
    await pods.add(worker("x", role="other"))
    await pods.advance(2)
    assert (await pods.all_names(), await pods.gated()) == (["a", "b", "d"], [])
    assert await pods.told("c", "ExcessPodDeleted") == await pods.told("x", "ExcessPodDeleted") == ["Excess pod deleted"]
    workload = await pods.workload()
    assert sorted(owner["name"] for owner in meta.owners_of(workload)) == ["a", "b", "d"]
    assert await usage(pods) == "500m"


async def test_workers_that_the_driver_owns_are_workers(pods):
    """Given a driver, when it makes a worker that it controls, then the worker has its gate and its
    role, and runs.
    """
    made = await pods.add(driver())
    own = worker("a")
    own["metadata"]["ownerReferences"] = [meta.controller_reference({"apiVersion": "v1", "kind": "Pod", **made})]
    created = await pods.client.create(PODS, own)
    assert {"name": names.ADMISSION_GATE} in created["spec"]["schedulingGates"]
    await pods.advance(2)
    assert await pods.gated() == []
    assert (await pods.pod("a"))["metadata"]["labels"][names.PODSET_LABEL] == "worker"


async def test_workers_wait_for_their_driver(pods):
    """Given workers, when there is no driver, then they wait, and no Workload is made; they run
    with it.
    """
    await pods.add(worker("a"), worker("b"))
    assert (await pods.gated(), await pods.workloads()) == (["a", "b"], [])
    assert "'g' group has no pod with its sets" in await pods.told("a", "ErrWorkloadCompose")
    await pods.add(driver())
    await pods.advance(2)
    assert await pods.gated() == []


@pytest.mark.parametrize("workers", [2, 1])
async def test_the_group_ends_with_its_pods(pods, workers):
    """Given a group whose driver made all of its workers, or some, when all have succeeded, then
    the Workload has finished, and nothing holds the pods; workers alone do not end it.
    """
    await pods.add(driver(), *(worker(f"w{number}") for number in range(workers)))
    await pods.advance(2)
    for number in range(workers):
        await pods.says(f"w{number}", "Succeeded")
    await pods.says("d", "Running")
    assert condition_of(await pods.workload(), "Finished") is None
    assert await usage(pods) == ("100m" if workers == 2 else "300m")
    await pods.says("d", "Succeeded")
    await pods.advance(2)
    assert condition_of(await pods.workload(), "Finished")[1:] == ("Succeeded", f"Pods succeeded: {workers + 1}/3.")
    assert (await pods.held(), await usage(pods)) == ([], "0")


async def test_a_failed_worker_is_replaced(pods):
    """Given a group, when a worker fails, then the Workload waits for another in its place, which
    runs with the quota that is there.
    """
    await pods.add(driver(), worker("a"), worker("b"))
    await pods.says("d", "Running")
    await pods.says("a", "Failed")
    assert condition_of(await pods.workload(), "WaitingForReplacementPods")[0] == "True"
    await pods.add(worker("c"))
    await pods.advance(2)
    assert condition_of(await pods.workload(), "WaitingForReplacementPods")[0] == "False"
    assert (await pods.gated(), await usage(pods), await pods.held()) == ([], "500m", ["b", "c", "d"])


async def test_a_group_is_evicted_as_a_whole(pods):
    """Given a group that runs, when its queue is drained, then driver and worker are deleted, the
    quota is back, and whoever comes for them waits; they run when the queue goes on.
    """
    await pods.add(driver(), worker("a"))
    for name in "da":
        await pods.says(name, "Running")
    await pods.client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await pods.advance(40)
    assert await usage(pods) == "0"
    await pods.add(driver("e"), worker("b"), worker("c"))
    assert (await pods.all_names(), await pods.gated()) == (["b", "c", "e"], ["b", "c", "e"])
    await pods.client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": "None"}})
    await pods.advance(120)
    assert (await pods.gated(), await usage(pods)) == ([], "500m")


async def test_a_restart_of_kueue_changes_nothing(pods):
    """Given a group that runs with one worker of two, when Kueue starts anew, then the other worker
    runs when it comes, in the same Workload.
    """
    await pods.add(driver(), worker("a"))
    before = await pods.workload()
    await pods.cluster.restart_controller("kueue")
    await pods.add(worker("b"), worker("c"))
    await pods.advance(2)
    assert (await pods.all_names(), await pods.gated()) == (["a", "b", "d"], [])
    assert meta.uid_of(await pods.workload()) == meta.uid_of(before)


async def test_workers_outlive_their_driver(pods):
    """Given a group that runs, when its driver is deleted, then its workers and its Workload stay,
    and another driver takes its place, and lets it go; so it does when the driver is forced away.
    """
    await pods.add(driver(), worker("a"))
    await pods.advance(2)
    first = meta.uid_of(await pods.workload())
    await pods.remove("d")
    assert condition_of(await pods.workload(), "WaitingForReplacementPods")[0] == "True"
    await pods.add(driver("e"))
    await pods.advance(2)
    assert (await pods.all_names(), await pods.gated()) == (["a", "e"], [])
    await pods.client.patch(PODS, "e", NAMESPACE, {"metadata": {"finalizers": None}})
    await pods.remove("e")
    await pods.add(worker("b"))
    await pods.advance(2)
    assert (await pods.all_names(), await pods.gated()) == (["a", "b"], [])
    await pods.add(driver("f"))
    await pods.advance(2)
    assert (meta.uid_of(await pods.workload()), await pods.gated()) == (first, [])


async def test_a_driver_with_other_sets_starts_anew(pods):
    """Given a group that waits, when its driver is replaced by one with other sets, then its
    Workload has those.
    """
    await quota(pods, "100m")
    await pods.add(driver())
    await pods.remove("d")
    await pods.add(driver("e", [{"name": "driver", "count": 1}]))
    await pods.advance(3)
    assert [each["name"] for each in (await pods.workload())["spec"]["podSets"]] == ["driver"]
    assert await pods.gated() == []


async def test_a_template_that_is_none_is_told(pods):
    """Given a driver whose worker has a template that no Workload may have, when it comes, then an
    Event says so, and the driver waits.
    """
    wrong = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "much"}}}]}}
    await pods.add(driver(told=[{"name": "driver", "count": 1}, {"name": "worker", "count": 1, "template": wrong}]))
    assert (await pods.gated(), await pods.workloads()) == (["d"], [])
    [note] = await pods.told("d", "ErrWorkloadCompose")
    assert "quantities must match" in note


async def test_other_groups_are_as_before(pods):
    """Given the gate, when a group comes that says its count, then it is as every group."""
    await pods.add(member("a", count=2))
    assert await pods.workloads() == []
    await pods.add(member("b", count=2, labels={names.POD_GROUP_ROLE_LABEL: "worker"}))
    await pods.advance(2)
    assert (await pods.gated(), len((await pods.workload())["spec"]["podSets"])) == ([], 1)


@pytest.mark.parametrize(("told", "message"), [
    ("[{name: a, count: 1, template:\n spec: {}", "is no YAML: line 2: "),
    ("[]", "must be a list of sets"),
    ("{}", "must be a list of sets"),
    ("[1]", "must be a list of sets"),
    ("- {name: a, count: 1}\n- {name: a, count: 2}", "must not have two sets of one name"),
    ("- {name: A_, count: 1}", "needs a name for each set"),
    ("- {name: a, count: many}", 'needs a count of pods for set "a"'),
    ("- {name: a, count: true}", 'needs a count of pods for set "a"'),
    ("- {name: a, count: 1, minCount: 1}", 'has an unknown field "minCount"'),
    ("- {name: a, count: 1, template: {spec: {containers: []}}}", 'needs a template with a spec and its containers for set "a"'),
    ("- &x {name: a, count: 1}\n- *x", "is no YAML: line 2: aliases are not allowed here"),
    ("- {name: a, count: 2147483647}\n- {name: b, count: 1}", "has too many pods"),
    ("- {name: a, count: .nan}", "is no YAML: unsupported value: NaN"),
    ("[]\n---\n[]", "must be a list of sets"),
    (json.dumps([{"name": f"s{number}", "count": 1} for number in range(19)]), "must have at most 18 sets"),
    ("[" * 100_000, "exceeded max depth"), ("- " * 100_000, "exceeded max depth"),
    ("- {name: a, count: 0}", "must be the name of a set that has pods"),
])
def test_sets_that_are_none_are_refused(told, message):
    """Given sets that cannot be read, or have none for the driver, when the pod is looked at, then
    it is told what is wrong.
    """
    [error] = sets.errors_of(driver(told=told), ON.features)
    assert message in str(error)


async def test_a_pod_with_wrong_sets_is_refused(pods):
    """Given sets that cannot be read, when the pod is created, then it is refused."""
    with pytest.raises(APIError, match=r"metadata.annotations\[kueue.x-k8s.io/pod-group-sets\]: Invalid value: ") as refused:
        await pods.add(driver(told="["))
    assert refused.value.code == 403


async def test_sets_and_roles_are_of_groups_and_stay(pods):
    """Given a pod of no group, when it says a role or has sets, then it is refused; so is a change
    of either, and a count that is not that of the sets.
    """
    lonely = driver()
    del lonely["metadata"]["labels"][names.POD_GROUP_NAME_LABEL]
    with pytest.raises(APIError, match="pod-group-name"):
        await pods.add(lonely)
    wrong = driver()
    wrong["metadata"]["annotations"][names.POD_GROUP_TOTAL_COUNT_ANNOTATION] = "4"
    with pytest.raises(APIError, match="must be the sum of the counts of all sets"):
        await pods.add(wrong)
    await pods.add(driver(), worker("a"))
    for name, change in (
        ("d", {"annotations": {names.POD_GROUP_SETS_ANNOTATION: "[]"}}), ("a", {"labels": {names.POD_GROUP_ROLE_LABEL: "x"}})):
        with pytest.raises(APIError, match="field is immutable"):
            await pods.client.patch(PODS, name, NAMESPACE, {"metadata": change})


@given(st.text(max_size=40) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["name", "count", "template", "spec", "containers"]), inner, max_size=4), max_leaves=12).map(json.dumps))
@example("- {name: a, count: 1, template: }")
def test_any_text_is_sets_or_is_refused(text):
    """Given any text, when it is read as sets, then these are well formed, or it is refused."""
    try:
        found = sets.parse(text, ON.features)
    except sets.SetsError:
        return
    assert all(each["name"] and each["count"] >= 0 for each in found)
