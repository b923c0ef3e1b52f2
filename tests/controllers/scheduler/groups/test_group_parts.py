"""What groups, their pods and their trees say of themselves, and what is said of them."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.placements import (
    Placement,
    PlacementProgress,
    PodGroupAssignments,
    ProposedAssignment,
)
from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.groups import consistency, entities, quorum, results
from fakekube_controllers.scheduler.groups.results import GroupResult, PodResult
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.plugins.gang_scheduling import GangScheduling
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from fakekube_controllers.scheduler.plugins.pod_group_pods_count import PodGroupPodsCount
from fakekube_controllers.scheduler.plugins.topology_placement import TopologyPlacement
from tests.controllers.scheduler.groups.trees import composite, pod, pod_group, queued
from tests.controllers.scheduler.plugins import cases
from tests.controllers.scheduler.plugins.cases import Handle, node, plugin_of, said, snapshot

GROUP, COMPOSITE = EntityType.POD_GROUP, EntityType.COMPOSITE_POD_GROUP


def states(*groups: tuple[EntityKey, dict[str, Any]], pods: Sequence[Any] = ()) -> GroupStates:
    known = GroupStates()
    for key, group in groups:
        known.set_group(key, group)
    for each in pods:
        named = known.key_of(each.pod)
        assert named is not None, "a pod of a group"
        known.set_pod(named, each)
    return known


def test_pods_name_their_groups() -> None:
    """Given pods of each release / then the group that they name has this key."""
    def made(**spec: Any) -> dict[str, Any]:
        return {"metadata": {"name": "p", "namespace": "n"}, "spec": spec}

    assert [entities.group_key_of(each) for each in (
        made(), made(schedulingGroup={"podGroupName": "g"}), made(schedulingGroup={"x": 1}),
        made(workloadRef={"name": "w", "podGroup": "g"}),
        made(workloadRef={"name": "w", "podGroup": "g", "podGroupReplicaKey": "1"}))] == [
            None, EntityKey(GROUP, "n", "g"), EntityKey(GROUP, "n", ""), EntityKey(GROUP, "n", "w/g/"),
            EntityKey(GROUP, "n", "w/g/1")]


def test_groups_say_how_they_go_together() -> None:
    """Given groups of either kind / then minimum, policy, parent, topology and priority are read,
    with what holds where nothing is said.
    """
    def of(**spec: Any) -> dict[str, Any]:
        return {"metadata": {"name": "g", "namespace": "n"}, "spec": spec}

    gangs = [{"minCount": 3}, {"minGroupCount": 2}, {}]
    assert [entities.minimum_of(of(schedulingPolicy={"gang": gang})) for gang in gangs] == [3, 2, 1]
    assert [entities.minimum_of(each) for each in (of(), of(schedulingPolicy={"basic": {}}))] == [1, 1]
    assert [entities.is_gang(each) for each in (of(), of(schedulingPolicy={"basic": {}}), of(schedulingPolicy={"gang": {}}))] == [
        False, False, True]
    assert [entities.parent_key_of(each) for each in (of(), of(parentCompositePodGroupName="r"))] == [
        None, EntityKey(COMPOSITE, "n", "r")]
    assert [entities.topology_key_of(each) for each in (
        of(), of(schedulingConstraints={"topology": []}), of(schedulingConstraints={"topology": [{"key": "rack"}]}))] == [None,
        None, "rack"]
    assert [entities.priority_of(each) for each in (of(), of(priority=7))] == [0, 7]


def texts(known: GroupStates, key: EntityKey) -> list[str] | None:
    found = quorum.missing(known, key)
    return None if found is None else [f"{each.target}: {each.text}" for each in found]


def test_what_a_tree_lacks_is_named() -> None:
    """Given trees that are not whole / then the groups and pods that lack are named, in the
    children that lack the fewest.
    """
    gang, lone = pod_group("gang", 3), pod_group("lone")
    assert texts(states(), gang[0]) == ["podgroup/default/gang: a PodGroup named gang"]
    assert texts(states(pod_group("leaf", 1, "root")), pod_group("leaf")[0]) == [
        "compositepodgroup/default/root: a CompositePodGroup named root"]
    assert texts(states(gang, pods=[pod("a", "gang")]),
    gang[0]) == ["podgroup/default/gang: 2 more pods of group gang: 1 of 3 are there"]
    assert texts(states(gang, pods=[pod(name, "gang") for name in "abc"]), gang[0]) == []
    assert texts(states(lone), lone[0]) == ["podgroup/default/lone: one more pod of group lone: 0 of 1 are there"]
    tree = states(
        composite("root", 2), pod_group("x", 5, "root"), pod_group("y", 2, "root"), pod_group("z", 1, "root"),
        pods=[pod("a", "z")])
    assert texts(tree, pod_group("x")[0]) == ["podgroup/default/y: 2 more pods of group y: 0 of 2 are there"]
    few = states(composite("root", 3), pod_group("x", 1, "root"))
    assert texts(few, pod_group("x")[0]) == [
        "podgroup/default/x: one more pod of group x: 0 of 1 are there",
        "compositepodgroup/default/root: 2 more groups below root: 1 of 3 are there"]
    assert quorum.lacking(few, composite("root")[0]).pods == 3
    ring = states(composite("one", None, "two"), composite("two", None, "one"), pod_group("leaf", 1, "one"))
    assert texts(ring, pod_group("leaf")[0]) is None


def root_of(*pods: Any, **spec: Any) -> PodGroupInfo:
    key, group = pod_group("g", 1, **spec)
    return PodGroupInfo(key, group, [], [queued(each, number) for number, each in enumerate(pods)])


LEVEL = "all pods in a single pod group should have the same priority as the pod group's priority, got 3 and 0"
POLICY = "all pods in a single pod group should have the same preemption policy"


@pytest.mark.parametrize(("root", "placed", "has_policy", "expected"), [
    (root_of(pod("a"), pod("b")), [], True, None), (root_of(pod("a")), [pod("b", schedulerName="x").pod], True, (
        'all pods in a single pod group should have the same .spec.schedulerName set, got: "x" and "default-scheduler"')),
    (root_of(pod("a", schedulerName="x")), [], True, 'profile not found for scheduler name "x"'),
    (root_of(), [], True, 'profile not found for scheduler name ""'), (root_of(pod("a"), pod("b", priority=3)), [], True, LEVEL),
    (root_of(pod("a", priority=3), priority=3), [], True, None), (root_of(pod("a", priority=0)), [], True, None),
    (root_of(pod("a", preemptionPolicy="Never")), [], True, (
        f"{POLICY} as the pod group's preemption policy, got Never and PreemptLowerPriority")),
    (root_of(pod("a", preemptionPolicy="Never"), preemptionPolicy="Never"), [], True, None),
    (root_of(pod("a", preemptionPolicy="Never"), pod("b", preemptionPolicy="Never")), [], False, None),
    (root_of(pod("a", preemptionPolicy="Never"), pod("b")), [], False, f"{POLICY}, got PreemptLowerPriority and Never"),
    (root_of(pod("a")), [pod("b", preemptionPolicy="Never").pod], False, f"{POLICY}, got Never and PreemptLowerPriority"),
])
def test_pods_of_a_tree_agree(root: PodGroupInfo, placed: list[Any], has_policy: bool, expected: str | None) -> None:
    """Given pods that are tried together / then the first thing in which they differ is told, in
    upstream's words.
    """
    assert consistency.inconsistency(root, placed, ["default-scheduler"], has_policy=has_policy) == expected


def test_release_1_36_asks_for_one_scheduler_only() -> None:
    """Given pods for 1.36 / then only the name of their scheduler counts."""
    profiles = ["default-scheduler"]
    assert consistency.different_schedulers(root_of(pod("a", priority=3), pod("b")), profiles) is None
    assert consistency.different_schedulers(root_of(pod("a"), pod("b", schedulerName="x")), profiles) == (
        'all pods in a single pod group should have the same .spec.schedulerName set, got: "x" and "default-scheduler"')
    assert consistency.different_schedulers(root_of(pod("a", schedulerName="x")),
    profiles) == 'profile not found for scheduler name "x"'


def test_results_of_a_tree_are_completed() -> None:
    """Given a tree of which some was tried / then what was not tried fails as its parent did, and
    only leaves below groups that succeeded are bound.
    """
    leaves = {name: PodGroupInfo(*pod_group(name), [], [queued(pod(f"{name}1")), queued(pod(f"{name}2"))]) for name in "abc"}
    inner = PodGroupInfo(*composite("inner"), [leaves["b"], leaves["c"]])
    root = PodGroupInfo(*composite("root"), [leaves["a"], inner])
    bad = unschedulable("no")
    first = PodResult(leaves["a"].unscheduled_pods[0], None, "n")
    known = {root.key: GroupResult(root), leaves["a"].key: GroupResult(leaves["a"], None, [first]),
    inner.key: GroupResult(inner, bad),
             leaves["b"].key: GroupResult(leaves["b"], None, [PodResult(leaves["b"].unscheduled_pods[0])])}
    assert [each.info.key.name for each in results.succeeded_leaves(root, known)] == ["a"]
    results.complete(root, known)
    assert {key.name: result.status for key, result in known.items()} == {"root": None, "a": None, "inner": bad, "b": bad,
    "c": bad}
    assert [(key.name, [each.status for each in known[key].pods]) for key in (each.key for each in leaves.values())] == [
        ("a", [None, None]), ("b", [bad, bad]), ("c", [bad, bad])]
    assert list(results.succeeded_leaves(inner, known)) == []
    assert results.group_unschedulable("a", "b").message == "pod group is unschedulable, a, b"
    assert results.failed("x") == Status(Code.ERROR, ("x",))
    assert results.with_reasons(bad, "more") == unschedulable("no", "more")
    waiting = GroupResult(root, results.WAITS_FOR_VICTIMS, waits_for_preemption=True)
    assert (waiting.will_do, waiting.succeeded, waiting.is_error, results.WAITS_FOR_VICTIMS) == (
        True, False, False, Status(Code.WAIT, ("pod group is waiting for preemption to complete",)))
    assert [(each.will_do, each.is_error) for each in (GroupResult(root, bad), GroupResult(root, results.failed("x")))] == [
        (False, False), (False, True)]
    assert (first.fits, PodResult(first.queued, bad).fits) == (True, False)


class Grouped(Handle):
    """A handle that knows groups."""

    def __init__(self, groups: GroupStates | None) -> None:
        super().__init__()
        self.groups = groups


@pytest.mark.parametrize(("scheduled", "remaining", "expected"), [
    (3, 0, None), (2, 1, (Code.WAIT, "minCount (3) is not yet satisfied: 2 scheduled, 1 remaining")),
    (1, 1, (Code.UNSCHEDULABLE, "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining")),
    (0, 3, (Code.WAIT, "minCount (3) is not yet satisfied: 0 scheduled, 3 remaining")), (4, 9, None),
])
def test_a_gang_is_feasible_while_it_can_be_whole(scheduled: int, remaining: int, expected: Any) -> None:
    """Given how far a gang of three is / then it is whole, may be, or cannot be any more."""
    info = PodGroupInfo(*pod_group("g", 3), [])
    plugin = plugin_of(GangScheduling, Grouped(None))
    assert said(plugin.placement_feasible(CycleState(), info, PlacementProgress(remaining, scheduled))) == expected


NEVER = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def test_a_gang_waits_for_what_it_lacks() -> None:
    """Given a pod whose tree is not whole / then it waits for the group, for pods, or for the tree.
    """
    leaf = pod("a", "leaf")

    def waits(*groups: Any, pods: Any = ()) -> Any:
        plugin = plugin_of(GangScheduling, Grouped(states(*groups, pods=pods)))
        return said(plugin.pre_enqueue(leaf))

    gang, child = pod_group("leaf", 2), pod_group("leaf", 1, "root")
    assert waits() == (NEVER, 'waiting for pod\'s pod group "leaf" to appear in scheduling queue')
    assert waits(gang, pods=[leaf]) == (NEVER, "waiting for minCount pods from a gang to appear in scheduling queue")
    assert waits(gang, pods=[leaf, pod("b", "leaf")]) is None
    assert waits(child, pods=[leaf]) == (NEVER, 'waiting for composite pod group "root" tree to meet quorum')
    assert waits(child, composite("root", 2), pods=[leaf]) == (NEVER,
    'waiting for composite pod group "root" tree to meet quorum')
    assert waits(child, composite("root", 1), pods=[leaf]) is None
    for plugin in (plugin_of(GangScheduling, Grouped(None)), plugin_of(GangScheduling, Grouped(states()))):
        assert plugin.pre_enqueue(pod("free")) is None
        assert plugin.missing(CycleState(), pod("free"), None) is None


@pytest.mark.parametrize(("kind", "old", "new", "answer"), [
    ("pod", None, pod("b", "leaf").pod, "QUEUE"), ("pod", None, pod("b", "other").pod, "QUEUE"),
    ("pod", None, pod("b", "far").pod, "QUEUE_SKIP"),
    ("pod", None, pod("b").pod, "QUEUE_SKIP"), ("group", None, pod_group("leaf")[1], "QUEUE"),
    ("group", None, pod_group("far")[1], "QUEUE_SKIP"),
    ("composite", None, composite("root")[1], "QUEUE"), ("composite", None, composite("far")[1], "QUEUE_SKIP"),
    ("update", pod_group("leaf", 3)[1], pod_group("leaf", 2)[1], "QUEUE"),
    ("update", pod_group("leaf", 2)[1], pod_group("leaf", 2)[1], "QUEUE_SKIP"),
    ("update", pod_group("leaf", 1)[1], pod_group("leaf", 2)[1], "QUEUE_SKIP"),
    ("update", pod_group("far", 3)[1], pod_group("far", 2)[1], "QUEUE_SKIP"),
    ("update", pod_group("leaf", 3)[1], pod_group("leaf")[1], "QUEUE_SKIP"),
])
def test_events_of_the_tree_may_help(kind: str, old: Any, new: Any, answer: str) -> None:
    """Given a pod that waits for its tree / then what comes to the tree helps, and a lower minimum;
    nothing else does.
    """
    known = states(composite("root"), pod_group("leaf", 3, "root"), pod_group("other", 1, "root"), pod_group("far", 1))
    plugin = plugin_of(GangScheduling, Grouped(known))
    at = {"pod": 0, "group": 2, "update": 3, "composite": 4}[kind]
    registered = plugin.events_to_register()[at]
    assert registered.hint is not None
    assert registered.hint(pod("a", "leaf"), old, new).name == answer
    assert registered.hint(pod("free"), old, new).name == "QUEUE_SKIP"
    if kind == "update":
        assert registered.can_help is not None
        assert registered.can_help(old, new) is (new["spec"]["schedulingPolicy"].get("gang") == {"minCount": 2} and (
            old["spec"]["schedulingPolicy"]["gang"]["minCount"] == 3))


def racked(**racks: str | None) -> list[Any]:
    return [node(name, labels={"rack": rack} if rack else {}) for name, rack in racks.items()]


def test_placements_are_the_domains_of_the_topology() -> None:
    """Given nodes in racks / then each rack is a placement, in the order of their names; pods that
    are placed already fix theirs.
    """
    known = states(pod_group("g", 2))
    plugin = plugin_of(TopologyPlacement, Grouped(known))
    constrained = PodGroupInfo(*pod_group("g", 2, schedulingConstraints={"topology": [{"key": "rack"}]}), [])
    nodes, state = snapshot(*racked(n1="b", n2="a", n3="b", n4=None)), CycleState()

    def generated(info: PodGroupInfo, names: Any = None) -> Any:
        found = plugin.generate_placements(state, info, Placement("all", names), nodes)
        return said(found) if isinstance(found,
        Status) else [(each.name, each.node_names and list(each.node_names)) for each in found]

    assert generated(PodGroupInfo(*pod_group("g", 2), [])) == [("all", None)]
    assert generated(constrained) == [("a", ["n2"]), ("b", ["n1", "n3"])]
    assert generated(constrained, {"n3": None, "n4": None}) == [("b", ["n3"])]
    known.set_pod(pod_group("g")[0], pod("x", "g"), "n3")
    assert generated(constrained) == [("b", ["n1", "n3"])]
    cannot = "cannot determine domain for already scheduled pods: "
    known.set_pod(pod_group("g")[0], pod("y", "g"), "n2")
    assert generated(constrained) == (Code.ERROR, f"{cannot}more than 1 domain found for pod group: b, a")
    known.set_pod(pod_group("g")[0], pod("y", "g"), "n4")
    assert generated(constrained) == (Code.ERROR, f"{cannot}no topology domain found for pod default/y")
    known.set_pod(pod_group("g")[0], pod("y", "g"), "gone")
    assert generated(constrained) == (
        Code.ERROR, f'{cannot}getting node for pod default/y: nodeinfo not found for node name "gone"')


def test_the_placement_with_most_pods_is_best() -> None:
    """Given placements / then each scores by the pods that it would hold with those that are
    placed, in hundredths of the most.
    """
    known = states(pod_group("g", 2))
    known.set_pod(pod_group("g")[0], pod("x", "g"), "n")
    plugin, info = plugin_of(PodGroupPodsCount, Grouped(known)), PodGroupInfo(*pod_group("g", 2), [])
    assignments = SimpleNamespace(proposed_assignments=[1, 2])
    assert plugin.score_placement(CycleState(), info, assignments) == 3
    for given, expected in (({"a": 1, "b": 3}, {"a": 33, "b": 100}), ({"a": 0}, {"a": 0})):
        scores: dict[str, int] = dict(given)
        plugin.normalize_placement_score(CycleState(), info, scores)
        assert scores == expected


def test_the_placement_that_is_fuller_is_better() -> None:
    """Given racks of nodes with pods on them / when pods of a group are proposed / then the score
    is how much of cpu and memory of the whole rack is taken then, whatever strategy scores nodes; a
    resource of few nodes counts where the group asks for it, on the nodes that have it.
    """
    present = {"cpu": "2", "memory": "1Gi"}
    handle = Handle([
        node("a", cases.pod("x", requests=present), cpu="4", memory="4Gi"), node("b", cpu="4", memory="4Gi"),
        node("c", cpu="8", memory="8Gi", **{"example.com/gpu": "4"})])
    proposed = [ProposedAssignment(pod_info(cases.pod(name, requests={"cpu": "1", "memory": "1Gi"})), "b", CycleState())
                for name in ("p", "q")]
    asks = {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"}
    gpus = [ProposedAssignment(pod_info(cases.pod("r", requests=asks)), "c", CycleState())]

    def score(names: str | None, assignments: Any, **args: Any) -> int:
        placement = Placement("r", None if names is None else dict.fromkeys(names))
        root = PodGroupInfo(*pod_group("g"))
        plugin: NodeResourcesFit = plugin_of(NodeResourcesFit, handle, **args)
        return plugin.score_placement(CycleState(), root, PodGroupAssignments(placement, assignments))

    assert score("ab", proposed) == (4 * 100 // 8 + 3 * 100 // 8) // 2
    assert score("b", proposed) == 50
    assert score("c", proposed) == 25
    assert score(None, proposed) == (4 * 100 // 16 + 3 * 100 // 16) // 2
    resources = [{"name": "cpu"}, {"name": "example.com/gpu", "weight": 3}]
    most = {"scoringStrategy": {"type": "MostAllocated", "resources": resources}}
    assert score("bc", proposed, **most) == 2 * 100 // 12
    assert score("bc", gpus, **most) == (1 * 100 // 12 + 25 * 3) // 4


def test_children_of_one_second_go_by_name() -> None:
    """Given groups of both kinds below one / when they were made in one second / then they go by
    name, whatever their kinds; one that is older goes first.
    """
    old = pod_group("z", 1, "r")
    old[1]["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    rest = [pod_group("a", 1, "r"), composite("b", 1, "r"), pod_group("c", 1, "r")]
    for _, group in rest:
        group["metadata"]["creationTimestamp"] = "2026-01-01T00:00:01Z"
    root = composite("r")
    assert [key.name for key in states(root, *reversed(rest), old).children(root[0])] == ["z", "a", "b", "c"]
