"""Who goes so that pods and gangs of higher priority fit, and when."""

from collections.abc import AsyncIterator

import pytest

from fakekube.client.resources import NODES, POD_DISRUPTION_BUDGETS, PODS
from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs
from tests.controllers.world import condition

LOW = ("l1", "l2", "l3", "l4")


@pytest.fixture
async def gangs() -> AsyncIterator[Gangs]:
    """A cluster of one node with four CPUs, and three priority classes."""
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.node("n")
        for name, value in (("low", 1), ("mid", 10), ("high", 100)):
            await world.priority_class(name, value)
        yield world


async def high_gang(
    gangs: Gangs, *names: str, minimum: int, priority: str = "high", topology: str | None = None, **spec: str,
) -> None:
    """A gang of a priority class."""
    await gangs.group("gang", minimum, topology, priorityClassName=priority, **spec)
    await gangs.cluster.stop_controller("scheduler")
    await gangs.pods(*names, group="gang", priorityClassName=priority)
    await gangs.cluster.start_controller("scheduler")
    await gangs.cluster.settle()


@pytest.mark.spec("WAS-065")
async def test_a_gang_evicts_what_it_needs_and_is_bound_later(gangs: Gangs) -> None:
    """Given four low pods on four CPUs, when a high gang of four comes, then the low ones are told
    why and evicted, and the gang is bound in a later cycle.
    """
    await gangs.pods(*LOW, priorityClassName="low", terminationGracePeriodSeconds=30)
    await high_gang(gangs, "a", "b", "c", "d", minimum=3)
    victim = await gangs.pod("l1")
    assert condition(victim, "DisruptionTarget")["message"] == (
        "default-scheduler: preempting to accommodate a higher priority podgroup")
    assert victim["metadata"]["deletionGracePeriodSeconds"] == 30
    events = await gangs.events("Preempted")
    assert len(events) == 4
    assert events[0]["message"].endswith("on node cluster")
    assert (await gangs.pod("a"))["status"]["nominatedNodeName"] == "n"
    assert await gangs.bound() == list(LOW)
    await gangs.delete(*LOW)
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "c", "d"]


@pytest.mark.spec("WAS-066")
async def test_the_lowest_go_first(gangs: Gangs) -> None:
    """Given two pods of no priority and two low ones, when a gang of two of middle priority comes,
    then only those of no priority go.
    """
    await gangs.pods("n1", "n2")
    await gangs.pods("l1", "l2", priorityClassName="low")
    await high_gang(gangs, "a", "b", minimum=2, priority="mid")
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "l1", "l2"]


@pytest.mark.spec("WAS-068", "WAS-069")
@pytest.mark.parametrize("preemptor", ["pod", "gang"])
@pytest.mark.parametrize(("mode", "left"), [("single", 4), ("all", 0)])
async def test_a_group_is_disrupted_by_its_mode(gangs: Gangs, preemptor: str, mode: str, left: int) -> None:
    """Given a low group over two nodes, when a pod or a gang needs one CPU, then one pod of a group
    of mode single goes, all of one of mode all.
    """
    await gangs.node("second", cpu=1)
    await gangs.cluster.stop_controller("scheduler")
    await gangs.group("victims", 1, priorityClassName="low", disruptionMode={mode: {}})
    await gangs.pods("v1", "v2", "v3", "v4", "v5", group="victims", priorityClassName="low")
    await gangs.cluster.start_controller("scheduler")
    await gangs.cluster.settle()
    assert len(await gangs.bound()) == 5
    if preemptor == "pod":
        await gangs.pods("a", priorityClassName="high")
    else:
        await high_gang(gangs, "a", minimum=1)
    await gangs.advance()
    bound = await gangs.bound()
    assert "a" in bound
    assert len([name for name in bound if name.startswith("v")]) == left


@pytest.mark.spec("WAS-070", "WAS-071")
@pytest.mark.parametrize(("priority", "word"), [
    ("low", "No preemption victims found for incoming preemptor"), ("never", "not eligible due to preemptionPolicy=Never.")])
async def test_who_may_not_preempt(gangs: Gangs, priority: str, word: str) -> None:
    """Given low pods, when a gang of the same priority or of one that never preempts comes, then it
    waits, says so, and nobody goes.
    """
    await gangs.priority_class("never", 100, preemptionPolicy="Never")
    await gangs.pods(*LOW, priorityClassName="low")
    policy = {"preemptionPolicy": "Never"} if priority == "never" else {}
    await high_gang(gangs, "a", "b", minimum=2, priority=priority, **policy)
    await gangs.advance(300)
    assert await gangs.bound() == list(LOW)
    status = await gangs.status("gang")
    assert status is not None
    assert status[:2] == ("False", "Unschedulable")
    assert status[2].endswith(f"pod group preemption: {word}")


@pytest.mark.spec("WAS-072")
async def test_no_second_wave_while_the_first_goes(gangs: Gangs) -> None:
    """Given evicted pods that take their time, when the gang is tried again, then it waits for them
    and nobody else goes.
    """
    await gangs.node("second")
    await gangs.pods(*LOW, "l5", "l6", "l7", "l8", priorityClassName="low", terminationGracePeriodSeconds=3600)
    await high_gang(gangs, "a", "b", minimum=2)
    assert len(await gangs.events("Preempted")) == 2
    await gangs.node("useless", cpu=0)
    await gangs.advance(600)
    assert len(await gangs.events("Preempted")) == 2
    status = await gangs.status("gang")
    assert status is not None
    assert "ongoing preemption on nominated nodes" in status[2]


