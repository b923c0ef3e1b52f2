"""In what order the entries of a cycle are processed, without fair sharing.

Upstream: makeClassicalIterator of scheduler.go.
"""

from typing import TYPE_CHECKING

from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.info import effective_priority

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fakekube_controllers.kueue.scheduler.entry import Entry
    from fakekube_controllers.kueue.workload.info import Ordering


def classical_iterator(entries: "Iterable[Entry]", ordering: "Ordering") -> "Iterator[Entry]":
    """Those with quota (their second pass), those that borrow less, those of higher priority, those
    that have waited longer.
    """
    by_priority = ordering.features.PrioritySortingWithinCohort

    def key(entry: "Entry") -> tuple[bool, int, int, float]:
        assert entry.assignment is not None, "entries were nominated"
        return (
            not states.has_quota_reservation(entry.obj), entry.assignment.borrows(),
            -effective_priority(entry.obj, ordering.features) if by_priority else 0, ordering.queue_order_timestamp(entry.obj))

    return iter(sorted(entries, key=key))
