"""What is free in the domains of one flavor's topology at one moment, and where pods go in them.

Usage may be added and taken away, to try what would be; the cache that a snapshot was made of does
not see it. Upstream: TASFlavorSnapshot in pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from fakekube.apimachinery.placement import node_affinity
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util import memory
from fakekube.util.memory import Memo
from fakekube_controllers.kueue import podset as podsets
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import Requests
from fakekube_controllers.kueue.topology import parameters, placement
from fakekube_controllers.kueue.topology.assignments import (
    PODS,
    DomainID,
    TopologyAssignment,
    TopologyDomainAssignment,
    domain_id,
    usage_per_domain,
)
from fakekube_controllers.kueue.topology.domains import Domain, DomainTree, count_in, minus, plus, sum_up
from fakekube_controllers.kueue.topology.nodes import ExclusionStats, PodRequirements, find_feasible
from fakekube_controllers.kueue.topology.parameters import NoFit
from fakekube_controllers.kueue.workload.info import TopologyDomainRequests

Usages = dict[DomainID, Requests]
"""What is taken of each domain."""
_ONE_POD = {PODS: 1}


@dataclass(frozen=True, slots=True)
class TASPodSetRequests:
    """So many pods of a podset that need places in a flavor.

    ``implied`` is for pods that ask for nothing, in a queue that has nothing but topologies.
    ``previous_assignment`` is that of the slice that this Workload replaces, as it stands there.
    """

    podset: ReadOnlyTree
    single_pod_requests: Requests
    count: int
    flavor: str
    podset_updates: Sequence[ReadOnlyTree] = ()
    implied: bool = False
    podset_group_name: str | None = None
    previous_assignment: ReadOnlyTree | None = None

    @property
    def name(self) -> str:
        """That of the podset."""
        found: str = self.podset["name"]
        return found

    @property
    def topology_request(self) -> ReadOnlyTree | None:
        """That of the podset."""
        return self.podset.get("topologyRequest")


FlavorTASRequests = Sequence[TASPodSetRequests]


@dataclass(frozen=True, slots=True)
class PodSetAssignmentResult:
    """Where the pods of one podset go, or why they go nowhere."""

    topology_assignment: TopologyAssignment | None = None
    failure_reason: str = ""
    flavor: str = ""

    def of_flavor(self, flavor: str) -> "PodSetAssignmentResult":
        """The same, in a flavor."""
        return PodSetAssignmentResult(self.topology_assignment, self.failure_reason, flavor)


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """The podset that has no place, why, and in which flavor."""

    podset_name: str
    reason: str
    flavor: str


class TASAssignmentsResult(dict[str, PodSetAssignmentResult]):
    """Results by the names of podsets."""

    def failure(self) -> FailureInfo | None:
        """The first that has no place."""
        for name, result in self.items():
            if result.failure_reason:
                return FailureInfo(name, result.failure_reason, result.flavor)
        return None


class Matching:
    """What follows from a tree and from amounts that never change: kept as long as the tree is,
    for all snapshots of it.
    """

    def __init__(self, tree: DomainTree) -> None:
        self.tree = tree
        self._found: Memo[bytes, tuple[list[tuple[Domain, int]], ExclusionStats]] = Memo(64)
        self._counts: Memo[tuple[tuple[str, int], ...], dict[DomainID, tuple[Requests, int, str]]] = Memo(64)
        self._remaining: dict[DomainID, tuple[Requests, Requests, Requests]] = {}

    def find(self, wanted: PodRequirements) -> tuple[list[tuple[Domain, int]], ExclusionStats]:
        """The leaves that take a pod with the sums of the weights of preferred terms, and what was
        left out.
        """
        leaves = self.tree.leaves.values()
        if not self.tree.is_lowest_level_node:
            return [(leaf, 0) for leaf in leaves], ExclusionStats(len(leaves))
        key = orjson.dumps([wanted.tolerations, wanted.selector, wanted.affinity, wanted.preferred])
        found = self._found.get(key)
        if found is None:
            stats = ExclusionStats()
            found = find_feasible(leaves, wanted, stats), stats
            self._found.put(key, found)
        return found

    def remaining(self, domain: DomainID, free: Requests, used: Requests) -> Requests:
        """What is left of a domain: the same object for the same ones."""
        found = self._remaining.get(domain)
        if found is None or found[0] is not free or found[1] is not used:
            found = free, used, minus(free, used)
            if memory.ENABLED:
                self._remaining[domain] = found
        return found[2]

    def counts(self, requests: Requests) -> dict[DomainID, tuple[Requests, int, str]]:
        """How often requests went into domains the last time: what was free, the number, and the
        resource that set it. It holds for the same object alone.
        """
        key = tuple(requests.items())
        found = self._counts.get(key)
        if found is None:
            found = {}
            self._counts.put(key, found)
        return found


class TASFlavorSnapshot:
    """One flavor. ``free`` is what nodes have less what pods of no Workload take, ``usage`` what
    admitted Workloads take; both are the snapshot's own, their values shared.
    """

    def __init__(
        self, topology_name: str, tolerations: Sequence[ReadOnlyTree], matching: Matching, free: Mapping[DomainID, Requests],
        usage: Mapping[DomainID, Requests], features: Features,
    ) -> None:
        self.topology_name, self.tolerations, self.features = topology_name, tolerations, features
        self._matching, self.tree = matching, matching.tree
        self._free, self._usage = free, dict(usage)

    @property
    def is_lowest_level_node(self) -> bool:
        """Whether the lowest domains are nodes."""
        return self.tree.is_lowest_level_node

    def has_level(self, request: ReadOnlyTree | None) -> bool:
        """Whether the topology has all levels that a topologyRequest names."""
        return parameters.has_level(request, self.tree.levels)

    # usage

    def add_usage(self, requests: Iterable[TopologyDomainRequests]) -> None:
        """Take what pods of Workloads take; what is in no domain any more does not count."""
        self._update(requests, 1)

    def remove_usage(self, requests: Iterable[TopologyDomainRequests]) -> None:
        """Give back what pods of Workloads take."""
        self._update(requests, -1)

    def fits(self, requests: Iterable[TopologyDomainRequests]) -> bool:
        """Whether every domain has room for its pods."""
        for each in requests:
            own = domain_id(each.values)
            if own not in self.tree.leaves or count_in(each.single_pod_requests, self.remaining(own))[0] < each.count:
                return False
        return True

    def remaining(self, domain: DomainID) -> Requests:
        """What is left in a lowest domain; never changed."""
        used = self._usage.get(domain)
        return self._free[domain] if used is None else self._matching.remaining(domain, self._free[domain], used)

    def add_room(self, domain: DomainID, amounts: Mapping[str, int]) -> Callable[[], None]:
        """Let there be more in a lowest domain; what undoes it."""
        before = self._free
        self._free = {**before, domain: plus(before[domain], amounts)}

        def revert() -> None:
            self._free = before

        return revert

    def _update(self, requests: Iterable[TopologyDomainRequests], sign: int) -> None:
        for each in requests:
            own = domain_id(each.values)
            if own in self.tree.leaves:
                change = plus({name: amount * each.count for name, amount in each.single_pod_requests.items()},
                              {PODS: each.count})
                used = self._usage.get(own)
                self._usage[own] = plus(used, change) if sign > 0 else minus(used, change)

    # places

    def place(
        self, workers: TASPodSetRequests, leader: TASPodSetRequests | None, assumed: Mapping[DomainID, Requests], *,
        simulate_empty: bool = False, within: DomainID = "",
    ) -> dict[str, TopologyAssignment]:
        """Where the pods of a podset go, and the one of the leader's.

        ``assumed`` is what is taken besides the snapshot's usage, ``within`` the domain to which
        they are bound. Raises NoFit. Upstream: findTopologyAssignment.
        """
        try:
            requirements = self._requirements(workers)
        except podsets.InvalidPodSetUpdate as error:
            raise NoFit(f"invalid podSetUpdate for PodSet {workers.name}, error: {error}") from None
        wanted = parameters.parameters_of(
            workers.topology_request, self.tree.levels, count=workers.count, leader_count=0 if leader is None else 1,
            implied=workers.implied)
        stats = ExclusionStats()
        self._fill_in_counts(workers, leader, requirements, wanted, assumed, stats, simulate_empty=simulate_empty, within=within)
        placed, leaders = placement.place(self.tree, self.topology_name, wanted, stats, self.features)
        return {workers.name: placed} if leader is None else {leader.name: leaders, workers.name: placed}

    def room_for(self, workers: TASPodSetRequests) -> list[list[tuple[Domain, int]]]:
        """How many pods of a podset each domain has room for, level by level."""
        try:
            requirements = self._requirements(workers)
        except podsets.InvalidPodSetUpdate:
            return [[] for _ in self.tree.levels]
        wanted = parameters.parameters_of(None, self.tree.levels, count=workers.count, leader_count=0, implied=True)
        self._fill_in_counts(workers, None, requirements, wanted, {}, ExclusionStats(), simulate_empty=False, within="")
        return [[(domain, domain.state) for domain in level.values()] for level in self.tree.per_level]

    def _requirements(self, workers: TASPodSetRequests) -> PodRequirements:
        info = podsets.from_pod_set(workers.podset)
        for update in workers.podset_updates:
            info.merge(podsets.from_update(update))
        affinity = node_affinity(workers.podset["template"].get("spec") or {})
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        return PodRequirements(
            [*info.tolerations, *self.tolerations], info.node_selector,
            None if required is None else required.get("nodeSelectorTerms") or (),
            preferred if self.features.TASRespectNodeAffinityPreferred else ())

    def _fill_in_counts(
        self, workers: TASPodSetRequests, leader: TASPodSetRequests | None, requirements: PodRequirements,
        wanted: parameters.Parameters, assumed: Mapping[DomainID, Requests], stats: ExclusionStats, *, simulate_empty: bool,
        within: DomainID,
    ) -> None:
        """Count in every domain how many pods, slices and leaders fit."""
        leaves, excluded = self._matching.find(requirements)
        stats.add(excluded)
        for leaf in self.tree.leaves.values() if within or len(leaves) < len(self.tree.leaves) else ():
            leaf.clear()
        requests = plus(workers.single_pod_requests, _ONE_POD)
        leader_requests = None if leader is None else plus(leader.single_pod_requests, _ONE_POD)
        counts, usage = self._matching.counts(requests), {} if simulate_empty else self._usage
        for leaf, score in leaves:
            own = leaf.id
            # by all values: the id of a node is its hostname alone
            if within and not domain_id(leaf.level_values).startswith(within):
                stats.reasons["topologyDomain"] += 1
                continue
            room, used = self._free[own], usage.get(own)
            if used is not None:
                room = self._matching.remaining(own, room, used)
            if own in assumed:
                room = minus(room, assumed[own])
            known = counts.get(own)
            if known is None or known[0] is not room:
                known = counts[own] = room, *count_in(requests, room)
            leaf.state = leaf.state_with_leader = known[1]
            leaf.leader_state, leaf.affinity_score = 0, score
            if not known[1] and known[2]:
                stats.reasons[f'resource "{known[2]}"'] += 1
            if leader_requests is not None and count_in(leader_requests, room)[0] > 0:
                leaf.leader_state = 1
                leaf.state_with_leader = count_in(requests, minus(room, leader_requests))[0]
        for root in self.tree.roots:
            sum_up(root, 0, wanted.slices, leader=leader is not None)

    def stale_domain(self, assignment: TopologyAssignment) -> str:
        """A domain of an assignment that is not there any more: its first value; nothing for none.

        Upstream: IsTopologyAssignmentStale.
        """
        gone = (each for each in assignment.domains if domain_id(each.values) not in self.tree.leaves)
        return next((each.values[0] for each in gone), "")

    def merged(self, one: TopologyAssignment, other: TopologyAssignment) -> TopologyAssignment:
        """Two assignments as one, its domains in order.

        Upstream: mergeTopologyAssignments.
        """
        counts: dict[tuple[str, ...], int] = {}
        for each in (*one.domains, *other.domains):
            counts[each.values] = counts.get(each.values, 0) + each.count
        leaves = self.tree.leaves
        ordered = sorted(counts, key=lambda values: domain_id(leaves[domain_id(values)].level_values))
        return one._replace(domains=tuple(TopologyDomainAssignment(values, counts[values]) for values in ordered))


def assume(assumed: Usages, assignment: TopologyAssignment, request: TASPodSetRequests) -> None:
    """Take what the pods of an assignment take, in place."""
    for own, usage in usage_per_domain(assignment, request.single_pod_requests).items():
        assumed[own] = plus(assumed.get(own), usage)
