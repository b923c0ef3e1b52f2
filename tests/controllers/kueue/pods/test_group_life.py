"""A group of pods on its way through Kueue."""

import pytest

from fakekube.client.resources import PODS
from fakekube_controllers.kueue import names
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.kueue.pods.conftest import member
from tests.controllers.world import NAMESPACE

NEEDED, NOT_NEEDED = "Some Failed pods need replacement", "No pods need replacement"
FAST, SERVING = names.POD_GROUP_FAST_ADMISSION_ANNOTATION, names.POD_GROUP_SERVING_ANNOTATION


async def running(pods, count=3, **fields):
    """A group of which all pods run."""
    created = [f"p{place}" for place in range(count)]
    await pods.add(*(member(name, count=count, **fields) for name in created))
    await pods.admit(await pods.workload())
    for name in created:
        await pods.says(name, "Running", ready=True)


def waiting(workload):
    return condition_of(workload, "WaitingForReplacementPods")


@pytest.mark.spec("KUEUE-132")
async def test_a_group_waits_until_it_is_whole(pods):
    """Given a group of three, when two pods are there, then there is no Workload and an Event says
    why; with the third there is one, with a pod set for each role, which all of them own."""
    await pods.add(member("a"), member("b"))
    assert await pods.workloads() == []
    told = [note for name in "ab" for note in await pods.told(name, "ErrWorkloadCompose")]
    assert told[0] == "'g' group has fewer runnable pods than expected"
    await pods.add(member("c", cpu="200m"))
    workload = await pods.workload()
    metadata = workload["metadata"]
    assert metadata["name"] == "g"
    assert metadata["annotations"] == {names.IS_GROUP_WORKLOAD_ANNOTATION: "true"}
    assert sorted((each["kind"], each["name"], each.get("controller")) for each in metadata["ownerReferences"]) == [
        ("Pod", "a", None), ("Pod", "b", None), ("Pod", "c", None)]
    roles = [(await pods.pod(name))["metadata"]["annotations"][names.ROLE_HASH_ANNOTATION] for name in "abc"]
    assert {each["name"]: each["count"] for each in workload["spec"]["podSets"]} == {roles[0]: 2, roles[2]: 1}
    assert [each["name"] for each in workload["spec"]["podSets"]] == sorted({*roles})
    assert await pods.gated() == ["a", "b", "c"]


@pytest.mark.spec("KUEUE-133", "KUEUE-145")
async def test_a_group_runs_and_ends_together(pods):
    """Given a group that waits, when it is admitted, then all its pods run; those that succeed give
    their part back; when all have, it is finished, and nothing holds them."""
    await running(pods)
    assert await pods.gated() == []
    assert condition_of(await pods.workload(), "PodsReady")[0] == "True"
    assert {(await pods.pod(name))["metadata"]["labels"][names.PODSET_LABEL] for name in ("p0", "p1", "p2")} == {
        (await pods.workload())["spec"]["podSets"][0]["name"]}
    await pods.says("p0", "Succeeded")
    await pods.says("p1", "Succeeded")
    workload = await pods.workload()
    assert [each["count"] for each in workload["status"]["reclaimablePods"]] == [2]
    assert condition_of(workload, "Finished") is None
    await pods.says("p2", "Succeeded")
    assert condition_of(await pods.workload(), "Finished") == ("True", "Succeeded", "Pods succeeded: 3/3.")
    assert await pods.held() == []


@pytest.mark.spec("KUEUE-134")
async def test_a_failed_pod_is_replaced(pods):
    """Given a running group, when a pod fails, then the group waits for another one and the failed
    one stays held; with the replacement, which runs at once, nobody is waited for."""
    await running(pods)
    await pods.says("p1", "Failed")
    workload = await pods.workload()
    assert waiting(workload) == ("True", "PodsFailed", NEEDED)
    assert condition_of(workload, "Finished") is None
    assert await pods.held() == ["p0", "p1", "p2"]
    await pods.add(member("r"))
    workload = await pods.workload()
    assert await pods.gated() == []
    assert waiting(workload) == ("False", "PodsReady", NOT_NEEDED)
    assert await pods.held() == ["p0", "p2", "r"]
    assert sorted(each["name"] for each in workload["metadata"]["ownerReferences"]) == ["p0", "p1", "p2", "r"]
    assert await pods.told("g", "OwnerReferencesAdded") == ["Added 1 owner reference(s)"]
    assert (await pods.pod("r"))["spec"]["nodeSelector"] == {"zone": "a"}


