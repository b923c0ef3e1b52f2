"""Prefers the placement that holds most pods of a group.

Upstream: plugins/podgrouppodscount.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.placements import PodGroupAssignments
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.framework.state import CycleState


class PodGroupPodsCount:
    """PlacementScore."""

    name = "PodGroupPodsCount"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._handle = handle

    def events_to_register(self) -> Sequence[Any]:
        """None: it rejects no pod."""
        return []

    def score_placement(self, state: CycleState, group: PodGroupInfo, assignments: PodGroupAssignments) -> int:
        """The pods that are on nodes already, and those that would be."""
        groups = self._handle.groups
        assert groups is not None, "the plugin runs where there are groups"
        return sum(1 for _ in groups.all_placed(group.key)) + len(assignments.proposed_assignments)

    def normalize_placement_score(self, state: CycleState, group: PodGroupInfo, scores: dict[str, int]) -> None:
        """In hundredths of the most."""
        most = max(scores.values())
        for name, score in scores.items():
            scores[name] = score * MAX_NODE_SCORE // most if most else 0
