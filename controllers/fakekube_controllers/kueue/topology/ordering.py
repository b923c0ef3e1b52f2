"""In which order domains are taken, and which one of them is the tightest.

Upstream: sortedDomains, sortedDomainsWithLeader, findBestFitDomain in
pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from collections.abc import Sequence

from fakekube_controllers.kueue.topology.domains import Domain


class Ordering:
    """``least_free``: those with the least room come first, else those with the most.
    ``by_affinity``: before all those that nodes' preferred affinity chooses.
    """

    def __init__(self, *, least_free: bool = False, by_affinity: bool = False) -> None:
        self.least_free, self.by_affinity = least_free, by_affinity
        self._sign = 1 if least_free else -1

    def sorted(self, domains: Sequence[Domain]) -> list[Domain]:
        """By room for slices, then the least pods that are no slice, then by name."""
        return sorted(domains, key=self._key)

    def sorted_with_leader(self, domains: Sequence[Domain]) -> list[Domain]:
        """The same with room for a leader before all, and counted with one."""
        return sorted(domains, key=self._key_with_leader)

    def best_fit(self, ordered: Sequence[Domain], needed: int, leaders: int, *, slices: bool) -> Domain:
        """The first of those with the least room that still hold so many slices, or pods, and the
        leaders; the first of all where none does.
        """
        best, best_room = ordered[0], -1
        for domain in ordered:
            if self.by_affinity and domain.affinity_score != ordered[0].affinity_score:
                break
            if domain.leader_state < leaders:
                continue
            if slices:
                room = domain.slice_state_with_leader if leaders > 0 else domain.slice_state
            else:
                room = domain.state_with_leader if leaders > 0 else domain.state
            if room >= needed and (best_room < 0 or room < best_room):
                best, best_room = domain, room
        return best

    def _key(self, domain: Domain) -> tuple[int, int, int, int]:
        score = -domain.affinity_score if self.by_affinity else 0
        return score, self._sign * domain.slice_state, domain.state, domain.order

    def _key_with_leader(self, domain: Domain) -> tuple[int, int, int, int, int]:
        score = -domain.affinity_score if self.by_affinity else 0
        return (
            -domain.leader_state, score, self._sign * domain.slice_state_with_leader, domain.state_with_leader, domain.order)
