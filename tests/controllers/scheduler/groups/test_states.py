"""What is known of groups and their pods, and whether enough of them are there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType
from fakekube_controllers.scheduler.groups.states import GroupStates
from tests.controllers.scheduler.groups.trees import composite, pod, pod_group


def states(*groups: tuple[EntityKey, dict[str, object]]) -> GroupStates:
    """The states after these groups were seen."""
    known = GroupStates()
    for key, group in groups:
        known.set_group(key, group)
    return known


def test_a_gang_is_ready_with_min_count_pods_wherever_they_are() -> None:
    """Given a gang of three, when two pods wait and one is on a node, then it is ready."""
    key, group = pod_group("gang", 3)
    known = states((key, group))
    known.set_pod(key, pod("a", "gang"))
    known.set_pod(key, pod("b", "gang"))
    assert not known.is_ready(key)
    known.set_pod(key, pod("c", "gang"), "node-1")
    assert known.is_ready(key)
    assert known.all_count(key) == 3
    assert [placed.node_name for placed in known.placed(key)] == ["node-1"]


def test_pods_may_come_before_their_group() -> None:
    """Given a pod of a group that was not seen, when the group comes, then the pod counts."""
    key, group = pod_group("late")
    known = GroupStates()
    known.set_pod(key, pod("a", "late"))
    assert not known.is_ready(key)
    assert known.root_of(key) is None
    known.set_group(key, group)
    assert known.is_ready(key)
    assert known.root_of(key) == key


@pytest.mark.spec("WAS-090", "WAS-091")
def test_a_tree_is_ready_by_its_ready_children() -> None:
    """Given a root that wants two children, when only one has its pods, then it is not ready; a
    basic child without a pod does not count.
    """
    root, first = composite("root", 2), pod_group("one", 1, "root")
    second, third = pod_group("two", 2, "root"), pod_group("three", None, "root")
    known = states(first, second, third)
    known.set_pod(first[0], pod("a", "one"))
    known.set_pod(second[0], pod("b", "two"))
    assert known.root_of(first[0]) is None, "the root was not seen"
    assert known.nearest_known(first[0]) == root[0]
    known.set_group(*root)
    assert not known.is_ready(root[0])
    known.set_pod(third[0], pod("c", "three"))
    assert known.is_ready(root[0])


@pytest.mark.spec("WAS-093")
def test_a_cycle_has_no_root() -> None:
    """Given two composite groups that are each other's parent, when the root is asked for, then
    there is none, and asking ends.
    """
    one, other, leaf = composite("one", None, "other"), composite("other", None, "one"), pod_group("leaf", 1, "one")
    known = states(one, other, leaf)
    assert known.root_of(leaf[0]) is None
    assert known.nearest_known(leaf[0]).type is EntityType.COMPOSITE_POD_GROUP


def test_a_group_that_moves_or_goes_leaves_its_parent() -> None:
    """Given a child, when it is made again below another parent, then the first has no child."""
    one, other = composite("one"), composite("other")
    known = states(one, other, pod_group("leaf", 1, "one"))
    known.set_group(*pod_group("leaf", 1, "other"))
    assert known.children(one[0]) == []
    assert [child.name for child in known.children(other[0])] == ["leaf"]
    known.remove_group(pod_group("leaf")[0])
    assert known.children(other[0]) == []


def test_children_stand_in_the_order_of_their_creation() -> None:
    """Given children created at different times, when they are listed, then the oldest is first."""
    known = states(composite("root"))
    for name, second in (("a", 3), ("b", 1), ("c", 2)):
        key, group = pod_group(name, 1, "root")
        group["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:0{second}Z"
        known.set_group(key, group)
    assert [key.name for key in known.children(composite("root")[0])] == ["b", "c", "a"]
    tree = known.tree(composite("root")[0])
    assert tree is not None
    assert [leaf.key.name for leaf in tree.leaves()] == ["b", "c", "a"]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(("wait", "node-1", "node-2", "gone"))), max_size=40))
def test_counts_are_those_of_a_recount(steps: list[tuple[str, str]]) -> None:
    """Given any history of pods, when they are counted, then each is counted once, where it is."""
    key, group = pod_group("gang", 2)
    known, where = states((key, group)), dict[str, str]()
    for name, place in steps:
        where[name] = place
        if place == "gone":
            known.remove_pod(name)
        else:
            known.set_pod(key, pod(name, "gang"), "" if place == "wait" else place)
    there = {name: place for name, place in where.items() if place != "gone"}
    assert known.all_count(key) == len(there)
    assert {(each.info.uid, each.node_name) for each in known.placed(key)} == {
        (name, place) for name, place in there.items() if place != "wait"}
    assert known.is_ready(key) == (len(there) >= 2)
