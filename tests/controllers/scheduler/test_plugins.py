"""Plugins alone, on nodes and pods that the test makes."""

import pytest

from fakekube.apimachinery import placement
from fakekube.util import memory
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Code, FitError, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, pod_info
from fakekube_controllers.scheduler.plugins.node_affinity import NodeAffinity
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from tests.controllers.scheduler.contexts import algorithm, plugin


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
    cache = Cache()
    cache.set_node(node("n", cpu="4").node)
    for given, counted in (("2", 2000), ("1", 1000)):
        status = {"containerStatuses": [{"name": "c0", "allocatedResources": {"cpu": given}, "resources": {}}]}
        cache.add_pod({**pod("p", {"cpu": "1"}), "status": status}, "n")
        assert cache.snapshot().nodes["n"].requested == {"cpu": counted}


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
    fit, asked = plugin(NodeResourcesFit), pod_info(pod("p", {"cpu": "1", "memory": "1Gi"}))
    empty = node("a", cpu="4", memory="4Gi")
    used = node("b", None, pod("q", {"cpu": "2", "memory": "2Gi"}), cpu="4", memory="4Gi")
    assert [fit.score(CycleState(), asked, each) for each in (empty, used, node("c"))] == [75, 25, 0]


@pytest.mark.parametrize(("requirement", "matches"), [
    ({"operator": "In", "values": ["a", "b"]}, True), ({"operator": "NotIn", "values": ["a"]}, False),
    ({"operator": "Exists"}, True), ({"operator": "DoesNotExist"}, False),
    ({"operator": "Gt", "values": ["1"]}, False), ({"operator": "NotIn", "values": ["z"]}, True),
])
def test_operators_of_node_affinity(requirement, matches):
    """Given a requirement on a label with the value a / then it matches or not."""
    term = {"matchExpressions": [{"key": "k", **requirement}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    status = plugin(NodeAffinity).filter(CycleState(), pod_info(pod("p", affinity=affinity)), node("n", {"k": "a"}))
    assert (status is None) == matches


@pytest.mark.parametrize(("operator", "value", "matches"), [("Gt", "9", True), ("Gt", "10", False), ("Lt", "11", True)])
def test_numbers_of_node_affinity(operator, value, matches):
    """Given a label with the value 10 / then it is compared as a number."""
    term = {"matchExpressions": [{"key": "k", "operator": operator, "values": [value]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    status = plugin(NodeAffinity).filter(CycleState(), pod_info(pod("p", affinity=affinity)), node("n", {"k": "10"}))
    assert (status is None) == matches


def test_an_empty_term_matches_nothing():
    """Given a required term without requirements / then no node matches."""
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}}
    assert plugin(NodeAffinity).filter(CycleState(), pod_info(pod("p", affinity=affinity)), node("n")) is not None


def test_terms_that_name_nodes_narrow_the_choice():
    """Given terms that name nodes / then their union is all that is looked at; one that names none
    opens it again.
    """
    def pre_filter(*terms):
        required = {"nodeSelectorTerms": list(terms)}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        return plugin(NodeAffinity).pre_filter(CycleState(), pod_info(pod("p", affinity=affinity)), Snapshot())

    def named(*names):
        return {"key": "metadata.name", "operator": "In", "values": list(names)}

    assert pre_filter({"matchFields": [named("a", "b")]}, {"matchFields": [named("b", "c")]}) == ["a", "b", "c"]
    assert pre_filter({"matchFields": [named("a")]}, {"matchExpressions": [{"key": "k", "operator": "Exists"}]}) is None
    conflict = pre_filter({"matchFields": [named("a"), named("b")]})
    assert (conflict.code, conflict.message) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "pod affinity terms conflict")
    assert plugin(NodeAffinity).pre_filter(CycleState(), pod_info(pod()), Snapshot()) is SKIP


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
    cache = cluster(*(node(name, cpu="4", memory="4Gi") for name in ("c", "a", "b")))
    snapshot = cache.snapshot()
    assert algorithm().schedule(CycleState(), pod_info(pod("p", {"cpu": "1"})), snapshot) == "a"


class Counting:
    """A filter and score of a user's: it prefers the last node."""

    name = "Counting"

    def __init__(self, args, handle):
        self.asked = []

    def filter(self, state, pod, node):
        self.asked.append(node.name)

    def score(self, state, pod, node):
        return ord(node.name)


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
    """A cache of these nodes."""
    cache = Cache()
    for info in infos:
        cache.set_node(info.node)
    return cache


def test_plugins_are_asked_once_about_nodes_with_the_same_signatures():
    """Given a plugin that signs nodes, and nodes with two signatures / then it is asked about one
    of each / when a pod is placed and another alike is scheduled / then it is not asked again /
    given a pod with another signature / then it is asked about one node of each.
    """
    scheduling = algorithm(Signing)
    signing = scheduling.framework.plugins["Counting"]
    cache = cluster(*(node(name, cpu="4") for name in ("a1", "a2", "c1", "c2")))
    first = pod_info(pod("p", {"cpu": "1"}))
    assert scheduling.schedule(CycleState(), first, cache.snapshot()) == "c1"
    assert signing.asked == ["a1", "c1"]
    signing.asked.clear()
    cache.assume_pod(first, "c1")
    assert scheduling.schedule(CycleState(), pod_info(pod("q", {"cpu": "1"})), cache.snapshot()) == "c2"
    assert signing.asked == ([] if memory.ENABLED else ["a1", "c1"])
    scheduling.schedule(CycleState(), pod_info(pod("r", {"cpu": "1"}, priority=1)), cache.snapshot())
    assert signing.asked[-2:] == ["a1", "c1"]


def test_without_a_signature_every_filter_is_asked_every_time():
    """Given a plugin that is no SignPlugin / when two pods alike are scheduled / then it is asked
    about all nodes twice.
    """
    scheduling = algorithm(Counting)
    snapshot = cluster(*(node(name, cpu="4") for name in "abc")).snapshot()
    for name in "pq":
        assert scheduling.schedule(CycleState(), pod_info(pod(name)), snapshot) == "c"
    assert scheduling.framework.plugins["Counting"].asked == ["a", "b", "c"] * 2


def test_a_refusal_counts_its_reasons():
    """Given nodes that refuse for different reasons / then the text counts them in the order of
    their texts.
    """
    error = FitError({"a": unschedulable("x", "y"), "b": unschedulable("y")}, 3, post_filter_message="And that is all.")
    assert str(error) == "0/3 nodes are available: 1 x, 2 y. And that is all."


def test_what_does_not_matter_to_pods_is_no_event():
    """Given a node / when its heartbeat comes / then nothing that matters changed / when a
    condition turns / then it did.
    """
    def reporting(status, time):
        condition = {"type": "Ready", "status": status, "lastHeartbeatTime": time}
        return {"metadata": {"name": "n"}, "spec": {}, "status": {"conditions": [condition]}}

    assert not events.node_scheduling_properties_change(reporting("True", "1"), reporting("True", "2"))
    [event] = events.node_scheduling_properties_change(reporting("True", "1"), reporting("False", "2"))
    assert event.label == "NodeUpdateNodeCondition"