@pytest.mark.spec("WAS-073")
async def test_a_budget_protects_where_another_suffices(gangs: Gangs) -> None:
    """Given low pods of which one has a budget that lets none go, when a pod needs the room of one,
    then another goes.
    """
    await gangs.pods(*LOW, priorityClassName="low")
    await gangs.client.patch(PODS, "l1", "default", {"metadata": {"labels": {"app": "kept"}}}, type="merge")
    await gangs.client.create(POD_DISRUPTION_BUDGETS, {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}}})
    await gangs.cluster.settle()
    await gangs.pods("a", priorityClassName="high")
    await gangs.advance()
    bound = await gangs.bound()
    assert {"a", "l1"} <= set(bound)
    assert len(bound) == 4


@pytest.mark.spec("WAS-074")
async def test_a_single_pod_goes_before_one_of_a_group(gangs: Gangs) -> None:
    """Given a single pod and three of a group, all low, when a pod needs the room of one, then the
    single one goes.
    """
    await gangs.group("g", 1, priorityClassName="low")
    await gangs.pods("g1", "g2", "g3", group="g", priorityClassName="low")
    await gangs.pods("single", priorityClassName="low")
    await gangs.pods("a", priorityClassName="high")
    await gangs.advance()
    assert await gangs.bound() == ["a", "g1", "g2", "g3"]


@pytest.mark.spec("WAS-075")
async def test_a_basic_group_first_takes_the_room_there_is(gangs: Gangs) -> None:
    """Given three low pods and a high basic group of two, when it is tried, then one of its pods is
    bound at once, and somebody goes for the other, which waits.
    """
    await gangs.pods("l1", "l2", "l3", priorityClassName="low", terminationGracePeriodSeconds=30)
    await gangs.group("g", priorityClassName="high")
    await gangs.cluster.stop_controller("scheduler")
    await gangs.pods("a", "b", group="g", priorityClassName="high")
    await gangs.cluster.start_controller("scheduler")
    await gangs.cluster.settle()
    assert sorted(await gangs.where("a", "b")) == ["", "n"]
    events = await gangs.events("Preempted")
    assert len(events) == 1
    await gangs.delete(events[0]["involvedObject"]["name"])
    await gangs.advance()
    assert {"a", "b"} <= set(await gangs.bound())


@pytest.mark.spec("WAS-076")
async def test_a_gang_evicts_in_one_rack_only(gangs: Gangs) -> None:
    """Given two racks full of low pods, when a high gang bound to one rack comes, then all that go
    are of one rack, and the gang is there.
    """
    await gangs.node("r1", cpu=2, rack="r1")
    await gangs.node("r2", cpu=2, rack="r2")
    names = [f"l{number}" for number in range(8)]
    await gangs.pods(*names, priorityClassName="low")
    await high_gang(gangs, "a", "b", minimum=2, topology="rack")
    await gangs.advance()
    where = await gangs.where("a", "b")
    assert where in (["r1", "r1"], ["r2", "r2"])
    assert len(await gangs.events("Preempted")) == 2


async def test_a_pod_with_room_by_eviction_keeps_it(gangs: Gangs) -> None:
    """Given a pod that waits for the room of one that was evicted, when a pod of less priority
    comes, then it does not get that room.
    """
    await gangs.pods("big", cpu=4, priorityClassName="low", terminationGracePeriodSeconds=30)
    await gangs.pods("first", cpu=4, priorityClassName="high")
    assert (await gangs.pod("first"))["status"]["nominatedNodeName"] == "n"
    await gangs.pods("second", cpu=4, priorityClassName="mid")
    await gangs.delete("big")
    await gangs.advance()
    assert await gangs.bound() == ["first"]


async def test_a_unit_with_a_pod_on_a_node_that_is_gone_cannot_be_weighed(gangs: Gangs) -> None:
    """Given a group that is disrupted as a whole, with pods on two nodes of which one is gone, when
    a pod and a gang of higher priority come, then both have the error that preemption has, and
    nothing is evicted.
    """
    await gangs.node("n2")
    await gangs.group("old", 2, disruptionMode={"all": {}}, priorityClassName="low")
    await gangs.pods("a", "b", group="old", cpu=3, priorityClassName="low")
    await gangs.client.delete(NODES, "n2")
    await gangs.cluster.settle()
    text = 'failed to get node info for node "n2" from snapshot: nodeinfo not found for node name "n2"'
    await gangs.pods("single", cpu=2, priorityClassName="high")
    assert await gangs.told("single") == ("Unschedulable", f"0/1 nodes are available: 1 Insufficient cpu. preemption: {text}")
    await gangs.group("g", 1, priorityClassName="high")
    await gangs.pods("c", group="g", cpu=2, priorityClassName="high")
    text = f'error in "DefaultPreemption" PodGroupPostFilter plugins: pod group preemption: failed to create domain: {text}'
    assert await gangs.status("g") == ("False", "SchedulerError", text)
    assert await gangs.told("c") == ("SchedulerError", text)
    assert await gangs.bound() == ["a", "b"]
