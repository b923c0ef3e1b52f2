"""The state of the cache as one scheduling cycle sees it, and changes it for itself.

A snapshot shares all amounts and Workloads with the cache, and with other snapshots, until one of
them changes (``ResourceNode.shared``); its nodes are made when they are first asked for. So it
costs by what a cycle looks at. ClusterQueues that may not admit, and cohorts in a cycle, are not in
it. Upstream: pkg/cache/scheduler (snapshot.go, clusterqueue_snapshot.go, cohort_snapshot.go).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.cache.clusterqueue import ClusterQueueState
from fakekube_controllers.kueue.cache.fair_sharing import DRS, dominant_resource_share
from fakekube_controllers.kueue.cache.hierarchy import ClusterQueueNode, CohortNode, root_of
from fakekube_controllers.kueue.cache.resource_node import (
    NO_QUOTA,
    ResourceGroup,
    ResourceNode,
    ResourceQuota,
    add_usage,
    available,
    potential_available,
    remove_usage,
)
from fakekube_controllers.kueue.resources import FlavorResource, add
from fakekube_controllers.kueue.workload.info import Info, TASUsage, Usage

Revert = Callable[[], None]
"""Undoes what was simulated."""


class FitsCheck(Enum):
    """Whether something fits, or what is in its way."""

    OK = "Ok"
    NO_QUOTA = "NoQuota"
    NO_TAS = "NoTAS"
    """There is quota, and there are no domains."""


class CohortState(NamedTuple):
    """What a snapshot shares with the cache. Names of all that are right below, inactive or not."""

    name: str
    parent_name: str
    cohort_names: tuple[str, ...]
    cluster_queue_names: tuple[str, ...]
    resource_node: ResourceNode
    fair_weight: float


class ClusterQueueSnapshot(ClusterQueueNode["CohortSnapshot"]):
    """A ClusterQueue; ``tas_flavors`` are its flavors with a topology, as the cycle sees them."""

    def __init__(self, state: ClusterQueueState, parent: "CohortSnapshot | None", tas_flavors: Mapping[str, Any]) -> None:
        spec = state.spec
        self.name, self.status, self.parent_cohort = state.name, state.status, parent
        self.resource_groups, self.preemption = spec.resource_groups, spec.preemption
        self.flavor_fungibility, self.fair_weight = spec.flavor_fungibility, spec.fair_weight
        self.namespace_selector, self.admission_checks = spec.namespace_selector, spec.admission_checks
        self.allocatable_resource_generation = state.allocatable_resource_generation
        self.resource_node = state.resource_node.shared()
        self.workloads: Mapping[ObjectKey, Info] = state.workloads
        self.tas_flavors = tas_flavors
        self._own_workloads: dict[ObjectKey, Info] | None = None
        self._state = state

    def rg_by_resource(self, resource: str) -> ResourceGroup | None:
        """The resource group with a resource."""
        for group in self.resource_groups:
            if resource in group.covered_resources:
                return group
        return None

    def quota_for(self, fr: FlavorResource) -> ResourceQuota:
        """The queue's own quota."""
        return self.resource_node.quotas.get(fr, NO_QUOTA)

    # -- what is left ---------------------------------------------------------------------------

    def available(self, fr: FlavorResource) -> int:
        """What may be taken now, borrowed amounts included; never less than nothing."""
        return max(0, available(self, fr))

    def potential_available(self, fr: FlavorResource) -> int:
        """What could be taken if nothing were used."""
        return potential_available(self, fr)

    def borrowing(self, fr: FlavorResource) -> bool:
        """Whether more than the nominal quota is used."""
        return self.borrowing_with(fr, 0)

    def borrowing_with(self, fr: FlavorResource, amount: int) -> bool:
        """Whether it would be with so much more."""
        return self.quota_for(fr).nominal < add(self.resource_node.usage.get(fr, 0), amount)

    def fits(self, usage: Usage) -> FitsCheck:
        """Whether a Workload with that usage can be added now."""
        if any(self.available(fr) < amount for fr, amount in usage.quota.items()):
            return FitsCheck.NO_QUOTA
        for flavor, domains in (usage.tas or {}).items():
            if not self.tas_flavors[flavor].fits(domains):
                return FitsCheck.NO_TAS
        return FitsCheck.OK

    def dominant_resource_share(self) -> DRS:
        """The share of the queue in what its cohort can lend."""
        return dominant_resource_share(self)

    # -- changes --------------------------------------------------------------------------------

    def add_usage(self, usage: Usage) -> None:
        """Count usage."""
        for fr, amount in usage.quota.items():
            add_usage(self, fr, amount)
        for flavor, domains in self._known(usage.tas):
            flavor.add_usage(domains)

    def remove_usage(self, usage: Usage) -> None:
        """Count it no longer."""
        for fr, amount in usage.quota.items():
            remove_usage(self, fr, amount)
        for flavor, domains in self._known(usage.tas):
            flavor.remove_usage(domains)

    def _known(self, tas: TASUsage | None) -> list[tuple[Any, Any]]:
        return [(self.tas_flavors[name], domains) for name, domains in (tas or {}).items() if name in self.tas_flavors]

    def simulate_usage_addition(self, usage: Usage) -> Revert:
        """Count usage for a while."""
        self.add_usage(usage)
        return lambda: self.remove_usage(usage)

    def simulate_usage_removal(self, usage: Usage) -> Revert:
        """Count usage no longer for a while."""
        self.remove_usage(usage)
        return lambda: self.add_usage(usage)

    def own_workloads(self) -> dict[ObjectKey, Info]:
        """The Workloads, to be changed."""
        if self._own_workloads is None:
            self._own_workloads = dict(self.workloads)
            self.workloads = self._own_workloads
        return self._own_workloads

    # -- what else the cycle asks ---------------------------------------------------------------

    def is_tas_only(self) -> bool:
        """Whether all of its flavors have a topology."""
        return all(name in self._state.tas_flavors for name in self._state.spec.flavors)

    def has_prov_request_admission_check(self, flavor: str) -> bool:
        """Whether a check that provisions nodes is for a flavor."""
        checks = self._state.problems.provisioning_admission_checks
        return any(flavor in self.admission_checks[name] for name in checks)

    def has_multikueue_admission_check(self) -> bool:
        """Whether its Workloads run in other clusters."""
        return bool(self._state.problems.multikueue_admission_checks)


