"""Rules of specs of queues and Workloads that no definition has, asked of trees."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.webhooks import clusterqueue, workload, workloadupdates

PATH = "spec.resourceGroups"


def told(spec: Tree) -> list[str]:
    """The complaints about a ClusterQueue."""
    return [*map(str, clusterqueue._of_spec(spec, Features()))]


@pytest.mark.parametrize(("preemption", "is_refused"), [
    ({"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}}, True),
    ({"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}}, False),
    ({"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}, False),
    ({"reclaimWithinCohort": "Never"}, False),
    ({}, False),
])
def test_who_reclaims_never_borrows_not_by_preemption(preemption: Tree, is_refused: bool) -> None:
    """Given policies of preemption, when nothing is reclaimed within the cohort, then none may be
    preempted for what is borrowed.
    """
    found = told({"preemption": preemption})
    assert [each.rpartition(": ")[2] for each in found] == (
        ["reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"] if is_refused else [])
    assert all(each.startswith("spec.preemption: Invalid value: ") for each in found)


NEXT = "TryNextFlavor"


@pytest.mark.parametrize(("fungibility", "is_refused"), [
    ({"preference": "BorrowingOverPreemption", "whenCanBorrow": NEXT, "whenCanPreempt": NEXT}, False),
    ({"preference": "BorrowingOverPreemption", "whenCanBorrow": "MayStopSearch", "whenCanPreempt": NEXT}, True),
    ({"preference": "BorrowingOverPreemption", "whenCanBorrow": NEXT, "whenCanPreempt": "MayStopSearch"}, True),
    ({"preference": "BorrowingOverPreemption"}, True),
    ({"whenCanBorrow": "MayStopSearch", "whenCanPreempt": NEXT}, False),
])
def test_a_preference_is_about_all_flavors(fungibility: Tree, is_refused: bool) -> None:
    """Given what a queue prefers among flavors, when it may stop before it has seen all, then that
    is refused.
    """
    text = (
        'spec.flavorFungibility.preference: Invalid value: "BorrowingOverPreemption": preference "BorrowingOverPreemption" '
        "requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor")
    assert told({"flavorFungibility": fungibility}) == ([text] if is_refused else [])


def groups(flavors: int, resources: int, count: int = 1) -> list[Any]:
    """Resource groups, each of so many flavors and resources."""
    return [
        {"coveredResources": [f"r{place}-{each}" for each in range(resources)],
         "flavors": [{"name": f"f{place}-{each}", "resources": [{"name": "r"}] * resources} for each in range(flavors)]}
        for place in range(count)]


@pytest.mark.parametrize(("found", "wanted"), [
    (groups(16, 16, 16), []),
    (groups(16, 1, 16) + groups(1, 1), [
        f"{PATH}: Invalid value: 257: total number of flavors across all resourceGroups must be ≤ 256, got 257"]),
    (groups(1, 16, 16) + groups(1, 1), [
        f"{PATH}: Invalid value: 257: total number of covered resources across all resourceGroups must be ≤ 256, got 257"]),
    (groups(8, 64), []),
    (groups(1, 1) + groups(19, 27), [
        f"{PATH}[1]: Invalid value: 513: number of flavor-resource combinations in a resourceGroup must be ≤ 512, got 513"]),
])
def test_queues_have_bounds(found: list[Any], wanted: list[str]) -> None:
    """Given a queue with many flavors, resources or both, when there is one too many, then it is
    said of what there are how many.
    """
    assert [*map(str, clusterqueue._of_sizes(found, PATH))] == wanted


@pytest.mark.parametrize(("request_", "wanted"), [
    ({"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 1}, []),
    ({"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 0}, [
        "p.podSetSliceSize: Invalid value: 0: must be greater than 0"]),
    ({"podSetSliceRequiredTopology": "rack"}, [
        "p.podSetSliceSize: Required value: must be set when podSetSliceRequiredTopology is specified"]),
    ({"podSetSliceSize": 1}, [
        "p.podSetSliceSize: Forbidden: may not be set when podSetSliceRequiredTopology is not specified"]),
    ({"podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": 1}, {"topology": "host", "size": 0}]}, [
        "p.podsetSliceRequiredTopologyConstraints[1].size: Invalid value: 0: must be greater than 0"]),
    ({"podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": -1}]}, [
        "p.podsetSliceRequiredTopologyConstraints[0].size: Invalid value: -1: must be greater than 0"]),
])
def test_slices_have_sizes(request_: Tree, wanted: list[str]) -> None:
    """Given a request for slices, when a size is missing, stands alone or is none, then it is
    refused.
    """
    assert [*map(str, workload._of_slices(request_, "p"))] == wanted


def podset(name: str = "a", count: int = 1) -> Tree:
    """A podset."""
    return {"name": name, "count": count, "template": {"spec": {"containers": [{"name": "c"}]}}}


@pytest.mark.parametrize(("new", "old", "elastic", "paths"), [
    ([podset()], [podset()], True, []),
    ([podset(), podset("b")], [podset()], True, ["spec.podSets"]),
    ([], [podset()], True, ["spec.podSets"]),
    ([podset(count=1)], [podset(count=2)], True, []),
    ([podset(count=1)], [podset(count=2)], False, ["spec.podSets.0"]),
    ([podset(count=3)], [podset(count=2)], True, ["spec.podSets.0"]),
    ([podset(), podset("c")], [podset(), podset("b")], True, ["spec.podSets.1"]),
])
def test_podsets_stay_once_quota_is_reserved(new: list[Tree], old: list[Tree], elastic: bool, paths: list[str]) -> None:
    """Given a Workload with quota, when its podsets change, then that is refused, but for fewer
    pods where jobs may shrink.
    """
    found = [*workloadupdates._of_podsets(new, old, Features(ElasticJobsViaWorkloadSlices=elastic))]
    assert [each.field for each in found] == paths
    assert [each.detail for each in found] == ["field is immutable"] * len(paths)
