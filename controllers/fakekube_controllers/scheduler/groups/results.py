"""What a group cycle finds, by pod and by group.

Upstream: algorithmResult and podGroupAlgorithmResult of pkg/scheduler/schedule_one_podgroup.go.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fakekube_controllers.scheduler.framework.handle import CLEAR_NOMINATED_NODE, NominatingInfo
from fakekube_controllers.scheduler.framework.queued import EntityKey, PodGroupInfo, QueuedPodInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status

UNSCHEDULABLE_GROUP = "pod group is unschedulable"
WAITS_FOR_VICTIMS = Status(Code.WAIT, ("pod group is waiting for preemption to complete",))
"""Said by a placer of a group that fits once the victims of its pods are gone."""


@dataclass(slots=True)
class PodResult:
    """What was found for one pod: a node, or a status that says why not.

    ``fit_error``: why no node fits it. ``nominating_info``: what becomes of its nomination, where
    that is not to be cleared. ``requires_preemption``: it fits its node once the victims there are
    gone, and counts as there for the pods after it.
    """

    queued: QueuedPodInfo
    status: Status | None = None
    node_name: str = ""
    state: CycleState = field(default_factory=CycleState)
    fit_error: FitError | None = None
    nominating_info: NominatingInfo | None = CLEAR_NOMINATED_NODE
    requires_preemption: bool = False

    @property
    def fits(self) -> bool:
        """Whether there is a node for it."""
        return self.status is None


@dataclass(slots=True)
class GroupResult:
    """What was found for one group. The status is None where its pods can be bound.

    ``pods``: of a leaf, those that were tried, in the order of the leaf's pods. ``any_placed``:
    whether a node was found for at least one pod of the subtree.
    """

    info: PodGroupInfo
    status: Status | None = None
    pods: list[PodResult] = field(default_factory=list)
    any_placed: bool = False
    waits_for_preemption: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether its pods can be bound."""
        return self.status is None

    @property
    def will_do(self) -> bool:
        """Whether its placement is one to choose: pods can be bound, now or after evictions."""
        return self.status is None or self.waits_for_preemption

    @property
    def is_error(self) -> bool:
        """Whether a plugin failed, rather than that the group does not fit."""
        return self.status is not None and self.status.code == Code.ERROR


Results = dict[EntityKey, GroupResult]


def group_unschedulable(*reasons: str) -> Status:
    """The status of a group that does not fit, its reasons after the general one."""
    return Status(Code.UNSCHEDULABLE, reasons, error=UNSCHEDULABLE_GROUP)


def failed(text: str) -> Status:
    """The status of a group whose evaluation failed."""
    return Status(Code.ERROR, (text,))


def succeeded_leaves(info: PodGroupInfo, results: Mapping[EntityKey, GroupResult]) -> Iterator[GroupResult]:
    """The results of the leaves that succeeded with all of their ancestors up to ``info``.

    A group that was never tried has no result.
    """
    result = results.get(info.key)
    if result is None or not result.succeeded:
        return
    for child in info.children:
        yield from succeeded_leaves(child, results)
    if result.pods:
        yield result


def complete(root: PodGroupInfo, results: Results) -> None:
    """Give every group and every pod of a tree a result.

    Where a parent fails, children that succeeded fail with its status; what was not tried has the
    status of the group that it is in.
    """
    _complete_groups(root, results, None)
    for leaf in root.leaves():
        result = results[leaf.key]
        result.pods += [PodResult(queued, result.status) for queued in leaf.unscheduled_pods[len(result.pods):]]


def _complete_groups(info: PodGroupInfo, results: Results, parent: GroupResult | None) -> None:
    result = results.get(info.key)
    if parent is not None and (result is None or (result.succeeded and not parent.succeeded)):
        result = results[info.key] = GroupResult(info, parent.status)
    assert result is not None, "a root has a result"
    for child in info.children:
        _complete_groups(child, results, result)


def with_reasons(status: Status, *reasons: str) -> Status:
    """The same status with more reasons."""
    return replace(status, reasons=(*status.reasons, *reasons))
