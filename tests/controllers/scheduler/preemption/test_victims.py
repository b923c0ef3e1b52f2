"""The units that preemption evicts, which of them matter more, and which break a budget."""

from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.queued import EntityType
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.preemption.victims import (
    Candidate,
    Units,
    Victim,
    best_candidate,
    is_terminating_by_preemption,
    split_by_budgets,
    started_at,
)
from tests.controllers.scheduler.groups.trees import composite, pod, pod_group


def node(name: str, *pods: PodInfo) -> NodeInfo:
    """A node with these pods."""
    info = NodeInfo(name)
    for each in pods:
        info.add(each)
    return info


def victim(*pods: PodInfo, kind: EntityType = EntityType.POD, started: float | None = None) -> Victim:
    """A unit on node n1, with the priority of its first pod; it started when its pods say."""
    start = min(started_at(each.pod) for each in pods) if started is None else started
    return Victim(tuple((each, "n1") for each in pods), pods[0].priority, kind, start)


def names(victims: list[Victim]) -> list[list[str]]:
    """The names of the pods of each."""
    return [[info.uid for info, _ in each.pods] for each in victims]


@pytest.mark.spec("WAS-068", "WAS-069")
def test_a_group_that_is_disrupted_as_a_whole_is_one_unit_over_its_nodes() -> None:
    """Given a group with disruption mode all on two nodes, one with mode single and a pod of none,
    when the units of one node are asked for, then the first is there with its pod of the other
    node, the others pod by pod.
    """
    known = GroupStates()
    whole = pod_group("whole", 1, disruptionMode={"all": {}}, priority=7)
    single = pod_group("single", 1, disruptionMode={"single": {}})
    for key, group in (whole, single):
        known.set_group(key, group)
    here, there, one, alone = pod("w1", "whole"), pod("w2", "whole"), pod("s1", "single"), pod("alone")
    known.set_pod(whole[0], here, "n1")
    known.set_pod(whole[0], there, "n2")
    known.set_pod(single[0], one, "n1")
    found = Units(known).victims([node("n1", here, one, alone)])
    assert names(found) == [["w1", "w2"], ["s1"], ["alone"]]
    assert [each.type for each in found] == [EntityType.POD_GROUP, EntityType.POD_GROUP, EntityType.POD]
    assert [each.priority for each in found] == [7, 0, 0]


@pytest.mark.spec("WAS-077")
@pytest.mark.parametrize(("root_mode", "expected"), [("all", [["a", "b"]]), ("single", [["a"], ["b"]])])
def test_the_highest_group_that_is_disrupted_as_a_whole_is_the_unit(root_mode: str, expected: list[list[str]]) -> None:
    """Given two groups below a root, one of them of mode all, when the root has mode all, then both
    are one unit with the root's priority; with mode single only that group is.
    """
    known = GroupStates()
    root = composite("root", 1, disruptionMode={root_mode: {}}, priority=9)
    first, second = pod_group("one", 1, "root", disruptionMode={"all": {}}), pod_group("two", 1, "root")
    for key, group in (root, first, second):
        known.set_group(key, group)
    a, b = pod("a", "one"), pod("b", "two")
    known.set_pod(first[0], a, "n1")
    known.set_pod(second[0], b, "n2")
    found = Units(known).victims([node("n1", a), node("n2", b)])
    assert names(found) == expected
    assert {each.priority for each in found} == {9}


def test_without_groups_every_pod_is_a_unit() -> None:
    """Given no groups (the gate is off), when a pod names one, then it is a unit with its own
    priority.
    """
    found = Units(None).victims([node("n1", pod("a", "gone", priority=3))])
    assert [(each.priority, each.type) for each in found] == [(3, EntityType.POD)]


def test_units_below_a_priority_are_sorted_once_for_a_node() -> None:
    """Given a node with pods of priorities 3, 5 and 4 / when it is asked for units below 3, 5 and 6
    / then these are those of less priority, the most important first; asked again, they are the
    same units, until a pod of the node has another start: then that one counts.
    """
    here = node("n1", pod("a", "gone", priority=3), pod("b", "gone", priority=5), pod("c", "gone", priority=3))
    units = Units(None)

    def below(priority: int) -> list[str]:
        return [victim.pods[0][0].uid for victim in units.below(priority, here).victims]

    assert (below(3), below(5), below(6)) == ([], ["a", "c"], ["b", "a", "c"])
    assert units.below(6, here).victims[0] is units.below(6, here).victims[0]
    later = {"status": {"startTime": "2026-01-01T00:00:09Z"}}
    here.pods["c"].pod = {**here.pods["c"].pod, **later}
    assert below(5) == ["c", "a"]  # who has not started is the last of its priority
    here.remove("b")
    assert below(6) == ["c", "a"]
    assert len(units.below(6, here).requests or ()) == 2


