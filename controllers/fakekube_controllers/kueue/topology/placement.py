"""Where the pods of a podset, with their leader, go in a tree of domains whose counts are known.

First the level is found at which they fit, and its domains: as few as hold them, the last one the
tightest (best fit); without constraint those with the least room first. Then level by level down
the same is done within what was chosen. Upstream: phase 2 of findTopologyAssignment in
pkg/cache/scheduler/tas_flavor_snapshot.go; there is the same choice among equals.
"""

from collections.abc import Callable, Iterable, Sequence

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import balanced
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.domains import Domain, DomainTree
from fakekube_controllers.kueue.topology.nodes import ExclusionStats
from fakekube_controllers.kueue.topology.ordering import Ordering
from fakekube_controllers.kueue.topology.parameters import NoFit, Parameters

Domains = Sequence[Domain]


def place(
    tree: DomainTree, name: str, wanted: Parameters, stats: ExclusionStats, features: Features,
) -> tuple[TopologyAssignment, TopologyAssignment]:
    """Where the pods go, and their leader, in the topology of that name, into whose domains as much
    fits as the tree counts. Raises NoFit.
    """
    return _Placement(tree, name, wanted, stats, features).place()


class _Placement:
    def __init__(
        self, tree: DomainTree, name: str, wanted: Parameters, stats: ExclusionStats, features: Features,
    ) -> None:
        self.tree, self.name, self.wanted, self.stats, self.features = tree, name, wanted, stats, features
        self.order = Ordering(
            least_free=wanted.unconstrained and features.TASProfileMixed, by_affinity=features.TASRespectNodeAffinityPreferred)

    def place(self) -> tuple[TopologyAssignment, TopologyAssignment]:
        wanted = self.wanted
        chosen: tuple[int, Domains] | None = None
        if self.features.TASBalancedPlacement and not wanted.required and not wanted.unconstrained:
            chosen = balanced.find_domains(self.tree, wanted, self.order)
        is_balanced = chosen is not None
        level, found = chosen if chosen is not None else self._find_level(wanted.level)
        slices, lowest = wanted.slices, len(self.tree.levels) - 1
        found = self._fill(found, wanted.count, wanted.leader_count, slices.size)
        while level < min(lowest, slices.level) and not is_balanced:
            # above the slices' level all that was chosen is one pool
            below = self.order.sorted([child for each in found for child in each.children])
            found = self._fill(below, wanted.count, wanted.leader_count, slices.size)
            level += 1
        while level < lowest:
            size = slices.inner.get(level + 1, 1) if level >= slices.level else slices.size
            found = [each for parent in found for each in self._fill_children(parent, size)]
            level += 1
        leaders = self._assignment((each, each.leader_state) for each in found if each.leader_state > 0)
        if wanted.leader_count:
            found = [each for each in found if each.state > 0]
        return self._assignment((each, each.state) for each in found), leaders

    # the level

    def _find_level(self, level: int) -> tuple[int, Domains]:
        """The level at which the pods fit, that or one above, and the domains that hold them."""
        wanted, count = self.wanted, self.wanted.slice_count
        domains = list(self.tree.per_level[level].values())
        if not domains:
            raise NoFit(f"no topology domains at level: {self.tree.levels[level]}")
        ordered = self.order.sorted_with_leader(domains)
        top = ordered[0]
        if self.order.least_free:
            single = next((each for each in ordered if self._holds_all(each)), None)
            if single is not None:
                return level, [single]
            if wanted.required:
                raise self._no_fit(level, ordered[-1].state)
        elif _holds_with_leader(top, count, wanted.leader_count):
            top = self.order.best_fit(ordered, count, wanted.leader_count, slices=True)
        if _holds_with_leader(top, count, wanted.leader_count):
            return level, [top]
        if wanted.required:
            return level, [self._required_beyond_affinity(level, ordered)]
        if level > 0 and not wanted.unconstrained:
            return self._find_level(level - 1)
        return level, self._several(level, ordered)

    def _holds_all(self, domain: Domain) -> bool:
        if self.wanted.leader_count:
            return _holds_with_leader(domain, self.wanted.slice_count, self.wanted.leader_count)
        return domain.slice_state >= self.wanted.slice_count

    def _required_beyond_affinity(self, level: int, ordered: Domains) -> Domain:
        """The domain that holds all, where those that nodes' affinity prefers do not."""
        count, leaders = self.wanted.slice_count, self.wanted.leader_count
        if self.order.by_affinity:
            for start in range(1, len(ordered)):
                if _holds_with_leader(ordered[start], count, leaders):
                    return self.order.best_fit(ordered[start:], count, leaders, slices=True)
        raise self._no_fit(level, ordered[0].slice_state)

    def _several(self, level: int, ordered: Domains) -> Domains:
        """Several domains that hold all: first that of the leader, then by their room."""
        wanted, chosen = self.wanted, list[Domain]()
        count, leaders = wanted.slice_count, wanted.leader_count
        left, leaders_left = count, leaders
        ordered = prioritize_leader(ordered, wanted.count, leaders, wanted.slices.size, slices=True)
        start = 0
        while leaders_left > 0 and start < len(ordered) and ordered[start].leader_state > 0:
            domain = ordered[start]  # which does not hold all: it would have been taken alone
            chosen.append(domain)
            leaders_left -= domain.leader_state
            left -= domain.slice_state_with_leader
            start += 1
        if leaders_left > 0:
            raise self._no_fit(level, leaders - leaders_left)
        ordered = self.order.sorted(ordered[start:])
        for place_, domain in enumerate(ordered):
            if left <= 0:
                break
            if not self.order.least_free and domain.slice_state >= left:
                domain = self.order.best_fit(ordered[place_:], left, 0, slices=True)  # noqa: PLW2901 - the last one
            chosen.append(domain)
            left -= domain.slice_state
        if left > 0:
            raise self._no_fit(level, count - left)
        return chosen

    def _no_fit(self, level: int, fitting: int) -> NoFit:
        if self.wanted.layers:
            return NoFit(self._layers_text(level) + self.stats.text())
        count, unit = self.wanted.slice_count, "pod" if self.wanted.slices.size == 1 else "slice"
        text = f"allows to fit only {fitting} out of {count}" if fitting else f"doesn't allow to fit any of {count}"
        return NoFit(f'topology "{self.name}" {text} {unit}(s){self.stats.text()}')

    def _layers_text(self, level: int) -> str:
        """How many slices of each layer fit into the domain that has most room."""
        best = min(self.tree.per_level[level].values(), key=lambda each: (-each.slice_state, each.id))
        text = f'topology "{self.name}" doesn\'t allow to fit'
        for layer in self.wanted.layers:
            fitting = _slices_within(best, self.tree.levels.index(layer.topology) - level, layer.size)
            text += f"; {fitting}/{self.wanted.count // layer.size} slice(s) fit on level {layer.topology}"
        return text

    # the way down

    def _fill_children(self, parent: Domain, size: int) -> Domains:
        """The domains below one that hold what is in it, in slices of that size."""
        below = self.order.sorted(parent.children)
        if size > 1:
            for each in below:
                each.slice_state, each.slice_state_with_leader = each.state // size, each.state_with_leader // size
        return self._fill(below, parent.state, parent.leader_state, size, slices=size > 1)

    def _fill(self, domains: Domains, count: int, leaders: int, size: int, *, slices: bool = True) -> Domains:
        """The first domains that hold so many pods and leaders, each with what is in it.

        Upstream: updateCountsToMinimumGeneric.
        """
        domains = prioritize_leader(domains, count, leaders, size, slices=slices)
        unit = size if slices else 1
        left, result = count // unit, list[Domain]()
        room, room_with_leader = _ROOM[slices]
        for start, each in enumerate(domains):
            domain, enough = each, room_with_leader if leaders > 0 else room
            if not self.order.least_free and enough(each) >= left and each.leader_state >= leaders:
                domain = self.order.best_fit(domains[start:], left, leaders, slices=slices)
            result.append(domain)
            has_room, holds_leaders = enough(domain), domain.leader_state >= leaders
            taken = min(has_room, left)
            domain.leader_state = min(domain.leader_state, leaders)
            domain.state = taken * unit
            if slices:
                domain.slice_state = taken
            if has_room >= left and holds_leaders:
                return result
            leaders -= domain.leader_state
            left -= taken
        return []

    def _assignment(self, found: Iterable[tuple[Domain, int]]) -> TopologyAssignment:
        start = len(self.tree.levels) - 1 if self.tree.is_lowest_level_node else 0
        ordered = sorted(found, key=_by_order)
        domains = (TopologyDomainAssignment(each.level_values[start:], count) for each, count in ordered if count)
        return TopologyAssignment(self.tree.levels[start:], tuple(domains))


