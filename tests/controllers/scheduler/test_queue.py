"""The scheduling queue alone: who comes when."""

import pytest

from fakekube.util.clock import ManualClock
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import ActionType, ClusterEvent, EventResource
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.queue import ProfileQueueing, SchedulingQueue
from tests.controllers.scheduler.contexts import framework, plugin

FIT = "NodeResourcesFit"


def pod(name="p", *requests, **spec):
    containers = [{"name": f"c{number}", "resources": {"requests": asked}} for number, asked in enumerate(requests)]
    return {"metadata": {"name": name, "uid": name},
            "spec": {"schedulerName": "default-scheduler", "containers": containers, **spec}}


def node(labels=None, **allocatable):
    status = {"allocatable": {"pods": "10", **allocatable}}
    return {"metadata": {"name": "n", "labels": labels or {}}, "spec": {}, "status": status}


class Queue:
    """A queue with the default profile and a clock."""

    def __init__(self, profile=None, **options):
        self.clock, self.woken = ManualClock(), 0
        self.inner = SchedulingQueue(self.clock, plugin(PrioritySort), self.wake, {
            "default-scheduler": ProfileQueueing.of_framework(profile or framework())}, **options)

    def wake(self):
        self.woken += 1

    def add(self, *pods):
        for each in pods:
            self.inner.add(each)

    def names(self):
        """What comes out now; none of it is given back."""
        result = []
        while (queued := self.inner.pop()) is not None:
            result.append(queued.info.uid)
            self.inner.done(queued.info.uid)
        return result

    def fail(self, *plugins, pending=(), meanwhile=()):
        """Pop a pod, let something happen, and give the pod back."""
        queued = self.inner.pop()
        for happened in meanwhile:
            self.happen(*happened)
        queued.unschedulable_plugins, queued.pending_plugins = dict.fromkeys(plugins), dict.fromkeys(pending)
        self.inner.add_unschedulable_if_not_present(queued, queued.info.pod)
        return queued

    def happen(self, event, old=None, new=None):
        self.inner.move_all_to_active_or_backoff(event, old, new)

    def pass_time(self, seconds):
        """Fire what is due on the way."""
        until = self.clock.time() + seconds
        while (due := self.clock.next_due()) is not None and due <= until:
            self.clock.fire_next()
        self.clock.move_to(until)

    def pod_goes(self, **changes):
        self.happen(events.ASSIGNED_POD_DELETE, {**pod("gone", nodeName="n"), **changes})


@pytest.fixture
def queue():
    return Queue()


def test_higher_priority_goes_first_then_who_waits_longest(queue):
    """Given pods of two priorities / then the higher ones go first, each in the order in which they
    came.
    """
    queue.add(*(pod(name, priority=priority) for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5))))
    assert queue.names() == ["b", "d", "a", "c"]
    sort_key = plugin(PrioritySort).sort_key
    earlier, later = (QueuedPodInfo(pod_info(pod()), timestamp=time, sequence=2 - time) for time in (1, 2))
    assert sort_key(earlier) < sort_key(later)


def test_what_was_removed_does_not_come_out(queue):
    """Given waiting pods / when one is removed / then the others come out."""
    queue.add(pod("a"), pod("b"), pod("c"))
    queue.inner.remove(pod("b"))
    assert queue.names() == ["a", "c"]


def test_a_rejected_pod_waits_for_an_event(queue):
    """Given a pod that was rejected / then it does not come out / when a pod goes from a node /
    then it does, at once, as nothing else is active.
    """
    queue.add(pod("a"))
    queue.fail(FIT)
    queue.pass_time(60)
    assert queue.names() == []
    queue.woken = 0
    queue.pod_goes()
    assert (queue.woken, queue.names()) == (1, ["a"])


def test_who_backs_off_lets_others_go_first():
    """Given a rejected pod of high priority that an event has put into back-off / when another pod
    is active / then that one comes first.
    """
    queue = Queue()
    queue.add(pod("a", priority=9))
    queue.fail(FIT)
    queue.pod_goes()
    queue.add(pod("b"))
    assert queue.names() == ["b", "a"]


