"""When a group that was rejected is tried again: when its back-off is over, whatever happens."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube.util.clock import ManualClock
from fakekube.util.driver import Stalled
from fakekube_controllers.scheduler.backoff import Backoff
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo, QueuedPodGroupInfo
from fakekube_controllers.scheduler.framework.status import unresolvable, unschedulable
from fakekube_controllers.scheduler.groups.queueing import GroupQueue
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.queue import ProfileQueueing, SchedulingQueue
from tests.controllers.scheduler.contexts import plugin
from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs
from tests.controllers.scheduler.groups.trees import pod, pod_group, queued


@pytest.fixture
async def gangs() -> AsyncIterator[Gangs]:
    """A cluster with a node of four CPUs, three of which are taken, and a gang of two that waits.
    """
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.node("n")
        await world.pods("blocker", cpu=3)
        await world.group("g", 2)
        await world.pods("a", "b", group="g", cpu=2)
        yield world


async def test_events_do_not_end_the_back_off_of_a_group(gangs: Gangs) -> None:
    """Given a gang that was just rejected, when there is room, then a pod of no group has it first,
    as the gang is tried when its back-off is over.
    """
    await gangs.pods("single", cpu=2)
    await gangs.delete("blocker")
    assert await gangs.bound() == ["single"]
    await gangs.advance(3)
    assert await gangs.bound() == ["single"]
    await gangs.delete("single")
    assert await gangs.bound() == []
    await gangs.advance(4)
    assert await gangs.bound() == ["a", "b"]


async def test_a_group_waits_for_the_whole_back_off_after_a_long_time(gangs: Gangs) -> None:
    """Given a gang that has waited for an hour, when there is room, then it is tried when that
    back-off is over which upstream would be in by then, 15 seconds long at most.
    """
    await gangs.advance(3600)
    await gangs.delete("blocker")
    assert await gangs.bound() == []
    await gangs.advance(15)
    assert await gangs.bound() == ["a", "b"]


async def test_time_leaps_to_the_end_of_the_back_off_only_when_there_is_hope(gangs: Gangs) -> None:
    """Given a gang that was rejected, when nothing happens, then nothing is waited for; when there
    is room, time goes on until the gang has it.
    """
    with pytest.raises(Stalled):
        await gangs.cluster.run_until(lambda: False)
    await gangs.advance(100)
    await gangs.delete("blocker")
    with pytest.raises(Stalled):
        await gangs.cluster.run_until(lambda: False)
    assert await gangs.bound() == ["a", "b"]


async def test_what_is_said_of_a_group_keeps_up_with_the_nodes(gangs: Gangs) -> None:
    """Given a gang that was rejected, when a pod takes what was left, which helps nobody, then time
    does not go on for that; when it goes on, the gang says what is so now.
    """
    assert await gangs.told("a") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")
    await gangs.node("m", cpu=2)
    await gangs.advance(20)
    before = await gangs.status("g")
    await gangs.pods("late", cpu=2)
    with pytest.raises(Stalled):
        await gangs.cluster.run_until(lambda: False)
    assert await gangs.status("g") == before
    await gangs.advance(20)
    assert await gangs.told("a") == ("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")


def test_a_back_off_goes_on_while_nothing_happens() -> None:
    """Given a group that was rejected once at noon / when it is looked at later / then it backs off
    as after all the tries that there would have been, until a second of its own.
    """
    backoff, key_and_group = Backoff(), pod_group("g", 2)
    ends = []
    for later in (0, 1, 2.5, 5, 10, 50, 86_400):
        root = PodGroupInfo(*key_and_group, [], [queued(pod(name, "g")) for name in "ab"])
        entity = QueuedPodGroupInfo(root, timestamp=1000.0, sequence=1, unschedulable_count=1)
        backoff.catch_up(entity, 1000.0 + later, aligned=True)
        ends.append(backoff.end(entity, aligned=True) - 1000)
    assert ends[:5] == [2, 2, 5, 10, 19]
    assert 50 < ends[5] <= 50 + 15
    assert 86_400 < ends[6] <= 86_400 + 15


def test_a_group_that_was_never_rejected_does_not_back_off() -> None:
    """Given a group that was not tried yet / when it is brought up to date / then nothing changes.
    """
    entity = QueuedPodGroupInfo(PodGroupInfo(*pod_group("g", 2)), timestamp=0.0, sequence=1)
    Backoff().catch_up(entity, 5.0, aligned=True)
    assert (entity.timestamp, entity.unschedulable_count, entity.rests) == (0.0, 0, False)


async def test_pods_that_were_tried_go_before_those_that_come(gangs: Gangs) -> None:
    """Given a gang whose pods were tried, when another pod comes and there is room for two, then
    the older ones have it, though the time of their last try is later than that of the new one.
    """
    await gangs.pods("c", group="g", cpu=2)
    await gangs.advance(10)
    await gangs.delete("blocker")
    await gangs.advance(20)
    assert await gangs.bound() == ["a", "b"]


class Holder:
    """A PreEnqueue plugin that holds everybody while it is told to."""

    name, holds = "Holder", False

    def pre_enqueue(self, _: Any) -> Any:
        """Whether it does."""
        return unresolvable("wait") if self.holds else None


@pytest.mark.parametrize("holds", [True, False])
def test_a_group_that_was_rejected_is_held_where_a_plugin_holds_it_by_now(holds: bool) -> None:
    """Given a group that is rejected / when a plugin holds its pods meanwhile / then it is not
    tried again however the nodes change and time goes by; else it is.
    """
    holder, states, clock = Holder(), GroupStates(), ManualClock()
    inner = SchedulingQueue(clock, plugin(PrioritySort), lambda: None, {"default-scheduler": ProfileQueueing([holder], {})})
    groups = inner.groups = GroupQueue(inner, states, clock)
    states.set_group(*pod_group("g", 2))
    for name in "ab":
        inner.add(pod(name, "g").pod)
    entity = inner.pop()
    assert isinstance(entity, QueuedPodGroupInfo), "the only one"
    holder.holds = holds
    for each in list(entity.pods()):
        each.unschedulable_plugins = {"NodeResourcesFit": None}
        inner.add_unschedulable_if_not_present(each, each.info.pod)
    groups.end(entity, unschedulable("no room"))
    assert (inner.pending()["gated"], inner.pending()["unschedulable"]) == ((2, 0) if holds else (0, 2))
    inner.move_all_to_active_or_backoff(events.NODE_ADD, None, {})
    until = clock.time() + 60
    while (due := clock.next_due()) is not None and due <= until:
        clock.fire_next()
    assert (inner.pop() is None) is holds
