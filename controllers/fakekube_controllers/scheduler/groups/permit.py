"""Tries the pods of a group on a snapshot, as 1.36 does it: Permit plugins say of each pod whether
its group has enough of them by now.

A pod for which no node has room asks PostFilter plugins at once. One that gets room by evictions
counts as placed for those after it; the group then waits as a whole until the victims are gone.

Upstream: podGroupPodSchedulingAlgorithm and podGroupSchedulingDefaultAlgorithm of
pkg/scheduler/schedule_one_podgroup.go of 1.36.
"""

from dataclasses import dataclass

from fakekube.runtime.controller import attempt
from fakekube_controllers.scheduler.cycle import Algorithm, SchedulingError
from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unschedulable
from fakekube_controllers.scheduler.groups.placer import SnapshotPlacer
from fakekube_controllers.scheduler.groups.results import GroupResult, PodResult

NUM_ASSUMED = "NumAssumed"
"""Where the state of a group's cycle says how many of its pods are assumed on the snapshot."""
NOT_PERMITTED = Status(Code.WAIT)
WAITS_FOR_VICTIMS = Status(Code.WAIT, ("pod group is waiting for preemption to complete",))


@dataclass(slots=True)
class PermitResult(PodResult):
    """``permit``: what Permit plugins said, None: the pod may be bound."""

    permit: Status | None = None


class PermitPlacer(SnapshotPlacer):
    """Places pods on one snapshot. ``asks_post_filter``: pods without a node ask those plugins."""

    def __init__(self, algorithm: Algorithm, snapshot: Snapshot, state: CycleState, *, asks_post_filter: bool) -> None:
        super().__init__(algorithm, snapshot, state)
        self._asks_post_filter = asks_post_filter
        self._requires_preemption = False  # one of the pods tried so far

    async def try_pod(self, queued: QueuedPodInfo, placement: Placement) -> PodResult:
        """Look for a node of a placement, or make room there; assume and reserve it in the
        snapshot, and ask Permit plugins.
        """
        result = PermitResult(queued)
        result.state.pod_group = self._state
        self._snapshot.placement = placement.node_names
        found, raised = attempt(self._algorithm.schedule, result.state, queued.info, self._snapshot)
        if isinstance(raised, FitError):
            await self._make_room(result, raised)
        self._snapshot.placement = None
        if raised is None:
            result.node_name = found
        elif not isinstance(raised, FitError):
            message = str(raised) if isinstance(raised, SchedulingError) else repr(raised)
            result.status = Status(Code.ERROR, (message,))
        if result.node_name:
            self._reserve_and_permit(result)
        return result

    async def _make_room(self, result: PermitResult, error: FitError) -> None:
        """Ask PostFilter plugins, and note why the pod has no node, or which it has soon."""
        framework = self._framework
        if error.num_all_nodes and framework.post_filter_plugins and self._asks_post_filter:
            statuses = error.statuses
            if error.pre_filter_status is not None:
                statuses = dict.fromkeys(self._snapshot.nodes, error.pre_filter_status)
            made, status = await framework.run_post_filter_plugins(
                result.state, result.queued.info, self._snapshot, statuses)
            error.post_filter_message = status.message if status is not None else ""
            result.nominating_info = made.nominating_info if made is not None else None
            if result.nominating_info is not None:
                result.node_name = result.nominating_info.nominated_node_name
        result.requires_preemption = bool(result.node_name)
        result.status, result.fit_error = unschedulable(error.text()), error

    def _reserve_and_permit(self, result: PermitResult) -> None:
        pod, node_name = result.queued.info, result.node_name
        failure = self.assume(result)
        if failure is None:
            _, permit = self._framework.run_permit_plugins(result.state, pod, node_name)
            if permit is None or permit.code == Code.WAIT:
                result.permit = permit
                return
            self.revert(result)
            failure = permit
        if failure.is_rejection:
            plugins = (failure.plugin,) if failure.plugin else ()
            result.fit_error = FitError({node_name: failure}, 1, plugins=plugins)
            failure = unschedulable(result.fit_error.text())
        result.status, result.requires_preemption, result.node_name = failure, False, ""

    def assume(self, result: PodResult) -> Status | None:
        """Assume and reserve a pod's node; what went wrong, or None."""
        self._count(1)
        return super().assume(result)

    def revert(self, result: PodResult) -> None:
        """Give the node back."""
        self._count(-1)
        super().revert(result)

    def _count(self, change: int) -> None:
        self._state[NUM_ASSUMED] = self._state.get(NUM_ASSUMED, 0) + change

    def feasible(self, result: GroupResult, scheduled: int, remaining: int) -> Status | None:
        """By what Permit plugins said of the last pod, however many remain: one that may be bound
        is enough, and it stays so.
        """
        if not result.pods:
            self._requires_preemption = False
            return NOT_PERMITTED
        last = result.pods[-1]
        assert isinstance(last, PermitResult), "made above"
        self._requires_preemption = self._requires_preemption or last.requires_preemption
        if last.permit is not None or not (last.fits or last.requires_preemption):
            return result.status
        if not self._requires_preemption:
            return None
        result.waits_for_preemption = True
        return WAITS_FOR_VICTIMS
