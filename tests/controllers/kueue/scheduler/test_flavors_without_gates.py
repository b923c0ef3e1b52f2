"""The search for flavors where gates are off, of slices with more podsets, and without places."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import (
    Assignment,
    FlavorAssignment,
    FlavorAssignmentAttempt,
    PodSetAssignment,
)
from fakekube_controllers.kueue.scheduler.flavorassigner.flavorassigner import FlavorAssigner
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, InfoOptions
from tests.controllers.kueue import trees
from tests.controllers.kueue.scheduler import test_flavors
from tests.controllers.kueue.topology.test_placement import request, snapshot_of

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

assign: Any = test_flavors.assign
cache_with: Any = test_flavors.cache_with
flavors_of: Any = test_flavors.flavors_of
NO_FIT, PREEMPT, FIT = FlavorAssignmentMode.NO_FIT, FlavorAssignmentMode.PREEMPT, FlavorAssignmentMode.FIT


@pytest.mark.parametrize(("quotas", "used", "asked", "wanted"), [
    ((5, 5), (4, 0), 2, ("two", FIT)),
    ((5, 1), (4, 0), 2, ("one", PREEMPT)),
    ((1, 5), (0, 4), 2, ("two", PREEMPT)),
    ((5, 5), (4, 4), 2, ("one", PREEMPT)),
    ((5, 5), (0, 0), 2, ("one", FIT)),
])
def test_the_first_flavor_that_fits(
    quotas: tuple[int, int], used: tuple[int, int], asked: int, wanted: tuple[str, FlavorAssignmentMode],
) -> None:
    """Given two flavors and no policy for them, when flavors are searched, then the first that fits
    is taken, or else the first of those that fit once others have gone.
    """
    taken = [("cq", name, "cpu", amount) for name, amount in zip(("one", "two"), used, strict=True) if amount]
    cache = cache_with({name: {"cpu": quota} for name, quota in zip(("one", "two"), quotas, strict=True)}, used=taken)
    found = assign(cache, trees.workload("w", trees.podset(cpu=asked)), features=Features(FlavorFungibility=False))
    assert flavors_of(found) == {"main": {"cpu": wanted}}
    assert found.last_state.last_tried_flavor_idx == [{"cpu": 0}]


@pytest.mark.parametrize(("flavor", "quota", "message"), [
    ("one", 2, ""),
    ("one", 1, (
        "couldn't assign flavors to pod set b: insufficient quota for cpu in flavor one, previously considered podsets requests "
        "(1) + current podset request (1) > maximum capacity (1)")),
    ("two", 9, "couldn't assign flavors to pod set a: could not assign one flavor since the original workload is assigned: two"),
])
def test_a_slice_with_one_podset_more(flavor: str, quota: int, message: str) -> None:
    """Given a slice that replaces one of two CPUs, when it has three and a podset more, then what
    is more is looked for in the same flavor, and all of the new podset.
    """
    features = Features(ElasticJobsViaWorkloadSlices=True)
    before = trees.admitted(trees.workload("old", trees.podset("a", cpu=2)), "cq", {"cpu": (flavor, 2)})
    found = assign(
        cache_with({"one": {"cpu": quota}}), trees.workload("w", trees.podset("a", cpu=3), trees.podset("b", cpu=1)),
        features=features, replaced=Info(before, InfoOptions(features)))
    assert found.message() == message
    assert found.representative_mode() == (NO_FIT if message else FIT)


@pytest.mark.parametrize(("group", "flavors"), [(None, {}), ("g", {"cpu": ("tas", FIT)})])
def test_a_leader_that_asks_for_nothing(group: str | None, flavors: dict[str, Any]) -> None:
    """Given a podset that requests nothing, when another of its group gets a flavor with a
    topology, then it gets that as well.
    """
    unused: Any = None
    cq: Any = SimpleNamespace(tas_flavors={"tas": None})
    obj: Tree = {"spec": {"podSets": [{"name": "leader", "topologyRequest": {"podSetGroupName": group}}]}}
    info: Any = SimpleNamespace(obj=obj)
    assigner = FlavorAssigner(info, cq, {}, False, unused, None, "", 1, Features())
    leader: Any = SimpleNamespace(index=0, assigned=PodSetAssignment("leader", {}, {}, 1))
    found = assigner._resolved(leader, {"cpu": FlavorAssignment("tas", FIT), "memory": FlavorAssignment("plain", FIT)})
    assert {name: (each.name, each.mode) for name, each in found.items()} == flavors


@pytest.mark.parametrize(("count", "tells", "mode", "wanted"), [
    (9, True, NO_FIT, [("g", FIT, ""), ("f", NO_FIT, "TopologyPlacementFailed"), ("f", FIT, "")]),
    (9, False, NO_FIT, [("g", FIT, ""), ("f", FIT, ""), ("f", FIT, "")]),
    (4, True, PREEMPT, [("g", FIT, ""), ("f", FIT, ""), ("f", FIT, "")]),
])
def test_pods_that_have_no_place_even_alone(count: int, tells: bool, mode: FlavorAssignmentMode, wanted: list[Any]) -> None:
    """Given pods with quota and no places, when they have none in a topology without others, then
    they never fit, and the flavor that was tried says so; else others are in their way.
    """
    attempts = [FlavorAssignmentAttempt(name, FIT) for name in ("g", "f", "f")]
    features = Features(UnadmittedWorkloadsObservability=tells)
    assignment = Assignment(features, "", AssignmentClusterQueueState([]), None)
    assignment.pod_sets = [PodSetAssignment(
        "main", {"cpu": FlavorAssignment("f", FIT)}, {"cpu": 1000}, count, flavor_assignment_attempts=attempts)]
    unused: Any = None
    cq: Any = SimpleNamespace(tas_flavors={"f": snapshot_of([(0, 0, 4), (0, 1, 4)])})
    info: Any = SimpleNamespace(obj={"metadata": {"name": "w"}, "spec": {}, "status": {}})
    assigner = FlavorAssigner(info, cq, {}, False, unused, None, "", 1, features)
    assigner._assign_places_of_empty(assignment, {"f": [request(count, {"required": "rack"})]})
    assert [(each.flavor, each.mode, each.no_fit_reason) for each in attempts] == wanted
    assert [each.mode for each in assignment.pod_sets[0].flavors.values()] == [mode]
