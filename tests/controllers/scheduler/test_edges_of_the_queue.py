"""The scheduling queue about pods that take the place of others, that are tried too often, or that
nobody can help.
"""

import logging
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.events import (
    QUEUE,
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from fakekube_controllers.scheduler.framework.queued import EntityKey
from fakekube_controllers.scheduler.groups.queueing import GroupQueue
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.queue import ProfileQueueing, SchedulingQueue
from fakekube_controllers.scheduler.queued_groups import Groups
from tests.controllers.scheduler import test_queue
from tests.controllers.scheduler.contexts import plugin
from tests.controllers.scheduler.groups.trees import pod_group

Queue: Any = test_queue.Queue
FIT = "NodeResourcesFit"


def pod(name: str = "p", uid: str = "", group: str = "", **spec: Any) -> Any:
    metadata = {"name": name, "namespace": "default", "uid": uid or name}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": metadata, "spec": {"schedulerName": "default-scheduler", "containers": [], **spec}, "status": {}}


def test_a_pod_in_the_place_of_another_is_a_new_one() -> None:
    """Given a pod that waits / when its update shows another pod of that name, or one that is not
    known at all / then that is the one that waits.
    """
    queue = Queue()
    queue.add(pod("a", "first"))
    queue.fail(FIT)
    queue.inner.update(pod("a", "first"), pod("a", "second"))
    assert (len(queue.inner), queue.names()) == (1, ["second"])
    queue.inner.update(pod("b"), pod("b", priority=1))
    assert queue.names() == ["b"]


def test_a_pod_does_not_come_back_to_a_place_that_is_taken() -> None:
    """Given a pod in flight / when another one of its name comes, and the first one is given back /
    then the other one waits alone, and nothing is in flight.
    """
    queue = Queue()
    queue.add(pod("a", "first"))
    queued = queue.inner.pop()
    queue.add(pod("a", "second"))
    queue.inner.add_unschedulable_if_not_present(queued, queued.info.pod)
    assert (queued.consecutive_errors_count, len(queue.inner), queue.names()) == (0, 1, ["second"])
    queue.pod_goes()
    assert queue.inner._in_flight._events == []


def profile(**registered: Any) -> ProfileQueueing:
    """Plugins with the events that they register, by the names of hints."""
    return ProfileQueueing([], {
        name: [ClusterEventWithHint(event, hint) for event, hint in listed] for name, listed in registered.items()})


def queue_of(made: ProfileQueueing) -> Any:
    queue = Queue()
    queue.inner = SchedulingQueue(queue.clock, plugin(PrioritySort), queue.wake, {"default-scheduler": made})
    return queue


ADDED, LABELLED = (ClusterEvent(EventResource.NODE, action) for action in (ActionType.ADD, ActionType.UPDATE_NODE_LABEL))


def test_what_nobody_has_registered_is_not_remembered() -> None:
    """Given plugins that register new nodes / when another thing happens while a pod is in flight /
    then it is not even kept; a new node is.
    """
    queue = queue_of(profile(One=[(ADDED, None)]))
    queue.add(pod("a"))
    queued = queue.inner.pop()
    queue.happen(LABELLED)
    assert queue.inner._in_flight.since("a") == []
    queue.happen(ADDED)
    assert [each.event for each in queue.inner._in_flight.since("a")] == [ADDED]
    queued.unschedulable_plugins = {"One": None}
    queue.inner.add_unschedulable_if_not_present(queued, queued.info.pod)
    assert not queue.inner._in_flight.has("a")
    assert queue.names() == ["a"]


def test_a_pod_without_a_profile_is_not_held() -> None:
    """Given a pod of a scheduler that is not here, and a profile without gates / then nothing holds
    their pods.
    """
    gated: Any = {"schedulingGates": [{"name": "g"}]}
    queue = Queue()
    queue.add(pod("a", schedulerName="other", **gated), pod("b", **gated))
    assert queue.names() == ["a"]
    queue = queue_of(profile())
    queue.add(pod("b", **gated))
    assert queue.names() == ["b"]


def hint(said: Any) -> Any:
    def ask(*_: Any) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    return ask


@pytest.mark.parametrize(("one", "two", "moves"), [
    (QUEUE, SKIP, "at once"), (SKIP, QUEUE, "after its back-off"), (SKIP, SKIP, "not"), (QUEUE, QUEUE, "at once"),
    (SKIP, ValueError("no"), "after its back-off"), (None, SKIP, "at once")])
def test_a_pending_plugin_comes_before_others(caplog: pytest.LogCaptureFixture, one: Any, two: Any, moves: str) -> None:
    """Given a pod that One let wait and Two rejected / when something happens that helps One / then
    the pod is tried at once; if it helps Two alone, after its back-off. A hint that raises helps,
    and is logged.
    """
    queue = queue_of(profile(One=[(ADDED, None if one is None else hint(one))], Two=[(ADDED, hint(two))]))
    queue.add(pod("a"))
    with caplog.at_level(logging.ERROR):
        queued = queue.fail("Two", pending=["One"])
        queue.happen(ADDED)
    found = "at once" if queue.inner.is_active(queued) else "not" if queue.inner.backs_off_until(queued) is None else (
        "after its back-off")
    assert found == moves
    assert [record.getMessage() for record in caplog.records] == (
        [f"a hint about {queued.key}"] if isinstance(two, Exception) else [])


def test_a_pod_that_is_tried_too_often_is_calmed() -> None:
    """Given a pod that something calls for at once each time that it was rejected / when it was
    tried 64 times in a second / then it backs off as after an error, and half as many tries are
    too many the next time.
    """
    queue = Queue()
    queue.add(pod("a"))
    tries = []
    for _ in range(2):
        number = 0
        while len(queue.inner._active):
            queued = queue.fail(pending=[FIT])
            queue.pod_goes()
            number += 1
        tries.append(number)
        assert (queued.calmed_count, queued.consecutive_errors_count, queue.inner.pop()) == (len(tries), 1, None)
        assert queue.inner.pending() == {"active": 0, "backoff": 1, "unschedulable": 0, "gated": 0}
        queue.pass_time(2)
    assert tries == [64, 32]


class Grouped:
    """A queue with groups."""

    def __init__(self) -> None:
        self.queue, self.states = Queue(), GroupStates()
        inner = self.queue.inner
        self.groups = inner.groups = GroupQueue(inner, self.states, self.queue.clock)

    def group(self, name: str, minimum: int | None = None) -> EntityKey:
        """It is seen."""
        key, made = pod_group(name, minimum)
        self.states.set_group(key, made)
        self.groups.groups_changed(None, key)
        return key


def test_a_group_without_pods_waits_no_more() -> None:
    """Given a group of two pods that waits / when they go / then the group waits with the one that
    is left, and then no more; to take one out that does not wait is harmless.
    """
    world = Grouped()
    key = world.group("g")
    first, second = pod("a", group="g"), pod("b", group="g")
    world.queue.add(first, second)
    assert (len(world.queue.inner), world.queue.inner.pending()["active"]) == (1, 2)
    world.queue.inner.remove(first)
    assert (len(world.queue.inner), world.queue.inner.pending()["active"]) == (1, 1)
    world.queue.inner.remove(first)
    world.queue.inner.remove(second)
    assert (len(world.queue.inner), world.queue.inner.entity(key), world.groups._members) == (0, None, {})
    late = pod("c", group="other")
    world.queue.add(late)
    assert world.groups.queued_pod(late)[1] is None
    world.queue.inner.remove(late)
    assert (world.groups._members, world.groups.queued_pod(late)) == ({}, (None, None))


@pytest.mark.parametrize(("rejected", "counts", "after"), [(True, (1, 0), "at once"), (False, (0, 1), "after its back-off")])
def test_a_member_whose_binding_failed_comes_back_with_its_group(rejected: bool, counts: Any, after: str) -> None:
    """Given a group whose cycle is over / when a pod of it comes back, as its binding has failed /
    then the group waits again, with the pod's place and tries, after an error until its back-off is
    over.
    """
    world = Grouped()
    key = world.group("g")
    world.queue.add(pod("a", group="g"), pod("b", group="g"))
    entity = world.queue.inner.pop()
    [first, second] = entity.pods()
    world.groups.end(entity, None)
    assert world.queue.inner.entity(key) is None
    first.attempts = 3
    if rejected:
        first.unschedulable_plugins = {FIT: None}
    world.queue.inner.add_unschedulable_if_not_present(first, first.info.pod)
    found = world.queue.inner.entity(key)
    assert (found.attempts, found.sequence, found.timestamp) == (3, 1, world.queue.clock.time())
    assert (found.unschedulable_count, found.consecutive_errors_count) == counts
    assert (found.tried_in, found.tries_in_second, found.calmed_count) == (first.tried_in, 1, 0)
    assert (world.queue.inner.backs_off_until(found) is None) is (after == "at once")
    assert (world.queue.inner.pop() is found) is (after == "at once")
    assert world.groups.queued_pod(second.info.pod)[0] is None


def test_the_queue_knows_groups_as_they_are() -> None:
    """Given what the queue asks of groups / then groups answer to all of it."""
    asked = {name for name in vars(Groups) if not name.startswith("_")}
    assert asked == {"is_member", "add_pod", "take_back", "queued_pod", "remove_pod", "begin"}
    assert asked <= vars(GroupQueue).keys()
