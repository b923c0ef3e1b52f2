"""Jobs in queues with quotas, elastic ones above all: who runs with how many pods."""

import pytest

from fakekube.client.resources import JOBS, NAMESPACES, PODS
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.configuration import Configuration, WorkloadRetentionPolicy
from fakekube_controllers.kueue.features import Features
from tests.controllers.kueue.jobs.conftest import QUEUE
from tests.controllers.kueue.jobs.queues import queues
from tests.controllers.world import NAMESPACE, is_active

REPLACED = "WorkloadSliceReplaced"
CLASS = names.WORKLOAD_PRIORITY_CLASS_LABEL
PREEMPTION = {"withinClusterQueue": "LowerPriority"}


@pytest.fixture
async def kueue():
    async with queues() as made:
        yield made


async def classes(kueue, **values):
    for name, value in values.items():
        await kueue.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})


async def running(kueue, name="j"):
    """How many pods of a Job run, not held by a gate."""
    listed = (await kueue.client.list(PODS, NAMESPACE, label_selector=f"job-name={name}")).items
    return sum(is_active(each) and not pods.has_gate(each, names.ELASTIC_JOB_GATE) for each in listed)


@pytest.mark.spec("KUEUE-096")
async def test_a_queue_of_another_namespace_is_another_queue(kueue):
    """Given a LocalQueue in one namespace When a Job of another names it Then it waits."""
    await kueue.client.create(NAMESPACES, {"metadata": {"name": "other"}})
    await kueue.queue(5, namespace="other")
    await kueue.submit("j", 1)
    assert await kueue.slices() == [(1, "pending")]
    assert (await kueue.job())["spec"]["suspend"] is True


@pytest.mark.spec("KUEUE-098")
@pytest.mark.parametrize(("seconds", "left"), [(1.0, 0), (None, 1)])
async def test_finished_workloads_are_kept_as_long_as_they_are_to_be(seconds, left):
    """Given a retention of a second, or none When a Job has ended Then its Workload is deleted a
    second later, or never."""
    configuration = Configuration(workload_retention=WorkloadRetentionPolicy(after_finished_seconds=seconds))
    async with queues(configuration) as kueue:
        await kueue.queue(5)
        await kueue.submit("j", 1, completions=1, annotations={})
        await kueue.succeed(*await kueue.active())
        await kueue.settle()
        await kueue.advance(0.5)
        assert len(await kueue.workloads()) == 1
        await kueue.advance(5)
        assert len(await kueue.workloads()) == left


@pytest.mark.spec("KUEUE-103")
async def test_the_new_slice_is_admitted_before_the_old_one_is_finished(kueue):
    """Given an elastic Job that runs When it grows Then whoever watches sees the new slice admitted
    before the old one finished, and the Job never suspended."""
    await kueue.queue(6)
    await kueue.submit("j", 2)
    seen = []
    async with await kueue.client.watch(names.WORKLOADS, NAMESPACE) as events:
        await kueue.scale(4)
        while not any(state == REPLACED for _, state in seen):
            event = await anext(aiter(events))
            conditions = {each["type"]: each for each in (event.object.get("status") or {}).get("conditions") or ()}
            size = event.object["spec"]["podSets"][0]["count"]
            if "Finished" in conditions:
                seen.append((size, conditions["Finished"]["reason"]))
            elif "Admitted" in conditions:
                seen.append((size, "admitted"))
    assert seen.index((4, "admitted")) < seen.index((2, REPLACED))
    assert await kueue.events("Stopped") == []
    assert (await kueue.usage(), await running(kueue)) == ([4], 4)


@pytest.mark.spec("KUEUE-109")
async def test_many_changes_of_size_leave_one_slice(kueue):
    """Given an elastic Job When its size goes up and down ten times with no time between Then one
    slice is left, and uses what the last size asks for."""
    await kueue.queue(9)
    await kueue.submit("j", 2)
    for size in (5, 3, 7, 1, 8, 2, 6, 4, 9, 3):
        await kueue.client.patch(JOBS, "j", NAMESPACE, {"spec": {"parallelism": size}})
    await kueue.advance(5)
    assert [each for each in await kueue.slices() if each[1] != REPLACED] == [(3, "admitted")]
    assert (await kueue.usage(), await running(kueue)) == ([3], 3)


