"""What a pod lacks by its topology spread constraints."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from fakekube.apimachinery import meta
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.missing import domains
from fakekube_controllers.scheduler.plugins.spread_constraints import Constraint, Constraints
from fakekube_controllers.scheduler.plugins.topology_counts import Counts, Includes, is_terminating, node_labels


class HardCounts(Protocol):
    """What the filter knows: see ``pod_topology_spread.HardState``."""

    @property
    def constraints(self) -> Constraints:
        """Those that are required."""

    @property
    def counts(self) -> Sequence[Counts]:
        """The pods by domain, of each constraint."""

    @property
    def is_alike(self) -> Sequence[bool]:
        """Whether a constraint counts the pod itself."""

    def count(self, number: int, domain: str) -> int:
        """How many pods a domain has."""

    def least(self, number: int) -> int:
        """The fewest pods that a domain has."""


def missing(
    found: HardCounts, includes: Callable[[Constraint], Includes], pod: PodInfo, node: NodeInfo, snapshot: Snapshot,
) -> Sequence[Change] | None:
    """The node is to be in a domain where there is room, or pods of its domain are to go.

    ``includes`` says which nodes count for a constraint.
    """
    own, wanted = node_labels(node), list[Change]()
    for number, constraint in enumerate(found.constraints):
        key = constraint.topology_key
        domain = own.get(key)
        if domain is None:
            wanted.append(domains.join(node, key, _domain_with_room(found, number)))
            continue
        over = found.count(number, domain) + found.is_alike[number] - found.least(number) - constraint.max_skew
        if over <= 0:
            continue
        counted = domains.selects_alike(meta.namespace_of(pod.pod), constraint.selector)
        counts = includes(constraint)
        going = sorted((
            (other, place) for other, place in domains.pods_of(snapshot, key, domain, counted)
            if place.node is not None and counts(place.node) and not is_terminating(other.pod)), key=_priority)[:over]
        deleted = domains.delete(going, f"of which there are too many with {key}={domain}") if len(going) == over else None
        if deleted is None:
            return None
        wanted += deleted
    return wanted


def _priority(found: tuple[PodInfo, NodeInfo]) -> int:
    return found[0].priority


def _domain_with_room(found: HardCounts, number: int) -> str:
    """The domain with the fewest pods, or a new one where that has too many."""
    known: Mapping[str, int] = found.counts[number].domains
    by_count = sorted(known, key=lambda domain: (found.count(number, domain), domain))
    most = found.least(number) + found.constraints[number].max_skew - found.is_alike[number]
    if by_count and found.count(number, by_count[0]) <= most:
        return by_count[0]
    return domains.new_domain(known)
