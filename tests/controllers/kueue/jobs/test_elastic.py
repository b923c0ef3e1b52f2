"""A Job that changes its size while it runs: slices take each other's place."""

import pytest

from fakekube.client.resources import JOBS
from fakekube_controllers.kueue import names, pods
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.world import NAMESPACE

ELASTIC = {names.ELASTIC_JOB_ANNOTATION: "true"}


@pytest.fixture
async def elastic(jobs):
    """A Job of three pods that runs."""
    await jobs.create(parallelism=3, completions=20, annotations=ELASTIC)
    await jobs.admit(await jobs.workload())
    await jobs.advance(2)
    return jobs


async def gated(jobs):
    """The names of the active pods that wait, in order."""
    return sorted(each["metadata"]["name"] for each in await jobs.active() if pods.has_gate(each, names.ELASTIC_JOB_GATE))


async def sizes(jobs):
    """(size, has quota, is finished) of all slices."""
    return [
        (each["spec"]["podSets"][0]["count"], (condition_of(each, "QuotaReserved") or ("False",))[0] == "True",
         (condition_of(each, "Finished") or ("False",))[0] == "True") for each in await jobs.workloads()]


async def scale(jobs, parallelism):
    await jobs.change_job(parallelism=parallelism)
    await jobs.advance(2)


@pytest.mark.spec("KUEUE-100")
async def test_an_elastic_job_waits_behind_a_gate(jobs):
    """Given an elastic Job of three When it is created and admitted Then its Workload begins a
    chain, its pods are made with a gate, and all of them lose it."""
    job = await jobs.create(parallelism=3, annotations=ELASTIC)
    workload = await jobs.workload()
    name = workload["metadata"]["name"]
    assert job["spec"]["template"]["spec"]["schedulingGates"] == [{"name": names.ELASTIC_JOB_GATE}]
    assert workload["metadata"]["annotations"] == ELASTIC | {names.WORKLOAD_SLICE_NAME_ANNOTATION: name}
    await jobs.admit(workload)
    await jobs.advance(2)
    assert (len(await jobs.active()), await gated(jobs)) == (3, [])


@pytest.mark.spec("KUEUE-101")
async def test_a_job_that_shrinks_keeps_its_slice(elastic):
    """Given an elastic Job of three that runs When it is to have one Then its slice has one, and
    there is no other."""
    before = await elastic.workload()
    await scale(elastic, 1)
    after = await elastic.workload()
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["podSets"][0]["count"] == 1
    assert after["status"]["admission"] == before["status"]["admission"]
    assert (await elastic.job())["spec"]["suspend"] is False


@pytest.mark.spec("KUEUE-102")
@pytest.mark.spec("KUEUE-105")
async def test_a_job_that_grows_has_a_slice_that_waits(elastic):
    """Given an elastic Job of three that runs When it is to have five Then a second slice of five
    names the first, which goes on, and two pods wait; when it is admitted and the first one is
    finished, they run too, and the Job was never suspended."""
    first = await elastic.workload()
    await scale(elastic, 5)
    old, new = await elastic.workloads()
    assert old["metadata"]["uid"] == first["metadata"]["uid"]
    assert new["metadata"]["annotations"] == ELASTIC | {
        names.WORKLOAD_SLICE_NAME_ANNOTATION: first["metadata"]["name"],
        names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION: f"{NAMESPACE}/{first['metadata']['name']}"}
    assert await sizes(elastic) == [(3, True, False), (5, False, False)]
    assert len(await gated(elastic)) == 2
    await elastic.admit(new)
    await elastic.advance(2)
    assert await sizes(elastic) == [(3, True, True), (5, True, False)]
    assert (len(await elastic.active()), await gated(elastic)) == (5, [])
    assert await elastic.events("Stopped") == []


@pytest.mark.spec("KUEUE-104")
async def test_the_job_finishes_a_slice_that_nobody_else_does(elastic):
    """Given a slice whose replacement was admitted When the scheduler does not finish it Then the
    next reconcile of the Job does, in its own words."""
    await scale(elastic, 4)
    old, new = await elastic.workloads()
    await elastic.admit(new)
    await elastic.label_job(labels={"touched": "yes"})
    found = {each["metadata"]["name"]: each for each in await elastic.workloads()}
    assert condition_of(found[old["metadata"]["name"]], "Finished") == (
        "True", "WorkloadSliceReplaced", "Replaced to accommodate a new workload slice")