def test_a_back_off_doubles_up_to_ten_seconds():
    """Given that nobody is taken from back-off before it is over / when a rejected pod is helped by
    an event at once / then it comes out after a second, the next time after two, up to ten.
    """
    queue = Queue(pops_from_backoff=False)
    queue.add(pod("a"))
    for delay in (1, 2, 4, 8, 10, 10):
        queue.fail(FIT)
        queue.pod_goes()
        queue.pass_time(delay)
        assert queue.inner.pop() is None
        queue.pass_time(0.001)
        assert len(queue.inner) == 1


def test_a_back_off_that_passed_while_waiting_is_over():
    """Given a pod that waited a minute / when something happens / then it is tried at once."""
    queue = Queue(pops_from_backoff=False)
    queue.add(pod("a"))
    queue.fail(FIT)
    queue.pass_time(60)
    queue.pod_goes()
    assert queue.names() == ["a"]


def test_after_an_error_a_pod_waits_whatever_happens(queue):
    """Given a pod that came back by an error / when something happens / then it does not come out
    before its back-off is over, though nothing else is active.
    """
    queue.add(pod("a"))
    queue.fail()
    queue.pod_goes()
    assert queue.names() == []
    queue.pass_time(2)
    assert queue.names() == ["a"]


def test_errors_and_rejections_are_counted_apart(queue):
    """Given a pod that was rejected twice / when an error follows / then its back-off begins anew;
    a rejection goes on from before.
    """
    queue.add(pod("a"))
    counts = []
    for plugins in ((FIT,), (FIT,), (), (FIT,)):
        queued = queue.fail(*plugins)
        counts.append((queued.unschedulable_count, queued.consecutive_errors_count, queued.attempts))
        queue.pod_goes()
        queue.pass_time(20)
    assert counts == [(1, 0, 1), (2, 0, 2), (2, 1, 3), (3, 0, 4)]


def test_something_that_happened_meanwhile_counts(queue):
    """Given pods that were rejected / when what helps one of them happened since its attempt began
    / then it comes out at once / when it had happened before, or does not help / then not.
    """
    queue.pod_goes()
    queue.add(pod("a"))
    queue.fail(FIT)
    assert queue.names() == []
    queue = Queue()
    gone = (events.ASSIGNED_POD_DELETE, pod("gone", nodeName="n"), None)
    queue.add(pod("b"))
    queue.fail("NodeAffinity", meanwhile=[gone])
    assert queue.names() == []
    queue.add(pod("c"))
    queue.fail(FIT, meanwhile=[gone])
    assert queue.names() == ["c"]


def test_what_happens_is_forgotten_with_the_last_pod_in_flight(queue):
    """Given two pods in flight / when one is done / then what happened since the other began is
    kept / when that is done, too / then nothing is.
    """
    queue.add(pod("a"), pod("b"))
    first = queue.inner.pop()
    queue.pod_goes()
    second = queue.inner.pop()
    queue.pod_goes()
    in_flight = queue.inner._in_flight
    assert (len(in_flight.since("a")), len(in_flight.since("b"))) == (2, 1)
    queue.inner.done(first.info.uid)
    assert (len(in_flight.since("b")), len(in_flight._events)) == (1, 1)
    queue.inner.done(second.info.uid)
    queue.pod_goes()
    assert in_flight._events == []


def test_a_pending_plugin_needs_no_back_off(queue):
    """Given a pod whose plugin waits for something under way / when that happens / then it is
    active at once, before one that backs off.
    """
    queue.add(pod("a"))
    queue.fail(FIT)
    queue.pod_goes()
    queue.add(pod("b"))
    assert queue.inner.pop().info.uid == "b"
    queue.inner.done("b")
    queue.add(pod("c"))
    assert queue.fail(pending=[FIT]).info.uid == "c"
    queue.pod_goes()
    assert queue.names()[0] == "c"


def test_waiting_for_an_event_does_not_move_time(queue):
    """Given a pod that was rejected / then its five minutes keep nobody's clock moving, while the
    back-off of an error does.
    """
    queue.add(pod("a"))
    queue.fail(FIT)
    assert (queue.clock.pending, queue.clock.next_due() is not None) == (0, True)
    queue.add(pod("b"))
    queue.fail()
    assert queue.clock.pending == 1


