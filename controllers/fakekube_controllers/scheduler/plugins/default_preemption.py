"""Makes room for pods and groups of higher priority by evicting others.

Upstream: plugins/defaultpreemption.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import POD_DISRUPTION_BUDGETS, PODS
from fakekube_controllers.scheduler.framework.events import ASSIGNED_POD_DELETE, SKIP, ClusterEventWithHint, QueueingHint
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.interface import PostFilterResult
from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, counted, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.groups.entities import group_key_of, priority_of
from fakekube_controllers.scheduler.preemption import groups, pods
from fakekube_controllers.scheduler.preemption.executor import Executor, Preemptor
from fakekube_controllers.scheduler.preemption.victims import Units, best_candidate

WHOLE_CLUSTER = "cluster"
MIN_CANDIDATE_NODES_PERCENTAGE, MIN_CANDIDATE_NODES_ABSOLUTE = 10, 100


def _skip(_pod: PodInfo, _old: ReadOnlyTree | None, _new: ReadOnlyTree | None) -> QueueingHint:
    return SKIP


class DefaultPreemption:
    """PreEnqueue, PostFilter and PodGroupPostFilter."""

    name = "DefaultPreemption"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Arguments: minCandidateNodesPercentage and minCandidateNodesAbsolute.

        ValueError for what is out of their ranges.
        """
        self._percentage = int(args.get("minCandidateNodesPercentage", MIN_CANDIDATE_NODES_PERCENTAGE))
        self._absolute = int(args.get("minCandidateNodesAbsolute", MIN_CANDIDATE_NODES_ABSOLUTE))
        if not 0 <= self._percentage <= 100:
            raise ValueError(f"minCandidateNodesPercentage: Invalid value: {self._percentage}: not in valid range [0, 100]")
        if self._absolute < 0:
            raise ValueError(f"minCandidateNodesAbsolute: Invalid value: {self._absolute}: not in valid range [0, inf)")
        self._handle, self._executor = handle, Executor(handle, self.name)
        self._pods, self._budgets = handle.lister(PODS), handle.lister(POD_DISRUPTION_BUDGETS)
        self._has_policy = handle.enabled("PodGroupPreemptionPolicy")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """The deletion of a pod; the plugins that rejected a pod say whether that helps it."""
        return [ClusterEventWithHint(ASSIGNED_POD_DELETE, _skip)]

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Whether evictions for the pod, or for its group, are still to be asked for."""
        known, key = self._handle.groups, group_key_of(pod.pod)
        if known is None or key is None:
            if self._executor.is_preempting(pod.uid):
                return unresolvable("waiting for the preemption for this pod to be finished")
            return None
        root = known.root_of(key)
        group = known.group(root) if root is not None else None
        if group is not None and self._executor.is_preempting(meta.uid_of(group)):
            return unresolvable("waiting for the preemption for this pod group to be finished")
        return None

    def _units(self) -> Units:
        """What may be evicted."""
        return Units(self._handle.groups)

    async def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """The node that the pod is to have, while its pods of lower priority go; else why not."""
        attempt = pods.Attempt(self._handle, state, pod, snapshot, self._units())
        current = self._pods.get(meta.namespace_of(pod.pod), meta.name_of(pod.pod))
        if current is None:
            return None, error(f'preemption: pod "{meta.name_of(pod.pod)}" not found')
        why_not = pods.not_eligible(attempt, current, statuses)
        if why_not:
            return None, unschedulable(f"preemption: {why_not}")
        potential = sum(number for status, number in counted(statuses) if status.code == Code.UNSCHEDULABLE)
        most = max(potential * self._percentage // 100, self._absolute)
        found, why_none = pods.find_candidates(attempt, statuses, self._budgets.list(), most)
        if why_none is not None:
            result = PostFilterResult(NominatingInfo("")) if why_none.is_rejection else None
            return result, Status(why_none.code, (f"preemption: {why_none.message}",))
        best = best_candidate(found)
        preemptor = Preemptor(EntityType.POD, pod.pod, pod.priority, (pod.uid,))
        self._executor.start(preemptor, best.pods, best.node_name)
        text = f"found a potential placement for pod on node {best.node_name}, preempting {len(best.pods)} victims"
        return PostFilterResult(NominatingInfo(best.node_name)), Status(Code.SUCCESS, (f"preemption: {text}",))

    async def pod_group_post_filter(
        self, state: CycleState, group: PodGroupInfo, snapshot: Snapshot, schedule: PodGroupSchedulingFunc,
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        """The nodes that the pods of a group are to have, while others go; else why not."""
        nominations, status = await self._preempt_for_group(group, snapshot, schedule)
        if not status.message:
            return nominations, status
        return nominations, Status(status.code, (f"pod group preemption: {status.message}",))

    async def _preempt_for_group(
        self, group: PodGroupInfo, snapshot: Snapshot, schedule: PodGroupSchedulingFunc,
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        attempt = groups.GroupAttempt(self._handle, group, snapshot, self._units(), self._has_policy)
        units = groups.units_of_all_nodes(attempt)
        if isinstance(units, Status):
            return {}, units
        why_not = groups.not_eligible(attempt)
        if why_not:
            return {}, unschedulable(why_not)
        if groups.is_ongoing(attempt):
            return groups.current_nominations(attempt), groups.ONGOING
        room = await groups.make_room(attempt, units, self._budgets.list(), schedule)
        if isinstance(room, Status):
            return {}, room
        waiting = tuple(queued.info.uid for leaf in group.leaves() for queued in leaf.unscheduled_pods)
        preemptor = Preemptor(group.key.type, group.group, priority_of(group.group), waiting)
        self._executor.start(preemptor, [pod for victim in room.victims for pod in victim.pods], WHOLE_CLUSTER)
        return room.nominations, groups.found(room.victims)