@pytest.mark.spec("KUEUE-106")
@pytest.mark.spec("KUEUE-107")
@pytest.mark.parametrize("parallelism", [6, 4, 3, 2])
async def test_a_slice_that_waits_is_changed_in_place(elastic, parallelism):
    """Given a slice of five that waits to take the place of three When the Job is to have another
    size, even that of before or less Then the same slice has it."""
    await scale(elastic, 5)
    before = [each["metadata"]["uid"] for each in await elastic.workloads()]
    await scale(elastic, parallelism)
    assert [each["metadata"]["uid"] for each in await elastic.workloads()] == before
    assert await sizes(elastic) == [(3, True, False), (parallelism, False, False)]


@pytest.mark.spec("KUEUE-108")
@pytest.mark.parametrize("parallelism", [1, 7])
async def test_a_first_slice_that_waits_is_changed_in_place(jobs, parallelism):
    """Given an elastic Job that has no quota yet When it is to have another size Then its slice
    has it."""
    await jobs.create(parallelism=3, annotations=ELASTIC)
    before = await jobs.workload()
    await scale(jobs, parallelism)
    after = await jobs.workload()
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["podSets"][0]["count"] == parallelism


@pytest.mark.spec("KUEUE-115")
async def test_no_more_pods_run_than_were_granted(elastic):
    """Given an elastic Job of five with quota for three When a pod succeeds Then the lowest name of
    those that wait runs in its place."""
    await scale(elastic, 5)
    waiting = await gated(elastic)
    before = [each["metadata"]["name"] for each in await elastic.active() if each["metadata"]["name"] not in waiting]
    await elastic.succeed(next(each for each in await elastic.active() if each["metadata"]["name"] == before[0]))
    await elastic.advance(2)
    left = await gated(elastic)
    running = [each["metadata"]["name"] for each in await elastic.active() if each["metadata"]["name"] not in left]
    (started,) = set(running) - set(before)
    assert len(running) == 3
    assert started < left[0]


@pytest.mark.spec("KUEUE-116")
async def test_a_pod_made_later_counts_against_what_is_granted_then(elastic):
    """Given an elastic Job of four whose replacement was admitted When one of its pods is deleted
    Then that which is made in its place runs."""
    await scale(elastic, 4)
    _, new = await elastic.workloads()
    await elastic.admit(new)
    await elastic.delete_pods((await elastic.active())[0])
    await elastic.advance(15)
    assert (len(await elastic.active()), await gated(elastic)) == (4, [])


@pytest.mark.spec("KUEUE-117")
async def test_pods_run_though_the_first_slice_is_gone(elastic):
    """Given a chain whose first slice is deleted after its replacement was admitted When a pod is
    made Then it runs."""
    await scale(elastic, 4)
    old, new = await elastic.workloads()
    await elastic.admit(new)
    await elastic.client.delete(names.WORKLOADS, old["metadata"]["name"], NAMESPACE)
    await elastic.change_workload(
        await elastic.client.get(names.WORKLOADS, old["metadata"]["name"], NAMESPACE),
        lambda changed: changed["metadata"].pop("finalizers"))
    await elastic.delete_pods((await elastic.active())[0])
    await elastic.advance(15)
    assert (len(await elastic.workloads()), len(await elastic.active()), await gated(elastic)) == (1, 4, [])


@pytest.mark.spec("KUEUE-118")
async def test_no_pod_runs_of_a_slice_on_its_way_out(elastic):
    """Given a slice that is evicted and has quota still When a pod waits Then it waits on."""
    await scale(elastic, 5)
    waiting = await gated(elastic)
    old, _ = await elastic.workloads()
    await elastic.evict(old, reason="Preempted")
    await elastic.advance(2)
    assert set(await gated(elastic)) <= set(waiting)
    assert len(await gated(elastic)) == len(waiting)