class CohortSnapshot(CohortNode[ClusterQueueSnapshot, "CohortSnapshot"]):
    """A cohort; its children are made when they are first asked for."""

    def __init__(self, snapshot: "Snapshot", state: CohortState, parent: "CohortSnapshot | None") -> None:
        super().__init__(state.name)
        self.parent_cohort = parent
        self.fair_weight = state.fair_weight
        self.resource_node = state.resource_node.shared()
        self._snapshot, self._state = snapshot, state
        self._child_cohorts: list[CohortSnapshot] | None = None
        self._child_cqs: list[ClusterQueueSnapshot] | None = None

    def child_cohorts(self) -> list["CohortSnapshot"]:
        """Those right below."""
        if self._child_cohorts is None:
            found = map(self._snapshot.cohort, self._state.cohort_names)
            self._child_cohorts = [child for child in found if child is not None]
        return self._child_cohorts

    def child_cqs(self) -> list[ClusterQueueSnapshot]:
        """The ClusterQueues right below that may admit."""
        if self._child_cqs is None:
            found = map(self._snapshot.cluster_queue, self._state.cluster_queue_names)
            self._child_cqs = [child for child in found if child is not None]
        return self._child_cqs

    def has_children(self) -> bool:
        """Whether there are any of both."""
        return bool(self.child_cqs() or self.child_cohorts())

    def root(self) -> "CohortSnapshot":
        """The cohort at the top."""
        return root_of(self)

    def subtree_cluster_queues(self) -> list[ClusterQueueSnapshot]:
        """All ClusterQueues below."""
        result = list(self.child_cqs())
        for child in self.child_cohorts():
            result += child.subtree_cluster_queues()
        return result

    def borrowing_with(self, fr: FlavorResource, amount: int) -> bool:
        """Whether more than what the subtree has would be used with so much more."""
        return self.resource_node.subtree_quota.get(fr, 0) < add(self.resource_node.usage.get(fr, 0), amount)

    def dominant_resource_share(self) -> DRS:
        """The share of the cohort in what its parent can lend."""
        return dominant_resource_share(self)


