"""How many nodes of a zone are lost, and how fast others are given up."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.nodelifecycle import zones
from fakekube_controllers.nodelifecycle.controller import grace_seconds
from fakekube_controllers.nodelifecycle.zones import Zone
from tests.controllers.nodelifecycle.test_states import node

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
OLD_REGION, OLD_ZONE = "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, ""),
        ({REGION: "r"}, "r:"),
        ({ZONE: "z"}, ":z"),
        ({REGION: "r", ZONE: "z"}, "r:z"),
        ({OLD_REGION: "r", OLD_ZONE: "z"}, "r:z"),
        ({REGION: "new", OLD_REGION: "old", ZONE: "new", OLD_ZONE: "old"}, "new:new"),
        ({REGION: "", OLD_REGION: "old"}, "old:"),
    ],
)
def test_the_zone_of_a_node(labels: Tree, expected: str) -> None:
    """Given labels of a node / then its region and zone, the newer labels first."""
    assert zones.zone_of(node(labels=labels)) == expected


@pytest.mark.parametrize(
    ("ready", "lost", "state"),
    [
        (0, 0, "Normal"),
        (1, 0, "Normal"),
        (0, 1, "FullDisruption"),
        (0, 3, "FullDisruption"),
        (1, 2, "Normal"),
        (2, 3, "PartialDisruption"),
        (3, 3, "Normal"),
        (9, 11, "PartialDisruption"),
        (10, 12, "Normal"),
        (1, 3, "PartialDisruption"),
    ],
)
def test_the_state_of_a_zone(ready: int, lost: int, state: str) -> None:
    """Given ready and lost nodes / then a zone is lost when all are, and half lost from 55 % on and
    more than two.
    """
    assert zones.state_of([True] * ready + [False] * lost) == state


@pytest.mark.parametrize(
    ("state", "size", "rate"),
    [("Normal", 5, 0.1), ("FullDisruption", 500, 0.1), ("PartialDisruption", 50, 0.0), ("PartialDisruption", 51, 0.01)],
)
def test_how_fast_a_zone_is_given_up(state: str, size: int, rate: float) -> None:
    """Given a state and a size / then so many nodes a second; none in a small zone that is half
    lost.
    """
    assert zones.rate_of(state, size) == rate


def test_nodes_of_a_zone_take_turns() -> None:
    """Given three nodes that wait / then one goes every ten seconds, in their order; none while the
    rate is 0.
    """
    zone = Zone(waiting=dict.fromkeys("abc"))
    assert (zone.state, zone.rate, zone.next_at) == ("Initial", 0.1, 0.0)
    assert [zone.take(now) for now in (5.0, 14.9, 15.0, 16.0)] == ["a", None, "b", None]
    zone.slow_to(0.0)
    assert zone.take(100.0) is None
    zone.slow_to(0.01)
    assert (zone.take(100.0), zone.next_at, zone.take(1000.0)) == ("c", 200.0, None)


@pytest.mark.parametrize(
    ("version", "seconds"),
    [("1.37", 50.0), ("1.32", 50.0), ("1.31", 40.0), ("1.31.4", 40.0), ("", 50.0), ("1", 50.0), ("1.x", 50.0)],
)
def test_for_how_long_a_node_may_be_silent(version: str, seconds: float) -> None:
    """Given releases / then fifty seconds since 1.32, and forty before."""
    assert grace_seconds(version) == seconds
