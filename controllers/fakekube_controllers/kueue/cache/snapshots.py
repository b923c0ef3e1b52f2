"""Snapshots of the cache, each of which looks anew only at what changed since the last one.

Upstream makes all of a snapshot anew: pkg/cache/scheduler/snapshot.go.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.cache.clusterqueue import ClusterQueue, ClusterQueueState
from fakekube_controllers.kueue.cache.cohort import Cohort
from fakekube_controllers.kueue.cache.hierarchy import Manager
from fakekube_controllers.kueue.cache.snapshot import CohortState, Snapshot


class Snapshots:
    """What the last snapshot saw, and what changed since: ``changed`` are the names of
    ClusterQueues, ``is_tree_changed`` says that queues or cohorts came, went or moved.
    """

    def __init__(self, hm: Manager[ClusterQueue, Cohort]) -> None:
        self._hm = hm
        self.changed: dict[str, None] = {}
        self.is_tree_changed = False
        self._states: dict[str, ClusterQueueState] = {}
        self._inactive: dict[str, None] = {}
        self._cohort_states: dict[str, CohortState] = {}

    def take(self, flavors: Mapping[str, ReadOnlyTree], tas: Mapping[str, Any]) -> Snapshot:
        """The state as it is, with these ResourceFlavors and topologies."""
        if self.is_tree_changed:
            for seen in (self._states, self._inactive, self._cohort_states):
                seen.clear()
            for cohort in self._hm.cohorts.values():
                self._see_cohort(cohort)
            self.is_tree_changed = False
            self.changed.update(dict.fromkeys(self._hm.cluster_queues))
        for name in self.changed:
            found = self._hm.cluster_queues.get(name)
            if found is not None:
                self._see(found)
        self.changed.clear()
        return Snapshot(dict(self._states), dict(self._cohort_states), flavors, dict(self._inactive), tas)

    def _see(self, found: ClusterQueue) -> None:
        """Take how a ClusterQueue and the cohorts above it are now."""
        name, parent = found.name, found.parent_cohort
        if not found.active() or (parent is not None and parent.is_cyclic) or found.is_waiting_for_tas():
            self._states.pop(name, None)
            self._inactive[name] = None
        else:
            self._inactive.pop(name, None)
            self._states[name] = found.frozen()
        for cohort in found.path_parent_to_root():
            self._see_cohort(cohort)

    def _see_cohort(self, cohort: Cohort) -> None:
        if not cohort.is_cyclic and (cohort.name not in self._cohort_states or not cohort.resource_node.is_shared):
            parent = cohort.parent()
            self._cohort_states[cohort.name] = CohortState(
                cohort.name, parent.name if parent is not None else "", tuple(cohort.cohorts), tuple(cohort.cluster_queues),
                cohort.resource_node.shared(), cohort.fair_weight)
