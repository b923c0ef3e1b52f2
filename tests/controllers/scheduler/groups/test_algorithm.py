"""Where the pods of a group go: all or none, in trees and in placements."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util.tasks import finish
from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import EntityKey, PodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.status import Code, Status, unschedulable
from fakekube_controllers.scheduler.groups.algorithm import GroupAlgorithm
from fakekube_controllers.scheduler.groups.entities import minimum_of, topology_key_of
from fakekube_controllers.scheduler.groups.results import PodResult, Results, complete
from fakekube_controllers.scheduler.groups.states import GroupStates
from tests.controllers.scheduler.groups.trees import composite, pod, pod_group, queued

NO_ROOM = unschedulable("Insufficient cpu")


class Slots:
    """A placer over nodes with so many slots; a pod takes one.

    ``topology``: by label, the domains of the nodes that have it.
    """

    def __init__(self, slots: dict[str, int], topology: dict[str, dict[str, str]] | None = None) -> None:
        self.slots, self.topology = dict(slots), topology or {}
        self.broken: str = ""
        self.tried: list[str] = []

    async def try_pod(self, queued: QueuedPodInfo, placement: Placement) -> PodResult:
        self.tried.append(queued.info.uid)
        if queued.info.uid == self.broken:
            return PodResult(queued, Status(Code.ERROR, ("it broke",)))
        for name, left in self.slots.items():
            if left and (placement.node_names is None or name in placement.node_names):
                self.slots[name] -= 1
                return PodResult(queued, None, name)
        return PodResult(queued, NO_ROOM)

    def assume(self, result: PodResult) -> Status | None:
        self.slots[result.node_name] -= 1
        return None

    def revert(self, result: PodResult) -> None:
        self.slots[result.node_name] += 1

    def feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        minimum = minimum_of(info.group)
        if scheduled + remaining < minimum:
            return unschedulable(f"minCount ({minimum}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining")
        if scheduled < minimum:
            return Status(Code.WAIT, (f"minCount ({minimum}) is not yet satisfied: {scheduled} scheduled",))
        return None

    def placements(self, info: PodGroupInfo, within: Placement) -> Sequence[Placement] | Status:
        key = topology_key_of(info.group)
        if key is None:
            return [within]
        names: dict[str, list[str]] = {}
        for name, domain in self.topology.get(key, {}).items():
            if within.node_names is None or name in within.node_names:
                names.setdefault(domain, []).append(name)
        found = [Placement(domain, dict.fromkeys(nodes)) for domain, nodes in sorted(names.items())]
        return found or unschedulable("no feasible placements found")

    def best_placement(self, info: PodGroupInfo, found: Sequence[tuple[Placement, Sequence[PodResult]]]) -> Placement:
        return max(found, key=lambda each: len(each[1]))[0]


def run(placer: Slots, root: PodGroupInfo, known: GroupStates | None = None, *, uses_placements: bool = False) -> Results:
    """One cycle; nothing stays assumed after it."""
    before = dict(placer.slots)
    results = finish(GroupAlgorithm(placer, known or GroupStates(), uses_placements=uses_placements).run(root))
    assert placer.slots == before
    complete(root, results)
    return results


def leaf(group: tuple[EntityKey, dict[str, object]], count: int) -> PodGroupInfo:
    """A PodGroup with so many pods to try, named after it."""
    key, tree = group
    return PodGroupInfo(key, tree, unscheduled_pods=[queued(pod(f"{key.name}-{number}", key.name)) for number in range(count)])


def nodes_of(results: Results, key: EntityKey) -> list[str]:
    """Where the pods of a group go; empty for those that go nowhere."""
    return [each.node_name if results[key].succeeded else "" for each in results[key].pods]


def message(results: Results, key: EntityKey) -> str:
    """The text of a group's status."""
    status = results[key].status
    return status.message if status is not None else ""


def test_a_gang_that_fits_in_part_goes_nowhere() -> None:
    """Given room for two of a gang of three, when it is tried, then no pod goes anywhere and the
    status counts what was found.
    """
    gang = leaf(pod_group("gang", 3), 3)
    results = run(Slots({"n1": 2}), gang)
    assert nodes_of(results, gang.key) == ["", "", ""]
    assert message(results, gang.key) == "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
    assert [each.fits for each in results[gang.key].pods] == [True, True, False]