_ROOM: dict[bool, tuple[Callable[[Domain], int], Callable[[Domain], int]]] = {
    True: (lambda domain: domain.slice_state, lambda domain: domain.slice_state_with_leader),
    False: (lambda domain: domain.state, lambda domain: domain.state_with_leader)}


def prioritize_leader(domains: Domains, count: int, leaders: int, size: int, *, slices: bool) -> Domains:
    """The domains with one in front in which a leader takes no more than can be missed: what was
    counted for their parent holds for it.
    """
    if not leaders or len(domains) < 2:
        return domains
    room, room_with_leader = _ROOM[slices]
    needed, available = count // size if slices else count, sum(map(room, domains))
    for place_, domain in enumerate(domains):
        if domain.leader_state >= leaders and available - (room(domain) - room_with_leader(domain)) >= needed:
            return [domain, *domains[:place_], *domains[place_ + 1:]]
    return domains


def _holds_with_leader(domain: Domain, count: int, leaders: int) -> bool:
    return domain.slice_state_with_leader >= count and domain.leader_state >= leaders


def _slices_within(domain: Domain, depth: int, size: int) -> int:
    if not depth:
        return domain.state // size
    return sum(_slices_within(child, depth - 1, size) for child in domain.children)


def _by_order(found: tuple[Domain, int]) -> int:
    return found[0].order


