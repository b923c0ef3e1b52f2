"""In what order the entries of a cycle are processed with fair sharing: the next one is the winner
of a tournament on every level of its tree of cohorts.

Upstream: fair_sharing_iterator.go.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from fakekube_controllers.kueue.cache.fair_sharing import DRS, compare_drs
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:
    from fakekube.apimachinery.meta import ObjectKey
    from fakekube_controllers.kueue.cache.snapshot import CohortSnapshot
    from fakekube_controllers.kueue.scheduler.entry import Entry
    from fakekube_controllers.kueue.workload.info import Ordering, Usage

AssignmentUsage = Callable[["Entry"], "Usage"]


def fair_sharing_iterator(entries: "Iterable[Entry]", ordering: "Ordering", usage_of: AssignmentUsage) -> "Iterator[Entry]":
    """The entries, one a ClusterQueue; usage of the snapshot may change between two.

    ``usage_of`` says what an entry adds to its queue when it is admitted.
    """
    left = {entry.cluster_queue: entry for entry in entries}
    while left:
        entry = next(iter(left.values()))
        assert entry.cq is not None, "entries were nominated"
        if entry.cq.has_parent():
            *_, root = entry.cq.path_parent_to_root()
            winner = _Tournament(root, left, ordering, usage_of).run(root)
            assert winner is not None, "an entry of this tree is left"
            entry = winner
        del left[entry.cluster_queue]
        yield entry


class _Tournament:
    """Who is next in one tree."""

    def __init__(
        self, root: "CohortSnapshot", entries: "dict[str, Entry]", ordering: "Ordering", usage_of: AssignmentUsage,
    ) -> None:
        self._entries, self._ordering = entries, ordering
        self._shares: dict[tuple[str, ObjectKey], DRS] = {}
        self._usages: dict[ObjectKey, Usage] = {}
        for cq in root.subtree_cluster_queues():
            entry = entries.get(cq.name)
            if entry is None:
                continue
            key, usage = entry.info.key, usage_of(entry)
            self._usages[key] = usage
            # every share counts what the Workload of this queue would add
            revert = cq.simulate_usage_addition(usage)
            share = cq.dominant_resource_share()
            for ancestor in cq.path_parent_to_root():
                self._shares[ancestor.name, key] = share
                share = ancestor.dominant_resource_share()
            revert()

    def run(self, cohort: "CohortSnapshot") -> "Entry | None":
        """The winner among the winners of the cohorts below and the entries of the queues."""
        best: Entry | None = None
        for child in cohort.child_cohorts():
            best = self._better(best, self.run(child), cohort.name)
        for cq in cohort.child_cqs():
            best = self._better(best, self._entries.get(cq.name), cohort.name)
        return best

    def _better(self, best: "Entry | None", current: "Entry | None", cohort: str) -> "Entry | None":
        if best is None or current is None:
            return best or current
        return current if self._is_less(current, best, cohort) else best

    def _is_less(self, left: "Entry", right: "Entry", cohort: str) -> bool:
        left_key, right_key, features = left.info.key, right.info.key, self._ordering.features
        left_share, right_share = self._shares[cohort, left_key], self._shares[cohort, right_key]
        if features.FairSharingPrioritizeNonBorrowing:
            left_borrows = left_share.is_borrowing_on(self._usages[left_key].quota)
            if left_borrows != right_share.is_borrowing_on(self._usages[right_key].quota):
                return not left_borrows
        order = compare_drs(left_share, right_share)
        if order:
            return order < 0
        if features.PrioritySortingWithinCohort:
            left_priority, right_priority = effective_priority(left.obj, features), effective_priority(right.obj, features)
            if left_priority != right_priority:
                return left_priority > right_priority
        return self._ordering.queue_order_timestamp(left.obj) < self._ordering.queue_order_timestamp(right.obj)