@pytest.mark.spec("KUEUE-119")
async def test_no_pod_runs_before_all_checks_are_ready(elastic):
    """Given a slice that has quota, and a check that is pending When pods wait for it Then they go
    on waiting until it is admitted."""
    await scale(elastic, 5)
    _, new = await elastic.workloads()

    def reserve(changed):
        changed["status"]["admissionChecks"] = [
            {"name": "c", "state": "Pending", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]

    await elastic.write_status(new, reserve)
    await elastic.admit(await elastic.client.get(names.WORKLOADS, new["metadata"]["name"], NAMESPACE))
    await elastic.advance(2)
    assert len(await gated(elastic)) == 2

    def ready(changed):
        changed["status"]["admissionChecks"][0]["state"] = "Ready"

    await elastic.write_status(await elastic.client.get(names.WORKLOADS, new["metadata"]["name"], NAMESPACE), ready)
    await elastic.admit(await elastic.client.get(names.WORKLOADS, new["metadata"]["name"], NAMESPACE))
    await elastic.advance(2)
    assert await gated(elastic) == []


@pytest.mark.spec("KUEUE-120")
async def test_a_chain_outlives_an_eviction(elastic):
    """Given an elastic Job that was scaled up and runs When its slice is evicted and admitted
    Then it is the same slice, with the same name of the chain in the template."""
    await scale(elastic, 4)
    _, new = await elastic.workloads()
    await elastic.admit(new)
    template = (await elastic.job())["spec"]["template"]["metadata"]["annotations"]
    new = next(each for each in await elastic.workloads() if each["metadata"]["uid"] == new["metadata"]["uid"])
    await elastic.evict(new, reason="ClusterQueueStopped")
    await elastic.advance(2)
    assert (await elastic.job())["spec"]["suspend"] is True
    assert len(await elastic.workloads()) == 2
    new = next(each for each in await elastic.workloads() if each["metadata"]["uid"] == new["metadata"]["uid"])
    await elastic.admit(new)
    await elastic.advance(2)
    again = (await elastic.job())["spec"]["template"]["metadata"]["annotations"]
    assert len(await elastic.workloads()) == 2
    assert again[names.WORKLOAD_SLICE_NAME_ANNOTATION] == template[names.WORKLOAD_SLICE_NAME_ANNOTATION]
    assert (len(await elastic.active()), await gated(elastic)) == (4, [])


@pytest.mark.spec("KUEUE-121")
async def test_a_slice_deleted_by_hand_begins_a_new_chain(elastic):
    """Given an elastic Job that runs When its slice is deleted Then it stops, a new chain begins,
    and once admitted its template names that one."""
    old = await elastic.workload()
    await scale(elastic, 2)
    await elastic.client.delete(names.WORKLOADS, old["metadata"]["name"], NAMESPACE)
    await elastic.advance(3)
    assert (await elastic.job())["spec"]["suspend"] is True
    new = await elastic.workload()
    assert new["metadata"]["annotations"][names.WORKLOAD_SLICE_NAME_ANNOTATION] == new["metadata"]["name"]
    assert new["metadata"]["name"] != old["metadata"]["name"]
    await elastic.admit(new)
    await elastic.advance(2)
    annotations = (await elastic.job())["spec"]["template"]["metadata"]["annotations"]
    assert annotations[names.WORKLOAD_SLICE_NAME_ANNOTATION] == new["metadata"]["name"]
    assert condition_of(await elastic.workload(), "Finished") is None


@pytest.mark.spec("KUEUE-123")
async def test_what_is_reclaimed_is_no_more_than_the_slice(jobs):
    """Given an elastic Job of eight indexes of which four are done When it is scaled to three Then
    all three are given back, and the Job is looked at on."""
    await jobs.create(
        parallelism=8, completions=8, completionMode="Indexed", annotations=ELASTIC | {
            names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION: "true"})
    await jobs.admit(await jobs.workload())
    await jobs.advance(2)
    by_index = await jobs.by_index()
    await jobs.succeed(*[by_index[index] for index in range(4)])
    await jobs.advance(2)
    assert (await jobs.workload())["status"]["reclaimablePods"] == [{"name": "main", "count": 4}]
    await jobs.client.patch(JOBS, "j", NAMESPACE, {"spec": {"parallelism": 3, "completions": 3}})
    await jobs.advance(3)
    workload = await jobs.workload()
    assert workload["spec"]["podSets"][0]["count"] == 3
    assert workload["status"]["reclaimablePods"] == [{"name": "main", "count": 3}]
