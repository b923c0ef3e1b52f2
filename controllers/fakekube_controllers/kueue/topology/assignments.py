"""Which domains the pods of a podset are in, and how many in each.

A ``TopologyAssignment`` lists domains with their counts. In a Workload's status of v1beta2 it is
written compactly: ``encoding.py`` writes, this module reads. In v1beta1 it is a list of domains.

Upstream: pkg/util/tas/tas.go and tas_assignment.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree, Tree

HOSTNAME = "kubernetes.io/hostname"
PODS = "pods"
DomainID = str
"""The values of a domain's labels, from the top to its own, joined by commas; where the lowest
level is the hostname, that of the lowest domains is the hostname alone.
"""


@dataclass(frozen=True, slots=True)
class TopologyDomainAssignment:
    """So many pods in the domain with these values, one a level."""

    values: tuple[str, ...]
    count: int


class TopologyAssignment(NamedTuple):
    """The labels of the levels, and the domains in which there are pods."""

    levels: tuple[str, ...]
    domains: tuple[TopologyDomainAssignment, ...]


def domain_id(values: Sequence[str]) -> DomainID:
    """The id of the domain with these values."""
    return ",".join(values)


def level_values(levels: Sequence[str], labels: Mapping[str, str] | None) -> tuple[str, ...]:
    """The values of labels for the levels; empty where there is none."""
    return tuple((labels or {}).get(level, "") for level in levels)


def levels_of(topology: ReadOnlyTree) -> tuple[str, ...]:
    """The labels of a Topology's levels, from the highest to the lowest."""
    return tuple(each["nodeLabel"] for each in (topology.get("spec") or {}).get("levels") or ())


def is_lowest_level_hostname(levels: Sequence[str]) -> bool:
    """Whether the lowest domains are nodes."""
    return bool(levels) and levels[-1] == HOSTNAME


def node_matches_flavor(labels: Mapping[str, str], wanted: Mapping[str, str], levels: Sequence[str]) -> bool:
    """Whether a node with these labels belongs to a flavor with ``wanted`` labels and a topology of
    such levels.
    """
    return all(labels.get(name, "") == value for name, value in wanted.items()) and all(level in labels for level in levels)


def domains_of(tree: ReadOnlyTree | None) -> Iterator[TopologyDomainAssignment]:
    """The domains of an assignment as it stands in a Workload of v1beta2, in order.

    Of a slice that was written by hand only as many as it has values for, and a domain that it
    repeats only once, with all of its pods. Upstream: InternalSeqFrom.
    """
    for each in () if tree is None else tree.get("slices") or ():
        number, counts = each["domainCount"], each["podCounts"]
        columns, same = [*map(_column, each["valuesPerLevel"])], counts.get("universal")
        listed: Sequence[int] = counts.get("individual") or ()
        if all(isinstance(column, str) for column in columns):
            count = number * same if same is not None else sum(listed[:number])
            yield TopologyDomainAssignment(tuple(map(str, columns)), count)
            continue
        counted = repeat(same) if same is not None else listed
        every = [repeat(column) if isinstance(column, str) else column for column in columns]
        for count, values in islice(zip(counted, zip(*every, strict=False), strict=False), number):
            yield TopologyDomainAssignment(tuple(values), count)


def internal_from(tree: ReadOnlyTree | None) -> TopologyAssignment | None:
    """The assignment that stands in a Workload of v1beta2; None for none."""
    return None if tree is None else TopologyAssignment(tuple(tree["levels"]), tuple(domains_of(tree)))


def of_v1beta1(tree: ReadOnlyTree) -> TopologyAssignment:
    """The assignment that stands in a Workload of v1beta1."""
    domains = (TopologyDomainAssignment(tuple(each["values"]), each["count"]) for each in tree.get("domains") or ())
    return TopologyAssignment(tuple(tree["levels"]), tuple(domains))


def v1beta1_from(assignment: TopologyAssignment) -> Tree:
    """As it stands in a Workload of v1beta1."""
    domains = [{"values": [*each.values], "count": each.count} for each in assignment.domains]
    return {"levels": [*assignment.levels], "domains": domains}


def lowest_level_values(tree: ReadOnlyTree | None) -> Iterator[str]:
    """The value of each domain at the lowest level: a node's hostname, where that is the level."""
    return (each.values[-1] for each in domains_of(tree) if each.values)


def count_pods(assignment: TopologyAssignment | None) -> int:
    """How many pods it has places for."""
    return 0 if assignment is None else sum(each.count for each in assignment.domains)


def truncate(assignment: TopologyAssignment, count: int) -> TopologyAssignment:
    """The places of the first so many pods."""
    kept: list[TopologyDomainAssignment] = []
    for each in assignment.domains:
        if count <= 0:
            break
        kept.append(TopologyDomainAssignment(each.values, min(each.count, count)))
        count -= each.count
    return assignment._replace(domains=tuple(kept))


def usage_per_domain(assignment: TopologyAssignment, single_pod_requests: Mapping[str, int]) -> dict[DomainID, dict[str, int]]:
    """What an assignment takes of each domain, where a pod takes so much. The pods count, too."""
    usage: dict[DomainID, dict[str, int]] = {}
    for each in assignment.domains:
        taken = {name: amount * each.count for name, amount in single_pod_requests.items()}
        taken[PODS] = taken.get(PODS, 0) + each.count
        usage[domain_id(each.values)] = taken
    return usage


def nodes_of_podset(assignment: ReadOnlyTree) -> Iterator[str]:
    """The nodes that a podSetAssignment of a Workload has pods on; none where the lowest level is
    another than the hostname.
    """
    tree = assignment.get("topologyAssignment")
    if tree is not None and is_lowest_level_hostname(tree["levels"]):
        for each in domains_of(tree):
            if each.values and each.count > 0:
                yield each.values[-1]


def has_node(admission: ReadOnlyTree | None, node: str) -> bool:
    """Whether an admission has pods on a node. Upstream: HasTASAssignmentOnNode."""
    return admission is not None and any(
        node in nodes_of_podset(each) for each in admission.get("podSetAssignments") or ())


def _column(values: ReadOnlyTree) -> str | list[str]:
    """The value of all domains of a slice, or that of each."""
    same: str | None = values.get("universal")
    if same is not None:
        return same
    individual = values.get("individual") or {}
    prefix, suffix = individual.get("prefix") or "", individual.get("suffix") or ""
    return [prefix + root + suffix for root in individual.get("roots") or ()]