def test_a_gang_stops_when_it_cannot_be_whole_any_more() -> None:
    """Given a gang of three that needs all its pods and no room, when it is tried, then only the
    first pod is looked at, and the others have the group's status.
    """
    gang, placer = leaf(pod_group("gang", 3), 3), Slots({"n1": 0})
    results = run(placer, gang)
    assert placer.tried == ["gang-0"]
    assert [each.status.message for each in results[gang.key].pods if each.status] == [
        "Insufficient cpu", *["minCount (3) cannot be satisfied: 0 scheduled, 2 remaining"] * 2]


def test_more_than_the_minimum_goes_where_it_fits() -> None:
    """Given a gang of two with four pods and three slots, when it is tried, then three go."""
    gang = leaf(pod_group("gang", 2), 4)
    results = run(Slots({"n1": 2, "n2": 1}), gang)
    assert nodes_of(results, gang.key) == ["n1", "n1", "n2", ""]


def test_a_satisfied_group_whose_further_pod_does_not_fit_is_unschedulable() -> None:
    """Given a gang that has its pods on nodes and one more that does not fit, when it is tried,
    then the group is unschedulable this time.
    """
    key, group = pod_group("gang", 1)
    known, gang = GroupStates(), PodGroupInfo(key, group, unscheduled_pods=[queued(pod("more", "gang"))])
    known.set_group(key, group)
    known.set_pod(key, pod("there", "gang"), "n1")
    results = run(Slots({"n1": 0}), gang, known)
    assert message(results, key) == "pod group is unschedulable"


def test_an_error_ends_the_group() -> None:
    """Given a pod whose plugins fail, when its gang is tried, then the group has an error."""
    gang, placer = leaf(pod_group("gang", 2), 3), Slots({"n1": 3})
    placer.broken = "gang-1"
    results = run(placer, gang)
    assert results[gang.key].is_error
    assert message(results, gang.key) == "failed to schedule other pod from a pod group: it broke"
    assert placer.tried == ["gang-0", "gang-1"]


@pytest.mark.spec("WAS-087", "WAS-089")
@pytest.mark.parametrize("minimum", [2, None])
def test_a_composite_group_goes_with_enough_of_its_children(minimum: int | None) -> None:
    """Given a root of three gangs, one of which does not fit, when it is tried, then the others go
    where the root wants two or any; the third does not.
    """
    root = PodGroupInfo(*composite("root", minimum), children=[leaf(pod_group(name, 2, "root"), 2) for name in ("one", "two")])
    root.children.insert(1, leaf(pod_group("big", 9, "root"), 9))
    results = run(Slots({"n1": 4}), root, uses_placements=True)
    assert [nodes_of(results, child.key)[0] for child in root.children] == ["n1", "", "n1"]


def test_a_composite_group_that_fails_takes_its_children_along() -> None:
    """Given a root that wants two of two gangs and room for one, when it is tried, then neither
    goes, and the pods of the one that fits have the root's status.
    """
    root = PodGroupInfo(*composite("root", 2), children=[leaf(pod_group(name, 2, "root"), 2) for name in ("one", "two")])
    results = run(Slots({"n1": 3}), root, uses_placements=True)
    assert nodes_of(results, root.children[0].key) == ["", ""]
    text = ("pod group is unschedulable, 0/1 placements are available, "
            "first placement status: minCount (2) cannot be satisfied: 1 scheduled, 0 remaining")
    assert message(results, root.key) == text
    assert [each.status.message for each in results[root.children[0].key].pods if each.status] == [text] * 2


@pytest.mark.spec("WAS-088")
def test_three_levels() -> None:
    """Given a root of two of three subtrees with gangs that fit and gangs that do not, when it is
    tried, then exactly what its parents allow goes.
    """
    def child(name: str, parent: str, *, fits: bool) -> PodGroupInfo:
        return leaf(pod_group(name, 1 if fits else 9, parent), 1)

    first = PodGroupInfo(*composite("sub1", 2, "root"), children=[
        child("pg1", "sub1", fits=True), child("pg2", "sub1", fits=True), child("pg3", "sub1", fits=False)])
    second = PodGroupInfo(*composite("sub2", None, "root"), children=[
        child("pg4", "sub2", fits=True), child("pg5", "sub2", fits=True)])
    third = PodGroupInfo(*composite("sub3", 2, "root"), children=[
        child("pg6", "sub3", fits=True), child("pg7", "sub3", fits=False)])
    root = PodGroupInfo(*composite("root", 2), children=[first, second, third])
    results = run(Slots({"n1": 9}), root, uses_placements=True)
    assert [leaf.key.name for leaf in root.leaves() if results[leaf.key].succeeded] == ["pg1", "pg2", "pg4", "pg5"]
    assert [results[each.key].succeeded for each in (root, first, second, third)] == [True, True, True, False]


