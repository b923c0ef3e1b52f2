"""Resources: what fits, which strategy likes which node, and how evenly a node is used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins import resource_scores
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError
from fakekube_controllers.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from tests.controllers.scheduler.plugins.cases import Handle, hints, node, other, plugin_of, pod, scores, statuses


def asking(name="p", **requests):
    return pod(name, requests={key.replace("__", "/"): value for key, value in requests.items()})


def gpu(count):
    return pod("p", requests={"example.com/gpu": count})


def filtered(incoming, *nodes, **args):
    handle = Handle()
    return statuses(plugin_of(NodeResourcesFit, handle, **args), incoming, nodes, handle)


@pytest.mark.parametrize(("incoming", "code", "text"), [
    (asking(cpu="1"), None, None),
    (asking(cpu="3"), Code.UNSCHEDULABLE, "Insufficient cpu"),
    (asking(cpu="5"), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient cpu"),
    (asking(cpu="3", memory="7Gi"), Code.UNSCHEDULABLE, "Insufficient cpu, Insufficient memory"),
    (gpu("1"), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient example.com/gpu"),
    (asking(**{"ephemeral-storage": "1"}), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient ephemeral-storage"),
    (asking(cpu="0"), None, None),
    # the largest init container counts, a pod's own resources stand for those of its containers
    (pod("p", containers=[{"name": "c"}], initContainers=[{"name": "i", "resources": {"requests": {"cpu": "3"}}}]),
     Code.UNSCHEDULABLE, "Insufficient cpu"),
    (asking(cpu="1") | {"spec": asking(cpu="1")["spec"] | {"resources": {"requests": {"cpu": "3"}}}},
     Code.UNSCHEDULABLE, "Insufficient cpu"),
    (pod("p", requests={"cpu": "1"}, overhead={"cpu": "2"}), Code.UNSCHEDULABLE, "Insufficient cpu"),
])
def test_what_a_pod_requests_must_be_free(incoming, code, text):
    """Given a node of 4 cpus and 8Gi of which half is taken / then a pod fits that asks for no more
    than the rest; eviction can help while the whole node would be enough.
    """
    present = asking("x", cpu="2", memory="4Gi")
    assert filtered(incoming, node("a", present)) == {"a": None if code is None else (code, text)}


def test_a_node_takes_so_many_pods():
    """Given a node that has as many pods as it may / then it takes no other."""
    assert filtered(pod(), node("a", pod("x"), pods="1")) == {"a": (Code.UNSCHEDULABLE, "Too many pods")}


@pytest.mark.parametrize("args", [
    {"ignoredResources": ["example.com/gpu"]}, {"ignoredResourceGroups": ["example.com"]}])
def test_resources_that_are_ignored(args):
    """Given a resource that somebody else takes care of / then it may be missing."""
    assert filtered(gpu("1"), node("a"), **args) == {"a": None}
    assert filtered(asking(cpu="5"), node("a"), **args)["a"] is not None


# scores


def scored(incoming, *nodes, strategy=None):
    handle = Handle()
    args = {"scoringStrategy": strategy} if strategy else {}
    return scores(plugin_of(NodeResourcesFit, handle, **args), incoming, nodes, handle)


HALF, EMPTY = node("half", asking("x", cpu="2", memory="4Gi")), node("empty")
RATIO = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": [
    {"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]}}


@pytest.mark.parametrize(("strategy", "expected"), [
    (None, {"half": 25, "empty": 75}), ({"type": "LeastAllocated"}, {"half": 25, "empty": 75}),
    ({"type": "MostAllocated"}, {"half": 75, "empty": 25}),
    (RATIO, {"half": 25, "empty": 75}),
    ({"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 3}]},
     {"half": 25, "empty": 75}),
    # a resource that the node has not, and one that the pod does not ask for, do not count
    ({"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 1}, {"name": "example.com/gpu", "weight": 9}]},
     {"half": 25, "empty": 75}),
])
def test_strategies(strategy, expected):
    """Given a node that is half full and one that is empty / then each strategy scores them for a
    pod of a quarter.
    """
    assert scored(asking(cpu="1", memory="2Gi"), HALF, EMPTY, strategy=strategy) == expected


def test_a_pod_without_requests_takes_a_little():
    """Given pods that request nothing / then each counts 100m and 200Mi, so the emptier node is
    better.
    """
    busy = node("busy", *[pod(f"x{number}") for number in range(5)])
    found = scored(pod(), busy, EMPTY)
    assert found["busy"] < found["empty"] == (97 + 97) // 2


def test_weights_and_extended_resources():
    """Given a strategy that packs devices / then a node with fewer free ones is better for a pod
    that asks for one.
    """
    strategy = {"type": "MostAllocated", "resources": [{"name": "example.com/gpu", "weight": 3}, {"name": "cpu", "weight": 1}]}
    used = node("used", pod("x", requests={"example.com/gpu": "1", "cpu": "0"}), **{"example.com/gpu": "4"})
    free = node("free", **{"example.com/gpu": "4"})
    # three quarters of the score are that of the devices
    assert scored(gpu("1"), used, free, strategy=strategy) == {"used": 38, "free": 19}


@pytest.mark.parametrize(("utilization", "value"), [(0, 0), (25, 25), (50, 50), (60, 60), (100, 100)])
def test_a_rising_shape(utilization, value):
    """Given a shape from nothing to everything / then the score is the utilization."""
    points = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 5}, {"utilization": 100, "score": 10}]
    assert resource_scores.on_shape(resource_scores.shape_of(points), utilization) == value


def test_beyond_a_shape():
    """Given a shape with two points / then before the first and after the last it is level, and in
    between numbers are cut towards zero.
    """
    shape = [(40, 90), (70, 20)]
    assert [resource_scores.on_shape(shape, at) for at in (0, 40, 41, 55, 70, 100)] == [90, 90, 88, 55, 20, 20]


# balance


def balanced(incoming, *nodes, **args):
    handle = Handle()
    return scores(plugin_of(NodeResourcesBalancedAllocation, handle, **args), incoming, nodes, handle)


@pytest.mark.parametrize(("incoming", "present", "expected"), [
    (asking(cpu="1", memory="2Gi"), [], 75),  # a quarter of each
    (asking(cpu="2"), [], 62),  # shares of 1/2 and 0: 75 instead of 100
    (asking(cpu="2"), [asking("x", memory="4Gi")], 87),  # makes them equal
    (asking(cpu="1", memory="2Gi"), [asking("x", cpu="2")], 75),
])
def test_balance(incoming, present, expected):
    """Given a pod and what is on the node / then it scores more than 75 where it brings the shares
    of cpu and memory together, and less where it drives them apart.
    """
    assert balanced(incoming, node("a", *present)) == {"a": expected}


def test_pods_that_request_nothing_are_not_balanced():
    """Given a pod without requests of the resources that count / then there is no score."""
    assert balanced(pod(), node("a")) == "skipped"
    assert balanced(asking(memory="1Gi"), node("a"), resources=[{"name": "cpu"}]) == "skipped"


def test_balance_of_three_resources():
    """Given three resources / then the standard deviation of their shares counts."""
    resources = [{"name": "cpu"}, {"name": "memory"}, {"name": "example.com/gpu"}]
    incoming = pod("p", requests={"cpu": "2", "memory": "4Gi", "example.com/gpu": "4"})
    # shares of 1/2, 1/2 and 1: a deviation of 0.2357, so 76 instead of 100
    assert balanced(incoming, node("a", **{"example.com/gpu": "4"}), resources=resources) == {"a": 63}


@pytest.mark.parametrize(("resources", "text"), [
    ([{"name": "cpu", "weight": 2}], r"^resources\[0\].weight: Invalid value: 2: must be 1$"),
    ([{"name": "cpu"}, {"name": "cpu"}], r'^resources\[1\].name: Duplicate value: "cpu"$'),
])
def test_arguments_of_balance(resources, text):
    """Given weights, or a resource twice / then the plugin cannot be made."""
    with pytest.raises(ArgumentsError, match=text):
        NodeResourcesBalancedAllocation({"resources": resources}, Handle())


# asked by usage

MILLIS = st.integers(0, 2500).map(lambda number: f"{number}m")
BYTES = st.one_of(st.integers(0, 5000).map(lambda number: f"{number}Mi"), st.integers(0, 5).map(str))
REQUESTS = st.fixed_dictionaries({}, optional={"cpu": MILLIS, "memory": BYTES, "example.com/gpu": st.sampled_from(["1", "2"])})
STRATEGIES = st.sampled_from([
    None, {"type": "MostAllocated"}, RATIO,
    {"type": "LeastAllocated", "resources": [{"name": "memory", "weight": 3}, {"name": "example.com/gpu", "weight": 1}]}])
PLUGINS = st.one_of(
    STRATEGIES.map(lambda strategy: NodeResourcesFit({"scoringStrategy": strategy}, Handle())),
    st.sampled_from([None, [{"name": "cpu"}, {"name": "memory"}, {"name": "example.com/gpu"}]]).map(
        lambda resources: NodeResourcesBalancedAllocation({"resources": resources}, Handle())))


@given(PLUGINS, REQUESTS, st.lists(st.lists(REQUESTS, max_size=3), min_size=1, max_size=4), st.booleans())
def test_usage_says_what_the_node_says(plugin, requests, nodes, has_memory):
    """Given nodes of one size with pods / then the score by usage is that of the filter and the
    score of each, and the bound of the least of all usages is no less than any of them, and is -1
    only where the pod fits none.
    """
    incoming, fit = pod_info(pod("p", requests=requests)), NodeResourcesFit({}, Handle())
    infos = [
        node(f"n{number}", *(pod(f"x{number}{at}", requests=each) for at, each in enumerate(pods)),
             **{"example.com/gpu": "4", "memory": "6Gi" if has_memory else "0"})
        for number, pods in enumerate(nodes)]
    functions = plugin.resource_score(incoming, infos[0].allocatable)
    state, found = CycleState(), []
    for info in infos:
        if fit.filter(state, incoming, info) is not None:
            assert plugin.name != fit.name or functions is None or functions.score(info.usage) == -1
            continue
        is_scored = not hasattr(plugin, "pre_score") or plugin.pre_score(state, incoming, infos) is None
        expected = plugin.score(state, incoming, info) if is_scored else 0
        assert functions is not None
        assert functions.score(info.usage) == expected
        found.append((expected, info.usage))
    if found:
        least = tuple(map(min, *(usage for _, usage in found))) if len(found) > 1 else found[0][1]
        assert functions.bound(least) >= max(score for score, _ in found)


# hints

ASSIGNED, TARGET, NODE = EventResource.ASSIGNED_POD, EventResource.TARGET_POD, EventResource.NODE
ON_NODE = asking("x", cpu="2") | {"spec": asking("x", cpu="2")["spec"] | {"nodeName": "a"}}
SMALLER = other(ON_NODE, spec={"containers": asking("x", cpu="1")["spec"]["containers"]})


@pytest.mark.parametrize(("resource", "action", "old", "new", "answer"), [
    (ASSIGNED, ActionType.DELETE, ON_NODE, None, "QUEUE"), (ASSIGNED, ActionType.DELETE, asking("x"), None, "SKIP"),
    (ASSIGNED, ActionType.UPDATE_POD_SCALE_DOWN, ON_NODE, SMALLER, "QUEUE"),
    (ASSIGNED, ActionType.UPDATE_POD_SCALE_DOWN, SMALLER, ON_NODE, "SKIP"),
    (TARGET, ActionType.UPDATE_POD_SCALE_DOWN, ON_NODE, SMALLER, "QUEUE"),
    (NODE, ActionType.ADD, None, node("a").node, "QUEUE"), (NODE, ActionType.ADD, None, node("a", cpu="2").node, "SKIP"),
    (NODE, ActionType.UPDATE_NODE_ALLOCATABLE, node("a", cpu="2").node, node("a", cpu="3").node, "QUEUE"),
    (NODE, ActionType.UPDATE_NODE_ALLOCATABLE, node("a", cpu="4").node, node("a", cpu="3").node, "SKIP"),
    (NODE, ActionType.UPDATE_NODE_ALLOCATABLE, node("a", memory="1Gi").node, node("a", memory="2Gi").node, "SKIP"),
    (NODE, ActionType.UPDATE_NODE_ALLOCATABLE, node("a", pods="1").node, node("a", pods="2").node, "QUEUE"),
    (NODE, ActionType.UPDATE_NODE_LABEL, node("a").node, node("a").node, None),
])
def test_events_that_may_help(resource, action, old, new, answer):
    """Given a pod that waits for 3 cpus / then events help that free or add cpus or room."""
    plugin = plugin_of(NodeResourcesFit, Handle(gates=["InPlacePodVerticalScaling"]))
    assert hints(plugin, resource, action, asking(cpu="3"), old, new) == answer


def test_resizes_are_events_where_pods_can_be_resized():
    """Given a release without resizing / then no resize is registered."""
    plugin = plugin_of(NodeResourcesFit, Handle())
    assert hints(plugin, ASSIGNED, ActionType.UPDATE_POD_SCALE_DOWN, pod(), ON_NODE, SMALLER) is None