def test_after_five_minutes_a_pod_is_tried_whatever_happened(queue):
    """Given a pod that was rejected / when nothing happens for five minutes / then it is tried
    again, and that is noted until it comes back.
    """
    queue.add(pod("a"))
    queue.fail(FIT)
    queue.pass_time(299)
    assert queue.names() == []
    queue.pass_time(31)
    queued = queue.inner.pop()
    assert queued.was_flushed_from_unschedulable
    queued.unschedulable_plugins = {FIT: None}
    queue.inner.add_unschedulable_if_not_present(queued, pod("a"))
    assert not queued.was_flushed_from_unschedulable


def test_a_gate_holds_until_it_is_gone(queue):
    """Given a gated pod / then it does not come out, whatever happens / when its gates are gone /
    then it does.
    """
    gated = pod("a", schedulingGates=[{"name": "g"}])
    queue.add(gated)
    queue.pod_goes()
    queue.inner.update(gated, {**gated, "metadata": {**gated["metadata"], "labels": {"a": "b"}}})
    assert queue.names() == []
    queue.inner.update(gated, pod("a"))
    assert queue.names() == ["a"]


class UntilNode:
    """Holds pods until a node comes."""

    name = "UntilNode"

    def __init__(self, args, handle):
        self.asked, self.opened = 0, False

    def pre_enqueue(self, info):
        self.asked += 1
        return None if self.opened else events

    def events_to_register(self):
        return [events.ClusterEventWithHint(events.NODE_ADD, self.open)]

    def open(self, info, old, new):
        self.opened = "ready" in new["metadata"]["labels"]
        return events.QUEUE


def test_a_gate_is_asked_again_after_the_events_that_it_registers():
    """Given a PreEnqueue plugin that waits for a node / when other things happen / then it is not
    asked again / when a node comes that does not do / then it is, and holds the pod on / when one
    that does / then the pod comes out.
    """
    profile = framework(UntilNode)
    queue, gate = Queue(profile), profile.plugins["UntilNode"]
    queue.add(pod("a"))
    queue.pod_goes()
    assert (queue.names(), gate.asked) == ([], 1)
    queue.happen(events.NODE_ADD, None, node())
    assert (queue.names(), gate.asked) == ([], 2)
    queue.happen(events.NODE_ADD, None, node({"ready": ""}))
    assert queue.names() == ["a"]


def test_an_update_makes_a_pod_worth_trying_if_a_plugin_says_so(queue):
    """Given a pod that was rejected for room / when its status or labels change / then it waits on
    / when it asks for less / then it is tried, as it is now.
    """
    large = pod("a", {"cpu": "4"})
    queue.add(large)
    queue.fail(FIT)
    queue.inner.update(large, {**large, "status": {"phase": "Pending"}})
    queue.inner.update(large, {**large, "metadata": {**large["metadata"], "labels": {"x": "y"}}})
    assert queue.names() == []
    queue.inner.update(large, pod("a", {"cpu": "2"}))
    assert queue.inner.pop().info.requests == {"cpu": 2000}


def test_an_update_in_flight_counts_when_the_pod_comes_back(queue):
    """Given a pod in flight / when it comes to ask for less, and is rejected as it was / then it is
    tried again.
    """
    queue.add(pod("a", {"cpu": "4"}))
    queued = queue.inner.pop()
    queue.inner.update(pod("a", {"cpu": "4"}), pod("a", {"cpu": "2"}))
    queued.unschedulable_plugins = {FIT: None}
    queue.inner.add_unschedulable_if_not_present(queued, pod("a", {"cpu": "2"}))
    assert queue.inner.pop().info.requests == {"cpu": 2000}


def test_activating_a_pod_needs_no_event(queue):
    """Given a pod that waits, one that backs off and one in flight / when they are activated / then
    the first two are active; the third is when it comes back.
    """
    queue.add(pod("a"))
    queue.fail(FIT)
    queue.add(pod("b"))
    queue.fail()
    queue.add(pod("c"))
    queued = queue.inner.pop()
    queue.inner.activate(["a", "b", "c", "unknown"])
    assert queue.names() == ["a", "b"]
    queued.unschedulable_plugins = {FIT: None}
    queue.inner.add_unschedulable_if_not_present(queued, pod("c"))
    assert queue.names() == ["c"]


def test_a_nominated_pod_that_goes_helps_only_those_it_went_before(queue):
    """Given rejected pods of two priorities / when room is given back that counted for the lower
    ones only / then only these are tried.
    """
    queue.add(pod("low"), pod("high", priority=9))
    queue.fail(FIT)
    queue.fail(FIT)
    queue.inner.move_all_to_active_or_backoff(events.ASSIGNED_POD_DELETE, pod("gone", nodeName="n"), None, 5)
    assert queue.names() == ["low"]


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
SMALL, LARGE = {"pods": "10", "cpu": "1"}, {"pods": "10", "cpu": "8"}


