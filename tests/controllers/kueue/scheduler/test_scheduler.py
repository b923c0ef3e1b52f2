"""The scheduler in a cluster: Workloads are admitted, wait and are preempted, and time goes on."""

import asyncio

import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, NAMESPACES
from fakekube.webhooks import Denied
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.configuration import Configuration, WaitForPodsReady
from fakekube_controllers.kueue.names import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    QUEUE_LABEL,
    RESOURCE_FLAVORS,
    WORKLOAD_PRIORITY_CLASS_LABEL,
    WORKLOAD_PRIORITY_CLASSES,
    WORKLOADS,
)
from fakekube_controllers.kueue.resources import FlavorResource
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


@pytest.mark.spec("KUEUE-040")
async def test_a_strict_queue_is_not_held_up_by_a_namespace_that_it_does_not_select() -> None:
    """Given the head of a StrictFIFO queue from a namespace that is not selected, then it is told
    so, and the next one is admitted.
    """
    async with world() as of:
        labels = {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
        await of.queues("2", queueingStrategy="StrictFIFO", namespaceSelector=labels)
        await of.client.create(NAMESPACES, {"metadata": {"name": "other"}})
        queue = {"metadata": {"name": "q", "namespace": "other"}, "spec": {"clusterQueue": "cq"}}
        await of.client.create(LOCAL_QUEUES, queue)
        await of.workload("mine")
        spec = {**(await of.get(WORKLOADS, "mine"))["spec"], "priority": 9}
        await of.client.delete(WORKLOADS, "mine", NAMESPACE)
        await settled(of)
        await of.client.create(WORKLOADS, {"metadata": {"name": "theirs", "namespace": "other"}, "spec": spec})
        await of.workload("mine")
        await settled(of)
        assert await admitted(of) == ["mine"]
        found = meta.find_condition(await of.client.get(WORKLOADS, "theirs", "other"), "QuotaReserved")
        message = "workload namespace doesn't match ClusterQueue selector"
        assert found is not None
        assert (found["status"], found["reason"], found["message"]) == ("False", "Pending", message)


@pytest.mark.spec("KUEUE-064")
async def test_quota_that_one_queue_frees_is_tried_by_another_of_its_cohort() -> None:
    """Given a Workload that waits for what another queue of its cohort borrowed, when that is
    deleted, then it is admitted.
    """
    async with world() as of:
        await of.queues("1", cohortName="all")
        await of.create(CLUSTER_QUEUES, "other", cluster_queue({"f": "1"}, cohortName="all"))
        await of.create(LOCAL_QUEUES, "other", {"clusterQueue": "other"})
        await of.workload("borrower", "2", queueName="other")
        await settled(of)
        await of.workload("waits", "1")
        await settled(of)
        assert await admitted(of) == ["borrower"]
        await of.client.delete(WORKLOADS, "borrower", NAMESPACE)
        await settled(of)
        assert await admitted(of) == ["waits"]


@pytest.mark.spec("KUEUE-053")
async def test_what_cannot_be_written_is_not_counted() -> None:
    """Given a server that refuses an admission twice, then nothing is reserved or used meanwhile,
    and the Workload is admitted when it is tried again.
    """
    async with world() as of:
        refused = []

        @of.cluster.webhook("workloads.kueue.x-k8s.io/status", operations=("UPDATE",))
        def refuse(request) -> None:
            if len(refused) < 2 and meta.is_condition_true(request.object, "QuotaReserved"):
                refused.append(used(of))
                raise Denied("not now")

        await of.queues("1")
        await of.workload("w")
        await settled(of)
        assert await admitted(of) == ["w"]
        assert len(refused) == 2
        assert used(of) == {FlavorResource("f", "cpu"): 1000}
        await finish(of, "w")
        await settled(of)
        assert not any(used(of).values())


async def test_time_goes_on_where_two_strict_queues_are_in_each_others_way() -> None:
    """Given the head of one queue whose quota is kept for that of another, which cannot have it
    either, then both wait and time goes on, though the first could be told two things in turn; when
    the quota is there, both are admitted.
    """
    async with world() as of:
        for flavor in ("f", "g"):
            await of.create(RESOURCE_FLAVORS, flavor, {})
        for name, quotas in (("a", {"f": "0", "g": "0"}), ("b", {"f": "2"}), ("c", {"f": "0"})):
            spec = cluster_queue(quotas, cohortName="all", queueingStrategy="StrictFIFO")
            await of.create(CLUSTER_QUEUES, name, spec)
            await of.create(LOCAL_QUEUES, name, {"clusterQueue": name})
        await settled(of)
        await of.workload("borrower", "1", queueName="c")
        await settled(of)
        await of.workload("own", "2", queueName="b")
        await of.workload("other", "1", queueName="a")
        async with asyncio.timeout(30):
            await of.cluster.advance("10m")
        assert await admitted(of) == ["borrower"]
        await of.patch(CLUSTER_QUEUES, "b", cluster_queue({"f": "4"}, cohortName="all", queueingStrategy="StrictFIFO"))
        await settled(of)
        assert await admitted(of) == ["borrower", "other", "own"]


async def test_what_is_always_refused_is_tried_now_and_then() -> None:
    """Given a server that refuses every admission of one Workload, then time goes on, it is tried
    again from time to time, and others are admitted.
    """
    async with world() as of:
        refused = []

        @of.cluster.webhook("workloads.kueue.x-k8s.io/status", operations=("UPDATE",))
        def refuse(request) -> None:
            if meta.name_of(request.object) == "never" and meta.is_condition_true(request.object, "QuotaReserved"):
                refused.append(request)
                raise Denied("never")

        await of.queues("1")
        await of.workload("never", priority=1)
        await settled(of)
        await of.workload("other")
        await settled(of)
        assert await admitted(of) == ["other"]
        await finish(of, "other")
        await of.cluster.advance("20m")
        assert 10 < len(refused) < 60
        assert not any(used(of).values())


async def test_a_victim_that_could_not_be_evicted_is_evicted_when_it_can() -> None:
    """Given a server that refuses an eviction at first, then it is asked again, and the preemptor
    gets the quota at last.
    """
    async with world() as of:
        refused = []

        @of.cluster.webhook("workloads.kueue.x-k8s.io/status", operations=("UPDATE",))
        def refuse(request) -> None:
            if len(refused) < 3 and meta.is_condition_true(request.object, "Evicted"):
                refused.append(request)
                raise Denied("not now")

        await of.queues("1", **LOWER_PRIORITY)
        await of.workload("low")
        await settled(of)
        await of.workload("high", priority=1)
        await settled(of)
        assert len(refused) == 3
        assert await of.condition(WORKLOADS, "low", "Evicted") is not None
        await release(of, "low")
        await settled(of)
        assert await admitted(of) == ["high"]


async def test_the_pods_of_one_are_waited_for_before_the_next_is_admitted() -> None:
    """Given ``blockAdmission``, when one is admitted, then the next waits until its pods are ready,
    and says so; time goes on meanwhile.
    """
    async with world(Configuration(wait_for_pods_ready=WaitForPodsReady(block_admission=True))) as of:
        await of.queues("2")
        await of.workload("one")
        await settled(of)
        await of.workload("two")
        await of.cluster.advance("10m")
        assert await admitted(of) == ["one"]
        assert await reserved(of, "two") == (
            "False", "Waiting", "waiting for all admitted workloads to be in PodsReady condition")
        await of.cluster.stop_controller("kueue")
        await of.cluster.start_controller("kueue")
        await of.cluster.advance("1m")
        assert await admitted(of) == ["one"]
        found = await of.get(WORKLOADS, "one")
        ready = {**meta.find_condition(found, "Admitted"), "type": "PodsReady", "reason": "Started"}
        conditions = [*(each for each in found["status"]["conditions"] if each["type"] != "PodsReady"), ready]
        await of.client.update_status(WORKLOADS, {**found, "status": {**found["status"], "conditions": conditions}})
        await settled(of)
        assert await admitted(of) == ["one", "two"]


def used(of: World) -> dict[FlavorResource, int]:
    return dict(of.cluster.component("kueue").kueue.cache.hm.cluster_queues["cq"].resource_node.usage)


@pytest.mark.spec("KUEUE-076")
async def test_a_preempted_job_runs_on_another_flavor_with_its_labels_alone() -> None:
    """Given a job on one flavor, when it is preempted there and another flavor has room, then it
    runs with the node selector of that one, and nothing is left of the first.
    """
    async with Cluster(nodes=0, controllers="*,-kubelet,-scheduler", clock="manual", extra=[addon()]) as cluster:
        of = World(cluster)
        for name in ("a", "b"):
            await of.create(RESOURCE_FLAVORS, name, {"nodeLabels": {"pool": name}})
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"a": "1", "b": "1"}, **LOWER_PRIORITY))
        await of.create(LOCAL_QUEUES, "q", {"clusterQueue": "cq"})
        await of.client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 10})
        await cluster.advance("2s")
        await of.client.create(JOBS, job("low"), NAMESPACE)
        await settled(of)
        assert (await of.get(JOBS, "low"))["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "a"}
        high = job("high", **{WORKLOAD_PRIORITY_CLASS_LABEL: "high"})
        high["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "a"}
        await of.client.create(JOBS, high, NAMESPACE)
        await cluster.advance("10s")
        for name, pool in (("high", "a"), ("low", "b")):
            spec = (await of.get(JOBS, name))["spec"]
            assert (spec["suspend"], spec["template"]["spec"]["nodeSelector"]) == (False, {"pool": pool})


def job(name: str, **labels: str) -> Tree:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    template = {"spec": {"containers": containers, "restartPolicy": "Never"}}
    return {"metadata": {"name": name, "labels": {QUEUE_LABEL: "q", **labels}}, "spec": {"template": template}}
