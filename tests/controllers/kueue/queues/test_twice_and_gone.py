"""Queues and Workloads that come twice, are gone when somebody asks, or are the scheduler's."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.queues import heap
from fakekube_controllers.kueue.queues.cluster_queue import LocalQueueKey
from fakekube_controllers.kueue.queues.heap import Heap
from fakekube_controllers.kueue.queues.manager import Queues
from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason
from fakekube_controllers.kueue.workload.info import Info, InfoOptions, Ordering
from tests.controllers.kueue.queues.world import World, cluster_queue, key, workload

OPTIONS = InfoOptions()


def world(**features: bool) -> World:
    """A ClusterQueue with a LocalQueue."""
    made = World(Features(**features))
    made.cluster_queue()
    made.local_queue()
    return made


def waiting(of: World, name: str = "cq") -> tuple[list[str], list[str]]:
    """Those that may be tried, and those that were in vain."""
    found = of.queues.cluster_queue(name)
    assert found is not None
    return [info.key.name for info in found.heap], [each.name for each in found.inadmissible]


def test_queues_that_come_twice_stay_as_they_are() -> None:
    """Given queues with a Workload, when they are added again, then nothing changes and nobody is
    told; a change of a ClusterQueue that is not there is none.
    """
    made = world()
    made.submit("a")
    found, told = made.queues.cluster_queue("cq"), made.broadcasts
    made.cluster_queue()
    made.local_queue()
    made.queues.update_cluster_queue(cluster_queue("absent"), spec_updated=True)
    assert made.queues.cluster_queue("cq") is found
    assert made.queues.cluster_queue("absent") is None
    assert (waiting(made), made.broadcasts) == ((["a"], []), told)


def test_no_heads_before_queues_are_open() -> None:
    """Given queues that are not open yet, when heads are taken, then there are none."""
    made = world()
    clock: Any = made.clock
    closed = Queues(
        clock, made, is_cluster_queue_active=lambda _: True, options=OPTIONS, ordering=Ordering(Features()))
    closed.add_cluster_queue(cluster_queue("cq"))
    made.local_queue()
    closed.add_local_queue(made.local_queues["q"])
    closed.add_or_update_workload(workload("a"))
    assert closed.heads() == []
    closed.open()
    assert [info.key.name for info in closed.heads()] == ["a"]


def test_a_head_whose_queue_goes_is_forgotten() -> None:
    """Given a head that the scheduler has, when its LocalQueue is gone, then it is in flight no
    more, and is not put back; nor is one whose Workload is gone or finished.
    """
    made = world()
    made.submit("a")
    [head] = made.queues.heads()
    found = made.queues.cluster_queue("cq")
    assert found is not None
    assert found.tracked_info(key("a")) is head
    made.queues.delete_local_queue(LocalQueueKey("ns", "q"))
    assert found.tracked_info(key("a")) is None
    assert made.queues.requeue_workload(head, RequeueReason.GENERIC) is False
    made.queues.add_local_queue(made.local_queues["q"])
    assert made.heads() == ["a"]
    made.workloads["a"]["status"] = {"conditions": [{"type": "Finished", "status": "True", "reason": "Succeeded"}]}
    assert made.queues.requeue_workload(head, RequeueReason.GENERIC) is False
    del made.workloads["a"]
    assert made.queues.requeue_workload(head, RequeueReason.GENERIC) is False
    assert waiting(made) == ([], [])


def test_a_head_that_came_back_meanwhile_is_not_put_back() -> None:
    """Given a head that was forgotten and queued again, when the scheduler puts it back, then it
    stays where it is.
    """
    made = world()
    made.submit("a")
    [head] = made.queues.heads()
    found = made.queues.cluster_queue("cq")
    assert found is not None
    found.delete(head.key)
    assert found.push_if_not_tracked(Info(made.workloads["a"], OPTIONS)) is True
    assert found.requeue_if_not_present(head, RequeueReason.NO_FIT, "") is False
    assert waiting(made) == (["a"], [])


def test_what_is_tracked_is_not_taken_again() -> None:
    """Given a Workload in flight, and one that was tried in vain, when they are pushed again, then
    neither is; when they wait already they are not either.
    """
    made = world()
    made.submit("a")
    [head] = made.queues.heads()
    found = made.queues.cluster_queue("cq")
    assert found is not None
    again = Info(made.workloads["a"], OPTIONS)
    assert found.push_if_not_tracked(again) is False
    assert waiting(made) == ([], [])
    found.requeue_if_not_present(head, RequeueReason.GENERIC, "")
    assert found.push_if_not_tracked(again) is False
    assert waiting(made) == ([], ["a"])
    made.submit("b")
    assert found.push_if_not_tracked(Info(made.workloads["b"], OPTIONS)) is False
    assert waiting(made) == (["b"], ["a"])


@pytest.mark.parametrize(("change", "moves"), [
    ({}, False), ({"reclaimablePods": [{"name": "main", "count": 1}]}, True), ({"reclaimablePods": None}, False),
    ({"conditions": [{"type": "Evicted", "status": "True", "reason": "Preempted"}]}, True),
    ({"conditions": [{"type": "Other", "status": "True", "reason": "Other"}]}, False)])
def test_what_lets_one_be_tried_again(change: Tree, moves: bool) -> None:
    """Given a Workload that was tried in vain, when its status changes, then it is tried again if
    the change is about pods that need no quota, or an eviction.
    """
    made = world()
    made.submit("a")
    [head] = made.queues.heads()
    made.queues.requeue_workload(head, RequeueReason.GENERIC)
    assert waiting(made) == ([], ["a"])
    made.workloads["a"] = {**made.workloads["a"], "status": change}
    made.queues.add_or_update_workload(made.workloads["a"])
    assert waiting(made) == ((["a"], []) if moves else ([], ["a"]))


def needing(name: str, *, pending: str = "Pending") -> Tree:
    """A Workload with quota whose nodes are still to be found."""
    made = workload(name)
    made["status"] = {
        "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"}],
        "admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "delayedTopologyRequest": pending}]},
        "admissionChecks": [{"name": "c", "state": "Ready"}]}
    return made


def test_a_second_pass_comes_once_and_later_each_time() -> None:
    """Given a Workload whose nodes are to be found, when it is to be looked at again, then once
    though it is asked for twice, a second later, and two the next time; not if it needs none then.
    """
    made = world()
    assert made.queues.queue_second_pass_if_needed(needing("a"), 0) is True
    assert made.queues.queue_second_pass_if_needed(needing("a"), 0) is False
    made.clock.advance(0.9)
    assert made.heads() == []
    made.clock.advance(0.1)
    [info] = made.queues.heads()
    assert (info.key.name, info.second_pass_iteration) == ("a", 1)
    assert made.queues.queue_second_pass_if_needed(needing("a"), 1) is True
    made.clock.advance(1.9)
    assert made.heads() == []
    made.queues.delete_second_pass(key("a"))
    made.clock.advance(5)
    assert made.heads() == []
    assert made.queues.queue_second_pass_if_needed(needing("a"), 0) is True
    assert made.queues.queue_second_pass_if_needed(needing("a", pending="Ready"), 1) is False
    made.clock.advance(5)
    assert made.heads() == []


def test_a_heap_does_not_keep_what_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a heap whose only Workload changes its place often, when there are more old places than
    it keeps, then it is made anew, and has the Workload at its last place.
    """
    monkeypatch.setattr(heap, "STALE_ENTRIES", 2)
    places = iter(range(9, 0, -1))
    made = Heap(lambda info: (float(next(places)), 0.0, info.key.name))
    sizes = []
    for _ in range(6):
        made.push_or_update(Info(workload("a"), OPTIONS))
        sizes.append(len(made._heap))
    assert sizes == [1, 2, 3, 4, 1, 2]
    assert [None if info is None else info.key.name for info in (made.pop(), made.pop())] == ["a", None]
