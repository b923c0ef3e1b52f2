"""Plugins alone, on nodes and pods that the test makes."""

import pytest

from fakekube.runtime import placement
from fakekube.util import memory
from fakekube.util.clock import ManualClock
from fakekube_controllers.scheduler.cache import Cache, Snapshot
from fakekube_controllers.scheduler.cycle import Framework
from fakekube_controllers.scheduler.framework.events import ClusterEvent, node_scheduling_properties_changed
from fakekube_controllers.scheduler.framework.interface import QueuedPodInfo
from fakekube_controllers.scheduler.framework.status import SKIP, Code, FitError, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, pod_info
from fakekube_controllers.scheduler.plugins.node_affinity import NodeAffinity
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.plugins.registry import default_plugins
from fakekube_controllers.scheduler.plugins.scheduling_gates import SchedulingGates
from fakekube_controllers.scheduler.queue import SchedulingQueue
from tests.controllers.scheduler.contexts import CONTEXT


def pod(name="p", *requests, **spec):
    containers = [{"name": f"c{number}", "resources": {"requests": asked}} for number, asked in enumerate(requests)]
    return {"metadata": {"name": name, "uid": name}, "spec": {"containers": containers, **spec}}


def node(name, labels=None, *pods, **allocatable):
    info = NodeInfo(name)
    info.set_node({
        "metadata": {"name": name, "labels": labels or {}}, "spec": {}, "status": {"allocatable": {"pods": "10", **allocatable}}})
    for each in pods:
        info.add(pod_info(each))
    return info


@pytest.mark.parametrize(("requests", "non_zero_requests"), [
    ([{}], (100, 200)), ([{}, {}], (200, 400)), ([{"cpu": "1"}, {"memory": "1Mi"}], (1100, 201)),
    ([{"cpu": "0", "memory": "0"}], (0, 0)), ([{"cpu": "2", "memory": "1Gi"}], (2000, 1024)),
])
def test_a_container_that_requests_nothing_counts_a_little_in_scores(requests, non_zero_requests):
    """Given containers of which some say nothing / then each of those counts 100m and 200Mi; a zero
    that is said is a zero.
    """
    info = pod_info(pod("p", *requests))
    assert (info.non_zero_requests["cpu"], info.non_zero_requests["memory"] >> 20) == non_zero_requests


def test_a_pod_that_names_its_own_resources_counts_them_in_scores():
    """Given a pod that requests cpu as a whole / then its containers count nothing for cpu, and a
    little for memory.
    """
    info = pod_info(pod("p", {}, {}, resources={"requests": {"cpu": "300m"}}))
    assert (info.requests, info.non_zero_requests["cpu"], info.non_zero_requests["memory"] >> 20) == ({"cpu": 300}, 300, 400)


def test_a_resize_that_is_in_flight_counts_with_the_larger():
    """Given a pod on a node whose kubelet still gives it more than it asks for now / then what it
    gives counts / when the node has taken it back / then what it asks for does.
    """
    cache, snapshot = Cache(), Snapshot()
    cache.set_node(node("n", cpu="4").node)
    for given, counted in (("2", 2000), ("1", 1000)):
        status = {"containerStatuses": [{"name": "c0", "allocatedResources": {"cpu": given}, "resources": {}}]}
        cache.add_pod({**pod("p", {"cpu": "1"}), "status": status}, "n")
        cache.update_snapshot(snapshot)
        assert snapshot.nodes["n"].requested == {"cpu": counted}


def test_what_a_node_has_taken_follows_its_pods():
    """Given pods that come and go / then both sums of requests are those of the pods that are
    there.
    """
    info = node("n", None, pod("a", {"cpu": "1"}), pod("b", {}))
    info.add(pod_info(pod("a", {"cpu": "2"})))
    assert (info.requested, info.non_zero_requested["cpu"]) == ({"cpu": 2000}, 2100)
    trial = info.copy()
    trial.remove("a")
    trial.remove("nobody")
    assert (trial.requested["cpu"], trial.non_zero_requested["cpu"], info.requested["cpu"]) == (0, 100, 2000)


def test_emptier_nodes_score_higher():
    """Given nodes of which one has a pod / then the empty one scores more, and a full one nothing.
    """
    plugin, asked = NodeResourcesFit(), pod_info(pod("p", {"cpu": "1", "memory": "1Gi"}))
    empty = node("a", cpu="4", memory="4Gi")
    used = node("b", None, pod("q", {"cpu": "2", "memory": "2Gi"}), cpu="4", memory="4Gi")
    assert [plugin.score({}, asked, each) for each in (empty, used, node("c"))] == [75, 25, 0]


