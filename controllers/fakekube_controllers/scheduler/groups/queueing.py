"""Groups in the scheduling queue: a root is one entity there, and its pods are queued with it.

A pod of a group waits here for as long as it has no node. It is in the entity of its root while
that is in the queue; while its root is not known, or is being tried, it is in none.

A group that was rejected waits for an event that may help one of its pods. Upstream lets it only
back off, and tries what backs off whenever there is nothing else to do; on a clock that stands
still that would never end.

Upstream: addPodGroupMember, AddAttemptedPodGroupIfNeeded, AddPodGroup and their neighbours of
pkg/scheduler/backend/queue/scheduling_queue.go.
"""

from bisect import insort
from collections.abc import Callable
from typing import Any, Protocol

from fakekube.util.clock import Clock
from fakekube_controllers.scheduler.framework.queued import EntityKey, QueuedEntityInfo, QueuedPodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.groups.entities import group_key_of
from fakekube_controllers.scheduler.groups.states import GroupStates

SKIP, AFTER_BACKOFF, IMMEDIATELY = range(3)  # as in queue.py: where an entity goes


class EntityQueue(Protocol):
    """What is needed of the scheduling queue."""

    def entity(self, key: EntityKey) -> QueuedEntityInfo | None:
        """The entity in the queue."""

    def take_out(self, key: EntityKey) -> int:
        """Take an entity out; the strategy that puts it back to the same place."""

    def requeue(self, entity: QueuedEntityInfo, strategy: int) -> None:
        """Put an entity where a strategy wants it, if no PreEnqueue plugin holds it."""


class GroupQueue:
    """The groups of one scheduler. ``sort_key``: the order of pods within a group."""

    def __init__(
        self, queue: EntityQueue, states: GroupStates, clock: Clock, sort_key: Callable[[QueuedPodInfo], Any],
    ) -> None:
        self._queue, self._states, self._clock, self._sort_key = queue, states, clock, sort_key
        self._members: dict[EntityKey, dict[str, QueuedPodInfo]] = {}  # by leaf and uid: those that wait
        self._tried: EntityKey | None = None  # the root in its cycle

    # pods

    def add_pod(self, queued: QueuedPodInfo) -> None:
        """A member waits for a node, for the first time or again."""
        key = group_key_of(queued.info.pod)
        assert key is not None, "a member"
        self._members.setdefault(key, {})[queued.info.uid] = queued
        root = self._states.root_of(key)
        if root is None or root == self._tried:
            return
        entity = self._queue.entity(root)
        if not isinstance(entity, QueuedPodGroupInfo):
            self._rebuild(root)
            return
        leaf = next(leaf for leaf in entity.root.leaves() if leaf.key == key)
        insort(leaf.unscheduled_pods, queued, key=self._sort_key)
        self._queue.requeue(entity, self._queue.take_out(root))

    def find_pod(self, key: EntityKey, uid: str) -> QueuedPodInfo | None:
        """A member that waits, by its leaf."""
        return self._members.get(key, {}).get(uid)

    def entity_of(self, key: EntityKey) -> QueuedEntityInfo | None:
        """The entity that the pods of a leaf are in; None where they are in none."""
        root = self._states.root_of(key)
        return self._queue.entity(root) if root is not None else None

    def remove_pod(self, key: EntityKey, uid: str) -> None:
        """A member is gone, or has a node; harmless when it does not wait."""
        members = self._members.get(key, {})
        queued = members.pop(uid, None)
        if queued is None:
            return
        if not members:
            del self._members[key]
        root = self._states.root_of(key)
        entity = self._queue.entity(root) if root is not None else None
        if root is None or not isinstance(entity, QueuedPodGroupInfo):
            return
        for leaf in entity.root.leaves():
            if leaf.key == key:
                leaf.unscheduled_pods = [each for each in leaf.unscheduled_pods if each is not queued]
        strategy = self._queue.take_out(root)
        if next(entity.pods(), None) is not None:
            self._queue.requeue(entity, strategy)

    # groups

    def groups_changed(self, before: EntityKey | None, now: EntityKey | None) -> None:
        """A group came, went, moved or changed: its root was ``before`` and is ``now``."""
        for root in dict.fromkeys([before, now]):
            if root is not None and root != self._tried:
                self._rebuild(root)

    def _rebuild(self, root: EntityKey, params: QueuedPodGroupInfo | None = None, strategy: int = IMMEDIATELY) -> None:
        """Make the entity of a root anew from what is known; it stays where it was in the queue."""
        entity = self._queue.entity(root)
        if entity is not None:
            strategy = self._queue.take_out(root)
        tree = self._states.tree(root)
        if tree is None:
            return
        waiting: list[QueuedPodInfo] = []
        for leaf in tree.leaves():
            leaf.unscheduled_pods = sorted(self._members.get(leaf.key, {}).values(), key=self._sort_key)
            waiting += leaf.unscheduled_pods
        if not waiting:
            return
        made = params or entity
        if not isinstance(made, QueuedPodGroupInfo):
            first = min(waiting, key=lambda each: each.sequence)
            made = QueuedPodGroupInfo(tree, timestamp=first.timestamp, sequence=first.sequence)
        made.root = tree
        self._queue.requeue(made, strategy)

    # cycles

    def begin(self, entity: QueuedPodGroupInfo) -> None:
        """A root is being tried: its pods wait no more, until they come back."""
        self._tried = entity.key
        for leaf in entity.root.leaves():
            members = self._members.get(leaf.key, {})
            for queued in leaf.unscheduled_pods:
                members.pop(queued.info.uid, None)
            if not members:
                self._members.pop(leaf.key, None)

    def end(self, entity: QueuedPodGroupInfo, status: Status | None) -> None:
        """A root was tried: what waits of it by now is queued again.

        After a success at once, with its old place if pods of this cycle are among it; after a
        rejection when an event may help; after an error when its back-off is over.
        """
        self._tried = None
        tried = {queued.info.uid: None for queued in entity.pods()}
        waiting = {
            uid: queued for leaf in entity.root.leaves() for uid, queued in self._members.get(leaf.key, {}).items()}
        came_back, strategy = any(uid in tried for uid in waiting), IMMEDIATELY
        if status is None:
            entity.consecutive_errors_count = entity.unschedulable_count = 0
        else:
            if status.is_rejection:
                entity.unschedulable_count += 1
                entity.consecutive_errors_count = 0
                strategy = AFTER_BACKOFF if any(uid not in tried for uid in waiting) else SKIP
            else:
                entity.consecutive_errors_count += 1
                strategy = AFTER_BACKOFF
            entity.backoff_expiration = None
        if status is not None or not came_back:
            entity.timestamp = self._clock.time()
        entity.was_flushed_from_unschedulable, entity.flush_timestamp = False, 0.0
        root = self._states.root_of(entity.key) or entity.key
        self._rebuild(root, entity if root == entity.key else None, strategy)
