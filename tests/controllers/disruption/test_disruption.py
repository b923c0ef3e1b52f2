"""PodDisruptionBudgets: what they count, and what an eviction makes of it."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS
from tests.controllers.world import NAMESPACE, World, condition, job_manifest, manual_cluster, pod_template

CONTROLLERS = "disruption,namespace,serviceaccount,garbagecollector"


@pytest.fixture
async def world():
    async with manual_cluster(CONTROLLERS) as cluster:
        yield World(cluster)


async def create_pods(world, *names, owner=None, ready=True, labels=None):
    for name in names:
        metadata = {"name": name, "namespace": NAMESPACE, "labels": labels or {"app": "x"}}
        if owner is not None:
            metadata["ownerReferences"] = [{
                "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "controller": True}]
        made = await world.client.create(PODS, {"metadata": metadata, "spec": {**pod_template()["spec"], "nodeName": "n"}})
        await world.run(made, ready=ready)
    await world.settle()


async def create_budget(world, name="b", **spec):
    await world.client.create(POD_DISRUPTION_BUDGETS, {
        "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"selector": {"matchLabels": {"app": "x"}}, **spec}})
    await world.settle()


async def budget(world, name="b"):
    return await world.client.get(POD_DISRUPTION_BUDGETS, name, NAMESPACE)


async def counts(world):
    """expected, desired, healthy, allowed."""
    status = (await budget(world))["status"]
    return tuple(status[key] for key in ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"))


async def replica_set(world, replicas, name="r", kind="ReplicaSet"):
    template = {**pod_template("Always"), "metadata": {"labels": {"app": "x"}}}
    return await world.client.create(REPLICA_SETS, {
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "x"}}, "template": template}})


async def test_a_number_of_pods(world):
    """Given two of three pods are to be available / when one after the other is ready / then none
    may go, none, none, one.
    """
    await create_budget(world, minAvailable=2)
    assert await counts(world) == (0, 2, 0, 0)
    assert (await world.events("b"))[0] == ("Normal", "NoPods", "No matching pods found")
    await create_pods(world, "p1", "p2", "p3", ready=False)
    assert await counts(world) == (3, 2, 0, 0)
    for number, allowed in enumerate((0, 0, 1), 1):
        await world.run(await world.client.get(PODS, f"p{number}", NAMESPACE))
        await world.settle()
        assert await counts(world) == (3, 2, number, allowed)
    found = condition(await budget(world), "DisruptionAllowed")
    assert (found["status"], found["reason"], found["message"], found["observedGeneration"]) == ("True", "SufficientPods", "", 1)
    assert (await budget(world))["status"]["observedGeneration"] == 1


@pytest.mark.parametrize(("spec", "expected"), [
    ({"maxUnavailable": 1}, (4, 3, 3, 0)),
    ({"maxUnavailable": "50%"}, (4, 2, 3, 1)),
    ({"maxUnavailable": "30%"}, (4, 2, 3, 1)),
    ({"minAvailable": "50%"}, (4, 2, 3, 1)),
    ({"minAvailable": "51%"}, (4, 3, 3, 0)),
    ({"maxUnavailable": 9}, (4, 0, 3, 3)),
    ({"minAvailable": 2}, (3, 2, 3, 1)),
])
async def test_a_share_is_one_of_what_there_should_be(world, spec, expected):
    """Given a ReplicaSet of four with three pods, all ready / when a budget speaks of shares, or of
    what may be missing / then it counts from four, shares rounded up; a plain number is one of the
    three that there are.
    """
    owner = await replica_set(world, 4)
    await create_pods(world, "p1", "p2", "p3", owner=owner)
    await create_budget(world, **spec)
    assert await counts(world) == expected


async def test_nobody_scales_pods_without_a_controller(world):
    """Given pods of their own / when a budget speaks of what may be missing / then none may go, and
    a warning tells why.
    """
    await create_pods(world, "p1", "p2")
    await create_budget(world, maxUnavailable=1)
    assert await counts(world) == (0, 0, 2, 0)
    kind, reason, text = (await world.events("b"))[0]
    assert (kind, reason) == ("Warning", "UnmanagedPods")
    shown = "&LabelSelector{MatchLabels:map[string]string{app: x,},MatchExpressions:[]LabelSelectorRequirement{},}"
    assert f"(selector: {shown})" in text


async def test_a_job_has_no_scale(world):
    """Given the pod of a Job / when a budget speaks of shares / then nothing may go, and condition
    and Event say that a Job has no scale; a plain number works.
    """
    job = await world.client.create(JOBS, job_manifest())
    await create_pods(world, "p1", owner={**job, "apiVersion": "batch/v1", "kind": "Job"})
    await create_budget(world, maxUnavailable=1)
    text = "jobs.batch does not implement the scale subresource"
    assert (await world.events("b"))[0] == (
        "Warning", "CalculateExpectedPodCountFailed", f"Failed to calculate the number of expected pods: {text}")
    found = condition(await budget(world), "DisruptionAllowed")
    assert (found["status"], found["reason"], found["message"]) == ("False", "SyncFailed", text)
    with pytest.raises(APIError) as refused:
        await world.client.evict("p1", NAMESPACE)
    assert refused.value.code == 429
    await world.client.delete(POD_DISRUPTION_BUDGETS, "b", NAMESPACE)
    await create_budget(world, minAvailable=0)
    assert await counts(world) == (1, 0, 1, 1)


async def test_an_owner_that_is_gone(world):
    """Given pods whose ReplicaSet is gone / when a budget speaks of shares / then it says that
    nobody controls the pod.
    """
    owner = await replica_set(world, 1)
    await world.client.delete(REPLICA_SETS, "r", NAMESPACE, propagation_policy="Orphan")
    await create_pods(world, "p1", owner={**owner, "metadata": {**owner["metadata"], "uid": "gone"}})
    await create_budget(world, minAvailable="50%")
    assert condition(await budget(world), "DisruptionAllowed")["message"] == 'found no controllers for pod "p1"'


@pytest.mark.spec("JOB-181")
async def test_evictions_take_turns(world):
    """Given two ready pods of which one is to stay / when both are evicted / then the first goes,
    marked as disrupted; the second is 429 and told why; once the first has been replaced, the
    second goes. What the server took from the budget it owns.
    """
    await create_pods(world, "p1", "p2")
    await create_budget(world, minAvailable=1)
    answer = await world.client.evict("p1", NAMESPACE)
    assert answer["status"] == "Success"
    await world.settle()
    owned = {entry["manager"]: entry["fieldsV1"] for entry in (await budget(world))["metadata"]["managedFields"]}
    assert "f:disruptionsAllowed" in owned["kube-apiserver"]["f:status"]
    going = await world.client.get(PODS, "p1", NAMESPACE)
    assert condition(going, "DisruptionTarget")["reason"] == "EvictionByEvictionAPI"
    assert "deletionTimestamp" in going["metadata"]
    assert await counts(world) == (2, 1, 1, 0)
    assert "disruptedPods" not in (await budget(world))["status"]
    with pytest.raises(APIError) as refused:
        await world.client.evict("p2", NAMESPACE)
    assert (refused.value.code, refused.value.reason) == (429, "TooManyRequests")
    assert refused.value.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert refused.value.causes == [{
        "reason": "DisruptionBudget", "message": "The disruption budget b needs 1 healthy pods and has 1 currently"}]
    await create_pods(world, "p3")
    await world.client.evict("p2", NAMESPACE)


@pytest.mark.spec("JOB-181")
async def test_a_pending_pod_and_two_budgets(world):
    """Given a budget that allows nothing / when a pending pod is evicted / then it goes; when there
    is a second budget, then the eviction of a running pod is 500 and an Event says that two budgets
    match.
    """
    await create_pods(world, "p1")
    await create_budget(world, minAvailable=5)
    await world.client.create(PODS, {
        "metadata": {"name": "pending", "namespace": NAMESPACE, "labels": {"app": "x"}},
        "spec": {**pod_template()["spec"], "schedulerName": "nobody"}})
    await world.client.evict("pending", NAMESPACE)
    await create_budget(world, "second", minAvailable=1)
    with pytest.raises(APIError) as refused:
        await world.client.evict("p1", NAMESPACE)
    assert refused.value.code == 500
    assert refused.value.message.startswith("This pod has more than one PodDisruptionBudget")
    await world.run(await world.client.get(PODS, "p1", NAMESPACE), ready=False)
    await world.settle()
    assert (await world.events("p1"))[-1] == (
        "Warning", "MultiplePodDisruptionBudgets",
        f'Pod "{NAMESPACE}"/"p1" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.')


@pytest.mark.parametrize(("policy", "goes"), [("AlwaysAllow", True), ("IfHealthyBudget", False)])
async def test_a_pod_that_is_not_ready(world, policy, goes):
    """Given one pod of two is not ready and both are to be / when that one is evicted / then the
    policy decides.
    """
    await create_pods(world, "p1")
    await create_pods(world, "p2", ready=False)
    await create_budget(world, minAvailable=2, unhealthyPodEvictionPolicy=policy)
    if goes:
        await world.client.evict("p2", NAMESPACE)
    else:
        with pytest.raises(APIError) as refused:
            await world.client.evict("p2", NAMESPACE)
        assert refused.value.code == 429


async def test_a_pod_that_was_to_go_and_did_not(world):
    """Given a budget that says that a pod is about to go / when that pod is there two minutes later
    / then it counts again, and a warning tells that it was not deleted.
    """
    await create_pods(world, "p1", "p2")
    await create_budget(world, minAvailable=1)
    assert await counts(world) == (2, 1, 2, 1)
    status = (await budget(world))["status"]
    now = world.cluster.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    await world.client.patch(
        POD_DISRUPTION_BUDGETS, "b", NAMESPACE, {"status": {**status, "disruptedPods": {"p1": now, "gone": now}}},
        subresource="status")
    await world.advance(60)
    assert await counts(world) == (2, 1, 1, 0)
    assert (await budget(world))["status"]["disruptedPods"] == {"p1": now}
    await world.advance(61)
    assert await counts(world) == (2, 1, 2, 1)
    assert "disruptedPods" not in (await budget(world))["status"]
    assert (await world.events("p1"))[-1] == (
        "Warning", "NotDeleted", "Pod was expected by PDB default/default to be deleted but it wasn't")


async def test_a_disruption_that_did_not_happen_is_taken_back(world):
    """Given a pod that says that it is about to go / when it has not gone after two minutes / then
    it says so no more.
    """
    await create_pods(world, "p1")
    pod = await world.client.get(PODS, "p1", NAMESPACE)
    now = world.cluster.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    await world.set_status(pod, conditions=[{
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "lastTransitionTime": now}])
    await world.advance(119)
    assert condition(await world.client.get(PODS, "p1", NAMESPACE), "DisruptionTarget")["status"] == "True"
    await world.advance(2)
    found = condition(await world.client.get(PODS, "p1", NAMESPACE), "DisruptionTarget")
    assert found["status"] == "False"
    assert "reason" not in found


async def test_what_cannot_be_counted_lets_nothing_go_until_it_can(world):
    """Given a budget of shares that allowed a disruption / when its pods get an owner that cannot
    be asked / then it allows none and says so, and the answer is not tried at once again.
    """
    await create_pods(world, "p1", "p2")
    await create_budget(world, minAvailable=1)
    assert await counts(world) == (2, 1, 2, 1)
    await world.client.patch(POD_DISRUPTION_BUDGETS, "b", NAMESPACE, {"spec": {"minAvailable": "50%"}})
    job = await world.client.create(JOBS, job_manifest())
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": job["metadata"]["uid"], "controller": True}
    for name in ("p1", "p2"):
        await world.client.patch(PODS, name, NAMESPACE, {"metadata": {"ownerReferences": [owner]}})
    await world.settle()
    found = await budget(world)
    assert (found["status"]["disruptionsAllowed"], set(found["status"]) & {"disruptionsAllowedx"}) == (0, set())
    assert condition(found, "DisruptionAllowed")["reason"] == "SyncFailed"
    written = found["metadata"]["resourceVersion"]
    await world.advance(30)
    assert (await budget(world))["metadata"]["resourceVersion"] == written