@pytest.mark.parametrize(("requirement", "matches"), [
    ({"operator": "In", "values": ["a", "b"]}, True), ({"operator": "NotIn", "values": ["a"]}, False),
    ({"operator": "Exists"}, True), ({"operator": "DoesNotExist"}, False),
    ({"operator": "Gt", "values": ["1"]}, False), ({"operator": "NotIn", "values": ["z"]}, True),
])
def test_operators_of_node_affinity(requirement, matches):
    """Given a requirement on a label with the value a / then it matches or not."""
    term = {"matchExpressions": [{"key": "k", **requirement}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    status = NodeAffinity().filter({}, pod_info(pod("p", affinity=affinity)), node("n", {"k": "a"}))
    assert (status is None) == matches


@pytest.mark.parametrize(("operator", "value", "matches"), [("Gt", "9", True), ("Gt", "10", False), ("Lt", "11", True)])
def test_numbers_of_node_affinity(operator, value, matches):
    """Given a label with the value 10 / then it is compared as a number."""
    term = {"matchExpressions": [{"key": "k", "operator": operator, "values": [value]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    status = NodeAffinity().filter({}, pod_info(pod("p", affinity=affinity)), node("n", {"k": "10"}))
    assert (status is None) == matches


def test_an_empty_term_matches_nothing():
    """Given a required term without requirements / then no node matches."""
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}}
    assert NodeAffinity().filter({}, pod_info(pod("p", affinity=affinity)), node("n")) is not None


def test_terms_that_name_nodes_narrow_the_choice():
    """Given terms that name nodes / then their union is all that is looked at; one that names none
    opens it again.
    """
    def pre_filter(*terms):
        required = {"nodeSelectorTerms": list(terms)}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        return NodeAffinity().pre_filter({}, pod_info(pod("p", affinity=affinity)), Snapshot())

    def named(*names):
        return {"key": "metadata.name", "operator": "In", "values": list(names)}

    assert pre_filter({"matchFields": [named("a", "b")]}, {"matchFields": [named("b", "c")]}) == ["a", "b", "c"]
    assert pre_filter({"matchFields": [named("a")]}, {"matchExpressions": [{"key": "k", "operator": "Exists"}]}) is None
    conflict = pre_filter({"matchFields": [named("a"), named("b")]})
    assert (conflict.code, conflict.message) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "pod affinity terms conflict")
    assert NodeAffinity().pre_filter({}, pod_info(pod()), Snapshot()) is SKIP


@pytest.mark.parametrize(("toleration", "tolerated"), [
    ({"operator": "Exists"}, True), ({"key": "k", "value": "v"}, True), ({"key": "k"}, False),
    ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False), ({"key": "other", "operator": "Exists"}, False),
    ({"key": "k", "operator": "Gt", "value": "1"}, False),
])
def test_tolerations(toleration, tolerated):
    """Given the taint k=v:NoSchedule / then a toleration covers it or not."""
    assert placement.tolerates(toleration, {"key": "k", "value": "v", "effect": "NoSchedule"}) == tolerated


def test_of_equal_nodes_the_first_by_name_is_taken():
    """Given nodes alike, in any order / then the first in name order is chosen."""
    framework = Framework(default_plugins(CONTEXT))
    _, snapshot = cluster(*(node(name, cpu="4", memory="4Gi") for name in ("c", "a", "b")))
    assert framework.schedule({}, pod_info(pod("p", {"cpu": "1"})), snapshot) == "a"


class Counting:
    """A filter and score of a user's: it prefers the last node."""

    name, weight = "Counting", 100

    def __init__(self):
        self.asked = []

    def filter(self, state, pod, node):
        self.asked.append(node.name)

    def score(self, state, pod, node):
        return ord(node.name)

    def normalize_score(self, state, pod, scores):
        pass


class Signing(Counting):
    """The same as a SignPlugin: it depends on the first letter of a node's name and the pod's
    priority.
    """

    def sign_pod(self, pod):
        return pod.priority

    def node_fields(self, pod):
        return None

    def sign_node(self, node_fields, node):
        return node.name[0]

    def score(self, state, pod, node):
        return ord(node.name[0])


def cluster(*infos):
    """A cache and its snapshot."""
    cache, snapshot = Cache(), Snapshot()
    for info in infos:
        cache.set_node(info.node)
    cache.update_snapshot(snapshot)
    return cache, snapshot


def test_plugins_are_asked_once_about_nodes_with_the_same_signatures():
    """Given a plugin that signs nodes, and nodes with two signatures / then it is asked about one
    of each / when a pod is placed and another alike is scheduled / then it is not asked again /
    given a pod with another signature / then it is asked about one node of each.
    """
    plugin = Signing()
    framework = Framework([*default_plugins(CONTEXT), plugin], groups_nodes=True)
    cache, snapshot = cluster(*(node(name, cpu="4") for name in ("a1", "a2", "c1", "c2")))
    first = pod_info(pod("p", {"cpu": "1"}))
    assert framework.schedule({}, first, snapshot) == "c1"
    assert plugin.asked == ["a1", "c1"]
    plugin.asked.clear()
    cache.assume_pod(first, "c1")
    cache.update_snapshot(snapshot)
    assert framework.schedule({}, pod_info(pod("q", {"cpu": "1"})), snapshot) == "c2"
    assert plugin.asked == ([] if memory.ENABLED else ["a1", "c1"])
    framework.schedule({}, pod_info(pod("r", {"cpu": "1"}, priority=1)), snapshot)
    assert plugin.asked[-2:] == ["a1", "c1"]


def test_without_a_signature_every_filter_is_asked_every_time():
    """Given a plugin that is no SignPlugin / when two pods alike are scheduled / then it is asked
    about all nodes twice.
    """
    plugin = Counting()
    framework = Framework([*default_plugins(CONTEXT), plugin])
    _, snapshot = cluster(*(node(name, cpu="4") for name in "abc"))
    for name in "pq":
        assert framework.schedule({}, pod_info(pod(name)), snapshot) == "c"
    assert plugin.asked == ["a", "b", "c"] * 2


def test_a_refusal_counts_its_reasons():
    """Given nodes that refuse for different reasons / then the text counts them in the order of
    their texts.
    """
    error = FitError({"a": unschedulable("x", "y"), "b": unschedulable("y")}, 3, post_filter_message="And that is all.")
    assert str(error) == "0/3 nodes are available: 1 x, 2 y. And that is all."


SOMETHING = ClusterEvent(pod={"metadata": {"name": "gone"}, "spec": {"containers": []}})


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def queue(clock):
    queueing_hints = Framework(default_plugins(CONTEXT)).queueing_hints
    return SchedulingQueue(clock, PrioritySort(), [SchedulingGates()], lambda: None, queueing_hints)


def names(queue):
    """What comes out of the queue now."""
    result = []
    while (queued := queue.pop()) is not None:
        result.append(queued.info.uid)
    return result


def test_higher_priority_goes_first_then_who_waits_longest(queue):
    """Given pods of two priorities / then the higher ones go first, each in the order in which they
    came.
    """
    for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5)):
        queue.add(pod(name, priority=priority))
    assert names(queue) == ["b", "d", "a", "c"]
    info = pod_info(pod("x"))
    assert PrioritySort().sort_key(QueuedPodInfo(info, 1.0, 1)) < PrioritySort().sort_key(QueuedPodInfo(info, 2.0, 0))


