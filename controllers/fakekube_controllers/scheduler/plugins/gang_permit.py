"""Gangs as before 1.37: no pod is tried before its group can be whole, and none is bound before
enough of the group have a node.

Each pod is held for itself. One that has a node waits in Permit, and keeps the node, until enough
others have one too; not for ever. In 1.36 that is asked while the group is tried on a snapshot, so
that no node is kept.

Upstream: plugins/gangscheduling of 1.35 and 1.36.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
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
from fakekube_controllers.scheduler.framework.queued import EntityKey
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, error, unresolvable
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.groups.entities import is_gang, minimum_of
from fakekube_controllers.scheduler.groups.permit import NUM_ASSUMED
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.plugins.gang_scheduling import WAITING_FOR_PODS

TIMEOUT_SECONDS = 300.0


class Policy(NamedTuple):
    """How the pods of a group go together: ``min_count`` of them, or None: each for itself."""

    min_count: int | None = None
    timeout_seconds: float = TIMEOUT_SECONDS


class Missing(NamedTuple):
    """There is no policy: ``waits_for`` is what PreEnqueue says then, ``failure`` what Permit."""

    waits_for: str
    failure: str


class GangPermit:
    """PreEnqueue and Permit of 1.36."""

    name = "GangScheduling"
    _waits = "waiting for minCount pods from a gang to be scheduled"
    _object = EventResource.POD_GROUP

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A member that comes, and the object that has the policy."""
        return [
            ClusterEventWithHint(UNSCHEDULED_POD_ADD, self._after_pod_added),
            ClusterEventWithHint(ASSIGNED_POD_ADD, self._after_pod_added),
            ClusterEventWithHint(ClusterEvent(self._object, ActionType.ADD), self._after_object_added),
        ]

    def _after_pod_added(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        key = self.key_of(pod.pod)
        return QUEUE if key is not None and new is not None and key == self.key_of(new) else SKIP

    def _after_object_added(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        assert new is not None, "it was added"
        is_in_namespace = meta.namespace_of(new) == meta.namespace_of(pod.pod)
        return QUEUE if is_in_namespace and self.object_name_of(pod.pod) == meta.name_of(new) else SKIP

    def key_of(self, pod: ReadOnlyTree) -> EntityKey | None:
        """The group that a pod is in."""
        return self._handle.groups.key_of(pod) if self._handle.groups is not None else None

    def object_name_of(self, pod: ReadOnlyTree) -> str | None:
        """The name of the object that has the policy of a pod's group."""
        key = self.key_of(pod)
        return key.name if key is not None else None

    def policy_of(self, pod: ReadOnlyTree) -> Policy | Missing:
        """The policy of a pod's group."""
        key = self.key_of(pod)
        assert key is not None, "a pod of a group"
        name, group = key.name, self._groups.group(key)
        if group is None:
            return Missing(
                f'waiting for pods\'s pod group "{name}" to appear in scheduling queue',
                f'failed to get podGroup {meta.namespace_of(pod)}/{name}: podgroup.scheduling.k8s.io "{name}" not found')
        return Policy(minimum_of(group)) if is_gang(group) else Policy()

    @property
    def _groups(self) -> GroupStates:
        groups = self._handle.groups
        assert groups is not None, "a pod names a group"
        return groups

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Whether the pod's group is known, and has pods enough."""
        key = self.key_of(pod.pod)
        if key is None:
            return None
        policy = self.policy_of(pod.pod)
        if isinstance(policy, Missing):
            return unresolvable(policy.waits_for)
        if policy.min_count is not None and self._groups.all_count(key) < policy.min_count:
            return unresolvable(WAITING_FOR_PODS)
        return None

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status | None, float]:
        """Whether pods enough of the group have nodes; then all of them may be bound."""
        key = self.key_of(pod.pod)
        if key is None:
            return None, 0.0
        policy = self.policy_of(pod.pod)
        if isinstance(policy, Missing):
            return error(policy.failure), 0.0
        if policy.min_count is None:
            return None, 0.0
        placed = self._groups.placed(key)
        assumed: int = state.pod_group.get(NUM_ASSUMED, 0) if state.pod_group is not None else 0
        if len(placed) + assumed < policy.min_count:
            if state.pod_group is None:
                self._handle.activate([info.uid for info in self._groups.waiting(key)])
            return Status(Code.WAIT, (self._waits,)), self.seconds_left(key, policy)
        for each in placed:
            waiting = self._handle.get_waiting_pod(each.info.uid)
            if waiting is not None:
                waiting.allow(self.name)
        return None, 0.0

    def seconds_left(self, key: EntityKey, policy: Policy) -> float:
        """How long a pod waits at most."""
        return policy.timeout_seconds
