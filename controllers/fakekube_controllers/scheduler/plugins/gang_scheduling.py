"""Gangs: no pod is tried before its group, and the tree that the group is in, can be whole, and no
group is bound that is not.

Upstream: plugins/gangscheduling (KEP-4671, KEP-6012). Left out: its Permit, which has nothing to
wait for where a group is tried as one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    QUEUE,
    SKIP,
    UNSCHEDULED_POD_ADD,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.placements import PlacementProgress
from fakekube_controllers.scheduler.framework.queued import (
    EntityKey,
    PodGroupInfo,
    composite_pod_group_key,
    pod_group_key,
)
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.groups import quorum
from fakekube_controllers.scheduler.groups.entities import group_key_of, is_gang, minimum_of
from fakekube_controllers.scheduler.groups.states import GroupStates

WAITING_FOR_PODS = "waiting for minCount pods from a gang to appear in scheduling queue"


class GangScheduling:
    """PreEnqueue and PlacementFeasible."""

    name = "GangScheduling"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._handle = handle

    @property
    def _groups(self) -> GroupStates:
        groups = self._handle.groups
        assert groups is not None, "a pod names a group"
        return groups

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A member, a group or a parent that comes, and a minimum that goes down."""
        return [
            ClusterEventWithHint(UNSCHEDULED_POD_ADD, self._after_pod_added),
            ClusterEventWithHint(ASSIGNED_POD_ADD, self._after_pod_added),
            ClusterEventWithHint(ClusterEvent(EventResource.POD_GROUP, ActionType.ADD), self._after_pod_group_added),
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD_GROUP, ActionType.UPDATE), self._after_pod_group_updated, _lowers_minimum),
            ClusterEventWithHint(ClusterEvent(EventResource.COMPOSITE_POD_GROUP, ActionType.ADD), self._after_composite_added),
        ]

    def _after_pod_added(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        return self._in_same_tree(pod, group_key_of(new) if new is not None else None)

    def _after_pod_group_added(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        assert new is not None, "it was added"
        return self._in_same_tree(pod, pod_group_key(meta.namespace_of(new), meta.name_of(new)))

    def _after_composite_added(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        assert new is not None, "it was added"
        return self._in_same_tree(pod, composite_pod_group_key(meta.namespace_of(new), meta.name_of(new)))

    def _after_pod_group_updated(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        assert old is not None, "it was updated"
        assert new is not None, "it was updated"
        if not _lowers_minimum(old, new):
            return SKIP
        return self._in_same_tree(pod, pod_group_key(meta.namespace_of(new), meta.name_of(new)))

    def _in_same_tree(self, pod: PodInfo, other: EntityKey | None) -> QueueingHint:
        key = group_key_of(pod.pod)
        if key is None or other is None:
            return SKIP
        if key == other:
            return QUEUE
        root = self._groups.root_of(key)
        return QUEUE if root is not None and root == self._groups.root_of(other) else SKIP

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Whether the pod's group is known and, with the tree that it is in, can be whole."""
        key = group_key_of(pod.pod)
        if key is None or self._handle.groups is None:
            return None
        groups = self._groups
        group = groups.group(key)
        if group is None:
            return unresolvable(f'waiting for pod\'s pod group "{key.name}" to appear in scheduling queue')
        root = groups.root_of(key)
        if root is not None and groups.is_ready(root):
            return None
        if root == key:
            return unresolvable(WAITING_FOR_PODS)
        return unresolvable(f'waiting for composite pod group "{groups.nearest_known(key).name}" tree to meet quorum')

    def missing(self, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> Sequence[Change] | None:
        """A group that is not there, or what the tree lacks of its quorum."""
        key = group_key_of(pod.pod)
        return None if key is None else quorum.missing(self._groups, key)

    def placement_feasible(self, state: CycleState, group: PodGroupInfo, progress: PlacementProgress) -> Status | None:
        """Whether the group has its minimum, may still have it, or not any more."""
        minimum, (remaining, scheduled) = minimum_of(group.group), progress
        found = f"{scheduled} scheduled, {remaining} remaining"
        if scheduled + remaining < minimum:
            return unschedulable(f"minCount ({minimum}) cannot be satisfied: {found}")
        if scheduled < minimum:
            return Status(Code.WAIT, (f"minCount ({minimum}) is not yet satisfied: {found}",))
        return None


def _lowers_minimum(old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> bool:
    return old is not None and new is not None and is_gang(old) and is_gang(new) and minimum_of(new) < minimum_of(old)