def test_what_was_removed_does_not_come_out(queue):
    """Given waiting pods / when one is removed / then the others come out."""
    for name in "abc":
        queue.add(pod(name))
    queue.remove("b")
    assert names(queue) == ["a", "c"]


def test_a_pod_that_failed_waits_for_an_event_and_its_back_off(queue, clock):
    """Given a pod that did not fit / when something happens / then it comes after a second, the
    next time after two.
    """
    queue.add(pod("a"))
    for delay in (1, 2, 4, 8, 10, 10):
        assert names(queue) == ["a"]
        queue.add_unschedulable("a", rejected_by=["NodeResourcesFit"])
        assert names(queue) == []
        queue.move_all_to_active_or_backoff(SOMETHING)
        assert names(queue) == []
        before = clock.time()
        clock.fire_next()
        assert clock.time() - before == delay


def test_a_back_off_that_passed_while_waiting_is_over(queue, clock):
    """Given a pod that waited a minute / when something happens / then it is tried at once."""
    queue.add(pod("a"))
    queue.pop()
    queue.add_unschedulable("a", rejected_by=["NodeResourcesFit"])
    clock.move_to(clock.time() + 60)
    queue.move_all_to_active_or_backoff(SOMETHING)
    assert names(queue) == ["a"]


def test_something_that_happened_meanwhile_counts(queue, clock):
    """Given a pod that did not fit, and an event since the attempt began / then it backs off only.
    """
    queue.add(pod("a"))
    queue.pop()
    queue.move_all_to_active_or_backoff(SOMETHING)
    queue.add_unschedulable("a", rejected_by=["NodeResourcesFit"])
    clock.fire_next()
    assert names(queue) == ["a"]


