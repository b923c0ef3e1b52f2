"""Balanced placements on trees of a few nodes: those that are found, and when there is none."""

from typing import Any

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from tests.controllers.kueue.topology.test_placement import Cluster, counts_of, request, snapshot_of

BALANCED, NOT_BALANCED = Features(TASBalancedPlacement=True), Features(TASBalancedPlacement=False)
BLOCK, RACK = {"preferred": "block"}, {"preferred": "rack"}
PAIRS = {"podSetSliceRequiredTopology": HOSTNAME, "podSetSliceSize": 2}
PAIRS_OF_RACKS = {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2}
ONE_BY_ONE = {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 1}
Counts = dict[str, int]


@pytest.mark.parametrize(("nodes", "asked", "count", "even", "uneven"), [
    ([(0, 0, 4), (0, 1, 4), (0, 2, 4)], RACK, 6, {"n0": 3, "n1": 3}, {"n0": 4, "n1": 2}),
    ([(0, 0, 4), (0, 1, 4), (0, 2, 4)], RACK, 7, {"n0": 4, "n1": 3}, {"n0": 4, "n1": 3}),
    # the racks of one block together hold it; no choice of blocks has as many pods as the slices
    ([(1, 0, 2), (0, 1, 3), (0, 1, 1)], BLOCK | PAIRS, 4, {"n0": 2, "n1": 2}, {"n0": 2, "n1": 2}),
    # two racks of one slice, and a third node that holds none
    ([(0, 0, 3), (0, 0, 1), (0, 2, 3)], BLOCK | PAIRS, 4, {"n0": 2, "n2": 2}, {"n0": 2, "n2": 2}),
])
def test_pods_are_spread_evenly(nodes: Cluster, asked: dict[str, Any], count: int, even: Counts, uneven: Counts) -> None:
    """Given racks that hold pods only together, when the pods would be together, then each rack
    gets about as many if that is on; where no such placement is found, they are as without.
    """
    assert counts_of(snapshot_of(nodes, BALANCED), request(count, asked)) == ([even], "")
    assert counts_of(snapshot_of(nodes, NOT_BALANCED), request(count, asked)) == ([uneven], "")


@pytest.mark.parametrize(("nodes", "asked", "count", "leader", "workers"), [
    # one would be in each rack, but then the leader has no room
    ([(0, 0, 2), (0, 2, 1)], RACK | ONE_BY_ONE, 2, {"n0": 1}, {"n0": 1, "n1": 1}),
    # with two workers in each rack there is room for the leader
    ([(0, 0, 3), (0, 2, 2)], RACK | ONE_BY_ONE, 4, {"n0": 1}, {"n0": 2, "n1": 2}),
    # as many slices as there are in all blocks, of racks that hold one pod more
    ([(0, 1, 3), (0, 0, 3), (1, 0, 3), (0, 0, 3)], BLOCK | PAIRS_OF_RACKS, 8, {"n0": 1}, {"n0": 2, "n1": 3, "n3": 3}),
])
def test_leaders_have_room_beside_the_workers(
    nodes: Cluster, asked: dict[str, Any], count: int, leader: Counts, workers: Counts,
) -> None:
    """Given a leader with workers, when they are spread evenly, then as evenly as there is room for
    the leader.
    """
    of_group = {**asked, "podSetGroupName": "g"}
    level = {"preferred": asked["preferred"], "podSetGroupName": "g"}
    found = counts_of(snapshot_of(nodes, BALANCED), request(1, level, "leader"), request(count, of_group, "workers"))
    assert found == ([leader, workers], "")


@pytest.mark.parametrize(("nodes", "asked", "count", "wanted"), [
    # of two that hold it the first by name, of others the one with the least room
    ([(1, 2, 1), (1, 0, 1)], {"preferred": HOSTNAME}, 1, {"n1": 1}),
    ([(1, 0, 1), (1, 0, 1)], {"preferred": HOSTNAME}, 1, {"n0": 1}),
    ([(1, 0, 1), (1, 2, 2)], RACK, 1, {"n0": 1}),
    # of racks with the same room the one in which it is spread more evenly
    ([(1, 2, 2), (1, 0, 1), (1, 0, 1)], RACK, 1, {"n1": 1}),
    # what is beyond an equal share goes where there is room, and no more than there is
    ([(0, 0, 3), (0, 1, 4)], BLOCK, 5, {"n0": 2, "n1": 3}),
    ([(1, 0, 1), (0, 1, 2), (1, 2, 2)], BLOCK, 5, {"n0": 1, "n1": 2, "n2": 2}),
    ([(1, 2, 3), (0, 1, 3), (0, 0, 4), (1, 0, 3)], BLOCK | PAIRS_OF_RACKS, 8, {"n1": 2, "n2": 4, "n3": 2}),
])
def test_which_domains_are_taken(nodes: Cluster, asked: dict[str, Any], count: int, wanted: Counts) -> None:
    """Given domains that hold pods equally well, when they are chosen, then as few as do, with the
    least room, the most even first.
    """
    assert counts_of(snapshot_of(nodes, BALANCED), request(count, asked)) == ([wanted], "")


@pytest.mark.parametrize(("nodes", "level", "count", "leader", "workers"), [
    # one rack rather than two
    ([(1, 0, 2), (1, 0, 1), (0, 2, 2), (0, 1, 1)], "rack", 2, {"n0": 1}, {"n0": 1, "n1": 1}),
    # the leader takes room, too
    ([(0, 2, 2), (0, 1, 4)], "rack", 4, {"n1": 1}, {"n0": 2, "n1": 2}),
    ([(1, 0, 2), (1, 0, 3)], "rack", 3, {"n1": 1}, {"n0": 1, "n1": 2}),
    # with the leader where there is the least room for both
    ([(1, 0, 2), (1, 0, 2)], "rack", 1, {"n0": 1}, {"n0": 1}),
    ([(1, 0, 2), (1, 2, 3)], "rack", 1, {"n0": 1}, {"n0": 1}),
    ([(1, 0, 2), (0, 1, 3), (1, 1, 1)], "block", 1, {"n0": 1}, {"n0": 1}),
    ([(0, 1, 1), (1, 0, 2), (0, 0, 1)], "block", 1, {"n1": 1}, {"n1": 1}),
])
def test_which_domains_leaders_take(nodes: Cluster, level: str, count: int, leader: Counts, workers: Counts) -> None:
    """Given a leader with workers, when domains are chosen for both, then those that hold all and
    the leader with them.
    """
    asked = {"preferred": level, "podSetGroupName": "g"}
    found = counts_of(snapshot_of(nodes, BALANCED), request(1, asked, "leader"), request(count, asked, "workers"))
    assert found == ([leader, workers], "")
