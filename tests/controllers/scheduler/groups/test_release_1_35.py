"""Groups of 1.35: they are parts of a Workload, and pods with a node wait in Permit."""

import pytest

from fakekube.client.resources import PODS
from tests.controllers.scheduler.groups.older_gangs import OlderGangs, cluster
from tests.controllers.world import NAMESPACE

NO_CPU = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 "
TIMED_OUT = "0/1 nodes are available: 1 rejected due to timeout after waiting {} at plugin GangScheduling."


@pytest.fixture
async def gangs():
    async with cluster("1.35", "GangScheduling") as made:
        yield OlderGangs(made)


@pytest.mark.spec("WAS-038", "WAS-039")
async def test_a_gang_is_bound_as_soon_as_it_has_its_minimum(gangs):
    """Given a gang of three / when two are there / then nothing is said / when the third comes /
    then all are bound, and nothing is written to the Workload.
    """
    await gangs.node()
    await gangs.workload("w", g=3)
    await gangs.members("w", "a", "b")
    assert [await gangs.bound(), await gangs.reason("a")] == [{}, None]
    await gangs.members("w", "c")
    assert set(await gangs.bound()) == {"a", "b", "c"}
    assert "status" not in await gangs.client.get(gangs.WORKLOADS, "w", NAMESPACE)


@pytest.mark.spec("WAS-040", "WAS-048")
async def test_pods_wait_for_their_workload_without_a_word(gangs):
    """Given pods whose Workload is not there / then they are held / when it comes / then they are
    bound, but not those of a group that it lacks.
    """
    await gangs.node()
    await gangs.members("w", "a", "b")
    await gangs.members("w", "other", group="other")
    await gangs.members("w", "basic", group="basic")
    await gangs.cluster.advance(60)
    assert await gangs.bound() == {}
    await gangs.workload("w", g=2, basic=None)
    assert set(await gangs.bound()) == {"a", "b", "basic"}
    assert await gangs.reason("other") is None


@pytest.mark.spec("WAS-041")
async def test_pods_that_fit_keep_their_room_while_they_wait(gangs):
    """Given room for two of three / then these two are nominated and say nothing, the third says
    why it does not fit, and their room is taken for others / when there is room / then all are
    bound.
    """
    await gangs.node()
    await gangs.pod("blocker", cpu="2")
    await gangs.workload("w", g=3)
    await gangs.members("w", "a", "b", "c")
    assert [await gangs.nominated(name) for name in "abc"] == ["n", "n", None]
    assert [await gangs.why(name) for name in "abc"] == [None, None, NO_CPU + "No preemption victims found for incoming pod."]
    await gangs.pod("single")
    assert await gangs.why("single") == NO_CPU + "No preemption victims found for incoming pod."
    await gangs.delete("single", "blocker")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"a", "b", "c"}


async def test_pods_wait_five_minutes_from_the_first(gangs):
    """Given a gang that does not become whole / when five minutes are over since its first pod
    waited / then each is told how long it waited, and is nominated still; the pods that came later
    waited the rest of it.
    """
    await gangs.node(cpu="2")
    await gangs.workload("w", g=3)
    await gangs.members("w", "a")
    await gangs.members("w", "b", schedulingGates=[{"name": "example.com/g"}])
    await gangs.members("w", "c", cpu="9")
    assert [await gangs.nominated(name) for name in "abc"] == ["n", None, None]
    await gangs.cluster.advance(60)
    await gangs.client.patch(PODS, "b", NAMESPACE, {"spec": {"schedulingGates": None}})
    await gangs.cluster.settle()
    assert await gangs.nominated("b") == "n"
    await gangs.cluster.advance(239)
    assert await gangs.why("a") is None
    await gangs.cluster.advance(1)
    assert await gangs.why("a") == TIMED_OUT.format("5m0s")
    assert await gangs.why("b") == TIMED_OUT.format("4m0s")
    assert [await gangs.nominated(name) for name in "ab"] == ["n", "n"]


async def test_an_expired_gang_is_bound_when_it_becomes_whole(gangs):
    """Given a gang that has waited too long / when there is room for all / then it is bound."""
    await gangs.node(cpu="2")
    await gangs.workload("w", g=3)
    await gangs.members("w", "a", "b", "c")
    await gangs.cluster.advance(400)
    assert await gangs.bound() == {}
    await gangs.node("o", cpu="1")
    await gangs.cluster.advance(60)
    assert set(await gangs.bound()) == {"a", "b", "c"}


async def test_each_replica_key_is_a_gang(gangs):
    """Given a group of two per replica key / then pods go together by key, and those without a key
    are one more; the empty key is none.
    """
    await gangs.node(cpu="9")
    await gangs.workload("w", g=2)
    await gangs.members("w", "a0", key="r0")
    await gangs.members("w", "a1", key="r1")
    await gangs.members("w", "a2")
    assert await gangs.bound() == {}
    await gangs.members("w", "b1", key="r1")
    assert set(await gangs.bound()) == {"a1", "b1"}
    await gangs.members("w", "b2", key="")
    assert set(await gangs.bound()) == {"a1", "b1", "a2", "b2"}


@pytest.mark.spec("WAS-046", "WAS-047")
async def test_pods_of_a_basic_group_go_each_for_itself(gangs):
    """Given a basic group / then what fits is bound, what does not says why."""
    await gangs.node(cpu="2")
    await gangs.workload("w", g=None)
    await gangs.members("w", "a")
    await gangs.members("w", "b", cpu="5")
    await gangs.members("w", "c", key="k")
    assert set(await gangs.bound()) == {"a", "c"}
    assert await gangs.why("b") == NO_CPU + "Preemption is not helpful for scheduling."


@pytest.mark.spec("WAS-055")
async def test_a_gated_member_counts_and_the_others_wait(gangs):
    """Given a gated member of a gang of two / then the other waits in Permit without a condition /
    when it is ungated / then both are bound.
    """
    await gangs.node()
    await gangs.workload("w", g=2)
    await gangs.members("w", "a")
    await gangs.members("w", "b", schedulingGates=[{"name": "example.com/g"}])
    assert [await gangs.reason("a"), await gangs.nominated("a"), await gangs.bound()] == [None, "n", {}]
    await gangs.client.patch(PODS, "b", NAMESPACE, {"spec": {"schedulingGates": None}})
    await gangs.cluster.settle()
    assert set(await gangs.bound()) == {"a", "b"}


async def test_a_waiting_pod_that_is_deleted_gives_its_node_back(gangs):
    """Given a pod that waits in Permit, and one that waits for its room / when both are deleted /
    then the room is free for another.
    """
    await gangs.node(cpu="1")
    await gangs.workload("w", g=2)
    await gangs.members("w", "a", "b")
    await gangs.pod("single")
    assert await gangs.bound() == {}
    await gangs.delete("a", "b")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"single"}
