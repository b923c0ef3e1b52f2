"""The scheduler in a cluster: Workloads are admitted, wait and are preempted, and time goes on."""

import pytest

from fakekube.apimachinery import meta
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world
from tests.controllers.kueue.scheduler.acting import finish, release

RESERVED = "Quota reserved in ClusterQueue cq"
NEEDS = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, {} more needed"
LOWER_PRIORITY = {"preemption": {"withinClusterQueue": "LowerPriority"}}


async def settled(of: World) -> None:
    await of.cluster.advance("3s")


async def admitted(of: World) -> list[str]:
    """The names of those that may run."""
    found = (await of.client.list(WORKLOADS, NAMESPACE)).items
    return sorted(meta.name_of(each) for each in found if meta.is_condition_true(each, "Admitted"))


async def reserved(of: World, name: str):
    return await of.condition(WORKLOADS, name, "QuotaReserved")


def attempts(of: World) -> float:
    """How many cycles admitted nothing."""
    return of.cluster.metrics.value("kueue_admission_attempts_total", result="inadmissible", replica_role="leader")


@pytest.mark.spec("KUEUE-036", "KUEUE-037")
async def test_what_fits_is_admitted_and_the_rest_waits() -> None:
    """Given five CPUs and three Workloads of two, when one ends, then the third is admitted, which
    was told what it lacked; one of six is told that it never fits.
    """
    async with world() as of:
        await of.queues("5")
        for name in ("a", "b", "c"):
            await of.workload(name, "2")
            await settled(of)
        assert await admitted(of) == ["a", "b"]
        assert await reserved(of, "a") == ("True", "QuotaReserved", RESERVED)
        assert await reserved(of, "c") == ("False", "Pending", NEEDS.format(1))
        assert ("Pending", NEEDS.format(1)) in await of.events("c")
        assert ("QuotaReserved", f"{RESERVED}, wait time since queued was 0s") in await of.events("a")
        assert ("Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 0s") in await of.events("a")
        await finish(of, "a")
        await settled(of)
        assert "c" in await admitted(of)
        await of.workload("six", "6")
        await settled(of)
        never = (
            "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor f, previously considered podsets "
            "requests (0) + current podset request (6) > maximum capacity (5)")
        assert await reserved(of, "six") == ("False", "Pending", never)


@pytest.mark.spec("KUEUE-038")
async def test_the_highest_priority_is_first_and_among_equals_the_oldest() -> None:
    """Given one slot, when three wait for it, then they get it by priority, and by age."""
    async with world() as of:
        await of.queues("1")
        for name, priority in (("first", 0), ("old", 0), ("young", 0), ("high", 5)):
            await of.workload(name, priority=priority)
            await settled(of)
        for name in ("first", "high", "old", "young"):
            assert await admitted(of) == [name]
            await finish(of, name)
            await of.client.delete(WORKLOADS, name, NAMESPACE)
            await settled(of)


@pytest.mark.spec("KUEUE-039")
@pytest.mark.parametrize(("strategy", "small"), [("StrictFIFO", []), ("BestEffortFIFO", ["small"])])
async def test_a_head_that_does_not_fit_holds_up_a_strict_queue_alone(strategy: str, small: list[str]) -> None:
    """Given a head that does not fit before one that does, then the strategy decides; time passes
    without another attempt, as nothing changed.
    """
    async with world() as of:
        await of.queues("2", queueingStrategy=strategy)
        await of.workload("runs", "1")
        await settled(of)
        await of.workload("big", "2", priority=1)
        await of.workload("small", "1")
        await settled(of)
        assert await admitted(of) == sorted(["runs", *small])
        assert await reserved(of, "big") == ("False", "Pending", NEEDS.format(1))
        before = attempts(of)
        await of.cluster.advance("20m")
        assert attempts(of) == before > 0
        if not small:
            assert await reserved(of, "small") is None
        await finish(of, "runs")
        await settled(of)
        assert "big" in await admitted(of) or small


