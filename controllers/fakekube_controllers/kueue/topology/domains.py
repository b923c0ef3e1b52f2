"""The tree of the domains of a topology, and how many pods fit into each.

A ``DomainTree`` is made of nodes and does not change. The counts that its domains carry belong to
one placement: they are set anew at its beginning, by ``fill_in_counts``, so that one tree serves
all placements of a cycle, and of later ones while the nodes stay the same.

Upstream: domain, leafDomain, initialize, fillInCountsHelper in
pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from collections.abc import Iterable, Mapping, Sequence

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.resources import Requests
from fakekube_controllers.kueue.topology.assignments import HOSTNAME, DomainID, domain_id, is_lowest_level_hostname, level_values

MAX_INT32 = (1 << 31) - 1


class Domain:
    """One domain. ``order`` is its place among those of its level, by the values of their labels.

    In the first phase of a placement the counts say how many pods, slices and leaders fit, in the
    second how many are there. Those ``with_leader`` hold where a leader is in the domain, too.
    """

    __slots__ = (
        "affinity_score", "children", "id", "leader_state", "level_values", "node", "order", "parent", "slice_state",
        "slice_state_with_leader", "state", "state_with_leader",
    )

    def __init__(self, id: DomainID, values: tuple[str, ...], parent: "Domain | None", node: ReadOnlyTree | None) -> None:  # noqa: A002 - upstream's name
        self.id, self.level_values, self.parent, self.node = id, values, parent, node
        self.children: list[Domain] = []
        self.order = 0
        self.clear()

    def __repr__(self) -> str:
        return f"Domain({self.id!r}, {self.state})"

    def clear(self) -> None:
        """Nothing fits, or is there."""
        self.state = self.slice_state = self.state_with_leader = self.slice_state_with_leader = 0
        self.leader_state = self.affinity_score = 0

    def clear_all(self) -> None:
        """The same for all below."""
        score = self.affinity_score
        self.clear()
        self.affinity_score = score
        for child in self.children:
            child.clear_all()

    def clear_leader(self) -> None:
        """No leader fits, here and below."""
        self.state_with_leader = self.slice_state_with_leader = self.leader_state = 0
        for child in self.children:
            child.clear_leader()

    def clone(self, parent: "Domain | None" = None) -> "Domain":
        """A copy with copies of all below."""
        copy = Domain(self.id, self.level_values, parent, self.node)
        copy.order, copy.state, copy.slice_state = self.order, self.state, self.slice_state
        copy.state_with_leader, copy.slice_state_with_leader = self.state_with_leader, self.slice_state_with_leader
        copy.leader_state, copy.affinity_score = self.leader_state, self.affinity_score
        copy.children = [child.clone(copy) for child in self.children]
        return copy


class DomainTree:
    """The domains that nodes make. ``leaves`` are those of the lowest level by their ids,
    ``capacity`` is what the nodes of each have; ``domain_of_node`` is by the nodes' names.
    """

    def __init__(self, levels: Sequence[str], nodes: Iterable[ReadOnlyTree]) -> None:
        self.levels = tuple(levels)
        self.is_lowest_level_node = is_lowest_level_hostname(levels)
        self.leaves: dict[DomainID, Domain] = {}
        self.capacity: dict[DomainID, Requests] = {}
        self.domain_of_node: dict[str, DomainID] = {}
        self.per_level: list[dict[DomainID, Domain]] = [{} for _ in levels]
        for node in nodes:
            self.domain_of_node[node["metadata"]["name"]] = self._add(node)
        for leaf in self.leaves.values():
            self._connect(leaf)
        for level, domains in enumerate(self.per_level):
            self.per_level[level] = {each.id: each for each in sorted(domains.values(), key=_values)}
            for place, each in enumerate(self.per_level[level].values()):
                each.order = place
                each.children.sort(key=_values)

    @property
    def roots(self) -> Iterable[Domain]:
        """Those of the highest level."""
        return self.per_level[0].values() if self.per_level else ()

    def _add(self, node: ReadOnlyTree) -> DomainID:
        labels = node["metadata"].get("labels") or {}
        values = level_values(self.levels, labels)
        own = labels.get(HOSTNAME, "") if self.is_lowest_level_node else domain_id(values)
        if own not in self.leaves:
            self.leaves[own] = Domain(own, values, None, node if self.is_lowest_level_node else None)
        allocatable = resources.requests_from_resource_list((node.get("status") or {}).get("allocatable"))
        self.capacity[own] = plus(self.capacity.get(own), allocatable)
        return own

    def _connect(self, domain: Domain) -> None:
        level = len(domain.level_values) - 1
        self.per_level[level][domain.id] = domain
        if not level:
            return
        values = domain.level_values[:-1]
        parent = self.per_level[level - 1].get(domain_id(values))
        if parent is None:
            parent = Domain(domain_id(values), values, None, None)
            self._connect(parent)
        domain.parent = parent
        parent.children.append(domain)


def plus(one: Mapping[str, int] | None, other: Mapping[str, int]) -> Requests:
    """The sum of two amounts."""
    result = {**(one or {})}
    for name, amount in other.items():
        result[name] = result.get(name, 0) + amount
    return result


def minus(one: Mapping[str, int] | None, other: Mapping[str, int]) -> Requests:
    """What is left, less than nothing where more is taken than there is."""
    result = {**(one or {})}
    for name, amount in other.items():
        result[name] = result.get(name, 0) - amount
    return result


def count_in(requests: Mapping[str, int], capacity: Mapping[str, int]) -> tuple[int, str]:
    """How often requests fit into a capacity, and the resource that does not let them fit more
    often: of several the first by name.
    """
    fewest, limiting = MAX_INT32 + 1, ""
    for name, amount in requests.items():
        fits = MAX_INT32 if not amount else max(0, min(capacity.get(name, 0) // amount, MAX_INT32))
        if fits < fewest or (fits == fewest and name < limiting):
            fewest, limiting = fits, name
    return (fewest, limiting) if limiting else (0, "")


class SliceLevels:
    """Where slices are, and of which size: ``size`` pods in a domain of ``level``; within these
    slices of ``inner`` sizes, by level.
    """

    __slots__ = ("inner", "level", "size")

    def __init__(self, size: int, level: int, inner: Mapping[int, int]) -> None:
        self.size, self.level, self.inner = size, level, inner


def sum_up(domain: Domain, level: int, slices: SliceLevels, *, leader: bool) -> None:
    """Count what fits into a domain, of that level, and into those below, from what fits into the
    leaves. Upstream: fillInCountsHelper.
    """
    if not domain.children:
        _count_slices(domain, slices.size if level == slices.level else 0)
        return
    below = domain.children
    if below[0].children:
        for child in below:
            sum_up(child, level + 1, slices, leader=leader)
    else:
        _count_slices_of(below, slices.size if level + 1 == slices.level else 0)
    # where children hold slices of their own, only whole ones count
    inner = slices.inner.get(level + 1, 0)
    states = [child.state // inner * inner for child in below] if inner else [child.state for child in below]
    state, slice_state = sum(states), sum([child.slice_state for child in below])
    domain.affinity_score = sum([child.affinity_score for child in below])
    domain.state = domain.state_with_leader = state
    domain.leader_state, lost_slices = 0, 0
    if leader:
        domain.leader_state = max([child.leader_state for child in below])
        domain.state_with_leader, lost_slices = state - _lost(below, states, inner), _lost_slices(below)
        if not domain.leader_state:
            domain.state_with_leader, lost_slices = 0, slice_state
    if level == slices.level:
        _count_slices(domain, slices.size)
    else:
        domain.slice_state, domain.slice_state_with_leader = slice_state, slice_state - lost_slices


def _count_slices(domain: Domain, size: int) -> None:
    """What fits in slices of a size, 0 for a level that has none."""
    domain.slice_state = domain.state // size if size else 0
    domain.slice_state_with_leader = domain.state_with_leader // size if size else 0


def _count_slices_of(leaves: Sequence[Domain], size: int) -> None:
    if size == 1:
        for leaf in leaves:
            leaf.slice_state, leaf.slice_state_with_leader = leaf.state, leaf.state_with_leader
    else:
        for leaf in leaves:
            _count_slices(leaf, size)


def _lost(domains: Sequence[Domain], states: Sequence[int], inner: int) -> int:
    """How many pods less fit where the leader is, if it is where that costs least."""
    unit = inner or 1
    return min((
        state - each.state_with_leader // unit * unit
        for each, state in zip(domains, states, strict=True) if each.leader_state > 0), default=0)


def _lost_slices(domains: Sequence[Domain]) -> int:
    return min((each.slice_state - each.slice_state_with_leader for each in domains if each.leader_state > 0), default=0)


def _values(domain: Domain) -> tuple[str, ...]:
    return domain.level_values
