"""``percentageOfNodesToScore``: in a large cluster the search ends when enough nodes fit."""

from typing import Any

import pytest

from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import FitError
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.sampling import Sampling, SearchStart
from tests.controllers.scheduler.contexts import framework
from tests.controllers.scheduler.plugins.cases import node, pod, snapshot, zoned
from tests.controllers.scheduler.test_configuration import made

BIG = {"cpu": "8", "memory": "64Gi", "pods": "110"}
SMALL = {"cpu": "1", "memory": "64Gi", "pods": "110"}


def names(found: Any) -> list[str]:
    return [each.name for each in found.nodes]


def asks(cpu: str = "2", **spec: Any) -> Any:
    return pod_info(pod(requests={"cpu": cpu}, **spec))


@pytest.mark.parametrize(("percentage", "nodes", "enough"), [
    (50, 99, 99), (50, 100, 100), (50, 150, 100), (50, 300, 150), (5, 300, 100), (100, 300, 300), (33, 1000, 330)])
def test_how_many_nodes_are_enough(percentage: int, nodes: int, enough: int) -> None:
    """Given so many percent of so many nodes / then at least a hundred are to be found, and in a
    small cluster all.
    """
    assert Sampling(percentage, SearchStart()).enough(nodes) == enough


def test_a_search_ends_with_enough_nodes_and_the_next_goes_on_from_there() -> None:
    """Given 220 nodes of which every eleventh is too small, and 1 percent / when pods are tried one
    after the other / then each finds a hundred nodes, and begins where the search before ended.
    """
    nodes = snapshot(*[node(f"n{number:03}", **(SMALL if number % 11 == 0 else BIG)) for number in range(220)])
    sampled = Algorithm(framework(), sampling=Sampling(1, SearchStart()))
    first = sampled.feasible_nodes(CycleState(), asks(), nodes)
    assert names(first) == [f"n{number:03}" for number in range(111) if number % 11][:100]
    assert list(first.statuses) == [f"n{number:03}" for number in range(0, 111, 11)]
    second = sampled.feasible_nodes(CycleState(), asks(), nodes)
    assert names(second)[:3] == ["n111", "n112", "n113"]
    assert len(names(second)) == 100


def test_zones_take_turns() -> None:
    """Given 50 nodes in one zone before 150 in another / when a hundred are to be found / then both
    zones have fifty of them.
    """
    nodes = snapshot(*[zoned(f"n{number:03}", "a" if number < 50 else "b", **BIG) for number in range(200)])
    found = names(Algorithm(framework(), sampling=Sampling(10, SearchStart())).feasible_nodes(CycleState(), asks(), nodes))
    assert found[:4] == ["n000", "n050", "n001", "n051"]
    assert sum(name < "n050" for name in found) == 50


def test_a_pod_that_fits_nowhere_was_tried_everywhere() -> None:
    """Given 150 nodes that are too small and a sample of them / when no node fits / then every node
    has its reason, and the message counts all of them.
    """
    nodes = snapshot(*[node(f"n{number:03}", **SMALL) for number in range(150)])
    with pytest.raises(FitError) as raised:
        Algorithm(framework(), sampling=Sampling(10, SearchStart())).schedule(CycleState(), asks(), nodes)
    assert raised.value.text() == "0/150 nodes are available: 150 Insufficient cpu."


def test_small_clusters_are_searched_whole_and_without_samples() -> None:
    """Given 99 nodes / when one percent is to be looked at / then the answer is that of a search
    through all of them.
    """
    nodes = snapshot(*[node(f"n{number:03}", **(BIG if number == 98 else SMALL)) for number in range(99)])
    assert Algorithm(framework(), sampling=Sampling(1, SearchStart())).schedule(CycleState(), asks(), nodes) == "n098"


def test_the_profile_goes_before_the_configuration() -> None:
    """Given a percentage of the configuration and one of a profile / then that of the profile
    counts, and where it says nothing, that of the configuration; 0 is none.
    """
    profiles = [
        {"schedulerName": "own", "percentageOfNodesToScore": 10}, {"schedulerName": "none", "percentageOfNodesToScore": 0},
        {"schedulerName": "other"}]
    found = made(percentageOfNodesToScore=30, profiles=profiles).profiles
    assert {name: each.percentage_of_nodes_to_score for name, each in found.items()} == {"own": 10, "none": 0, "other": 30}
    assert Sampling.of(found["none"].percentage_of_nodes_to_score, SearchStart()) is None
