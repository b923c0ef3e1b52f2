"""The extension points of groups of pods, as Protocols: which placements there are, which are
feasible, which is best, and what makes room where none is.

Upstream: kube-scheduler/framework/interface.go (PlacementGeneratePlugin, PlacementScorePlugin,
PodGroupPostFilterPlugin), pkg/scheduler/framework/interface.go (PlacementFeasiblePlugin).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.interface import Plugin
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import PodInfo


class Placement(NamedTuple):
    """Nodes, by name and in order, that a group is to be tried on; None: all of them."""

    name: str
    node_names: Mapping[str, None] | None


class ProposedAssignment(NamedTuple):
    """A node for a pod of a group, found in a group cycle."""

    pod: PodInfo
    node_name: str
    state: CycleState


class PodGroupAssignments(NamedTuple):
    """What one placement gives: a node for some or all pods of a group."""

    placement: Placement
    proposed_assignments: Sequence[ProposedAssignment]


class PlacementProgress(NamedTuple):
    """How far a group has come on a placement: children that are still to be evaluated, and those
    that have a node (before, or in this cycle). For a pod group its pods, else its child groups.
    """

    remaining: int
    scheduled: int


class PlacementGeneratePlugin(Plugin, Protocol):
    """Divides the nodes for a group."""

    def generate_placements(
        self, state: CycleState, group: PodGroupInfo, parent: Placement, snapshot: Snapshot,
    ) -> Sequence[Placement] | Status:
        """The placements within that of the parent, which may overlap; none: it fits nowhere."""


class PlacementFeasiblePlugin(Plugin, Protocol):
    """Asked before the first pod (or child group) is evaluated on a placement, and after each."""

    def placement_feasible(self, state: CycleState, group: PodGroupInfo, progress: PlacementProgress) -> Status | None:
        """WAIT while more is needed and may come, UNSCHEDULABLE to give the placement up, None once
        it will do (and from then on).
        """


class PlacementScorePlugin(Plugin, Protocol):
    """Ranks placements that are feasible; the profile has the weight."""

    def score_placement(self, state: CycleState, group: PodGroupInfo, assignments: PodGroupAssignments) -> int:
        """Higher is better. ``state`` is that of the placement, whose ``pod_group`` is that of the
        group's cycle.
        """


class PlacementScoreExtensions(PlacementScorePlugin, Protocol):
    """A score that is not between 0 and 100 by itself."""

    def normalize_placement_score(self, state: CycleState, group: PodGroupInfo, scores: dict[str, int]) -> None:
        """Bring the scores of all placements between 0 and 100, in place."""


PodGroupSchedulingFunc = Callable[[], Awaitable[tuple[PodGroupAssignments | None, Status | None]]]
"""Runs the algorithm of the group once more on the snapshot as it stands; nothing of it stays."""


class PodGroupPostFilterPlugin(Plugin, Protocol):
    """Called when no placement was feasible."""

    async def pod_group_post_filter(
        self, state: CycleState, group: PodGroupInfo, snapshot: Snapshot, schedule: PodGroupSchedulingFunc,
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        """Nominations by uid of the pod, and SUCCESS where the group can be made schedulable, whose
        text is told all the same; a Status as of PostFilter else. What it changes on ``snapshot``
        it changes back.
        """
