"""What one controller of Kueue tells the others, besides what the API tells all of them.

Upstream: the interfaces ...UpdateWatcher of pkg/controller/core.
"""

from collections.abc import Callable

from fakekube.apimachinery.types import ReadOnlyTree

Changed = Callable[[ReadOnlyTree | None, ReadOnlyTree | None], object]
"""Is told an object before and after a change; None where it is not there."""


class Watchers:
    """Functions by what they are told of, called in the order in which they were added."""

    def __init__(self) -> None:
        self.of_workloads: list[Changed] = []
        self.of_cluster_queues: list[Changed] = []
        self.of_flavors: list[Changed] = []
        self.of_admission_checks: list[Changed] = []
        self.of_topologies: list[Changed] = []

    def workload_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """A Workload came, changed or went."""
        _tell(self.of_workloads, old, new)

    def cluster_queue_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """A ClusterQueue did."""
        _tell(self.of_cluster_queues, old, new)

    def flavor_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """A ResourceFlavor did."""
        _tell(self.of_flavors, old, new)

    def admission_check_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """An AdmissionCheck did."""
        _tell(self.of_admission_checks, old, new)

    def topology_changed(self, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
        """A Topology did."""
        _tell(self.of_topologies, old, new)


def _tell(watchers: list[Changed], old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> None:
    for watcher in watchers:
        watcher(old, new)