def changed(**changes):
    tree = node()
    return {
        "metadata": {**tree["metadata"], "labels": changes.pop("labels", {})},
        "status": {"allocatable": changes.pop("allocatable", tree["status"]["allocatable"])}, "spec": changes}


@pytest.mark.parametrize(("plugin", "old", "new", "helps"), [
    ("NodeResourcesFit", None, {"allocatable": LARGE}, True), ("NodeResourcesFit", None, {"allocatable": SMALL}, False),
    ("NodeResourcesFit", {"allocatable": SMALL}, {"allocatable": LARGE}, True),
    ("NodeResourcesFit", {"allocatable": LARGE}, {"allocatable": LARGE, "labels": {"a": "b"}}, False),
    ("NodeAffinity", None, {"labels": {"disk": "fast"}}, True), ("NodeAffinity", None, {}, False),
    ("NodeAffinity", {"labels": {"disk": "fast"}}, {"labels": {"disk": "fast"}, "allocatable": LARGE}, False),
    ("NodeAffinity", {}, {"labels": {"disk": "fast"}}, True),
    ("TaintToleration", {"taints": [TAINT]}, {}, True), ("TaintToleration", {}, {"labels": {"a": "b"}}, False),
    ("TaintToleration", None, {"taints": [TAINT]}, False),
    ("NodeUnschedulable", {"unschedulable": True}, {}, True), ("NodeUnschedulable", {}, {"labels": {"a": "b"}}, False),
    ("NodePorts", None, {}, True), ("NodePorts", {}, {"labels": {"a": "b"}}, False),
    ("Somebody", {}, {"labels": {"a": "b"}}, True),
])
def test_an_event_that_cannot_help_moves_nobody(queue, plugin, old, new, helps):
    """Given a pod that a plugin rejected / when a node comes or changes / then it is tried again
    only if that may help it.
    """
    queue.add(pod("a", {"cpu": "4"}, nodeSelector={"disk": "fast"}))
    queue.fail(plugin)
    if old is None:
        queue.happen(events.NODE_ADD, None, changed(**new))
    else:
        for event in events.node_scheduling_properties_change(changed(**old), changed(**new)):
            queue.happen(event, changed(**old), changed(**new))
    assert queue.names() == (["a"] if helps else [])


def test_a_pod_that_goes_helps_who_lacked_room_or_its_port(queue):
    """Given pods that were rejected for room, a port and labels / when a pod with another port goes
    / then the first is tried again / when one with that port does / then the second, too.
    """
    def with_port(name, number, **spec):
        tree = pod(name, {"cpu": "1"}, **spec)
        tree["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": number}]
        return tree

    for name, rejected_by in {"room": FIT, "port": "NodePorts", "labels": "NodeAffinity"}.items():
        queue.add(with_port(name, 80))
        queue.fail(rejected_by)
    queue.happen(events.ASSIGNED_POD_DELETE, with_port("gone", 81, nodeName="n"))
    assert queue.names() == ["room"]
    queue.happen(events.ASSIGNED_POD_DELETE, with_port("gone", 80, nodeName="n"))
    assert queue.names() == ["port"]


@pytest.mark.parametrize(("registered", "incoming", "matches"), [
    (("Node", "UPDATE"), ("Node", "UPDATE_NODE_LABEL"), True), (("Node", "UPDATE_NODE_LABEL"), ("Node", "UPDATE"), False),
    (("Pod", "DELETE"), ("AssignedPod", "DELETE"), True), (("AssignedPod", "DELETE"), ("Pod", "DELETE"), False),
    (("*", "ALL"), ("Node", "ADD"), True), (("*", "ADD"), ("Node", "DELETE"), False), (("Node", "ADD"), ("*", "ALL"), False),
])
def test_events_match_those_that_are_as_special_or_more(registered, incoming, matches):
    """Given an event that is registered / then it is the one that comes, or a wider one, or not."""
    one, other = (ClusterEvent(EventResource(kind), ActionType[action]) for kind, action in (registered, incoming))
    assert one.matches(other) == matches
