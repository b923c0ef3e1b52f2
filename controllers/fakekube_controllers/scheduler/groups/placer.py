"""Tries the pods of a group on a snapshot, by the plugins of its profile.

Upstream: podGroupPodSchedulingAlgorithm and assumeAndReserve of
pkg/scheduler/schedule_one_podgroup.go, RunPlacement...Plugins of framework/runtime/framework.go.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakekube.runtime.controller import attempt, attempt_async
from fakekube_controllers.scheduler.cycle import Algorithm, SchedulingError
from fakekube_controllers.scheduler.framework.extender import Extender
from fakekube_controllers.scheduler.framework.placements import (
    Placement,
    PlacementProgress,
    PodGroupAssignments,
    ProposedAssignment,
)
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unschedulable
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.groups.results import PodResult

NO_PLACEMENTS = "no feasible placements found"
MAX_SCORE = 100


class SnapshotPlacer:
    """Places pods on one snapshot; ``state`` is that of the group's cycle, ``extenders`` are asked
    about every pod.
    """

    def __init__(
        self, algorithm: Algorithm, snapshot: Snapshot, state: CycleState, extenders: Sequence[Extender] = (),
    ) -> None:
        self._algorithm, self._framework, self._extenders = algorithm, algorithm.framework, extenders
        self._snapshot, self._state = snapshot, state

    async def _find_node(self, state: CycleState, pod: PodInfo) -> tuple[str, Exception | None]:
        """The best node of the snapshot, or why there is none."""
        if not self._extenders:
            return attempt(self._algorithm.schedule, state, pod, self._snapshot)
        from fakekube_controllers.scheduler import extending

        return await attempt_all(extending.schedule, self._algorithm, self._extenders, state, pod, self._snapshot)

    async def try_pod(self, queued: QueuedPodInfo, placement: Placement) -> PodResult:
        """Look for a node of a placement; assume and reserve it in the snapshot where one fits."""
        state = CycleState()
        state.pod_group = self._state
        self._snapshot.placement = placement.node_names
        found, raised = await self._find_node(state, queued.info)
        self._snapshot.placement = None
        if isinstance(raised, FitError):
            return PodResult(queued, unschedulable(raised.text()), state=state, fit_error=raised)
        if raised is not None:
            message = str(raised) if isinstance(raised, SchedulingError) else repr(raised)
            return PodResult(queued, Status(Code.ERROR, (message,)), state=state)
        result = PodResult(queued, None, found, state)
        result.status = self.assume(result)
        return result

    def assume(self, result: PodResult) -> Status | None:
        """Assume and reserve a pod's node; what went wrong, or None."""
        pod = result.queued.info
        self._snapshot.assume_pod(pod, result.node_name)
        status: Status | None = _status_of(self._framework.run_reserve_plugins, result.state, pod, result.node_name)
        if status is not None:
            self.revert(result)
        return status

    def revert(self, result: PodResult) -> None:
        """Give the node back."""
        pod = result.queued.info
        self._framework.run_unreserve_plugins(result.state, pod, result.node_name)
        self._snapshot.forget_pod(pod.uid, result.node_name)

    def feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        """What the first plugin says that is not satisfied; a rejection ends it, WAIT does not."""
        status: Status | None = _status_of(self._feasible, info, scheduled, remaining)
        return status

    def _feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        progress, waits = PlacementProgress(remaining, scheduled), None
        for plugin in self._framework.placement_feasible_plugins:
            status: Status | None = plugin.placement_feasible(self._state, info, progress)
            if status is None:
                continue
            if status.code != Code.WAIT:
                return status.of_plugin(plugin.name)
            waits = waits or status.of_plugin(plugin.name)
        return waits

    def placements(self, info: PodGroupInfo, within: Placement) -> Sequence[Placement] | Status:
        """The placements of all plugins; of several plugins what they have in common."""
        placements: Sequence[Placement] | Status = _status_of(self._placements, info, within)
        return placements

    def _placements(self, info: PodGroupInfo, within: Placement) -> Sequence[Placement] | Status:
        found: Sequence[Placement] = [within]
        for plugin in self._framework.placement_generate_plugins:
            generated: list[Placement] = []
            for parent in found:
                placements = plugin.generate_placements(self._state, info, parent, self._snapshot)
                if isinstance(placements, Status):
                    return placements.of_plugin(plugin.name)
                generated += [Placement(*placement) for placement in placements]
            if not generated:
                return Status(Code.UNSCHEDULABLE, (NO_PLACEMENTS,), plugin.name)
            found = generated
        return found

    def best_placement(self, info: PodGroupInfo, found: Sequence[tuple[Placement, Sequence[PodResult]]]) -> Placement | Status:
        """The placement with the highest score by all plugins, and of several the first."""
        best: Placement | Status = _status_of(self._best_placement, info, found)
        return best

    def _best_placement(self, info: PodGroupInfo, found: Sequence[tuple[Placement, Sequence[PodResult]]]) -> Placement | Status:
        proposed = {
            placement.name: PodGroupAssignments(placement, [
                ProposedAssignment(pod.queued.info, pod.node_name, pod.state) for pod in pods])
            for placement, pods in found}
        totals = dict.fromkeys(proposed, 0)
        for plugin in self._framework.placement_score_plugins:
            scores: dict[str, int] = {
                name: plugin.score_placement(self._state, info, assignments) for name, assignments in proposed.items()}
            if hasattr(plugin, "normalize_placement_score"):
                plugin.normalize_placement_score(self._state, info, scores)
            self._add(totals, scores, self._framework.weights.get(plugin.name, 1))
        best = max(totals.values())
        return next(placement for placement, _ in found if totals[placement.name] == best)

    @staticmethod
    def _add(totals: dict[str, int], scores: Mapping[str, int], weight: int) -> None:
        for name, score in scores.items():
            totals[name] += score * weight


async def attempt_all(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """As ``attempt_async``, a ConnectionError included: what is assumed is to be reverted first."""
    try:
        return await attempt_async(function, *arguments)
    except ConnectionError as error:
        return None, error


def _status_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function says that calls plugins; an error where one of them raises."""
    said, raised = attempt(function, *arguments)
    return said if raised is None else Status(Code.ERROR, (repr(raised),))
