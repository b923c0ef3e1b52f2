"""Which ClusterQueues share a tree of cohorts: what frees quota for one of them frees it for all.

A cohort is there as long as it is an object or is named by something. Upstream:
pkg/cache/hierarchy, as far as the queues need it.
"""

from collections.abc import Iterator


class Cohorts:
    """Edges from ClusterQueues and cohorts to their parents, by name; no name stands for none."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._cohort_of: dict[str, str] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._cluster_queues: dict[str, dict[str, None]] = {}

    def set_parent(self, cohort: str, parent: str) -> None:
        """Put a cohort below another."""
        self._move(cohort, self._parents, self._children, parent)

    def set_cohort(self, cluster_queue: str, cohort: str) -> None:
        """Put a ClusterQueue into a cohort."""
        self._move(cluster_queue, self._cohort_of, self._cluster_queues, cohort)

    @staticmethod
    def _move(name: str, parents: dict[str, str], children: dict[str, dict[str, None]], parent: str) -> None:
        before = parents.pop(name, "")
        if before:
            children[before].pop(name)
            if not children[before]:
                del children[before]
        if parent:
            parents[name] = parent
            children.setdefault(parent, {})[name] = None

    def cohort_of(self, cluster_queue: str) -> str:
        """The cohort of a ClusterQueue."""
        return self._cohort_of.get(cluster_queue, "")

    def root_of(self, cohort: str) -> str | None:
        """The topmost cohort above one; None if its parents form a cycle."""
        seen = {cohort}
        while parent := self._parents.get(cohort, ""):
            if parent in seen:
                return None
            seen.add(parent)
            cohort = parent
        return cohort

    def cluster_queues_below(self, cohort: str) -> Iterator[str]:
        """Those of a tree without a cycle, given its root."""
        waiting = [cohort]
        while waiting:
            name = waiting.pop()
            yield from list(self._cluster_queues.get(name, ()))
            waiting.extend(reversed(self._children.get(name, {})))
