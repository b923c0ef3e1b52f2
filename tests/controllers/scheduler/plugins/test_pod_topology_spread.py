"""Topology spread constraints: which domains are too full, and which are better."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError
from fakekube_controllers.scheduler.plugins.pod_topology_spread import PodTopologySpread
from tests.controllers.scheduler.plugins.cases import (
    HOSTNAME,
    NAMES,
    ZONE,
    Handle,
    fresh,
    hints,
    node,
    other,
    plugin_of,
    pod,
    scores,
    snapshot,
    statuses,
    stepped,
    zoned,
)

FULL = (Code.UNSCHEDULABLE, "node(s) didn't match pod topology spread constraints")
NO_LABEL = (
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match pod topology spread constraints (missing required label)")
APP = {"app": "a"}


def constraint(key=ZONE, max_skew=1, action="DoNotSchedule", labels=APP, **rest):
    return {
        "topologyKey": key, "maxSkew": max_skew, "whenUnsatisfiable": action, "labelSelector": {"matchLabels": labels}, **rest}


def spread(*constraints, labels=APP, name="p", **spec):
    return pod(name, labels, topologySpreadConstraints=list(constraints), **spec)


def alike(*names, labels=APP, **rest):
    return [pod(name, labels, **rest) for name in names]


def filtered(incoming, nodes, *, gates=(), **args):
    handle = Handle(gates=gates)
    return statuses(plugin_of(PodTopologySpread, handle, **args), incoming, nodes, handle)


def test_a_domain_has_no_more_than_max_skew_over_the_emptiest():
    """Given two pods in one zone and none in the other / then a third goes only to the other; a
    node without a zone is out of the question.
    """
    nodes = [zoned("a1", "a", *alike("x")), zoned("a2", "a", *alike("y")), zoned("b1", "b"), node("c1")]
    assert filtered(spread(constraint()), nodes) == {"a1": FULL, "a2": FULL, "b1": None, "c1": NO_LABEL}
    assert filtered(spread(constraint(max_skew=3)), nodes) == {"a1": None, "a2": None, "b1": None, "c1": NO_LABEL}


@pytest.mark.parametrize(("present", "counted"), [
    (alike("x", labels={"app": "b"}), False), (alike("x", namespace="elsewhere"), False), (alike("x"), True),
])
def test_only_pods_that_are_alike_count(present, counted):
    """Given a pod in one of two zones / then it counts where the selector takes it, in the same
    namespace.
    """
    nodes = [zoned("a1", "a", *present), zoned("b1", "b")]
    assert filtered(spread(constraint()), nodes) == {"a1": FULL if counted else None, "b1": None}


def test_a_pod_that_is_being_deleted_does_not_count():
    """Given a pod of a zone that is being deleted / then another may come."""
    leaving = other(pod("x", APP), metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert filtered(spread(constraint()), [zoned("a1", "a", leaving), zoned("b1", "b")]) == {"a1": None, "b1": None}


def test_a_pod_that_its_own_selector_does_not_take_adds_nothing():
    """Given a zone with one pod more than the other / then a pod whose labels the selector does not
    take may still go there.
    """
    nodes = [zoned("a1", "a", *alike("x")), zoned("b1", "b")]
    assert filtered(spread(constraint(), labels={}), nodes) == {"a1": None, "b1": None}


@pytest.mark.parametrize(("min_domains", "fits"), [(None, True), (2, True), (3, False)])
def test_with_too_few_domains_the_emptiest_counts_as_empty(min_domains, fits):
    """Given a pod in each of two zones / when there are to be three zones / then none may have a
    second pod.
    """
    rest = {"minDomains": min_domains} if min_domains else {}
    nodes = [zoned("a1", "a", *alike("x")), zoned("b1", "b", *alike("y"))]
    assert filtered(spread(constraint(**rest)), nodes) == dict.fromkeys(("a1", "b1"), None if fits else FULL)


@pytest.mark.parametrize(("policies", "fits"), [
    ({}, True), ({"nodeAffinityPolicy": "Honor"}, True), ({"nodeAffinityPolicy": "Ignore"}, False)])
def test_nodes_that_the_pod_cannot_have_count_only_if_its_affinity_is_ignored(policies, fits):
    """Given a pod for the nodes of a pool, and an empty zone without any / then that zone counts
    only where node affinity is ignored.
    """
    in_pool = {"pool": "x"}
    nodes = [node("a1", *alike("x"), labels={ZONE: "a", **in_pool}), node("b1", labels={ZONE: "b"})]
    found = filtered(spread(constraint(**policies), nodeSelector=in_pool), nodes)
    assert found["a1"] == (None if fits else FULL)


@pytest.mark.parametrize(("policy", "tolerations", "fits"), [
    (None, [], False), ("Ignore", [], False), ("Honor", [], True), ("Honor", [{"operator": "Exists"}], False)])
def test_tainted_nodes_count_unless_taints_are_honored(policy, tolerations, fits):
    """Given an empty zone whose node is tainted / then it counts, unless taints are honored and the
    pod does not tolerate this one.
    """
    rest = {"nodeTaintsPolicy": policy} if policy else {}
    taint = {"key": "k", "effect": "NoSchedule"}
    nodes = [zoned("a1", "a", *alike("x")), zoned("b1", "b", taints=[taint])]
    found = filtered(spread(constraint(**rest), tolerations=tolerations), nodes)
    assert found["a1"] == (None if fits else FULL)


@pytest.mark.parametrize(("gates", "fits"), [(["MatchLabelKeysInPodTopologySpread"], True), ([], False)])
def test_match_label_keys_tell_generations_apart(gates, fits):
    """Given a pod of an earlier revision in one zone / then one of the next may go there, where the
    gate is on.
    """
    nodes = [zoned("a1", "a", *alike("x", labels={**APP, "hash": "1"})), zoned("b1", "b")]
    incoming = spread(constraint(matchLabelKeys=["hash", "missing"]), labels={**APP, "hash": "2"})
    assert filtered(incoming, nodes, gates=gates)["a1"] == (None if fits else FULL)


def test_every_constraint_must_hold():
    """Given constraints for zones and for nodes / then the first that fails says so."""
    nodes = [zoned("a1", "a", *alike("x")), zoned("a2", "a"), zoned("b1", "b", *alike("y"))]
    found = filtered(spread(constraint(), constraint(HOSTNAME)), nodes)
    assert found == {"a1": FULL, "a2": None, "b1": FULL}


def test_without_hard_constraints_the_filter_is_skipped():
    """Given no constraint, or a soft one / then the filter has nothing to say."""
    assert filtered(pod(), [node("a")]) == "skipped"
    assert filtered(spread(constraint(action="ScheduleAnyway")), [node("a")]) == "skipped"


# scores


def scored(incoming, nodes, *, gates=(), objects=None, **args):
    handle = Handle(gates=gates, **(objects or {}))
    return scores(plugin_of(PodTopologySpread, handle, **args), incoming, nodes, handle)


@pytest.mark.parametrize(("counts", "expected"), [
    # upstream's own table of scores, for nodes and for zones
    ({"a": 0, "b": 0}, {"a": 100, "b": 100}), ({"a": 1, "b": 0}, {"a": 0, "b": 100}),
    ({"a": 2, "b": 1, "c": 0, "d": 3}, {"a": 20, "b": 60, "c": 100, "d": 0}),
    ({"a": 1, "b": 1, "c": 1}, {"a": 100, "b": 100, "c": 100}),
])
def test_nodes_with_fewer_pods_are_better(counts, expected):
    """Given so many pods on each node / then the emptiest is best, by the shares of the fullest."""
    nodes = [node(name, *alike(*(f"{name}{number}" for number in range(count)))) for name, count in counts.items()]
    assert scored(spread(constraint(HOSTNAME, action="ScheduleAnyway")), nodes) == expected


def test_nodes_without_the_label_get_nothing():
    """Given a node without a zone / then its score is 0, and its pods do not count."""
    nodes = [zoned("a1", "a", *alike("x")), zoned("b1", "b"), node("c1", *alike("y", "z"))]
    assert scored(spread(constraint(action="ScheduleAnyway")), nodes) == {"a1": 0, "b1": 100, "c1": 0}


def test_without_soft_constraints_the_score_is_skipped():
    """Given no constraint that is soft, and nothing that selects the pod / then there is no score.
    """
    assert scored(pod("p", APP), [node("a")]) == "skipped"
    assert scored(spread(constraint(HOSTNAME)), [node("a")]) == "skipped"


def owner(kind, name, api_version="apps/v1"):
    return [{"apiVersion": api_version, "kind": kind, "name": name, "uid": name, "controller": True}]


def selecting(kind, **spec):
    return {"kind": kind, "metadata": {"name": "o", "namespace": "n"}, "spec": spec}


@pytest.mark.parametrize(("owners", "objects"), [
    ([], {"services": [selecting("Service", selector=APP)]}),
    (owner("ReplicaSet", "o"), {"replicasets": [selecting("ReplicaSet", selector={"matchLabels": APP})]}),
    (owner("StatefulSet", "o"), {"statefulsets": [selecting("StatefulSet", selector={"matchLabels": APP})]}),
    (owner("ReplicationController", "o", "v1"), {"replicationcontrollers": [selecting("ReplicationController", selector=APP)]}),
])
def test_pods_of_a_service_or_a_controller_are_spread_by_default(owners, objects):
    """Given a pod that a service or its controller selects / then nodes and zones without others
    of it are better, as both defaults have it, also where a node has no zone.
    """
    incoming = other(pod("p", APP), metadata={"ownerReferences": owners})
    nodes = [zoned("a1", "a", *alike("x")), zoned("a2", "a"), zoned("b1", "b"), node("c1")]
    found = scored(incoming, nodes, objects=objects)
    assert found["a1"] < found["a2"] < found["b1"] <= found["c1"] == 100


@pytest.mark.parametrize("objects", [
    {}, {"services": [selecting("Service", selector={"app": "b"}), selecting("Service")]}])
def test_pods_that_nothing_selects_are_not_spread_by_default(objects):
    """Given services that do not select the pod / then there is no score."""
    assert scored(pod("p", APP), [node("a")], objects=objects) == "skipped"


def test_defaults_of_the_configuration():
    """Given a list of default constraints, with a hard one / then it holds for a pod that a service
    selects, and not for a pod with its own.
    """
    args = {"defaultingType": "List", "defaultConstraints": [
        {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}
    nodes = [zoned("a1", "a", *alike("x")), zoned("b1", "b")]
    handle = Handle(services=[selecting("Service", selector=APP)])
    plugin = plugin_of(PodTopologySpread, handle, **args)
    assert statuses(plugin, pod("p", APP), nodes, handle) == {"a1": FULL, "b1": None}
    assert statuses(plugin, spread(constraint(max_skew=2)), nodes, handle) == {"a1": None, "b1": None}
    none = plugin_of(PodTopologySpread, handle, defaultingType="List")
    assert scores(none, pod("p", APP), nodes, handle) == "skipped"


def test_arguments_that_are_wrong():
    """Given system defaults together with a list / then the plugin cannot be made."""
    args = {"defaultConstraints": [{"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}
    with pytest.raises(ArgumentsError) as raised:
        PodTopologySpread(args, Handle())
    assert str(raised.value) == 'defaultingType: Invalid value: "System": when .defaultConstraints are not empty'


# what was counted stays right


KINDS = st.sampled_from([APP, {"app": "b"}])
STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove", "move"]), st.sampled_from(NAMES), KINDS), max_size=25)


@given(STEPS)
def test_counts_that_are_kept_are_those_of_a_recount(steps):
    """Given pods that come and go and nodes that move / then after each step a plugin that has
    seen all of it says what a new one says, in filter and score.
    """
    handle, nodes = Handle(), fresh()
    kept = plugin_of(PodTopologySpread, handle)
    hard, soft = spread(constraint(), constraint(HOSTNAME, 2)), spread(
        constraint(action="ScheduleAnyway"), constraint(HOSTNAME, action="ScheduleAnyway"))
    for number, step in enumerate(steps):
        nodes = stepped(nodes, step, number, pod)
        anew = plugin_of(PodTopologySpread, handle)
        listed = list(nodes.values())
        assert statuses(kept, hard, listed, handle) == statuses(anew, hard, listed, handle)
        assert scores(kept, soft, listed, handle) == scores(anew, soft, listed, handle)


@given(STEPS, st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES), KINDS), max_size=8))
def test_pods_added_in_thought_count_like_pods_that_are_there(steps, thoughts):
    """Given a cluster / when pods are added to a clone of the state and removed / then the filter
    says what it says of a cluster with these pods, and the state itself is as before.
    """
    handle, nodes = Handle(), fresh()
    for number, step in enumerate(steps):
        if step[0] != "move":
            nodes = stepped(nodes, step, number, pod)
    plugin, incoming = plugin_of(PodTopologySpread, handle), pod_info(spread(constraint(), constraint(HOSTNAME, 2)))
    state = CycleState()
    plugin.pre_filter(state, incoming, snapshot(*nodes.values()))
    before = [plugin.filter(state, incoming, each) for each in nodes.values()]
    tried = state.clone()
    for number, (adds, name, labels) in enumerate(thoughts):
        changed = nodes[name].copy()
        if adds:
            added = pod_info(pod(f"t{number}", labels))
            changed.add(added)
            plugin.add_pod(tried, incoming, added, changed)
        elif changed.pods:
            gone = next(iter(changed.pods.values()))
            changed.remove(gone.uid)
            plugin.remove_pod(tried, incoming, gone, changed)
        nodes = {**nodes, name: changed}
    anew = CycleState()
    plugin_of(PodTopologySpread, handle).pre_filter(anew, incoming, snapshot(*nodes.values()))
    for each in nodes.values():
        assert plugin.filter(tried, incoming, each) == plugin.filter(anew, incoming, each)
    assert [plugin.filter(state, incoming, each) for each in nodes.values()] == before


@given(st.lists(st.sampled_from(["p", "q"]), max_size=20), st.integers(1, 3))
def test_skew_is_never_above_max_skew(pods, max_skew):
    """Given pods that are placed one after the other, each on the first node that fits / then no
    zone ever has more than maxSkew over another.
    """
    handle, nodes = Handle(), fresh()
    plugin = plugin_of(PodTopologySpread, handle)
    for number, _ in enumerate(pods):
        incoming = spread(constraint(max_skew=max_skew), name=f"x{number}")
        found = statuses(plugin, incoming, list(nodes.values()), handle)
        name = next(name for name, status in found.items() if status is None)
        changed = nodes[name].copy()
        changed.add(pod_info(incoming))
        nodes = {**nodes, name: changed}
        zones = {}
        for each in nodes.values():
            zones[each.name[0]] = zones.get(each.name[0], 0) + len(each.pods)
        assert max(zones.values()) - min(zones.values()) <= max_skew


# hints

ASSIGNED, TARGET, NODE = EventResource.ASSIGNED_POD, EventResource.TARGET_POD, EventResource.NODE
ON_NODE = pod("x", APP, nodeName="a1")
PLAIN_NODE = zoned("a1", "a").node
TAINTED_NODE = zoned("a1", "a", taints=[{"key": "k", "effect": "NoSchedule"}]).node


@pytest.mark.parametrize(("resource", "action", "old", "new", "answer"), [
    (ASSIGNED, ActionType.ADD, None, ON_NODE, "QUEUE"),
    (ASSIGNED, ActionType.ADD, None, pod("x", APP), "SKIP"),  # has no node
    (ASSIGNED, ActionType.ADD, None, pod("x", APP, namespace="m", nodeName="a1"), "SKIP"),
    (ASSIGNED, ActionType.ADD, None, pod("x", {"app": "b"}, nodeName="a1"), "SKIP"),
    (ASSIGNED, ActionType.DELETE, ON_NODE, None, "QUEUE"),
    (ASSIGNED, ActionType.UPDATE_POD_LABEL, ON_NODE, other(ON_NODE, metadata={"labels": {"app": "b"}}), "QUEUE"),
    (ASSIGNED, ActionType.UPDATE_POD_LABEL, ON_NODE, other(ON_NODE, metadata={"labels": {**APP, "b": "c"}}), "SKIP"),
    (TARGET, ActionType.UPDATE_POD_TOLERATION, pod("p", APP), pod("p", APP, tolerations=[{"operator": "Exists"}]), "SKIP"),
    (TARGET, ActionType.UPDATE_POD_LABEL, pod("p", APP), pod("p", {}), "QUEUE"),
    (NODE, ActionType.ADD, None, PLAIN_NODE, "QUEUE"), (NODE, ActionType.ADD, None, node("a").node, "SKIP"),
    (NODE, ActionType.DELETE, PLAIN_NODE, None, "QUEUE"), (NODE, ActionType.DELETE, node("a").node, None, "SKIP"),
    (NODE, ActionType.UPDATE_NODE_LABEL, PLAIN_NODE, zoned("a1", "b").node, "QUEUE"),
    (NODE, ActionType.UPDATE_NODE_LABEL, PLAIN_NODE, node("a1").node, "QUEUE"),
    (NODE, ActionType.UPDATE_NODE_LABEL, PLAIN_NODE, PLAIN_NODE, "SKIP"),
    (NODE, ActionType.UPDATE_NODE_TAINT, PLAIN_NODE, TAINTED_NODE, "QUEUE"),
])
def test_events_that_may_help(resource, action, old, new, answer):
    """Given a pod that waits for another zone / then those events help that change what counts."""
    assert hints(plugin_of(PodTopologySpread, Handle()), resource, action, spread(constraint()), old, new) == answer


def test_a_toleration_helps_where_taints_are_honored():
    """Given a constraint that honors taints / then a new toleration may help."""
    incoming = spread(constraint(nodeTaintsPolicy="Honor"))
    new = other(incoming, spec={"tolerations": [{"operator": "Exists"}]})
    plugin = plugin_of(PodTopologySpread, Handle())
    assert hints(plugin, TARGET, ActionType.UPDATE_POD_TOLERATION, incoming, incoming, new) == "QUEUE"
