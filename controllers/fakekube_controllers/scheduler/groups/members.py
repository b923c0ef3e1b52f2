"""Pods of groups that are queued one by one, as before 1.37.

Each has a place of its own in the scheduling queue, and PreEnqueue plugins hold each for itself.
What is counted by group is counted here.

Upstream: addPodToSchedulingQueue of pkg/scheduler/eventhandlers.go (1.35: WorkloadManager, 1.36:
AddPodGroupMember), podGroupInfoForPod of pkg/scheduler/schedule_one_podgroup.go (1.36).
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import (
    PodGroupInfo,
    QueuedEntityInfo,
    QueuedPodGroupInfo,
    QueuedPodInfo,
    pod_key,
)
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.queue import SchedulingQueue
from fakekube_controllers.scheduler.requeueing import IMMEDIATELY


class MemberQueue:
    """The pods of groups of one scheduler."""

    def __init__(self, queue: SchedulingQueue, states: GroupStates) -> None:
        self._queue, self._states, self._key_of = queue, states, states.key_of

    def is_member(self, pod: ReadOnlyTree) -> bool:
        """Whether a pod names a group."""
        return self._key_of(pod) is not None

    def _count(self, queued: QueuedPodInfo) -> None:
        key = self._key_of(queued.info.pod)
        assert key is not None, "a member"
        self._states.set_pod(key, queued.info)

    def add_pod(self, queued: QueuedPodInfo) -> None:
        """A member waits for a node, for the first time."""
        self._count(queued)
        self._queue.requeue(queued, IMMEDIATELY)

    def take_back(self, queued: QueuedPodInfo, strategy: int) -> None:
        """A member got no node; by its own events it should be queued by this strategy."""
        self._count(queued)
        self._queue.requeue(queued, strategy)

    def queued_pod(self, pod: ReadOnlyTree) -> tuple[QueuedPodInfo | None, QueuedEntityInfo | None]:
        """A member that waits, which is an entity of its own."""
        entity = self._queue.entity(pod_key(pod))
        return (entity, entity) if isinstance(entity, QueuedPodInfo) else (None, entity)

    def remove_pod(self, pod: ReadOnlyTree) -> None:
        """A member is gone, or has a node; harmless when it does not wait."""
        self._states.remove_waiting_pod(meta.uid_of(pod))
        self._queue.take_out(pod_key(pod))

    def begin(self, entity: QueuedPodGroupInfo) -> None:
        """There are no groups in the queue."""

    def whole_group(self, queued: QueuedPodInfo) -> QueuedPodGroupInfo | None:
        """The group of a pod that was popped, with the members that no plugin holds.

        They are in flight with it. None for a pod of no group.
        """
        key = self._key_of(queued.info.pod)
        if key is None:
            return None
        members = [queued]
        for info in self._states.waiting(key):
            member = self._queue.pop_pod(pod_key(info.pod)) if info.uid != queued.info.uid else None
            if member is not None:
                members.append(member)
        members.sort(key=_order)
        group = self._states.group(key) or {
            "metadata": {"namespace": key.namespace, "name": key.name, "resourceVersion": ""}, "spec": {}}
        root = PodGroupInfo(key, group, [], members)
        return QueuedPodGroupInfo(root, timestamp=queued.timestamp, sequence=queued.sequence)


def _order(queued: QueuedPodInfo) -> tuple[int, float, int]:
    """Upstream leaves it open in what order pods of one priority and one instant go."""
    return -queued.priority, queued.initial_attempt_timestamp or 0.0, queued.sequence
