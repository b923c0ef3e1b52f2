"""The tree of cohorts with ClusterQueues as its leaves: who is whose parent.

Cohorts come to be when they are named, by a ClusterQueue or by another cohort, and are gone when
neither names them and no object stands for them. Their parents are what users write, so they may
form a cycle: ``CohortNode.is_cyclic`` says whether the way up from a cohort ends in one, and
``parent`` then leads nowhere, so that whoever goes up always comes to an end.

Upstream: pkg/cache/hierarchy.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

CQ = TypeVar("CQ", bound="ClusterQueueNode[Any]")
C = TypeVar("C", bound="CohortNode[Any, Any]")


class ClusterQueueNode(Generic[C]):
    """A leaf."""

    name: str
    parent_cohort: C | None = None
    """The cohort that it names, whether that is in a cycle or not."""

    def parent(self) -> C | None:
        """The cohort to go up to; None without one, and where there is a cycle."""
        found = self.parent_cohort
        return None if found is None or found.is_cyclic else found

    def has_parent(self) -> bool:
        """Whether there is a cohort to go up to."""
        return self.parent() is not None

    def path_parent_to_root(self) -> Iterator[C]:
        """All cohorts above, the parent first."""
        above = self.parent()
        while above is not None:
            yield above
            above = above.parent()


class CohortNode(Generic[CQ, C]):
    """A cohort, with children in the order in which they came."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parent_cohort: C | None = None
        self.is_explicit = False
        """Whether an object stands for it."""
        self.is_cyclic = False
        self.cohorts: dict[str, C] = {}
        self.cluster_queues: dict[str, CQ] = {}

    def parent(self) -> C | None:
        """The cohort to go up to; None for a root, and where there is a cycle."""
        return None if self.is_cyclic else self.parent_cohort

    def has_parent(self) -> bool:
        """Whether there is a cohort to go up to."""
        return self.parent() is not None

    def child_cohorts(self) -> list[C]:
        """Those right below."""
        return list(self.cohorts.values())

    def child_cqs(self) -> list[CQ]:
        """The ClusterQueues right below."""
        return list(self.cluster_queues.values())

    def has_children(self) -> bool:
        """Whether anything names it."""
        return bool(self.cohorts or self.cluster_queues)


class Manager(Generic[CQ, C]):
    """All nodes by name, and the edges between them."""

    def __init__(self, cohort_factory: Callable[[str], C]) -> None:
        self.cohorts: dict[str, C] = {}
        self.cluster_queues: dict[str, CQ] = {}
        self._cohort_factory = cohort_factory

    def add_cluster_queue(self, cluster_queue: CQ) -> None:
        """Add a leaf that has no parent yet."""
        self.cluster_queues[cluster_queue.name] = cluster_queue

    def update_cluster_queue_edge(self, name: str, parent_name: str) -> None:
        """Put a ClusterQueue into a cohort; into none by an empty name."""
        cluster_queue = self.cluster_queues[name]
        old = cluster_queue.parent_cohort
        if parent_name == (old.name if old is not None else ""):
            return
        self._detach_cluster_queue(cluster_queue)
        if parent_name:
            parent = self._get_or_create(parent_name)
            parent.cluster_queues[name] = cluster_queue
            cluster_queue.parent_cohort = parent

    def delete_cluster_queue(self, name: str) -> None:
        """Take a ClusterQueue out, if it is there."""
        cluster_queue = self.cluster_queues.pop(name, None)
        if cluster_queue is not None:
            self._detach_cluster_queue(cluster_queue)

    def add_cohort(self, name: str) -> C:
        """The cohort of that name, for which there is an object from now on."""
        cohort = self._get_or_create(name)
        cohort.is_explicit = True
        return cohort

    def update_cohort_edge(self, name: str, parent_name: str) -> None:
        """Put a cohort into another; into none by an empty name."""
        cohort = self.cohorts[name]
        old = cohort.parent_cohort
        if parent_name == (old.name if old is not None else ""):
            return
        self._detach_cohort(cohort)
        if parent_name:
            parent = self._get_or_create(parent_name)
            parent.cohorts[name] = cohort
            cohort.parent_cohort = parent
        self._find_cycles(cohort)

    def delete_cohort(self, name: str) -> None:
        """The object of a cohort is gone: so is the cohort, unless something still names it."""
        cohort = self.cohorts.pop(name, None)
        if cohort is None:
            return
        self._detach_cohort(cohort)
        if not cohort.has_children():
            return
        implicit = self.cohorts[name] = self._cohort_factory(name)
        for cluster_queue in cohort.child_cqs():
            cluster_queue.parent_cohort = implicit
            implicit.cluster_queues[cluster_queue.name] = cluster_queue
        for child in cohort.child_cohorts():
            child.parent_cohort = implicit
            implicit.cohorts[child.name] = child
        self._find_cycles(implicit)

    def _get_or_create(self, name: str) -> C:
        if name not in self.cohorts:
            self.cohorts[name] = self._cohort_factory(name)
        return self.cohorts[name]

    def _detach_cluster_queue(self, cluster_queue: CQ) -> None:
        parent = cluster_queue.parent_cohort
        if parent is not None:
            del parent.cluster_queues[cluster_queue.name]
            cluster_queue.parent_cohort = None
            self._clean_up(parent)

    def _detach_cohort(self, cohort: C) -> None:
        parent = cohort.parent_cohort
        if parent is not None:
            del parent.cohorts[cohort.name]
            cohort.parent_cohort = None
            self._clean_up(parent)

    def _clean_up(self, cohort: C) -> None:
        if not cohort.is_explicit and not cohort.has_children() and self.cohorts.get(cohort.name) is cohort:
            del self.cohorts[cohort.name]

    def _find_cycles(self, changed: C) -> None:
        """All below a cohort whose parent changed are in a cycle, or none."""
        is_cyclic = _leads_into_cycle(changed)
        pending, seen = [changed], {changed.name}
        while pending:
            cohort = pending.pop()
            cohort.is_cyclic = is_cyclic
            for child in cohort.child_cohorts():
                if child.name not in seen:
                    seen.add(child.name)
                    pending.append(child)


def _leads_into_cycle(cohort: C) -> bool:
    seen = {cohort.name}
    above = cohort.parent_cohort
    while above is not None:
        if above.name in seen:
            return True
        seen.add(above.name)
        above = above.parent_cohort
    return False


def root_of(cohort: C) -> C:
    """The cohort at the top; the cohort itself where there is a cycle."""
    above = cohort.parent()
    while above is not None:
        cohort, above = above, above.parent()
    return cohort