def test_where_groups_are_on_only_they_tell_what_is_below() -> None:
    """Given a node with pods of no group, the states of groups on / then their own priorities
    count, and what they request is known.
    """
    here = node("n1", pod("a", "", priority=3), pod("b", "", priority=5))
    found = Units(GroupStates()).below(4, here)
    assert [victim.pods[0][0].uid for victim in found.victims] == ["a"]
    assert found.requests == (tuple(here.pods["a"].requests.items()),)


@pytest.mark.spec("WAS-066", "WAS-074")
def test_what_matters_more() -> None:
    """Given units, when they are sorted by importance, then priority comes first, groups before
    pods, larger ones first, and of pods the one that has run longest.
    """
    units = [
        victim(pod("young"), started=9.0), victim(pod("old"), started=1.0), victim(pod("high", priority=5), started=9.0),
        victim(pod("g1"), kind=EntityType.POD_GROUP, started=9.0),
        victim(pod("g2"), pod("g3"), kind=EntityType.POD_GROUP, started=9.0),
        victim(pod("c1"), kind=EntityType.COMPOSITE_POD_GROUP, started=9.0),
    ]
    assert names(sorted(units, key=lambda each: each.importance)) == [["high"], ["c1"], ["g2", "g3"], ["g1"], ["old"], ["young"]]


def budget(allowed: int, **labels: str) -> dict[str, Any]:
    """A PodDisruptionBudget that lets so many pods with these labels go."""
    selector = {"matchLabels": labels} if labels else {}
    return {"metadata": {"namespace": "default"}, "spec": {"selector": selector}, "status": {"disruptionsAllowed": allowed}}


def labelled(name: str, **labels: str) -> PodInfo:
    """A pod with labels."""
    info = pod(name)
    info.pod["metadata"]["labels"] = labels
    return info


@pytest.mark.spec("WAS-073")
def test_budgets_are_used_up_in_order() -> None:
    """Given a budget for one of three pods, when they are split, then the first keeps it whole and
    the others break it; one that a budget does not select never does.
    """
    units = [victim(labelled(name, app="web")) for name in "abc"] + [victim(labelled("other", app="db"))]
    breaking, rest = split_by_budgets(units, [budget(1, app="web"), budget(0)])
    assert names([each for each, _ in breaking]) == [["b"], ["c"]]
    assert names(rest) == [["a"], ["other"]]
    whole = [victim(labelled("a", app="web"), labelled("b", app="web"), labelled("c", app="web"))]
    assert [count for _, count in split_by_budgets(whole, [budget(1, app="web")])[0]] == [2]


def test_the_node_where_least_is_lost() -> None:
    """Given nodes where pods could go, when the best is chosen, then fewer broken budgets come
    first, then lower priorities, fewer pods, a later start, and last the name.
    """
    def on(name: str, *victims: Victim, violations: int = 0) -> Candidate:
        return Candidate(name, victims, violations)

    low, high = victim(pod("low")), victim(pod("high", priority=5))
    late = pod("late")
    late.pod["status"]["startTime"] = "2026-01-02T00:00:00Z"
    early = pod("early")
    early.pod["status"]["startTime"] = "2026-01-01T00:00:00Z"
    assert best_candidate([on("a", low, violations=1), on("b", high)]).node_name == "b"
    assert best_candidate([on("a", high), on("b", low, low)]).node_name == "b"
    assert best_candidate([on("a", low, low), on("b", low)]).node_name == "b"
    assert best_candidate([on("a", victim(early)), on("b", victim(late))]).node_name == "b"
    assert best_candidate([on("b", low), on("a", low)]).node_name == "a"


def test_terminating_by_preemption() -> None:
    """Given a pod with the condition of an eviction by a scheduler, when it is being deleted, then
    it is going because of that; before, or for another reason, it is not.
    """
    info = pod("a")
    info.pod["status"]["conditions"] = [
        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    assert not is_terminating_by_preemption(info.pod)
    info.pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert is_terminating_by_preemption(info.pod)
    info.pod["status"]["conditions"][0]["reason"] = "EvictionByEvictionAPI"
    assert not is_terminating_by_preemption(info.pod)


def test_fewer_pods_are_better_however_low_their_priority() -> None:
    """Given candidates whose pods have the lowest priority that there is / then fewer pods are less
    of a loss than more.
    """
    lowest = victim(pod("lowest", priority=-(2**31)))
    low = victim(pod("low", priority=-(2**31) + 1))
    assert best_candidate([Candidate("a", (low, low), 0), Candidate("b", (low,), 0)]).node_name == "b"
    assert best_candidate([Candidate("a", (lowest, lowest), 0), Candidate("b", (lowest,), 0)]).node_name == "b"