@pytest.mark.spec("KUEUE-105")
@pytest.mark.spec("KUEUE-106")
@pytest.mark.spec("KUEUE-107")
async def test_a_job_that_outgrows_its_quota_goes_on_as_it_is(kueue):
    """Given an elastic Job of three with quota for five When it is to have seven, then six, and
    then two Then it goes on with three, is told how much is missing, and in the end has two."""
    await kueue.queue(5)
    await kueue.submit("j", 3)
    await kueue.scale(7)
    assert await kueue.slices() == [(3, "admitted"), (7, "pending")]
    assert "insufficient unused quota for cpu in flavor q1, 200m more needed" in await kueue.message()
    assert (await running(kueue), await kueue.usage()) == (3, [3])
    await kueue.scale(6)
    assert "100m more needed" in await kueue.message()
    await kueue.scale(2)
    assert await kueue.slices() == [(3, REPLACED), (2, "admitted")]
    assert (await running(kueue), await kueue.usage()) == (2, [2])


@pytest.mark.spec("KUEUE-110")
async def test_a_slice_stays_on_its_flavor(kueue):
    """Given an elastic Job on the first of two flavors When it grows beyond that Then it waits,
    though the second one has room."""
    await kueue.queue(3, 9)
    await kueue.submit("j", 3)
    await kueue.scale(5)
    assert await kueue.slices() == [(3, "admitted"), (5, "pending")]
    assert "could not assign q2 flavor since the original workload is assigned: q1" in await kueue.message()


@pytest.mark.spec("KUEUE-111")
async def test_what_one_job_gives_back_another_one_gets(kueue):
    """Given two elastic Jobs of three with quota for five When the first one shrinks to one Then
    the second one runs."""
    await kueue.queue(5)
    await kueue.submit("a", 3)
    await kueue.submit("b", 3)
    assert (await kueue.slices("a"), await kueue.slices("b")) == ([(3, "admitted")], [(3, "pending")])
    await kueue.scale(1, "a")
    assert (await kueue.slices("a"), await kueue.slices("b")) == ([(1, "admitted")], [(3, "admitted")])
    assert await kueue.usage() == [4]


@pytest.mark.spec("KUEUE-112")
async def test_a_job_that_grows_preempts_others_and_not_itself(kueue):
    """Given an elastic Job of high priority beside one of low priority When it grows into what the
    other one has Then that is evicted, and no slice of its own."""
    await kueue.queue(5, preemption=PREEMPTION)
    await classes(kueue, low=1, high=9)
    await kueue.submit("victim", 2, labels=QUEUE | {CLASS: "low"})
    await kueue.submit("j", 3, labels=QUEUE | {CLASS: "high"})
    await kueue.scale(5)
    await kueue.advance(5)
    assert await kueue.slices() == [(3, REPLACED), (5, "admitted")]
    (victim,) = [each for each in await kueue.workloads() if each["metadata"]["ownerReferences"][0]["name"] == "victim"]
    assert [each["reason"] for each in victim["status"]["schedulingStats"]["evictions"]] == ["Preempted"]
    for each in await kueue.workloads():
        if each is not victim and each["metadata"]["name"] != victim["metadata"]["name"]:
            assert "schedulingStats" not in each["status"]
    assert await kueue.usage() == [5]


@pytest.mark.spec("KUEUE-113")
async def test_a_job_that_waits_to_grow_may_be_preempted(kueue):
    """Given an elastic Job of three that waits for six of five When one of higher priority needs
    three Then the old slice is evicted and finished, and the other Job runs."""
    await kueue.queue(5, preemption=PREEMPTION)
    await classes(kueue, low=1, high=9)
    await kueue.submit("j", 3, labels=QUEUE | {CLASS: "low"})
    await kueue.scale(6)
    await kueue.submit("high", 3, labels=QUEUE | {CLASS: "high"})
    await kueue.advance(5)
    assert await kueue.slices("high") == [(3, "admitted")]
    assert await kueue.slices() == [(3, REPLACED), (6, "pending")]
    assert await kueue.usage() == [3]
    evictions = [each["status"].get("schedulingStats", {}).get("evictions", []) for each in await kueue.workloads()]
    assert sum(each["count"] for found in evictions for each in found) == 1


