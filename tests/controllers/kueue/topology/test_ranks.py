"""Which pods go to which domains."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fakekube_controllers.kueue.topology.assignments import TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.ranks import assign_gated_pods

LEVELS = ("rack", "host")
INDEX, JOB = "index", "job"
ASSIGNMENT = TopologyAssignment(LEVELS, (
    TopologyDomainAssignment(("r1", "a"), 2), TopologyDomainAssignment(("r1", "b"), 1), TopologyDomainAssignment(("r2", "c"), 1)))


def pod(name: str, *, at: str = "", **labels: str) -> dict[str, Any]:
    """A pod, gated unless it is at a domain."""
    spec: dict[str, Any] = {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}
    if at:
        spec = {"nodeSelector": dict(zip(LEVELS, at.split(" "), strict=True))}
    return {"metadata": {"name": name, "namespace": "x", "labels": labels}, "spec": spec}


def places(found: list[dict[str, Any]], request: dict[str, Any] | None = None, *, offset: int = 0) -> dict[str, str]:
    assigned = assign_gated_pods(ASSIGNMENT, 4, found, request, offset=offset, max_rank=4 + offset)
    return {each["metadata"]["name"]: values[-1] for each, values in assigned}


@pytest.mark.spec("KUEUE-169")
@pytest.mark.parametrize(("found", "request_", "offset", "wanted"), [
    # by their indices, in any order
    ([pod("p3", index="3"), pod("p0", index="0"), pod("p1", index="1"), pod("p2", index="2")], {"podIndexLabel": INDEX}, 0,
     {"p3": "c", "p0": "a", "p1": "a", "p2": "b"}),
    # some are not there yet
    ([pod("p3", index="3"), pod("p2", index="2")], {"podIndexLabel": INDEX}, 0, {"p3": "c", "p2": "b"}),
    # workers, whose indices begin after the leader's
    ([pod("p1", index="1"), pod("p4", index="4")], {"podIndexLabel": INDEX}, 1, {"p1": "a", "p4": "c"}),
    # of two jobs with two pods each
    ([pod("p11", index="1", job="1"), pod("p00", index="0", job="0")],
     {"podIndexLabel": INDEX, "subGroupIndexLabel": JOB, "subGroupCount": 2}, 0, {"p11": "c", "p00": "a"}),
    # no ranks: one domain after the other
    ([pod("x"), pod("y"), pod("z")], None, 0, {"x": "a", "y": "a", "z": "b"}),
    # ranks that are none
    *(([pod("x", **labels), pod("y", index="3")], {"podIndexLabel": INDEX, **more}, 0, {"x": "a", "y": "a"})
      for labels, more in (
          ({}, {}), ({"index": "x"}, {}), ({"index": "4"}, {}), ({"index": "3"}, {}), ({"index": "-1"}, {}),
          ({"index": "0"}, {"subGroupIndexLabel": JOB}), ({"index": "0"}, {"subGroupIndexLabel": JOB, "subGroupCount": 2}),
          ({"index": "3", "job": "0"}, {"subGroupIndexLabel": JOB, "subGroupCount": 2}))),
    # one that is there already elsewhere than its rank says
    ([pod("p0", index="0", at="r2 c"), pod("p3", index="3")], {"podIndexLabel": INDEX}, 0, {"p3": "a"}),
    # domains that are full
    ([pod("v", at="r1 a"), pod("w", at="r1 a"), pod("x"), pod("y"), pod("z")], None, 0, {"x": "b", "y": "c"}),
])
def test_places_of_pods(
    found: list[dict[str, Any]], request_: dict[str, Any] | None, offset: int, wanted: dict[str, str],
) -> None:
    """Given pods of a podset, when they are let go, then by their ranks if all pods tell them
    rightly, else as they come.
    """
    assert places(found, request_, offset=offset) == wanted


@given(some.lists(some.sampled_from(["", "r1 a", "r1 b", "r2 c", "r3 d"]), max_size=8), some.booleans())
def test_no_domain_gets_more_than_its_count(at: list[str], ranked: bool) -> None:
    """Given pods, some of them anywhere, when the others are let go, then no domain that was not
    full has more than it is to have.
    """
    found = [pod(f"p{place}", at=domain, index=str(place)) for place, domain in enumerate(at)]
    assigned = places(found, {"podIndexLabel": INDEX} if ranked else None)
    for each in ASSIGNMENT.domains:
        there = at.count(" ".join(each.values))
        assert there + [*assigned.values()].count(each.values[-1]) <= max(there, each.count)


def test_counts_written_by_hand() -> None:
    """Given a domain that is to have two billion pods, when a pod is let go, then it goes there."""
    made = TopologyAssignment(LEVELS, (TopologyDomainAssignment(("r1", "a"), 2**31 - 1),))
    for request in (None, {"podIndexLabel": INDEX}):
        assigned = assign_gated_pods(made, 2**31 - 1, [pod("p", index="7")], request, offset=0, max_rank=2**31 - 1)
        assert [values for _, values in assigned] == [("r1", "a")]