@pytest.mark.spec("KUEUE-135")
async def test_a_deleted_pod_is_replaced(pods):
    """Given a running group, when a pod without a node is deleted, then it is held until there is
    another one."""
    await running(pods)
    await pods.remove("p1")
    assert "deletionTimestamp" in (await pods.pod("p1"))["metadata"]
    assert waiting(await pods.workload()) == ("True", "PodsFailed", NEEDED)
    await pods.add(member("r"))
    assert await pods.pod("p1") is None
    assert await pods.gated() == []
    assert waiting(await pods.workload())[0] == "False"


@pytest.mark.spec("KUEUE-136")
async def test_an_unretriable_group_ends(pods):
    """Given a running group, when all its pods have ended and one says that none is replaced, then
    it is finished with as many as have succeeded."""
    await running(pods)
    await pods.says("p0", "Succeeded")
    await pods.says("p1", "Failed")
    body = {"metadata": {"annotations": {names.RETRIABLE_IN_GROUP_ANNOTATION: "false"}}}
    await pods.client.patch(PODS, "p1", NAMESPACE, body)
    await pods.advance(1)
    assert condition_of(await pods.workload(), "Finished") is None
    await pods.says("p2", "Failed")
    assert condition_of(await pods.workload(), "Finished") == ("True", "Succeeded", "Pods succeeded: 1/3.")
    assert await pods.held() == []


@pytest.mark.spec("KUEUE-137")
async def test_pods_beyond_the_count_are_deleted(pods):
    """Given a group of two, when a third pod comes before or after it is admitted, then that one is
    deleted, and an Event says so."""
    await pods.add(member("a", count=2), member("b", count=2))
    await pods.add(member("c", count=2))
    assert await pods.all_names() == ["a", "b"]
    assert await pods.told("c", "ExcessPodDeleted") == ["Excess pod deleted"]
    await pods.admit(await pods.workload())
    await pods.add(member("d", count=2))
    assert await pods.all_names() == ["a", "b"]
    assert [each["count"] for each in (await pods.workload())["spec"]["podSets"]] == [2]


@pytest.mark.spec("KUEUE-137")
async def test_too_many_pods_at_once(pods):
    """Given four pods of a group of two, when they come at once, then two of them make the
    group."""
    await pods.add(*(member(name, count=2) for name in "abcd"))
    assert len(await pods.all_names()) == 2
    assert [each["count"] for each in (await pods.workload())["spec"]["podSets"]] == [2]


@pytest.mark.spec("KUEUE-138")
async def test_an_evicted_group_waits_for_replacements(pods):
    """Given a group of which two pods run and one has come back to wait, when it is evicted, then
    those that run are deleted and say why; with replacements the same Workload runs again."""
    await running(pods, 2)
    before = await pods.workload()
    await pods.evict(before)
    await pods.advance(31)
    workload = await pods.workload()
    assert waiting(workload) == ("True", "Preempted", "for somebody else")
    assert condition_of(workload, "QuotaReserved")[:2] == ("False", "Pending")
    assert condition_of(workload, "Requeued") == ("True", "Preempted", "for somebody else")
    for name in ("p0", "p1"):
        assert "deletionTimestamp" in (await pods.pod(name))["metadata"]
    targets = [
        each for each in (await pods.pod("p0"))["status"]["conditions"] if each["type"] == "TerminationTarget"]
    assert [(each["status"], each["reason"]) for each in targets] == [("True", "WorkloadEvictedDueToPreempted")]
    await pods.add(member("r0", count=2), member("r1", count=2))
    workload = await pods.workload()
    assert workload["metadata"]["uid"] == before["metadata"]["uid"]
    assert waiting(workload) == ("False", "PodsReady", NOT_NEEDED)
    assert await pods.all_names() == await pods.gated() == ["r0", "r1"]
    await pods.admit(workload)
    assert await pods.gated() == []