class Snapshot:
    """See above. ``inactive_cluster_queue_sets`` has the names of those that may not admit."""

    def __init__(
        self, cluster_queues: Mapping[str, ClusterQueueState], cohorts: Mapping[str, CohortState],
        resource_flavors: Mapping[str, ReadOnlyTree], inactive: Mapping[str, None], tas: Mapping[str, Any],
    ) -> None:
        self.resource_flavors = resource_flavors
        self.inactive_cluster_queue_sets = inactive
        self.tas_flavors = tas
        self._cluster_queue_states, self._cohort_states = cluster_queues, cohorts
        self._cluster_queues: dict[str, ClusterQueueSnapshot] = {}
        self._cohorts: dict[str, CohortSnapshot] = {}

    def cluster_queue(self, name: str) -> ClusterQueueSnapshot | None:
        """A ClusterQueue, if it may admit."""
        found = self._cluster_queues.get(name)
        if found is None and (state := self._cluster_queue_states.get(name)) is not None:
            tas_flavors = {flavor: self.tas_flavors[flavor] for flavor in state.tas_flavors if flavor in self.tas_flavors}
            found = self._cluster_queues[name] = ClusterQueueSnapshot(state, self.cohort(state.cohort_name), tas_flavors)
        return found

    def cohort(self, name: str) -> CohortSnapshot | None:
        """A cohort, if it is not in a cycle."""
        found = self._cohorts.get(name)
        if found is None and (state := self._cohort_states.get(name)) is not None:
            found = self._cohorts[name] = CohortSnapshot(self, state, self.cohort(state.parent_name))
        return found

    def cluster_queues(self) -> dict[str, ClusterQueueSnapshot]:
        """All that may admit."""
        for name in self._cluster_queue_states:
            self.cluster_queue(name)
        return self._cluster_queues

    def cohorts(self) -> dict[str, CohortSnapshot]:
        """All that are in no cycle."""
        for name in self._cohort_states:
            self.cohort(name)
        return self._cohorts

    def remove_workload(self, info: Info) -> None:
        """Take a Workload out of its queue."""
        cluster_queue = self._of(info)
        del cluster_queue.own_workloads()[info.key]
        cluster_queue.remove_usage(info.usage())

    def add_workload(self, info: Info) -> None:
        """Put a Workload into its queue."""
        cluster_queue = self._of(info)
        cluster_queue.own_workloads()[info.key] = info
        cluster_queue.add_usage(info.usage())

    def simulate_workload_usage_removal(self, infos: Sequence[Info]) -> Revert:
        """Count what Workloads use no longer, for a while."""
        usages = [(self._of(info), info.usage()) for info in infos]
        for cluster_queue, usage in usages:
            cluster_queue.remove_usage(usage)

        def revert() -> None:
            for cluster_queue, usage in usages:
                cluster_queue.add_usage(usage)

        return revert

    def simulate_workload_removal(self, infos: Sequence[Info]) -> Revert:
        """Take Workloads out of their queues, for a while."""
        for info in infos:
            self.remove_workload(info)

        def revert() -> None:
            for info in infos:
                self.add_workload(info)

        return revert

    def _of(self, info: Info) -> ClusterQueueSnapshot:
        found = self.cluster_queue(info.cluster_queue)
        assert found is not None, f"{info.key} is in no ClusterQueue of the snapshot"
        return found