RACKS = {"rack": {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}}
ONE_RACK = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}


@pytest.mark.spec("WAS-078", "WAS-081", "WAS-085")
@pytest.mark.parametrize("minimum", [3, 2, None])
def test_all_of_a_group_is_in_the_rack_that_holds_most(minimum: int | None) -> None:
    """Given racks of two and three slots and a group of four pods, when it is tried, then it is in
    the rack that holds more, with a gang and a basic policy.
    """
    gang = leaf(pod_group("gang", minimum, **ONE_RACK), 4)
    results = run(Slots({"a1": 1, "a2": 1, "b1": 2, "b2": 1}, RACKS), gang, uses_placements=True)
    assert nodes_of(results, gang.key) == ["b1", "b1", "b2", ""]


@pytest.mark.spec("WAS-079")
def test_no_rack_with_room() -> None:
    """Given two racks that are too small, when a gang is tried, then its status tells that of the
    first.
    """
    gang = leaf(pod_group("gang", 3, **ONE_RACK), 3)
    results = run(Slots({"a1": 1, "a2": 1, "b1": 1, "b2": 1}, RACKS), gang, uses_placements=True)
    assert message(results, gang.key) == (
        "pod group is unschedulable, 0/2 placements are available, "
        "first placement status: minCount (3) cannot be satisfied: 2 scheduled, 0 remaining")


@pytest.mark.spec("WAS-092")
def test_a_rack_inside_a_block() -> None:
    """Given gangs that want a rack each inside a root that wants one block, when they are tried,
    then all are in one block, each in one rack of it.
    """
    blocks = {"block": {f"x{rack}{node}": "x" for rack in "ab" for node in "12"} | {f"y{rack}1": "y" for rack in "ab"}}
    racks = {"rack": {name: name[:2] for name in blocks["block"]}}
    children = [leaf(pod_group(name, 2, "root", **ONE_RACK), 2) for name in ("one", "two")]
    block = {"schedulingConstraints": {"topology": [{"key": "block"}]}}
    root = PodGroupInfo(*composite("root", 2, **block), children=children)
    placer = Slots({"ya1": 3, "yb1": 1, "xa1": 1, "xa2": 2, "xb1": 1, "xb2": 1}, blocks | racks)
    results = run(placer, root, uses_placements=True)
    assert {name[:2] for name in nodes_of(results, children[0].key)} == {"xa"}
    assert {name[:2] for name in nodes_of(results, children[1].key)} == {"xb"}
    results = run(Slots({"ya1": 3, "yb1": 1, "xa1": 1, "xa2": 2, "xb1": 1, "xb2": 0}, blocks | racks), root, uses_placements=True)
    assert message(results, root.key).startswith("pod group is unschedulable, 0/2 placements are available")


def test_no_node_with_the_label_is_no_placement() -> None:
    """Given no node with the topology's label, when a group is tried, then it has no placement."""
    gang = leaf(pod_group("gang", 1, **ONE_RACK), 1)
    assert message(run(Slots({"n1": 5}), gang, uses_placements=True), gang.key) == "no feasible placements found"


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5)), min_size=1, max_size=5),
       st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(1, 4), st.booleans())
def test_never_a_part_of_a_gang(gangs: list[tuple[int, int]], slots: list[int], minimum: int, uses_placements: bool) -> None:
    """Given random gangs below a random root and random room, when they are tried, then what goes
    is at least each gang's minimum, enough children for the root, within the room, or nothing.
    """
    children = [leaf(pod_group(f"g{number}", least, "root"), count) for number, (least, count) in enumerate(gangs)]
    root = PodGroupInfo(*composite("root", minimum), children=children)
    placer = Slots({f"n{number}": left for number, left in enumerate(slots)})
    results = run(placer, root, uses_placements=uses_placements)
    placed = {child.key: [name for name in nodes_of(results, child.key) if name] for child in children}
    going = [key for key, names in placed.items() if names]
    for child in children:
        assert not placed[child.key] or len(placed[child.key]) >= minimum_of(child.group)
    assert not going or len(going) >= minimum
    everywhere = [name for names in placed.values() for name in names]
    for name, left in placer.slots.items():
        assert everywhere.count(name) <= left
