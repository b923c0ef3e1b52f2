"""What is known of queues and of who waits in them; nothing here changes anything.

Upstream: the readers of pkg/cache/queue/manager.go, local_queue.go.
"""

from fakekube.apimachinery.meta import ObjectKey, key_of
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.queues.cluster_queue import ClusterQueue, LocalQueueKey, local_queue_key
from fakekube_controllers.kueue.workload.info import Info

NOWHERE = LocalQueueKey("", "")


class LocalQueue:
    """The pending Workloads of a LocalQueue that no scheduler works on, and the finished ones."""

    __slots__ = ("cluster_queue", "finished", "items", "key")

    def __init__(self, key: LocalQueueKey, cluster_queue: str) -> None:
        self.key, self.cluster_queue = key, cluster_queue
        self.items: dict[ObjectKey, Info] = {}
        self.finished: dict[ObjectKey, None] = {}


class KnownQueues:
    """All queues by their names."""

    def __init__(self) -> None:
        self._cluster_queues: dict[str, ClusterQueue] = {}
        self._local_queues: dict[LocalQueueKey, LocalQueue] = {}
        self._assigned: dict[ObjectKey, LocalQueueKey] = {}  # through the whole life of a Workload

    def cluster_queue_from_local_queue(self, key: LocalQueueKey) -> str | None:
        """The ClusterQueue that a LocalQueue names; None if there is no such LocalQueue."""
        found = self._local_queues.get(key)
        return found.cluster_queue if found is not None else None

    def cluster_queue_for_workload(self, workload: ReadOnlyTree) -> tuple[str, bool]:
        """The ClusterQueue that a Workload is to be queued in, and whether that is there.

        Without its LocalQueue it has no name.
        """
        name = self.cluster_queue_from_local_queue(local_queue_key(workload))
        return name or "", name in self._cluster_queues

    def cluster_queue(self, name: str) -> ClusterQueue | None:
        """The queue of a ClusterQueue, to be read."""
        return self._cluster_queues.get(name)

    def local_queue(self, key: LocalQueueKey) -> LocalQueue | None:
        """That of a LocalQueue, to be read."""
        return self._local_queues.get(key)

    def pending_workloads(self, local_queue: LocalQueueKey) -> int | None:
        """How many wait in a LocalQueue; None if it is not there or stopped."""
        found = self._local_queues.get(local_queue)
        return len(found.items) if found is not None else None

    def pending(self, cluster_queue: str) -> int | None:
        """How many wait in a ClusterQueue; None if it is not there."""
        found = self._cluster_queues.get(cluster_queue)
        return found.pending_total if found is not None else None

    def pending_workloads_info(self, cluster_queue: str) -> list[Info]:
        """Those that wait in a ClusterQueue, in the order of the queue."""
        found = self._cluster_queues.get(cluster_queue)
        return found.snapshot() if found is not None else []

    def get_no_fit_reason(self, workload: ReadOnlyTree) -> str | None:
        """Why a Workload of the same shape did not fit, if that is why this one is not tried."""
        found = self._cluster_queues.get(self.cluster_queue_for_workload(workload)[0])
        return found.get_no_fit_reason(key_of(workload)) if found is not None else None

    def is_pending_active(self, key: ObjectKey) -> bool:
        """Whether a Workload is among those that the scheduler is to try."""
        found = self._cluster_queues.get(self.cluster_queue_from_local_queue(self._assigned.get(key, NOWHERE)) or "")
        return found is not None and found.heap.get(key) is not None

    def has_pending_active(self, cluster_queue: str) -> bool:
        """Whether the scheduler is to try something of a ClusterQueue."""
        found = self._cluster_queues.get(cluster_queue)
        return found is not None and len(found.heap) > 0
