"""Affinity and anti-affinity between pods: where a pod may be, and where it had better be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError
from fakekube_controllers.scheduler.plugins.inter_pod_affinity import InterPodAffinity
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

AWAY = (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match pod affinity rules")
HATED = (Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules")
HATES = (Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules")
REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
A, B = {"app": "a"}, {"app": "b"}


def term(labels=A, key=ZONE, **rest):
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **rest}


def near(*terms):
    return {"podAffinity": {REQUIRED: list(terms)}}


def far(*terms):
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def liking(weight, *terms):
    return {"podAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": each} for each in terms]}}


def avoiding(weight, *terms):
    return {"podAntiAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": each} for each in terms]}}


def filtered(incoming, nodes, *, namespaces=(), **args):
    handle = Handle(namespaces=[{"metadata": {"name": name, "labels": labels}} for name, labels in dict(namespaces).items()])
    return statuses(plugin_of(InterPodAffinity, handle, **args), incoming, nodes, handle)


def test_a_pod_goes_where_its_affinity_is():
    """Given a pod of the kind in one zone / then only nodes of that zone will do."""
    nodes = [zoned("a1", "a", pod("x", A)), zoned("a2", "a"), zoned("b1", "b"), node("c1")]
    assert filtered(pod("p", affinity=near(term())), nodes) == {"a1": None, "a2": None, "b1": AWAY, "c1": AWAY}


def test_all_terms_are_matched_by_the_same_pods():
    """Given two pods that each match one of two terms / then neither helps; a pod that matches both
    does.
    """
    both = near(term(A), term(B, HOSTNAME))
    nodes = [zoned("a1", "a", pod("x", A), pod("y", {"app": "c"})), zoned("a2", "a")]
    assert filtered(pod("p", affinity=both), nodes) == {"a1": AWAY, "a2": AWAY}
    either = near(term({"x": "1"}), term({"y": "1"}, HOSTNAME))
    nodes = [zoned("a1", "a", pod("x", {"x": "1", "y": "1"})), zoned("a2", "a")]
    assert filtered(pod("p", affinity=either), nodes) == {"a1": None, "a2": AWAY}


@pytest.mark.parametrize(("labels", "there", "fits"), [(A, [], True), (B, [], False), (A, [pod("x", A)], False)])
def test_the_first_of_a_group_goes_anywhere(labels, there, fits):
    """Given affinity to pods of its own kind / then a pod that is the first may go to any node with
    the label, as long as there is none anywhere.
    """
    nodes = [zoned("a1", "a", *there), zoned("b1", "b"), node("c1")]
    found = filtered(pod("p", labels, affinity=near(term())), nodes)
    assert (found["b1"], found["c1"]) == (None if fits else AWAY, AWAY)


def test_anti_affinity_keeps_away():
    """Given a pod in a zone / then one that hates it goes to another, or where there is no zone."""
    nodes = [zoned("a1", "a", pod("x", A)), zoned("a2", "a"), zoned("b1", "b"), node("c1")]
    assert filtered(pod("p", affinity=far(term())), nodes) == {"a1": HATED, "a2": HATED, "b1": None, "c1": None}


def test_anti_affinity_of_pods_that_are_there():
    """Given a pod that hates others of a kind / then these stay away, and others need not."""
    nodes = [zoned("a1", "a", pod("x", B, affinity=far(term()))), zoned("a2", "a"), zoned("b1", "b"), node("c1")]
    assert filtered(pod("p", A), nodes) == {"a1": HATES, "a2": HATES, "b1": None, "c1": None}
    assert filtered(pod("p", B), nodes) == "skipped"


def test_a_node_takes_its_pods_along_to_another_zone():
    """Given a node with a pod that hates others, and likes them / when the node is moved to another
    zone / then these stay away from that zone, and no more from the first; when it is gone, they go
    anywhere.
    """
    handle, hater = Handle(), pod("x", B, affinity={**far(term()), **liking(5, term())})
    plugin, others = plugin_of(InterPodAffinity, handle), [zoned("a2", "a"), zoned("b2", "b")]
    for zone, expected in (("a", {"a2": HATES, "b2": None}), ("b", {"a2": None, "b2": HATES})):
        found = statuses(plugin, pod("p", A), [zoned("x1", zone, hater), *others], handle)
        assert {name: found[name] for name in expected} == expected
    assert statuses(plugin, pod("p", A), others, handle) == "skipped"
    assert scores(plugin, pod("p", A), others, handle) == "skipped"


def test_the_first_reason_is_told():
    """Given a node against which everything speaks / then affinity comes first, then the pod's own
    anti-affinity.
    """
    present = pod("x", A, affinity=far(term(B)))
    assert filtered(pod("p", B, affinity={**near(term(B)), **far(term())}), [zoned("a1", "a", present)]) == {"a1": HATED}
    strange = pod("p", B, affinity={**near(term({"app": "c"})), **far(term())})
    assert filtered(strange, [zoned("a1", "a", present)]) == {"a1": AWAY}


@pytest.mark.parametrize(("rest", "namespace", "matches"), [
    ({}, "n", True), ({}, "m", False), ({"namespaces": ["m"]}, "m", True), ({"namespaces": ["m"]}, "n", False),
    ({"namespaceSelector": {}}, "k", True), ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, "m", True),
    ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, "n", False),
    ({"namespaces": ["n"], "namespaceSelector": {"matchLabels": {"team": "x"}}}, "n", True),
])
def test_namespaces_of_a_term(rest, namespace, matches):
    """Given a pod in some namespace / then a term takes it by its namespaces or their labels, in
    both directions; without either, those of its own namespace.
    """
    teams = {"n": {}, "m": {"team": "x"}, "k": {}}
    nodes = [zoned("a1", "a", pod("x", A, namespace=namespace))]
    found = filtered(pod("p", affinity=far(term(**rest))), nodes, namespaces=teams)
    assert found == {"a1": HATED if matches else None}
    nodes = [zoned("a1", "a", pod("x", affinity=far(term(**rest))))]
    found = filtered(pod("p", A, namespace=namespace), nodes, namespaces=teams)
    assert found == ({"a1": HATES} if matches else "skipped")


def test_a_term_without_a_selector_takes_nobody():
    """Given a term that has no label selector / then it matches no pod; with an empty one every."""
    nodes = [zoned("a1", "a", pod("x", A))]
    assert filtered(pod("p", affinity=far({"topologyKey": ZONE})), nodes) == {"a1": None}
    assert filtered(pod("p", affinity=far({"topologyKey": ZONE, "labelSelector": {}})), nodes) == {"a1": HATED}


# scores


def scored(incoming, nodes, **args):
    handle = Handle(namespaces=[{"metadata": {"name": "n", "labels": {}}}])
    return scores(plugin_of(InterPodAffinity, handle, **args), incoming, nodes, handle)


def test_preferred_affinity_and_anti_affinity():
    """Given pods that a pod likes and others that it avoids / then weights add up, by domain."""
    nodes = [zoned("a1", "a", pod("x", A)), zoned("a2", "a", pod("y", B)), zoned("b1", "b"), zoned("c1", "c", pod("z", B))]
    mixed = {**liking(5, term(A)), **avoiding(3, term(B))}
    assert scored(pod("p", affinity=mixed), nodes) == {"a1": 100, "a2": 100, "b1": 60, "c1": 0}
    assert scored(pod("p", affinity=liking(5, term(A))), nodes) == {"a1": 100, "a2": 100, "b1": 0, "c1": 0}


def test_preferences_of_pods_that_are_there():
    """Given pods that like or avoid others of a kind / then those are better off here or there."""
    nodes = [
        zoned("a1", "a", pod("x", affinity=liking(10, term(B)))), zoned("b1", "b"),
        zoned("c1", "c", pod("y", affinity=avoiding(10, term(B))))]
    assert scored(pod("p", B), nodes) == {"a1": 100, "b1": 50, "c1": 0}
    assert scored(pod("p", A), nodes) == "skipped"


def test_required_affinity_of_others_counts_a_little():
    """Given a pod that must be near others / then these go there, unless the weight for it is 0."""
    nodes = [zoned("a1", "a", pod("x", affinity=near(term(B)))), zoned("b1", "b")]
    assert scored(pod("p", B), nodes) == {"a1": 100, "b1": 0}
    assert scored(pod("p", B), nodes, hardPodAffinityWeight=0) == "skipped"


def test_preferences_of_others_can_be_ignored():
    """Given the argument that ignores them / then only a pod with preferences has a score."""
    nodes = [zoned("a1", "a", pod("x", B, affinity=liking(10, term(B)))), zoned("b1", "b")]
    assert scored(pod("p", B), nodes, ignorePreferredTermsOfExistingPods=True) == "skipped"
    assert scored(pod("p", B, affinity=liking(1, term(B))), nodes, ignorePreferredTermsOfExistingPods=True) != "skipped"


@pytest.mark.parametrize("weight", [-1, 101])
def test_arguments_that_are_wrong(weight):
    """Given a weight out of range / then the plugin cannot be made."""
    with pytest.raises(ArgumentsError, match=rf"^hardPodAffinityWeight: Invalid value: {weight}: not in valid range \[0, 100\]$"):
        InterPodAffinity({"hardPodAffinityWeight": weight}, Handle())


# what was counted stays right

AFFINITIES = [
    None, near(term(A)), far(term(A)), far(term(B, HOSTNAME)), near(term(A), term({}, HOSTNAME)), liking(3, term(A)),
    avoiding(2, term(B, HOSTNAME)), far(term(A, namespaceSelector={})), {**far(term(A, HOSTNAME)), **near(term(B))}]
PODS = st.tuples(st.sampled_from([A, B, {}]), st.sampled_from(AFFINITIES), st.sampled_from(["n", "m"]))
STEPS = st.lists(st.tuples(st.sampled_from(["add", "add", "remove", "move"]), st.sampled_from(NAMES), PODS), max_size=20)


def made(name, kind):
    labels, affinity, namespace = kind
    return pod(name, labels, namespace=namespace, **({"affinity": affinity} if affinity else {}))


@given(STEPS, PODS)
def test_counts_that_are_kept_are_those_of_a_recount(steps, kind):
    """Given pods that come and go and nodes that move / then after each step a plugin that has
    seen all of it says what a new one says, in filter and score.
    """
    handle, nodes, incoming = Handle(), fresh(), made("p", kind)
    kept = plugin_of(InterPodAffinity, handle)
    for number, step in enumerate(steps):
        nodes = stepped(nodes, step, number, made)
        listed, anew = list(nodes.values()), plugin_of(InterPodAffinity, handle)
        assert statuses(kept, incoming, listed, handle) == statuses(anew, incoming, listed, handle)
        assert scores(kept, incoming, listed, handle) == scores(anew, incoming, listed, handle)


@given(STEPS, PODS, st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES), PODS), max_size=8))
def test_pods_added_in_thought_count_like_pods_that_are_there(steps, kind, thoughts):
    """Given a cluster in which the filter has something to say / when pods are added to a clone of
    the state and removed / then it says what it says of a cluster with these pods, and the state
    itself is as before.
    """
    handle, nodes, incoming = Handle(), fresh(), pod_info(made("p", kind))
    for number, step in enumerate(steps):
        nodes = stepped(nodes, step, number, made)
    plugin, state = plugin_of(InterPodAffinity, handle), CycleState()
    if plugin.pre_filter(state, incoming, snapshot(*nodes.values())) is not None:
        return
    before = [plugin.filter(state, incoming, each) for each in nodes.values()]
    tried = state.clone()
    for number, (adds, name, present) in enumerate(thoughts):
        changed = nodes[name].copy()
        if adds:
            added = pod_info(made(f"t{number}", present))
            changed.add(added)
            plugin.add_pod(tried, incoming, added, changed)
        elif changed.pods:
            gone = next(iter(changed.pods.values()))
            changed.remove(gone.uid)
            plugin.remove_pod(tried, incoming, gone, changed)
        nodes = {**nodes, name: changed}
    anew, new_plugin = CycleState(), plugin_of(InterPodAffinity, handle)
    new_plugin.pre_filter(anew, incoming, snapshot(*nodes.values()))
    for each in nodes.values():
        assert plugin.filter(tried, incoming, each) == new_plugin.filter(anew, incoming, each)
    assert [plugin.filter(state, incoming, each) for each in fresh_again(nodes, before)] == before


def fresh_again(nodes, before):
    """As many nodes as were asked before; the filter reads only their labels."""
    assert len(nodes) == len(before)
    return nodes.values()


@given(st.lists(PODS, max_size=12))
def test_anti_affinity_is_never_violated(kinds):
    """Given pods that are placed one after the other, each on the first node that fits / then no
    domain has two of which one hates the other.
    """
    handle, nodes = Handle(), fresh()
    plugin, placed = plugin_of(InterPodAffinity, handle), []
    for number, kind in enumerate(kinds):
        incoming = made(f"x{number}", kind)
        found = statuses(plugin, incoming, list(nodes.values()), handle)
        fitting = NAMES if found == "skipped" else [name for name, status in found.items() if status is None]
        if not fitting:
            continue
        changed = nodes[fitting[0]].copy()
        changed.add(pod_info(incoming))
        nodes = {**nodes, fitting[0]: changed}
        placed.append((incoming, nodes[fitting[0]].node["metadata"]["labels"]))
    for one, at in placed:
        for hated in (one["spec"].get("affinity") or {}).get("podAntiAffinity", {}).get(REQUIRED, ()):
            for another, there in placed:
                same = another is not one and at[hated["topologyKey"]] == there[hated["topologyKey"]]
                everywhere = "namespaceSelector" in hated
                known = everywhere or another["metadata"]["namespace"] == one["metadata"]["namespace"]
                wanted = hated["labelSelector"]["matchLabels"].items()
                assert not (same and known and wanted <= another["metadata"]["labels"].items())


# hints

ASSIGNED, TARGET, NODE = EventResource.ASSIGNED_POD, EventResource.TARGET_POD, EventResource.NODE
LIKED, IN_ZONE = pod("x", A, nodeName="a1"), zoned("a1", "a").node
WANTS, SHUNS = pod("p", B, affinity=near(term())), pod("p", B, affinity=far(term()))


@pytest.mark.parametrize(("waiting", "resource", "action", "old", "new", "answer"), [
    (WANTS, ASSIGNED, ActionType.ADD, None, LIKED, "QUEUE"), (WANTS, ASSIGNED, ActionType.ADD, None, pod("x", A), "SKIP"),
    (WANTS, ASSIGNED, ActionType.ADD, None, pod("x", B, nodeName="a1"), "SKIP"),
    (WANTS, ASSIGNED, ActionType.DELETE, LIKED, None, "SKIP"), (SHUNS, ASSIGNED, ActionType.DELETE, LIKED, None, "QUEUE"),
    (pod("p", B), ASSIGNED, ActionType.DELETE, pod("x", nodeName="a1", affinity=far(term(B))), None, "QUEUE"),
    (WANTS, ASSIGNED, ActionType.UPDATE_POD_LABEL, other(LIKED, metadata={"labels": B}), LIKED, "QUEUE"),
    (SHUNS, ASSIGNED, ActionType.UPDATE_POD_LABEL, LIKED, other(LIKED, metadata={"labels": B}), "QUEUE"),
    (SHUNS, ASSIGNED, ActionType.UPDATE_POD_LABEL, LIKED, other(LIKED, metadata={"labels": {**A, "x": "y"}}), "SKIP"),
    (SHUNS, TARGET, ActionType.UPDATE_POD_LABEL, SHUNS, SHUNS, "QUEUE"),
    (WANTS, NODE, ActionType.ADD, None, IN_ZONE, "QUEUE"), (WANTS, NODE, ActionType.ADD, None, node("a").node, "SKIP"),
    (SHUNS, NODE, ActionType.ADD, None, node("a").node, "QUEUE"),
    (WANTS, NODE, ActionType.UPDATE_NODE_LABEL, node("a1").node, IN_ZONE, "QUEUE"),
    (WANTS, NODE, ActionType.UPDATE_NODE_LABEL, IN_ZONE, zoned("a1", "b").node, "QUEUE"),
    (WANTS, NODE, ActionType.UPDATE_NODE_LABEL, IN_ZONE, node("a1").node, "SKIP"),
    (SHUNS, NODE, ActionType.UPDATE_NODE_LABEL, IN_ZONE, node("a1").node, "QUEUE"),
    (SHUNS, NODE, ActionType.UPDATE_NODE_LABEL, node("a1").node, IN_ZONE, "SKIP"),
])
def test_events_that_may_help(waiting, resource, action, old, new, answer):
    """Given a pod that waits for others to come or go / then those events help that change it."""
    assert hints(plugin_of(InterPodAffinity, Handle()), resource, action, waiting, old, new) == answer
