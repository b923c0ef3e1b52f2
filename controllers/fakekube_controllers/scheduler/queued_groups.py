"""What the scheduling queue asks of groups, which it knows as entities only.

Upstream: the pod group parts of pkg/scheduler/backend/queue/scheduling_queue.go.
"""

from typing import Protocol

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import QueuedEntityInfo, QueuedPodGroupInfo, QueuedPodInfo


class Groups(Protocol):
    """The pods that are queued with their groups; see ``groups/queueing.py``."""

    def is_member(self, pod: ReadOnlyTree) -> bool:
        """Whether a pod names a group."""

    def add_pod(self, queued: QueuedPodInfo) -> None:
        """A member waits for a node."""

    def take_back(self, queued: QueuedPodInfo, strategy: int) -> None:
        """A member got no node; by its own events its group should be queued by this strategy."""

    def queued_pod(self, pod: ReadOnlyTree) -> tuple[QueuedPodInfo | None, QueuedEntityInfo | None]:
        """A member that waits, and the entity that it is in."""

    def remove_pod(self, pod: ReadOnlyTree) -> None:
        """A member is gone, or has a node."""

    def begin(self, entity: QueuedPodGroupInfo) -> None:
        """A root is being tried."""