@pytest.mark.spec("KUEUE-122")
async def test_both_slices_have_the_priority_of_their_job(kueue):
    """Given a slice that waits behind another When the Job names another class Then both have its
    priority; a class that is not there changes neither."""
    await kueue.queue(5)
    await classes(kueue, low=1, high=9)
    await kueue.submit("j", 3, labels=QUEUE | {CLASS: "low"})
    await kueue.scale(7)
    await kueue.label_job(labels={CLASS: "high"})
    assert [each["spec"]["priority"] for each in await kueue.workloads()] == [9, 9]
    await kueue.label_job(labels={CLASS: "none"})
    assert [each["spec"]["priority"] for each in await kueue.workloads()] == [9, 9]


@pytest.mark.spec("KUEUE-122")
async def test_no_class_is_added_to_a_slice_with_quota(kueue):
    """Given an evicted elastic Job without a class, whose slice has quota When the Job is given one
    Then that is passed over, and the Job goes on."""
    await kueue.queue(5)
    await classes(kueue, high=9)
    await kueue.submit("j", 3)
    workload = await kueue.workload()
    await kueue.client.patch(JOBS, "j", NAMESPACE, {"spec": {"suspend": True}, "metadata": {"labels": {CLASS: "high"}}})
    await kueue.advance(15)
    assert (await kueue.workload())["metadata"]["uid"] == workload["metadata"]["uid"]
    assert "priorityClassRef" not in (await kueue.workload())["spec"]
    assert ((await kueue.job())["spec"]["suspend"], await running(kueue)) == (False, 3)


@pytest.mark.spec("KUEUE-127")
async def test_without_the_gate_an_elastic_job_is_a_job_like_any_other():
    """Given a Kueue without slices When an annotated Job that runs changes its size Then it is
    stopped, and has a new Workload."""
    async with queues(Configuration(features=Features(ElasticJobsViaWorkloadSlices=False))) as kueue:
        await kueue.queue(5)
        await kueue.submit("j", 2)
        before = await kueue.workload()
        assert before["metadata"].get("annotations") is None
        assert len(await kueue.active()) == 2
        await kueue.scale(4)
        await kueue.advance(30)
        after = await kueue.workload()
        assert after["metadata"]["uid"] != before["metadata"]["uid"]
        assert (await kueue.slices(), len(await kueue.active())) == ([(4, "admitted")], 4)
        assert len(await kueue.events("Stopped")) == 1


@pytest.mark.spec("KUEUE-120")
async def test_a_drained_queue_takes_the_same_slice_up_again(kueue):
    """Given an elastic Job that has grown When its queue is drained and goes on Then the same slice
    is admitted again, with the same name of the chain, and there are two Workloads."""
    await kueue.queue(6)
    await kueue.submit("j", 2)
    await kueue.scale(4)
    chain = (await kueue.job())["spec"]["template"]["metadata"]["annotations"][names.WORKLOAD_SLICE_NAME_ANNOTATION]
    await kueue.client.patch(names.CLUSTER_QUEUES, "q", body={"spec": {"stopPolicy": "HoldAndDrain"}})
    await kueue.advance(15)
    assert await kueue.slices() == [(2, REPLACED), (4, "evicted")]
    assert ((await kueue.job())["spec"]["suspend"], await kueue.usage()) == (True, [0])
    await kueue.client.patch(names.CLUSTER_QUEUES, "q", body={"spec": {"stopPolicy": "None"}})
    await kueue.advance(15)
    assert await kueue.slices() == [(2, REPLACED), (4, "admitted")]
    annotations = (await kueue.job())["spec"]["template"]["metadata"]["annotations"]
    assert annotations[names.WORKLOAD_SLICE_NAME_ANNOTATION] == chain
    assert await running(kueue) == 4