@pytest.mark.spec("KUEUE-138")
async def test_gated_pods_survive_an_eviction(pods):
    """Given a group with a pod of which the gate has not been taken, when it is evicted, then that
    pod is not deleted."""
    await pods.add(member("a", count=2), member("b", count=2))
    workload = await pods.workload()
    await pods.evict(workload)
    assert await pods.all_names() == await pods.gated() == ["a", "b"]
    assert waiting(await pods.workload()) is None


@pytest.mark.spec("KUEUE-140")
@pytest.mark.parametrize("other", [{"labels": {names.QUEUE_LABEL: "x"}}, {"count": 2}])
async def test_members_that_disagree(pods, other):
    """Given a group of which one pod names another queue or count, when it is whole, then there is
    no Workload."""
    await pods.add(member("a"), member("b"), member("c", **other))
    assert await pods.workloads() == []
    assert await pods.gated() == ["a", "b", "c"]


@pytest.mark.spec("KUEUE-142")
@pytest.mark.parametrize(("count", "made"), [(18, 1), (19, 0)])
async def test_roles(pods, count, made):
    """Given a group, when it has 18 roles, then there is a Workload; with 19 there is none."""
    await pods.add(*(member(f"p{place}", count=count, cpu=f"{place + 1}m") for place in range(count)))
    assert len(await pods.workloads()) == made


@pytest.mark.spec("KUEUE-143")
async def test_fast_admission(pods):
    """Given a group of three that is admitted fast, when its first pod is there, then there is a
    Workload for three, and pods that come after the admission run at once."""
    fast = {FAST: "true"}
    await pods.add(member("a", annotations=fast))
    workload = await pods.workload()
    assert [each["count"] for each in workload["spec"]["podSets"]] == [3]
    await pods.admit(workload)
    assert await pods.gated() == []
    await pods.add(member("b", annotations=fast), member("c", annotations=fast))
    assert await pods.gated() == []
    assert sorted(each["name"] for each in (await pods.workload())["metadata"]["ownerReferences"]) == ["a", "b", "c"]
    assert waiting(await pods.workload()) is None
    await pods.add(member("x", annotations=fast, cpu="1"))
    assert await pods.gated() == ["x"]


@pytest.mark.spec("KUEUE-144")
async def test_a_group_that_serves(pods):
    """Given a group that serves, when its pods end, then it goes on, gives nothing back, and takes
    replacements; it ends when its pods are deleted."""
    serving = {SERVING: "true"}
    await running(pods, 1, annotations=serving)
    await pods.says("p0", "Succeeded")
    workload = await pods.workload()
    assert condition_of(workload, "Finished") is None
    assert "reclaimablePods" not in workload["status"]
    await pods.remove("p0")
    await pods.add(member("r", count=1, annotations=serving))
    assert await pods.gated() == []
    assert condition_of(await pods.workload(), "Finished") is None


@pytest.mark.spec("KUEUE-146")
async def test_a_deleted_workload_takes_the_pods_along(pods):
    """Given a running group of which one pod has succeeded, when its Workload is deleted, then all
    its pods are, and nothing holds them."""
    await running(pods)
    await pods.says("p0", "Succeeded")
    await pods.client.delete(names.WORKLOADS, "g", NAMESPACE)
    await pods.advance(31)
    assert await pods.all_names() == []
    assert await pods.workloads() == []


