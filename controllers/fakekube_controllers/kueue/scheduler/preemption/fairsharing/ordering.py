"""From which ClusterQueue the next victim is taken: from the one with the largest share.

Upstream: preemption/fairsharing/{ordering,target,least_common_ancestor}.go.
"""

from typing import TYPE_CHECKING

from fakekube_controllers.kueue.cache.fair_sharing import DRS, compare_drs, negative_drs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, CohortSnapshot
    from fakekube_controllers.kueue.scheduler.preemption.common.ordering import CandidateKey
    from fakekube_controllers.kueue.workload.info import Info


class TargetClusterQueueOrdering:
    """Goes down from the root to the child with the largest share that has candidates and borrows.

    The same queue can come several times in a row. Between two, ``TargetClusterQueue.pop_workload``
    or ``drop_queue`` is to be called.
    """

    def __init__(self, cq: "ClusterQueueSnapshot", candidates: "list[Info]", key: "Callable[[Info], CandidateKey]") -> None:
        """``candidates`` in the order in which they are tried; ``key`` orders queues of equal share
        by their first candidates.
        """
        self.preemptor_cq, self._key = cq, key
        self.preemptor_ancestors = {ancestor.name: None for ancestor in cq.path_parent_to_root()}
        self.targets: dict[str, list[Info]] = {}
        for candidate in candidates:
            self.targets.setdefault(candidate.cluster_queue, []).append(candidate)
        for of_queue in self.targets.values():
            of_queue.reverse()  # taken from the end
        # what certainly gives no more candidates
        self._pruned_cluster_queues: dict[str, None] = {}
        self._pruned_cohorts: dict[str, None] = {}

    def __iter__(self) -> "Iterator[TargetClusterQueue]":
        if not self.preemptor_cq.has_parent():
            target = TargetClusterQueue(self, self.preemptor_cq)
            while self.preemptor_cq.name not in self._pruned_cluster_queues and target.has_workload():
                yield target
            return
        *_, root = self.preemptor_cq.path_parent_to_root()
        while root.name not in self._pruned_cohorts:
            chosen = self._next_target(root)
            if chosen is not None:  # else something was pruned
                yield TargetClusterQueue(self, chosen)

    def drop_queue(self, target: "TargetClusterQueue") -> None:
        """No longer consider Workloads of this queue."""
        self._pruned_cluster_queues[target.cq.name] = None

    def _next_target(self, cohort: "CohortSnapshot") -> "ClusterQueueSnapshot | None":
        highest_cq, highest_cq_drs = self._highest_cq(cohort)
        highest_cohort, highest_cohort_drs = self._highest_cohort(cohort)
        if highest_cohort is None and highest_cq is None:
            self._pruned_cohorts[cohort.name] = None
            return None
        # of equals the cohort: the most unfair can then be chosen inside of it
        if highest_cohort is not None and compare_drs(highest_cohort_drs, highest_cq_drs) >= 0:
            return self._next_target(highest_cohort)
        return highest_cq

    def _highest_cq(self, cohort: "CohortSnapshot") -> "tuple[ClusterQueueSnapshot | None, DRS]":
        highest: ClusterQueueSnapshot | None = None
        highest_drs = negative_drs()
        for cq in cohort.child_cqs():
            if cq.name in self._pruned_cluster_queues:
                continue
            drs = cq.dominant_resource_share()
            # the preemptor's own queue stays until it has no more candidates
            if (not drs.is_borrowing() and cq is not self.preemptor_cq) or not self.targets.get(cq.name):
                self._pruned_cluster_queues[cq.name] = None
                continue
            order = compare_drs(drs, highest_drs)
            if order > 0 or (order == 0 and highest is not None and self._first_key(cq) < self._first_key(highest)):
                highest, highest_drs = cq, drs
        return highest, highest_drs

    def _first_key(self, cq: "ClusterQueueSnapshot") -> "CandidateKey":
        return self._key(self.targets[cq.name][-1])

    def _highest_cohort(self, cohort: "CohortSnapshot") -> "tuple[CohortSnapshot | None, DRS]":
        highest: CohortSnapshot | None = None
        highest_drs = negative_drs()
        for child in cohort.child_cohorts():
            if child.name in self._pruned_cohorts:
                continue
            drs = child.dominant_resource_share()
            # one above the preemptor stays until all below it is pruned: shares in it may differ
            if not drs.is_borrowing() and child.name not in self.preemptor_ancestors:
                self._pruned_cohorts[child.name] = None
            elif compare_drs(drs, highest_drs) >= 0:
                highest, highest_drs = child, drs
        return highest, highest_drs


class TargetClusterQueue:
    """A ClusterQueue that gives candidates."""

    __slots__ = ("_ordering", "cq")

    def __init__(self, ordering: TargetClusterQueueOrdering, cq: "ClusterQueueSnapshot") -> None:
        self._ordering, self.cq = ordering, cq

    def in_cluster_queue_preemption(self) -> bool:
        """Whether it is the preemptor's own, so that priorities decide."""
        return self.cq is self._ordering.preemptor_cq

    def pop_workload(self) -> "Info":
        """The next candidate; there is one."""
        return self._ordering.targets[self.cq.name].pop()

    def has_workload(self) -> bool:
        """Whether there is a candidate left."""
        return bool(self._ordering.targets.get(self.cq.name))

    def compute_shares(self) -> tuple[DRS, DRS]:
        """The shares, below the nearest common cohort, of the preemptor with its Workload and of
        this queue with all of its own.
        """
        preemptor, target = self._almost_lcas()
        return preemptor.dominant_resource_share(), target.dominant_resource_share()

    def compute_target_share_after_removal(self, info: "Info") -> DRS:
        """The share of this queue's side without a Workload."""
        # usage is simulated for the whole tree: what reaches a cohort depends on lending limits
        revert = self.cq.simulate_usage_removal(info.usage())
        _, target = self._almost_lcas()
        share = target.dominant_resource_share()
        revert()
        return share

    def _almost_lcas(self) -> "tuple[ClusterQueueSnapshot | CohortSnapshot, ClusterQueueSnapshot | CohortSnapshot]":
        """What stands right below the nearest common cohort: the preemptor's side and this."""
        lca = next(each for each in self.cq.path_parent_to_root() if each.name in self._ordering.preemptor_ancestors)
        return _almost_lca(self._ordering.preemptor_cq, lca), _almost_lca(self.cq, lca)


def _almost_lca(cq: "ClusterQueueSnapshot", lca: "CohortSnapshot") -> "ClusterQueueSnapshot | CohortSnapshot":
    below: ClusterQueueSnapshot | CohortSnapshot = cq
    for ancestor in cq.path_parent_to_root():
        if ancestor is lca:
            break
        below = ancestor
    return below
