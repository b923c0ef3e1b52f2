"""Assignments as Workloads have them: compact, and the same when read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.topology.assignments import HOSTNAME, TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.encoding import v1beta2_from

ON, OFF = Features(), Features(TASAssignmentsEncodingByHostnamePrefix=False)


def assignment(levels: str, *domains: tuple[str, int]) -> TopologyAssignment:
    return TopologyAssignment(
        tuple(levels.split()), tuple(TopologyDomainAssignment(tuple(values.split()), count) for values, count in domains))


@pytest.mark.parametrize(("given_", "wanted"), [
    (assignment("a b", ("a b", 2)), [
        {"domainCount": 1, "valuesPerLevel": [{"universal": "a"}, {"universal": "b"}], "podCounts": {"universal": 2}}]),
    (assignment("a", ("p.a1.s", 1), ("p.a2.s", 3)), [
        {"domainCount": 2, "valuesPerLevel": [{"individual": {"prefix": "p.a", "suffix": ".s", "roots": ["1", "2"]}}],
         "podCounts": {"individual": [1, 3]}}]),
    (assignment("a", ("x", 1), ("y", 1)), [
        {"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["x", "y"]}}], "podCounts": {"universal": 1}}]),
    (assignment("a", ("ababa", 1), ("aba", 1)), [
        {"domainCount": 2, "valuesPerLevel": [{"individual": {"suffix": "aba", "roots": ["ab", ""]}}],
         "podCounts": {"universal": 1}}]),
    (assignment("a", ("abacaca", 1), ("abaca", 1)), [
        {"domainCount": 2, "valuesPerLevel": [{"individual": {"prefix": "ab", "suffix": "aca", "roots": ["ac", ""]}}],
         "podCounts": {"universal": 1}}]),
    (assignment("a"), []),
])
def test_one_slice(given_: TopologyAssignment, wanted: list[object]) -> None:
    """Given few domains, when they are written, then what they have in common is told once."""
    assert v1beta2_from(given_, OFF) == {"levels": [*given_.levels], "slices": wanted}


def test_slices_by_prefixes_of_hostnames() -> None:
    """Given nodes of two pools, when their assignment is written, then each pool is a slice, where
    that is shorter.
    """
    nodes = [(f"gke-cluster-pool-{pool}-hash-{place:05}", 1) for pool in "ab" for place in range(40)]
    found = v1beta2_from(assignment(HOSTNAME, *nodes), ON)
    assert found is not None
    prefixes = [each["valuesPerLevel"][0]["individual"]["prefix"] for each in found["slices"]]
    assert prefixes == ["gke-cluster-pool-a-hash-000", "gke-cluster-pool-b-hash-000"]
    few = assignment(HOSTNAME, *nodes[:2], *nodes[40:42])
    assert v1beta2_from(few, ON) == v1beta2_from(few, OFF)


def test_prefixes_get_shorter_where_there_are_too_many() -> None:
    """Given more prefixes than slices may be, when the assignment is written, then shorter ones are
    taken.
    """
    nodes = [(f"pool-{place:04}-{node}", 1) for place in range(1200) for node in ("a", "b")]
    found = v1beta2_from(assignment(HOSTNAME, *nodes), ON)
    assert found is not None
    assert len(found["slices"]) == 1


VALUES = some.text("ab-", max_size=6)


def _values(drawn: tuple[list[str], int]) -> tuple[str, ...]:
    return tuple(drawn[0])


@given(some.integers(1, 3).flatmap(lambda levels: some.tuples(some.just(levels), some.lists(
    some.tuples(some.lists(VALUES, min_size=levels, max_size=levels), some.integers(1, 3)), max_size=9, unique_by=_values))),
    some.booleans())
def test_what_is_written_is_read(drawn: tuple[int, list[tuple[list[str], int]]], by_prefix: bool) -> None:
    """Given any assignment, when it is written and read, then it is the same, in both versions."""
    levels = ("a", "b", HOSTNAME)[-drawn[0]:]
    made = TopologyAssignment(levels, tuple(TopologyDomainAssignment(tuple(values), count) for values, count in drawn[1]))
    assert assignments.internal_from(v1beta2_from(made, ON if by_prefix else OFF)) == made
    assert assignments.of_v1beta1(assignments.v1beta1_from(made)) == made


def test_truncated_assignment() -> None:
    """Given places for five pods, when there are four, then the last place is given up."""
    made = assignment("a", ("x", 3), ("y", 2))
    assert assignments.truncate(made, 4) == assignment("a", ("x", 3), ("y", 1))
    assert assignments.truncate(made, 3) == assignment("a", ("x", 3))
    assert assignments.count_pods(made) == 5


def test_usage_of_an_assignment() -> None:
    """Given two pods in a domain, when their usage is told, then the pods count, too."""
    assert assignments.usage_per_domain(assignment("a b", ("x y", 2)), {"cpu": 500}) == {"x,y": {"cpu": 1000, "pods": 2}}


def test_slices_written_by_hand() -> None:
    """Given a slice that tells more domains than values, when it is read, then there are as many as
    values.
    """
    tree = {"levels": ["a"], "slices": [{
        "domainCount": 5, "valuesPerLevel": [{"individual": {"roots": ["x", "y"]}}], "podCounts": {"universal": 1}}]}
    assert [each.values for each in assignments.domains_of(tree)] == [("x",), ("y",)]


def test_domain_repeated_by_hand() -> None:
    """Given a slice that tells one domain two billion times, when it is read, then that is one
    domain.
    """
    often = 2**31 - 1
    tree = {"levels": ["a"], "slices": [
        {"domainCount": often, "valuesPerLevel": [{"universal": "x"}], "podCounts": counts}
        for counts in ({"universal": 1}, {"individual": [2, 3]})]}
    assert [(each.values, each.count) for each in assignments.domains_of(tree)] == [(("x",), often), (("x",), 5)]