async def test_a_head_that_is_told_nothing_new_lets_the_next_one_try() -> None:
    """Given some that never fit before one that waits, when quota is freed, then those are tried
    again in vain, without a word, and that one is admitted.
    """
    async with world() as of:
        await of.queues("2")
        await of.workload("runs", "2")
        await settled(of)
        for cpu in range(3, 12):
            await of.workload(f"never-{cpu}", str(cpu), priority=1)
        await of.workload("waits", "1")
        await settled(of)
        assert await admitted(of) == ["runs"]
        await finish(of, "runs")
        await settled(of)
        assert "waits" in await admitted(of)


@pytest.mark.spec("KUEUE-067", "KUEUE-073", "KUEUE-075")
async def test_a_preemptor_waits_until_its_victim_has_gone() -> None:
    """Given a full queue, when one of higher priority comes, then the lowest is evicted, with the
    reason and whom for; the preemptor is admitted when the victim has given its quota back.
    """
    async with world() as of:
        await of.queues("2", **LOWER_PRIORITY)
        for name, priority in (("low", 1), ("lower", 0)):
            await of.workload(name, priority=priority)
        await settled(of)
        high = await of.workload("high", priority=2)
        await settled(of)
        assert await reserved(of, "high") == (
            "False", "Pending", f"{NEEDS.format(1)}. Pending the preemption of 1 workload(s)")
        text = (
            f"Preempted to accommodate a workload (UID: {meta.uid_of(high)}, JobUID: UNKNOWN) due to prioritization in the "
            "ClusterQueue; preemptor path: /cq; preemptee path: /cq")
        assert await of.condition(WORKLOADS, "lower", "Evicted") == ("True", "Preempted", text)
        assert await of.condition(WORKLOADS, "lower", "Preempted") == ("True", "InClusterQueue", text)
        priorities = (
            "; preemptor effective priority: 2 (base: 2, boost: 0); preemptee effective priority: 0 (base: 0, boost: 0)")
        events = await of.events("lower")
        assert {("EvictedDueToPreempted", text), ("Preempted", f"{text}{priorities}")} <= {*events}
        assert [reason for reason, _ in events].count("Preempted") == 1
        before = attempts(of)
        await of.cluster.advance("20m")
        assert attempts(of) == before > 0
        assert await admitted(of) == ["low", "lower"]
        await release(of, "lower")
        await settled(of)
        assert await admitted(of) == ["high", "low"]


@pytest.mark.spec("KUEUE-074")
async def test_two_preemptors_do_not_count_on_the_same_victim() -> None:
    """Given two queues of a cohort that may take back the same, when a head of each wants a victim,
    then it is evicted once, and one of them waits for another turn.
    """
    async with world() as of:
        await of.queues("1", cohortName="all", preemption={"reclaimWithinCohort": "Any"})
        for name, cpu in (("other", "1"), ("lender", "0")):
            spec = cluster_queue({"f": cpu}, cohortName="all", preemption={"reclaimWithinCohort": "Any"})
            await of.create(CLUSTER_QUEUES, name, spec)
            await of.create(LOCAL_QUEUES, name, {"clusterQueue": name})
        await of.workload("borrower", "2", queueName="lender")
        await settled(of)
        assert await admitted(of) == ["borrower"]
        await of.workload("one", "1")
        await of.workload("two", "1", queueName="other")
        await settled(of)
        assert [reason for reason, _ in await of.events("borrower")].count("Preempted") == 1
        messages = sorted([(await reserved(of, "one"))[2], (await reserved(of, "two"))[2]])
        assert messages == sorted([
            f"{NEEDS.format(1)}. Pending the preemption of 1 workload(s)",
            "Workload has overlapping preemption targets with another workload"])
        await release(of, "borrower")
        await settled(of)
        assert await admitted(of) == ["one", "two"]
