"""Elastic Jobs under random changes of size, drains, deletions and restarts of Kueue."""

import asyncio

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakekube.client.resources import JOBS, PODS
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.workload import states
from tests.controllers.kueue.jobs.queues import queues
from tests.controllers.world import NAMESPACE, is_active

QUOTA = 8
JOBS_THERE = ("a", "b")
STEPS = st.one_of(
    st.tuples(st.just("scale"), st.sampled_from(JOBS_THERE), st.integers(1, QUOTA // 2)),
    st.tuples(st.just("scale"), st.sampled_from(JOBS_THERE), st.integers(1, 2 * QUOTA)),
    st.tuples(st.sampled_from(["restart", "drain", "resume"]), st.just(""), st.just(0)),
    st.tuples(st.sampled_from(["end a pod", "delete a pod", "delete a slice"]), st.sampled_from(JOBS_THERE), st.integers(0, 3)),
    st.tuples(st.just("wait"), st.just(""), st.sampled_from([0.4, 1.0, 3.0])))


async def slices_of(kueue, job):
    """The slices of a Job that have not finished."""
    return [
        each for each in await kueue.workloads()
        if each["metadata"]["ownerReferences"][0]["name"] == job and not states.is_finished(each)]


async def ungated(kueue, job):
    listed = (await kueue.client.list(PODS, NAMESPACE, label_selector=f"job-name={job}")).items
    return {
        each["metadata"]["name"] for each in listed if is_active(each) and not pods.has_gate(each, names.ELASTIC_JOB_GATE)}


async def take(kueue, step, job, number):
    """One step."""
    if step == "scale":
        await kueue.client.patch(JOBS, job, NAMESPACE, {"spec": {"parallelism": number}})
    elif step == "restart":
        await kueue.cluster.restart_controller("kueue")
    elif step in ("drain", "resume"):
        policy = "HoldAndDrain" if step == "drain" else "None"
        await kueue.client.patch(names.CLUSTER_QUEUES, "q", body={"spec": {"stopPolicy": policy}})
    elif step == "wait":
        await kueue.advance(number)
    elif step == "delete a slice":
        found = await slices_of(kueue, job)
        if found:
            name = found[number % len(found)]["metadata"]["name"]
            await kueue.client.delete(names.WORKLOADS, name, NAMESPACE)
    else:
        running = sorted(await ungated(kueue, job))
        if running:
            pod = await kueue.client.get(PODS, running[number % len(running)], NAMESPACE)
            await (kueue.succeed(pod) if step == "end a pod" else kueue.delete_pods(pod))


async def check(kueue, before):
    """What holds whenever nothing is in flight."""
    for job in JOBS_THERE:
        found = await slices_of(kueue, job)
        reserved = [each for each in found if states.has_quota_reservation(each) and not states.is_evicted(each)]
        assert len(reserved) <= 1, [each["metadata"]["name"] for each in reserved]
        assert len(found) - len(reserved) <= 1, [each["metadata"]["name"] for each in found]
        now = await ungated(kueue, job)
        if now - before[job]:
            assert len(now) <= reserved[0]["spec"]["podSets"][0]["count"]
        before[job] = now
    usage = sum(await kueue.usage())
    assert usage <= QUOTA
    return usage


async def play(steps):
    async with queues() as kueue:
        await kueue.queue(QUOTA)
        for job in JOBS_THERE:
            await kueue.submit(job, 2, completions=10_000)
        before = {job: await ungated(kueue, job) for job in JOBS_THERE}
        for step in steps:
            await take(kueue, *step)
            await kueue.settle()
            await check(kueue, before)
        for job, size in (("a", 3), ("b", 4)):
            await take(kueue, "scale", job, size)
        await take(kueue, "resume", "", 0)
        await kueue.advance(300)
        assert await check(kueue, before) == 7
        for job, size in (("a", 3), ("b", 4)):
            (left,) = await slices_of(kueue, job)
            assert (left["spec"]["podSets"][0]["count"], states.is_admitted(left)) == (size, True)
            assert len(await ungated(kueue, job)) == size


@settings(max_examples=6, deadline=None)
@example([("drain", "", 0), ("restart", "", 0)])  # a slice grew in the very moment of its admission
@given(st.lists(STEPS, max_size=8))
def test_usage_ends_at_the_last_size(steps):
    """Given two elastic Jobs When their sizes change at random, queues are drained, pods end,
    slices and pods are deleted, and Kueue is restarted Then a Job has at most one slice with quota
    and one that waits, no pod is let run beyond what is granted, no more than the quota is
    reserved, and in the end each Job runs as large as it was to be last.
    """
    asyncio.run(play(steps))