def test_waiting_for_an_event_does_not_move_time_and_ends_with_the_pod(queue, clock):
    """Given a pod that did not fit / then its five minutes keep nobody's clock moving, while its
    back-off does; a pod that is removed or pushed again leaves no timer behind.
    """
    queue.add(pod("a"))
    queue.pop()
    queue.add_unschedulable("a", rejected_by=["NodeResourcesFit"])
    assert [timer.daemon for timer in queue._timers.values()] == [True]
    queue.move_all_to_active_or_backoff(SOMETHING)
    assert [timer.daemon for timer in queue._timers.values()] == [False]
    queue.remove("a")
    assert (queue._timers, queue._unschedulable, clock.next_due()) == ({}, {}, None)


def test_after_five_minutes_a_pod_is_tried_whatever_happened(queue, clock):
    """Given a pod that did not fit / when nothing happens for five minutes / then it is tried
    again.
    """
    queue.add(pod("a"))
    queue.pop()
    before = clock.time()
    queue.add_unschedulable("a", rejected_by=["NodeResourcesFit"])
    clock.fire_next()
    assert (clock.time() - before, names(queue)) == (300, ["a"])


def test_a_gate_holds_until_it_is_gone(queue):
    """Given a gated pod / then it does not come out / when its gates are gone / then it does."""
    queue.add(pod("a", schedulingGates=[{"name": "g"}]))
    assert names(queue) == []
    queue.add(pod("a"))
    assert names(queue) == ["a"]


def test_a_status_does_not_make_a_pod_worth_trying(queue):
    """Given a pod that did not fit / when only its status changes / then it waits on / when its
    labels do / then it is tried.
    """
    queue.add(pod("a"))
    queue.pop()
    queue.add_unschedulable("a", rejected_by=["NodeResourcesFit"])
    queue.add({**pod("a"), "status": {"phase": "Pending"}})
    assert names(queue) == []
    changed = pod("a")
    changed["metadata"]["labels"] = {"x": "y"}
    queue.add(changed)
    assert names(queue) == ["a"]


def changed(info, **changes):
    """The node with another spec, labels or allocatable."""
    tree = info.node
    return {
        "metadata": {**tree["metadata"], "labels": changes.pop("labels", tree["metadata"]["labels"])},
        "status": {**tree["status"], "allocatable": changes.pop("allocatable", tree["status"]["allocatable"])},
        "spec": {**tree["spec"], **changes}}


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
SMALL, LARGE = {"pods": "10", "cpu": "1"}, {"pods": "10", "cpu": "8"}


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
def test_an_event_that_cannot_help_moves_nobody(queue, clock, plugin, old, new, helps):
    """Given a pod that a plugin rejected / when a node comes or changes / then it is tried again
    only if that may help it.
    """
    queue.add(pod("a", {"cpu": "4"}, nodeSelector={"disk": "fast"}))
    queue.pop()
    queue.add_unschedulable("a", rejected_by=[plugin])
    clock.move_to(clock.time() + 60)
    base = node("n")
    queue.move_all_to_active_or_backoff(ClusterEvent(changed(base, **new), changed(base, **old) if old is not None else None))
    assert names(queue) == (["a"] if helps else [])


def test_a_pod_that_goes_helps_who_lacked_room_or_its_port(queue, clock):
    """Given pods that were rejected for room, a port and labels / when a pod with another port goes
    / then the first is tried again / when one with that port does / then the second, too.
    """
    def with_port(name, number):
        tree = pod(name, {"cpu": "1"})
        tree["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": number}]
        return tree

    rejected = {"room": "NodeResourcesFit", "port": "NodePorts", "labels": "NodeAffinity"}
    for name, plugin in rejected.items():
        queue.add(with_port(name, 80))
        queue.pop()
        queue.add_unschedulable(name, rejected_by=[plugin])
    clock.move_to(clock.time() + 60)
    queue.move_all_to_active_or_backoff(ClusterEvent(pod=with_port("gone", 81)))
    assert names(queue) == ["room"]
    queue.move_all_to_active_or_backoff(ClusterEvent(pod=with_port("gone", 80)))
    assert names(queue) == ["port"]


def test_what_does_not_matter_to_pods_is_no_event():
    """Given a node / when its heartbeat comes / then nothing that matters changed / when a
    condition turns / then it did.
    """
    def reporting(status, time):
        condition = {"type": "Ready", "status": status, "lastHeartbeatTime": time}
        return {"metadata": {"name": "n"}, "spec": {}, "status": {"conditions": [condition]}}

    assert not node_scheduling_properties_changed(reporting("True", "1"), reporting("True", "2"))
    assert node_scheduling_properties_changed(reporting("True", "1"), reporting("False", "2"))
