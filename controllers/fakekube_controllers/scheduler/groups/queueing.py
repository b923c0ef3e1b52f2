"""Groups in the scheduling queue: a root is one entity there, and its pods are queued with it.

A pod of a group waits here for as long as it has no node. It is in the entity of its root while
that is in the queue; while its root is not known, or is being tried, it is in none.

A group that was rejected only backs off; the events that may help its pods do not end that.

Upstream: addPodGroupMember, AddAttemptedPodGroupIfNeeded, AddPodGroup and their neighbours of
pkg/scheduler/backend/queue/scheduling_queue.go.
"""

from bisect import insort

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.clock import Clock
from fakekube_controllers.scheduler.framework.queued import (
    EntityKey,
    PodGroupInfo,
    QueuedEntityInfo,
    QueuedPodGroupInfo,
    QueuedPodInfo,
)
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.groups.entities import group_key_of
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.queue import SchedulingQueue
from fakekube_controllers.scheduler.requeueing import AFTER_BACKOFF, IMMEDIATELY, SKIP


class GroupQueue:
    """The groups of one scheduler."""

    def __init__(self, queue: SchedulingQueue, states: GroupStates, clock: Clock) -> None:
        self._queue, self._states, self._clock = queue, states, clock
        self._members: dict[EntityKey, dict[str, QueuedPodInfo]] = {}  # by leaf and uid: those that wait
        self._tried: EntityKey | None = None  # the root in its cycle
        self._strategy = SKIP  # what the pods of that cycle that came back want for their group

    # pods

    @staticmethod
    def is_member(pod: ReadOnlyTree) -> bool:
        """Whether a pod names a group."""
        return bool(pod["spec"].get("schedulingGroup"))

    def add_pod(self, queued: QueuedPodInfo) -> None:
        """A member waits for a node, for the first time or again."""
        key = self._key_of(queued.info.pod)
        self._states.set_pod(key, queued.info)
        self._members.setdefault(key, {})[queued.info.uid] = queued
        root = self._states.root_of(key)
        if root is None or root == self._tried:
            return
        entity = self._queue.entity(root)
        if not isinstance(entity, QueuedPodGroupInfo):
            self._rebuild(root)
            return
        leaf = next(leaf for leaf in entity.root.leaves() if leaf.key == key)
        insort(leaf.unscheduled_pods, queued, key=_order)
        self._queue.pod_joined(entity, queued)

    def take_back(self, queued: QueuedPodInfo, strategy: int) -> None:
        """A member got no node; by its own events its group should be queued by this strategy.

        One whose binding has failed comes back after its group's cycle; an error lets it back off.
        """
        key = self._key_of(queued.info.pod)
        root = self._states.root_of(key)
        if root is None or root == self._tried or self._queue.entity(root) is not None:
            self._strategy = max(self._strategy, strategy)
            self.add_pod(queued)
            return
        self._states.set_pod(key, queued.info)
        self._members.setdefault(key, {})[queued.info.uid] = queued
        entity = QueuedPodGroupInfo(PodGroupInfo(root, {}), timestamp=queued.timestamp, sequence=queued.sequence)
        entity.attempts, entity.unschedulable_count = queued.attempts, queued.unschedulable_count
        entity.consecutive_errors_count = max(queued.consecutive_errors_count, 0 if queued.unschedulable_count else 1)
        entity.tried_in, entity.tries_in_second = queued.tried_in, queued.tries_in_second
        entity.calmed_count = queued.calmed_count
        self._rebuild(root, entity, IMMEDIATELY if queued.unschedulable_count else AFTER_BACKOFF)

    @staticmethod
    def _key_of(pod: ReadOnlyTree) -> EntityKey:
        key = group_key_of(pod)
        assert key is not None, "a member"
        return key

    def queued_pod(self, pod: ReadOnlyTree) -> tuple[QueuedPodInfo | None, QueuedEntityInfo | None]:
        """A member that waits, and the entity that it is in."""
        key = self._key_of(pod)
        root = self._states.root_of(key)
        return self._members.get(key, {}).get(meta.uid_of(pod)), self._queue.entity(root) if root is not None else None

    def remove_pod(self, pod: ReadOnlyTree) -> None:
        """A member is gone, or has a node; harmless when it does not wait."""
        key, uid = self._key_of(pod), meta.uid_of(pod)
        members = self._members.get(key, {})
        queued = members.pop(uid, None)
        if queued is not None:
            if not members:
                del self._members[key]
            self._leave_out(key, queued)
        self._states.remove_waiting_pod(uid)

    def _leave_out(self, key: EntityKey, queued: QueuedPodInfo) -> None:
        """Take a pod out of the entity of its root; it still counts for the quorum when that is
        asked for.
        """
        root = self._states.root_of(key)
        entity = self._queue.entity(root) if root is not None else None
        if root is None or not isinstance(entity, QueuedPodGroupInfo):
            return
        for leaf in entity.root.leaves():
            if leaf.key == key and queued in leaf.unscheduled_pods:
                leaf.unscheduled_pods.remove(queued)
        self._queue.pod_left(entity, queued)

    # groups

    def groups_changed(self, before: EntityKey | None, now: EntityKey | None) -> None:
        """A group came, went, moved or changed: its root was ``before`` and is ``now``."""
        for root in dict.fromkeys([before, now]):
            if root is not None and root != self._tried:
                self._rebuild(root)

    def _rebuild(self, root: EntityKey, entity: QueuedEntityInfo | None = None, strategy: int = IMMEDIATELY) -> None:
        """Make the entity of a root anew from what is known; it stays where it was in the queue."""
        present = self._queue.entity(root)
        if present is not None:
            entity, strategy = present, self._queue.take_out(root)
        tree = self._states.tree(root)
        if tree is None:
            return
        waiting: list[QueuedPodInfo] = []
        for leaf in tree.leaves():
            leaf.unscheduled_pods = sorted(self._members.get(leaf.key, {}).values(), key=_order)
            waiting += leaf.unscheduled_pods
        if not waiting:
            return
        if not isinstance(entity, QueuedPodGroupInfo):
            first = min(waiting, key=lambda each: each.sequence)
            entity = QueuedPodGroupInfo(tree, timestamp=first.timestamp, sequence=first.sequence)
        entity.root = tree
        if present is None and strategy == SKIP:
            self._queue.rest(entity)
        else:
            self._queue.requeue(entity, strategy)

    # cycles

    def begin(self, entity: QueuedPodGroupInfo) -> None:
        """A root is being tried: its pods wait no more, until they come back."""
        self._tried, self._strategy = entity.key, SKIP
        for leaf in entity.root.leaves():
            members = self._members.get(leaf.key, {})
            for queued in leaf.unscheduled_pods:
                members.pop(queued.info.uid, None)
            if not members:
                self._members.pop(leaf.key, None)

    def end(self, entity: QueuedPodGroupInfo, status: Status | None) -> None:
        """A root was tried: what waits of it by now is queued again.

        After a success at once, with its old place if pods of this cycle are among it; after a
        rejection, which it also is that no pod may go to its node, when an event may help; after
        an error, also of a binding, when its back-off is over.
        """
        self._tried = None
        leaves = [leaf.key for leaf in entity.root.leaves()]
        tried = {queued.info.uid: None for queued in entity.pods()}
        waiting = {uid: queued for key in leaves for uid, queued in self._members.get(key, {}).items()}
        came_back, others = any(uid in tried for uid in waiting), any(uid not in tried for uid in waiting)
        strategy = IMMEDIATELY
        errors = max((queued.consecutive_errors_count for queued in waiting.values()), default=0)
        all_came_back = came_back and all(uid in waiting for uid in tried)
        if status is None and (errors or not all_came_back):
            entity.consecutive_errors_count, entity.unschedulable_count = errors, 0
            if errors:
                entity.backoff_expiration = None
                strategy, came_back = AFTER_BACKOFF, False
        elif status is None or status.is_rejection:
            entity.unschedulable_count += 1
            entity.consecutive_errors_count, entity.backoff_expiration = 0, None
            strategy, came_back = AFTER_BACKOFF if others else self._strategy, False
        else:
            entity.consecutive_errors_count += 1
            entity.backoff_expiration = None
            strategy = AFTER_BACKOFF
        if status is not None or not came_back:
            entity.timestamp = self._clock.time()
        entity.was_flushed_from_unschedulable, entity.flush_timestamp = False, 0.0
        for root in dict.fromkeys(self._states.root_of(key) for key in leaves):
            if root is not None:
                self._rebuild(root, entity if root == entity.key else None, strategy)


def _order(queued: QueuedPodInfo) -> tuple[int, int, float, int]:
    """The order of pods within a group: those that were tried more often are older, as the time of
    each is that of its last try. Upstream: PodGroupMemberPodsOrderingFunc.
    """
    return -queued.priority, -queued.attempts, queued.timestamp, queued.sequence
