"""Groups in racks and blocks, and trees of groups, in a cluster."""

from collections.abc import AsyncIterator

import pytest

from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs


@pytest.fixture
async def gangs() -> AsyncIterator[Gangs]:
    """A cluster without nodes."""
    async with cluster_of_gangs() as cluster:
        yield Gangs(cluster)


@pytest.mark.spec("WAS-078", "WAS-080")
async def test_a_gang_is_in_the_rack_that_has_room(gangs: Gangs) -> None:
    """Given racks of two and four CPUs and a large node of no rack, when a gang of three wants one
    rack, then it is in the larger.
    """
    await gangs.node("small", cpu=2, rack="r1")
    await gangs.node("large", cpu=4, rack="r2")
    await gangs.node("none", cpu=50)
    await gangs.group("g", 3, "rack")
    await gangs.pods("a", "b", "c", group="g")
    assert await gangs.where("a", "b", "c") == ["large"] * 3


@pytest.mark.spec("WAS-080")
async def test_without_a_node_of_the_label_there_is_no_placement(gangs: Gangs) -> None:
    """Given nodes without the label, when a gang wants one rack, then it says so and goes when a
    node gets the label.
    """
    await gangs.node("none")
    await gangs.group("g", 1, "rack")
    await gangs.pods("a", group="g")
    assert await gangs.told("a") == ("Unschedulable", "no feasible placements found")
    await gangs.node("racked", rack="r1")
    await gangs.advance()
    assert await gangs.where("a") == ["racked"]


@pytest.mark.spec("WAS-082")
async def test_later_pods_join_the_rack_of_the_first(gangs: Gangs) -> None:
    """Given a group in a rack that is full, when another pod comes, then it waits, though another
    rack is free.
    """
    await gangs.node("r1", cpu=2, rack="r1")
    await gangs.group("g", 2, "rack")
    await gangs.pods("a", "b", group="g")
    await gangs.node("r2", cpu=9, rack="r2")
    await gangs.pods("c", group="g")
    await gangs.advance()
    assert await gangs.where("a", "b", "c") == ["r1", "r1", ""]
    await gangs.delete("a")
    await gangs.advance()
    assert await gangs.where("c") == ["r1"]


@pytest.mark.spec("WAS-083", "WAS-086")
async def test_each_group_has_a_rack_of_its_own_and_one_without_constraint_any(gangs: Gangs) -> None:
    """Given two racks, when two groups want a rack each, then each has one; one without a
    constraint is on both.
    """
    await gangs.node("r1", cpu=3, rack="r1")
    await gangs.node("r2", cpu=3, rack="r2")
    for name in ("g", "h"):
        await gangs.group(name, 2, "rack")
        await gangs.pods(f"{name}1", f"{name}2", group=name)
    assert {*await gangs.where("g1", "g2")} | {*await gangs.where("h1", "h2")} == {"r1", "r2"}
    await gangs.group("free", 2)
    await gangs.pods("f1", "f2", group="free")
    assert sorted(await gangs.where("f1", "f2")) == ["r1", "r2"]


@pytest.mark.spec("WAS-084")
async def test_the_rack_of_the_nominations_is_taken(gangs: Gangs) -> None:
    """Given a gang that waits for evictions in one rack, when these are done and another rack
    would do as well, then it goes to the rack that it was nominated for.
    """
    await gangs.priority_class("low", 1)
    await gangs.priority_class("high", 100)
    await gangs.node("r1", cpu=2, rack="r1")
    await gangs.pods("l1", "l2", priorityClassName="low", terminationGracePeriodSeconds=30)
    await gangs.group("g", 2, "rack", priorityClassName="high")
    await gangs.pods("a", "b", group="g", priorityClassName="high")
    assert (await gangs.pod("a"))["status"]["nominatedNodeName"] == "r1"
    await gangs.cluster.stop_controller("scheduler")
    await gangs.node("a-rack", cpu=2, rack="r0")
    await gangs.delete("l1", "l2")
    await gangs.cluster.start_controller("scheduler")
    await gangs.advance()
    assert await gangs.where("a", "b") == ["r1", "r1"]


@pytest.mark.spec("WAS-094")
async def test_a_tree_has_one_priority(gangs: Gangs) -> None:
    """Given pods of priority 100 below a root of priority 0, when the tree is tried, then pods and
    groups say so and the root says nothing.
    """
    await gangs.priority_class("high", 100)
    await gangs.node("n", cpu=9)
    root = await gangs.composite("root", 1)
    await gangs.group("one", 1, parent="root", priorityClassName="high")
    await gangs.pods("a", group="one", priorityClassName="high")
    text = "all pods in a single pod group should have the same priority as the pod group's priority, got 100 and 0"
    assert await gangs.told("a") == ("SchedulerError", text)
    assert await gangs.status("one") == ("False", "SchedulerError", text)
    assert root.get("status") in (None, {})


async def test_a_tree_waits_for_its_root_and_goes_whole(gangs: Gangs) -> None:
    """Given a root of two gangs, when one has its pods, then they wait; when the other has them
    too, all are bound.
    """
    await gangs.node("n", cpu=9)
    await gangs.group("one", 2, parent="root")
    await gangs.pods("a", "b", group="one")
    await gangs.advance()
    assert [await gangs.bound(), await gangs.told("a")] == [[], None]
    await gangs.composite("root", 2)
    assert await gangs.bound() == []
    await gangs.group("two", 1, parent="root")
    await gangs.pods("c", group="two")
    assert await gangs.bound() == ["a", "b", "c"]
