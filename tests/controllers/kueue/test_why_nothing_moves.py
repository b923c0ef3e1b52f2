"""Answers about Workloads that hold themselves back, and about queues that take nothing."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, RESOURCE_FLAVORS, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world

AT = "2026-01-01T00:00:00Z"


async def told(of: World, about: str) -> tuple[str, str]:
    """State and message of an answer."""
    answer = await of.cluster.why(about)
    return answer.state, answer.message


async def asks(of: World, about: str) -> list[tuple[str, str, str]]:
    """What an answer asks for."""
    return [(each.action, each.target, each.text) for each in (await of.cluster.why(about)).changes]


async def put_status(of: World, name: str, status: Tree) -> None:
    """Write into the status of a Workload."""
    await of.client.patch(WORKLOADS, name, NAMESPACE, {"status": status}, subresource="status")
    await of.cluster.settle()


async def test_a_workload_holds_itself_back() -> None:
    """Given Workloads on hold and such that back off, when they are asked about, then they say so,
    and until when; one of no queue names none.
    """
    async with world() as of:
        await of.queues("1")
        await of.workload("first")
        for name in ("hold", "later"):
            await of.workload(name)
        hold = {"type": "QuotaReserved", "status": "False", "reason": "OnHold", "message": "m", "lastTransitionTime": AT}
        await put_status(of, "hold", {"conditions": [hold]})
        await put_status(of, "later", {"requeueState": {"count": 1, "requeueAt": "2099-01-01T00:00:00Z"}})
        assert await told(of, "workload/hold") == ("OnHold", "is on hold: its job asks for no pods")
        assert await told(of, "workload/later") == ("BackingOff", "backs off until 2099-01-01T00:00:00Z")
        assert await asks(of, "workload/later") == [
            ("Wait", "workload/default/later", "wait until 2099-01-01T00:00:00Z")]
        await of.workload("lost", queueName="absent")
        assert (await told(of, "workload/lost"))[0] == "MissingLocalQueue"


async def test_queues_that_take_nothing() -> None:
    """Given a stopped LocalQueue and a stopped ClusterQueue, when they are asked about, then they
    take or admit nothing, and name what is to be started.
    """
    async with world() as of:
        await of.queues("1")
        await of.patch(LOCAL_QUEUES, "q", {"stopPolicy": "Hold"})
        await of.cluster.settle()
        assert await told(of, "localqueue/q") == ("Stopped", "takes nothing: LocalQueue q is stopped")
        assert await asks(of, "localqueue/q") == [(
            "SetStopPolicy", "localqueue/default/q", "set spec.stopPolicy of localqueue/default/q to None")]
        await of.patch(LOCAL_QUEUES, "q", {"stopPolicy": "None"})
        await of.patch(CLUSTER_QUEUES, "cq", {"stopPolicy": "Hold"})
        await of.cluster.settle()
        text = "ClusterQueue cq: Can't admit new workloads: is stopped."
        assert await told(of, "clusterqueue/cq") == ("Stopped", f"admits nothing: {text}")
        assert await told(of, "localqueue/q") == ("Stopped", f"takes nothing: {text}")
        assert await asks(of, "clusterqueue/cq") == [(
            "SetStopPolicy", "clusterqueue/cq", "set spec.stopPolicy of clusterqueue/cq to None")]


async def test_cohorts_that_are_a_circle() -> None:
    """Given cohorts that are above each other, when a ClusterQueue below them is asked about, then
    it admits nothing until one has another parent.
    """
    async with world() as of:
        await of.queues("1", cohortName="a")
        await of.create(COHORTS, "a", {"parentName": "b"})
        await of.create(COHORTS, "b", {"parentName": "a"})
        await of.workload("w")
        await of.cluster.settle()
        text = "the cohorts above ClusterQueue cq are a circle: one of them needs another parent"
        assert await told(of, "clusterqueue/cq") == ("CohortCycle", f"admits nothing: {text}")


async def test_a_topology_that_is_not_there() -> None:
    """Given a flavor with a topology, when there is none of its name, then its ClusterQueue asks
    for it.
    """
    async with world() as of:
        await of.create(RESOURCE_FLAVORS, "f", {"nodeLabels": {"a": "b"}, "topologyName": "t"})
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"f": "1"}))
        await of.cluster.settle()
        assert await asks(of, "clusterqueue/cq") == [("Create", "topology/t", "create Topology t")]


@pytest.mark.parametrize(("cpu", "text"), [
    ("1", "1 of 1 is used; held by workload default/w"),
    ("2", "2 of 1 is used, 1 of it borrowed; held by workload default/w")])
async def test_what_is_used_of_each_flavor(cpu: str, text: str) -> None:
    """Given a ClusterQueue with two flavors in a cohort, when it is asked about, then it tells of
    each what is used, by whom, and what of it is borrowed.
    """
    async with world() as of:
        for flavor in ("f", "g"):
            await of.create(RESOURCE_FLAVORS, flavor, {})
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"f": "1", "g": "1"}, cohortName="all"))
        await of.create(CLUSTER_QUEUES, "other", cluster_queue({"f": "1"}, cohortName="all"))
        await of.create(LOCAL_QUEUES, "q", {"clusterQueue": "cq"})
        await of.workload("w", cpu)
        await of.cluster.advance("2s")
        places = (await of.cluster.why("clusterqueue/cq")).places
        assert [(place.name, [(each.plugin, each.message) for each in place.reasons]) for place in places] == [
            ("flavor/f", [("cpu", text)]), ("flavor/g", [("cpu", "0 of 1 is used")])]


async def test_a_workload_whose_gate_is_closed_does_not_preempt() -> None:
    """Given a Workload with a closed gate of preemption, when it would have to preempt another,
    then it says so and waits; when the gate is open, it preempts.
    """
    async with world(Configuration(features=Features(MultiKueueOrchestratedPreemption=True))) as of:
        await of.queues("1", preemption={"withinClusterQueue": "LowerPriority"})
        await of.workload("low", priority=1)
        await of.cluster.advance("2s")
        await of.workload("high", priority=9, preemptionGates=[{"name": "example.com/gate"}])
        await of.cluster.advance("5s")
        assert (await of.condition(WORKLOADS, "low", "Admitted") or ("",))[0] == "True"
        gated = "Workload requires preemption, but it's gated"
        assert await of.condition(WORKLOADS, "high", "BlockedOnPreemptionGates") == ("True", "PreemptionGated", gated)
        gate = {"name": "example.com/gate", "position": "Open", "lastTransitionTime": AT}
        await put_status(of, "high", {"preemptionGates": [gate]})
        await of.cluster.advance("5s")
        assert (await of.condition(WORKLOADS, "low", "Evicted") or ("", ""))[:2] == ("True", "Preempted")
