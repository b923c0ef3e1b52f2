"""Where the pods of a group go, all or none: one group on one snapshot, in memory.

A leaf's pods are tried one after the other, each seeing those before it; after each the group is
asked whether it can still be, or is already, satisfied. The children of a composite group are tried
in the same way. With topology constraints all of that is done once for each placement (a set of
nodes), and the best that succeeds is taken; one that the pods are nominated for is tried first.
There is no backtracking: a group of unlike pods may fail although some order of them would fit, as
upstream.

Upstream: pkg/scheduler/schedule_one_podgroup.go (podGroupSchedulingDefaultAlgorithm and its
neighbours). Of several placements with the same score the first by name is taken, so that a seed
gives one history.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import EntityType, PodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.groups.results import (
    WAITS_FOR_VICTIMS,
    GroupResult,
    PodResult,
    Results,
    failed,
    group_unschedulable,
    succeeded_leaves,
)
from fakekube_controllers.scheduler.groups.states import GroupStates

ALL_NODES = Placement("", None)


class Placer(Protocol):
    """What the algorithm needs of the scheduler and its plugins."""

    async def try_pod(self, queued: QueuedPodInfo, placement: Placement) -> PodResult:
        """Look for a node of a placement; assume and reserve it in the snapshot where one fits."""

    def assume(self, result: PodResult) -> Status | None:
        """Assume and reserve once more what was reverted."""

    def revert(self, result: PodResult) -> None:
        """Undo what ``try_pod`` or ``assume`` did."""

    def feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        """Whether the group is satisfied: None, WAIT (it may be, by what remains) or a
        rejection.
        """

    def placements(self, info: PodGroupInfo, within: Placement) -> Sequence[Placement] | Status:
        """The sets of nodes that the group may use."""

    def best_placement(self, info: PodGroupInfo, found: Sequence[tuple[Placement, Sequence[PodResult]]]) -> Placement | Status:
        """The best of several, with the pods that each would place."""


class _Trial(NamedTuple):
    """One attempt on a subtree: its result, those of the groups below, and the pods that stand
    assumed because of it.
    """

    result: GroupResult
    results: Results
    assumed: list[PodResult]

    def remember(self, other: "_Trial") -> None:
        """Let an event that may help in another placement be one for the group: one pod keeps it.

        Upstream need not: it tries a rejected group again without an event.
        """
        rejected = [pod for result in self.results.values() for pod in result.pods if pod.fit_error is not None]
        if rejected:
            elsewhere = (pod.fit_error for result in other.results.values() for pod in result.pods)
            plugins = {name: None for error in elsewhere if error is not None for name in error.plugins}
            assert rejected[0].fit_error is not None, "it was looked for"
            rejected[0].fit_error = rejected[0].fit_error.also(plugins)


def _nominated_placement(info: PodGroupInfo, placements: Sequence[Placement]) -> Placement | None:
    """The placement that most pods of a leaf are nominated for; None where none is."""
    names = [(queued.info.pod.get("status") or {}).get("nominatedNodeName") for queued in info.unscheduled_pods]
    counts = [sum(name in (placement.node_names or ()) for name in names if name) for placement in placements]
    most = max(counts, default=0)
    return placements[counts.index(most)] if most else None


class GroupAlgorithm:
    """One group cycle. After ``run`` nothing stays assumed. It waits for extenders, and for nothing
    else.

    ``unavailable`` makes the status of a group for which no placement would do of a text.
    """

    def __init__(
        self, placer: Placer, states: GroupStates, *, uses_placements: bool,
        unavailable: Callable[[str], Status] = group_unschedulable,
    ) -> None:
        self._placer, self._states, self._uses_placements = placer, states, uses_placements
        self._unavailable_status = unavailable

    async def run(self, root: PodGroupInfo) -> Results:
        """The results of the root and of the groups below that were tried."""
        trial = await self._group(root, ALL_NODES)
        self._revert(trial.assumed)
        if trial.result.succeeded and not trial.result.any_placed:
            trial.result.status = group_unschedulable()
        return trial.results

    async def in_placement(self, root: PodGroupInfo, placement: Placement) -> Results:
        """The results of one placement of the root."""
        trial = await self._in_placement(root, placement)
        self._revert(trial.assumed)
        return trial.results

    def _revert(self, pods: list[PodResult]) -> None:
        while pods:
            self._placer.revert(pods.pop())

    async def _group(self, info: PodGroupInfo, within: Placement) -> _Trial:
        """A group inside a placement of its parent, by the best of its own placements."""
        if not self._uses_placements:
            return await self._in_placement(info, within)
        placements = self._placer.placements(info, within)
        if isinstance(placements, Status):
            return self._only(GroupResult(info, placements))
        if len(placements) == 1:
            trial = await self._in_placement(info, placements[0])
            if trial.result.will_do or trial.result.is_error:
                return trial
            return self._unavailable(trial, 1)
        nominated = _nominated_placement(info, placements)
        if nominated is not None:
            trial = await self._in_placement(info, nominated)
            if trial.result.succeeded and trial.result.any_placed:
                return trial
            self._revert(trial.assumed)
        found: list[tuple[Placement, _Trial]] = []
        first: _Trial | None = None
        for placement in placements:
            trial = await self._in_placement(info, placement)
            self._revert(trial.assumed)
            if trial.result.is_error:
                return trial
            first = first or trial
            if trial.result.will_do:
                found.append((placement, trial))
            elif trial is not first:
                first.remember(trial)
        assert first is not None, "there is a placement"
        return self._best(info, found) if found else self._unavailable(first, len(placements))

    @staticmethod
    def _only(result: GroupResult) -> _Trial:
        return _Trial(result, {result.info.key: result}, [])

    def _unavailable(self, trial: _Trial, count: int) -> _Trial:
        """No placement would do. The pods keep what was found in the first."""
        status = trial.result.status
        assert status is not None, "it failed"
        trial.result.status = self._unavailable_status(
            f"0/{count} placements are available, first placement status: {status.error or status.message}")
        return trial

    def _best(self, info: PodGroupInfo, found: Sequence[tuple[Placement, _Trial]]) -> _Trial:
        """The best placement of several that would do, assumed again."""
        trial = found[0][1]
        if len(found) > 1:
            best = self._placer.best_placement(info, [
                (placement, [pod for leaf in succeeded_leaves(info, each.results) for pod in leaf.pods if pod.fits])
                for placement, each in found])
            if isinstance(best, Status):
                return self._only(GroupResult(info, best))
            trial = next(each for placement, each in found if placement is best)
        for leaf in succeeded_leaves(info, trial.results):
            for pod in leaf.pods:
                if not pod.fits:
                    continue
                status = self._placer.assume(pod)
                if status is not None:
                    self._revert(trial.assumed)
                    return self._only(GroupResult(info, failed(f"failed to assume the subtree: {status.message}")))
                trial.assumed.append(pod)
        return trial

    async def _in_placement(self, info: PodGroupInfo, placement: Placement) -> _Trial:
        is_composite = info.key.type is EntityType.COMPOSITE_POD_GROUP
        trial = await (self._children(info, placement) if is_composite else self._pods(info, placement))
        trial.results[info.key] = trial.result
        if not trial.result.succeeded:
            self._revert(trial.assumed)
            trial.result.any_placed = False
        return trial

    async def _pods(self, info: PodGroupInfo, placement: Placement) -> _Trial:
        """A leaf's pods, one after the other."""
        result, assumed = GroupResult(info), list[PodResult]()
        trial = _Trial(result, {}, assumed)
        scheduled, remaining = len(self._states.placed(info.key)), len(info.unscheduled_pods)
        result.status = self._placer.feasible(info, scheduled, remaining)
        if result.status is not None and result.status.code != Code.WAIT:
            if result.is_error:
                result.status = failed(f"failed to evaluate placement feasibility: {result.status.message}")
            else:
                result.status = group_unschedulable(*result.status.reasons)
            return trial
        for queued in info.unscheduled_pods:
            pod = await self._placer.try_pod(queued, placement)
            result.pods.append(pod)
            if pod.status is None or pod.requires_preemption:
                assumed.append(pod)
            elif not pod.status.is_rejection:
                result.status = failed(f"failed to schedule other pod from a pod group: {pod.status.message}")
                return trial
            remaining -= 1
            scheduled += pod.fits
            result.status = self._placer.feasible(info, scheduled, remaining)
            if result.status is not None and result.status.code != Code.WAIT:
                if result.is_error:
                    result.status = failed(f"failed to evaluate placement feasibility: {result.status.message}")
                return trial
            result.any_placed = result.any_placed or pod.fits
        if result.status is not None:
            result.waits_for_preemption = result.status is WAITS_FOR_VICTIMS
            result.status = group_unschedulable(*result.status.reasons)
        return trial

    async def _children(self, info: PodGroupInfo, placement: Placement) -> _Trial:
        """The groups of a composite group, one after the other."""
        result = GroupResult(info)
        trial = _Trial(result, {}, [])
        scheduled, remaining = 0, len(info.children)
        result.status = self._placer.feasible(info, scheduled, remaining)
        if result.status is not None and result.status.code != Code.WAIT:
            return trial
        for child in info.children:
            tried = await self._group(child, placement)
            trial.results.update(tried.results)
            if tried.result.is_error:
                assert tried.result.status is not None, "it is an error"
                result.status = failed(f"composite pod group evaluation failed due to child error: {tried.result.status.message}")
                return trial
            result.any_placed = result.any_placed or tried.result.any_placed
            trial.assumed.extend(tried.assumed)
            remaining -= 1
            scheduled += tried.result.succeeded
            result.status = self._placer.feasible(info, scheduled, remaining)
            if result.status is not None and result.status.code != Code.WAIT:
                return trial
        if result.status is not None:
            result.status = group_unschedulable(*result.status.reasons)
        return trial
