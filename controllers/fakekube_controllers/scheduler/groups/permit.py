"""Tries the pods of a group on a snapshot, as 1.36 does it: Permit plugins say of each pod whether
its group has enough of them by now.

A pod for which no node has room asks PostFilter plugins at once. One that gets room by evictions
counts as placed for those after it; the group then waits as a whole until the victims are gone.

Upstream: podGroupPodSchedulingAlgorithm and podGroupSchedulingDefaultAlgorithm of
pkg/scheduler/schedule_one_podgroup.go of 1.36.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fakekube_controllers.scheduler.cycle import Algorithm, SchedulingError
from fakekube_controllers.scheduler.framework.extender import Extender
from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unschedulable
from fakekube_controllers.scheduler.groups.placer import SnapshotPlacer, attempt_all
from fakekube_controllers.scheduler.groups.results import WAITS_FOR_VICTIMS, PodResult

NUM_ASSUMED = "NumAssumed"
"""Where the state of a group's cycle says how many of its pods are assumed on the snapshot."""
NOT_PERMITTED = Status(Code.WAIT)


@dataclass(slots=True)
class PermitResult(PodResult):
    """``permit``: what Permit plugins said, None: the pod may be bound."""

    permit: Status | None = None


class PermitPlacer(SnapshotPlacer):
    """Places pods on one snapshot. ``asks_post_filter``: pods without a node ask those plugins."""

    def __init__(
        self, algorithm: Algorithm, snapshot: Snapshot, state: CycleState, extenders: Sequence[Extender], *,
        asks_post_filter: bool,
    ) -> None:
        super().__init__(algorithm, snapshot, state, extenders)
        self._asks_post_filter = asks_post_filter
        # of the pods tried so far
        self._requires_preemption = False
        self._verdict: Status | None = NOT_PERMITTED
        self._last: PermitResult | None = None

    async def try_pod(self, queued: QueuedPodInfo, placement: Placement) -> PodResult:
        """Look for a node of a placement, or make room there; assume and reserve it in the
        snapshot, and ask Permit plugins.
        """
        result = self._last = PermitResult(queued)
        result.state.pod_group = self._state
        self._snapshot.placement = placement.node_names
        found, raised = await self._find_node(result.state, queued.info)
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
            answer, raised = await attempt_all(
                framework.run_post_filter_plugins, result.state, result.queued.info, self._snapshot, statuses)
            if raised is not None:
                result.status = Status(Code.ERROR, (repr(raised),))
                return
            made, status = answer
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

    def feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        """By what Permit plugins said of the pods so far, however many remain: one that may be
        bound is enough, and it stays so.
        """
        if remaining == len(info.unscheduled_pods):  # before the first
            self._requires_preemption, self._verdict, self._last = False, NOT_PERMITTED, None
        last = self._last
        if last is None:
            return self._verdict
        self._requires_preemption = self._requires_preemption or last.requires_preemption
        if last.permit is None and (last.fits or last.requires_preemption):
            self._verdict = WAITS_FOR_VICTIMS if self._requires_preemption else None
        return self._verdict