@pytest.mark.spec("KUEUE-146")
async def test_deleted_pods_stay_until_they_are_replaced(pods):
    """Given a running group, when all its pods are deleted, then they and the Workload stay, until
    that is deleted."""
    await running(pods, 2)
    await pods.remove("p0")
    await pods.remove("p1")
    assert await pods.all_names() == ["p0", "p1"]
    assert waiting(await pods.workload()) == ("True", "PodsFailed", NEEDED)
    await pods.client.delete(names.WORKLOADS, "g", NAMESPACE)
    await pods.advance(1)
    assert (await pods.all_names(), await pods.workloads()) == ([], [])


@pytest.mark.spec("KUEUE-147")
async def test_a_foreign_workload_of_the_groups_name(pods):
    """Given a Workload of the group's name that somebody else made, when the group is there, then
    its own takes that one's place."""
    foreign = {
        "metadata": {"name": "g", "namespace": NAMESPACE}, "spec": {"queueName": "x", "podSets": [{
            "name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "c", "image": "a"}]}}}]}}
    await pods.client.create(names.WORKLOADS, foreign)
    await pods.add(member("a", count=1))
    workload = await pods.workload()
    assert workload["spec"]["queueName"] == "q"
    assert [each["name"] for each in workload["spec"]["podSets"]] != ["main"]


@pytest.mark.spec("KUEUE-147")
async def test_a_prebuilt_workload_is_adopted(pods):
    """Given a Workload of the group's name with the group's role, when its pods name it, then they
    own it."""
    tried = await pods.client.create(PODS, member("a", count=1), dry_run=True)
    role = tried["metadata"]["annotations"][names.ROLE_HASH_ANNOTATION]
    spec = {"containers": [{"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "100m"}}}]}
    await pods.client.create(names.WORKLOADS, {
        "metadata": {"name": "g", "namespace": NAMESPACE, "annotations": {names.IS_GROUP_WORKLOAD_ANNOTATION: "true"}},
        "spec": {"queueName": "q", "podSets": [{"name": role, "count": 1, "template": {"spec": spec}}]}})
    await pods.add(member("a", count=1, labels={names.PREBUILT_WORKLOAD_LABEL: "g"}))
    workload = await pods.client.get(names.WORKLOADS, "g", NAMESPACE)
    assert [each["name"] for each in workload["metadata"]["ownerReferences"]] == ["a"]
    await pods.admit(workload)
    assert await pods.gated() == []


@pytest.mark.spec("KUEUE-148")
async def test_a_group_named_by_annotations(pods):
    """Given pods that name their group in an annotation, when they are there, then they are one
    group."""
    made = [member(name, count=2, annotations={names.POD_GROUP_NAME_ANNOTATION: "g"}) for name in "ab"]
    for each in made:
        del each["metadata"]["labels"][names.POD_GROUP_NAME_LABEL]
    await pods.add(*made)
    assert (await pods.workload())["metadata"]["name"] == "g"


async def test_a_single_pod_joins_a_group(pods):
    """Given a single pod that waits and a group that lacks one, when it is put into the group, then
    the group is whole."""
    alone = member("b", count=2)
    del alone["metadata"]["labels"][names.POD_GROUP_NAME_LABEL], alone["metadata"]["annotations"]
    await pods.add(member("a", count=2), alone)
    body = {"metadata": {
        "labels": {names.POD_GROUP_NAME_LABEL: "g"}, "annotations": {names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "2"}}}
    await pods.client.patch(PODS, "b", NAMESPACE, body)
    await pods.advance(1)
    assert "g" in [each["metadata"]["name"] for each in await pods.workloads()]


@pytest.mark.spec("KUEUE-150")
async def test_a_group_that_kueue_deactivates(pods):
    """Given a running group, when its Workload is deactivated for want of ready pods, then its pods
    are deleted and the reason is on them."""
    await running(pods, 2)
    await pods.evict(await pods.workload(), "DeactivatedDueToRequeuingLimitExceeded", "too often")
    targets = [each for each in (await pods.pod("p0"))["status"]["conditions"] if each["type"] == "TerminationTarget"]
    assert targets[0]["reason"] == "WorkloadEvictedDueToDeactivatedDueToRequeuingLimitExceeded"
    assert await pods.told("p0", "Stopped") == ["too often"]
