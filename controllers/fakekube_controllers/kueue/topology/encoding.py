"""How a topology assignment is written into a Workload of v1beta2, as small as may be.

Domains are told in slices: what the values of a level have in common, in front and at the end, is
told once. Domains whose hostnames begin alike (``pool-a-node-``) make a slice, unless all in one
slice is shorter as JSON.

Upstream: V1Beta2From in pkg/util/tas/tas_assignment.go.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import orjson

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment, TopologyDomainAssignment, is_lowest_level_hostname

MAX_DOMAINS_PER_SLICE = 100_000
MAX_SLICES = 1000
Domains = Sequence[TopologyDomainAssignment]


def v1beta2_from(assignment: TopologyAssignment | None, features: Features) -> Tree | None:
    """An assignment as it stands in a Workload of v1beta2; None for none."""
    if assignment is None:
        return None
    if not features.TASAssignmentsEncodingByHostnamePrefix:
        return _in_one_slice(assignment)
    by_prefix = _by_hostname_prefix(assignment)
    if len(by_prefix["slices"]) <= 1 or len(assignment.domains) > MAX_DOMAINS_PER_SLICE:
        return by_prefix
    single = _in_one_slice(assignment)
    return single if len(orjson.dumps(single)) < len(orjson.dumps(by_prefix)) else by_prefix


def _in_one_slice(assignment: TopologyAssignment) -> Tree:
    return {"levels": [*assignment.levels], "slices": [_slice(assignment.domains)] if assignment.domains else []}


def _by_hostname_prefix(assignment: TopologyAssignment) -> Tree:
    domains, keys = assignment.domains, list[str]()
    if len(domains) > 1 and is_lowest_level_hostname(assignment.levels):
        keys = _prefix_keys([each.values[-1] for each in domains])
    chunks = [
        run[start:start + MAX_DOMAINS_PER_SLICE]
        for run in _runs(domains, keys) for start in range(0, len(run), MAX_DOMAINS_PER_SLICE)]
    return {"levels": [*assignment.levels], "slices": [_slice(each) for each in chunks]}


def _runs(domains: Domains, keys: Sequence[str]) -> Iterator[Domains]:
    """The domains in runs of one key each; all of them where there are no keys."""
    start = 0
    for place in range(1, len(domains) if keys else 0):
        if keys[place] != keys[start]:
            yield domains[start:place]
            start = place
    if domains:
        yield domains[start:]


def _prefix_keys(hostnames: Sequence[str]) -> list[str]:
    """For each hostname the longest beginning, up to a dash, that another has too; shorter ones
    where that makes too many slices, and none where all do.
    """
    prefixes = [[name[:end + 1] for end, letter in enumerate(name[:-1]) if letter == "-"] for name in hostnames]
    counts = Counter(prefix for each in prefixes for prefix in each)
    for depth in range(max(map(len, prefixes)), 0, -1):
        keys = [next((prefix for prefix in reversed(each[:depth]) if counts[prefix] > 1), "") for each in prefixes]
        if _number_of_slices(keys) <= MAX_SLICES:
            return keys
    return []


def _number_of_slices(keys: Sequence[str]) -> int:
    number, start = 0, 0
    for place in range(1, len(keys) + 1):
        if place == len(keys) or keys[place] != keys[start]:
            number += -(-(place - start) // MAX_DOMAINS_PER_SLICE)
            start = place
    return number


def _slice(domains: Domains) -> Tree:
    counts = [each.count for each in domains]
    return {
        "domainCount": len(domains),
        "valuesPerLevel": [_values(column) for column in zip(*(each.values for each in domains), strict=True)],
        "podCounts": {"universal": counts[0]} if counts.count(counts[0]) == len(counts) else {"individual": counts}}


def _values(values: Sequence[str]) -> Tree:
    shortest, first = min(map(len, values)), values[0]
    # what the smallest and the largest have in common all have
    low, high = min(values), max(values)
    prefix = low[:next((place for place, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), shortest)]
    if low == high:
        return {"universal": first}
    backwards = [value[::-1] for value in (min(values, key=_reversed), max(values, key=_reversed))]
    same = next((place for place, (one, other) in enumerate(zip(*backwards, strict=False)) if one != other), shortest)
    suffix = first[len(first) - same:]
    prefix = prefix[:min(len(prefix), shortest - len(suffix))]  # the two do not overlap
    end = len(suffix)
    individual: Tree = {"prefix": prefix} if prefix else {}
    if suffix:
        individual["suffix"] = suffix
    individual["roots"] = [value[len(prefix):len(value) - end] for value in values]
    return {"individual": individual}


def _reversed(text: str) -> str:
    return text[::-1]
