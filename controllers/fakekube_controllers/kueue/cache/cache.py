"""The cache: what has quota, and how much of it is left, as the objects say and as is assumed.

Controllers feed it with what they see; the scheduler takes snapshots, and adds a Workload that it
admits before the API server knows (``add_or_update_workload`` is upstream's AssumeWorkload, too;
``delete_workload`` its ForgetWorkload). Nothing here waits. Functions that change what may admit
give the names of the ClusterQueues that may from now on.

Upstream: pkg/cache/scheduler/cache.go.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.cache.clusterqueue import ACTIVE, AdmissionCheck, ClusterQueue, Settings
from fakekube_controllers.kueue.cache.cohort import Cohort
from fakekube_controllers.kueue.cache.fair_sharing import DRS, dominant_resource_share
from fakekube_controllers.kueue.cache.hierarchy import Manager
from fakekube_controllers.kueue.cache.localqueue import LocalQueue, LocalQueueReference
from fakekube_controllers.kueue.cache.snapshot import Snapshot
from fakekube_controllers.kueue.cache.snapshots import Snapshots
from fakekube_controllers.kueue.workload import states

READY, NOT_FOUND = ("True", "Ready", "Can admit new workloads"), ("False", "NotFound", "ClusterQueue not found")


class Readiness(NamedTuple):
    """Status, reason and message of a condition Active."""

    status: str
    reason: str
    message: str


class Cache:
    """See above."""

    def __init__(self, settings: Settings) -> None:
        self.resource_flavors: Mapping[str, ReadOnlyTree] = {}
        self.admission_checks: dict[str, AdmissionCheck] = {}
        self.hm: Manager[ClusterQueue, Cohort] = Manager(Cohort)
        self.workload_assigned_queues: dict[ObjectKey, str] = {}
        self.when_pods_ready_changes: Callable[[], None] = _nothing
        """Called after a Workload changed, while it is tracked whether pods are ready."""
        self._settings = settings
        self._snapshots = Snapshots(self.hm)

    @property
    def _uses_tas(self) -> bool:
        return self._settings.tas is not None and self._settings.info_options.features.TopologyAwareScheduling

    # -- ClusterQueues --------------------------------------------------------------------------

    def add_cluster_queue(
        self, cluster_queue: ReadOnlyTree, local_queues: Iterable[ReadOnlyTree] = (), workloads: Iterable[ReadOnlyTree] = (),
    ) -> None:
        """Add a ClusterQueue with the LocalQueues that name it and the Workloads admitted by it:
        they may have been seen before.
        """
        name = meta.name_of(cluster_queue)
        if name in self.hm.cluster_queues:
            self.update_cluster_queue(cluster_queue)
            return
        added = ClusterQueue(name, self._settings, self._snapshots.changed)
        self.hm.add_cluster_queue(added)
        self._update_cluster_queue(added, cluster_queue)
        for local_queue in local_queues:
            added.add_local_queue(meta.key_of(local_queue))
        for workload in workloads:
            if states.has_active_quota_reservation(workload):
                self.add_or_update_workload(workload)

    def update_cluster_queue(self, cluster_queue: ReadOnlyTree) -> None:
        """Take a newer spec; nothing if the ClusterQueue is not there."""
        found = self.hm.cluster_queues.get(meta.name_of(cluster_queue))
        if found is not None:
            self._update_cluster_queue(found, cluster_queue)

    def _update_cluster_queue(self, found: ClusterQueue, cluster_queue: ReadOnlyTree) -> None:
        old_parent = found.parent_cohort
        self.hm.update_cluster_queue_edge(found.name, (cluster_queue.get("spec") or meta.EMPTY).get("cohortName") or "")
        if found.update(cluster_queue, self.resource_flavors, self.admission_checks, old_parent):
            self._snapshots.is_tree_changed = True

    def delete_cluster_queue(self, name: str) -> None:
        """Take a ClusterQueue out: its cohort has its quota no longer."""
        found = self.hm.cluster_queues.get(name)
        if found is None:
            return
        parent = found.parent_cohort
        self._snapshots.is_tree_changed = True
        self.hm.delete_cluster_queue(name)
        if parent is not None:
            parent.update_tree()

    def terminate_cluster_queue(self, name: str) -> None:
        """It is being deleted."""
        if name in self.hm.cluster_queues:
            self.hm.cluster_queues[name].terminate()

    def cluster_queue_active(self, name: str) -> bool:
        """Whether it may admit."""
        found = self.hm.cluster_queues.get(name)
        return found is not None and found.active()

    def cluster_queue_readiness(self, name: str) -> Readiness:
        """What its condition Active is to say."""
        found = self.hm.cluster_queues.get(name)
        if found is None:
            return Readiness(*NOT_FOUND)
        if found.active():
            return Readiness(*READY)
        return Readiness("False", *found.inactive_reason())

    def cluster_queue_empty(self, name: str) -> bool:
        """Whether no Workload has quota of it."""
        found = self.hm.cluster_queues.get(name)
        return found is None or not found.workloads

    def active_cluster_queues(self) -> list[str]:
        """The names of all that may admit."""
        return [name for name, found in self.hm.cluster_queues.items() if found.active()]

    def cluster_queue_ancestors(self, cluster_queue: ReadOnlyTree) -> list[str]:
        """The cohorts above a ClusterQueue without the root; none where there is a cycle."""
        return self._ancestors((cluster_queue.get("spec") or meta.EMPTY).get("cohortName") or "")[:-1]

    def workload_ancestors(self, workload: ReadOnlyTree) -> list[str]:
        """All cohorts above the ClusterQueue that admitted a Workload."""
        found = self.hm.cluster_queues.get((states.admission(workload) or meta.EMPTY).get("clusterQueue", ""))
        parent = found.parent_cohort if found is not None else None
        return [] if parent is None else self._ancestors(parent.name)

    def _ancestors(self, cohort_name: str) -> list[str]:
        cohort = self.hm.cohorts.get(cohort_name)
        result = []
        while cohort is not None and not cohort.is_cyclic:
            result.append(cohort.name)
            cohort = cohort.parent()
        return result

    # -- cohorts --------------------------------------------------------------------------------

    def add_or_update_cohort(self, cohort: ReadOnlyTree) -> None:
        """Take what the object of a cohort says."""
        name = meta.name_of(cohort)
        self._snapshots.is_tree_changed = True
        found = self.hm.add_cohort(name)
        old_parent = found.parent_cohort
        self.hm.update_cohort_edge(name, (cohort.get("spec") or meta.EMPTY).get("parentName") or "")
        found.update(cohort)
        self._update_after_edge(found, old_parent)

    def delete_cohort(self, name: str) -> None:
        """The object of a cohort is gone: so are its own quotas."""
        found = self.hm.cohorts.get(name)
        if found is None:
            return
        self._snapshots.is_tree_changed = True
        old_parent = found.parent_cohort
        self.hm.delete_cohort(name)
        self._update_after_edge(self.hm.cohorts.get(name), old_parent)

    def _update_after_edge(self, cohort: Cohort | None, old_parent: Cohort | None) -> None:
        if old_parent is not None and (cohort is None or old_parent is not cohort.parent_cohort):
            old_parent.update_tree()
        if cohort is not None:
            cohort.update_tree()

    # -- flavors, checks, topologies ------------------------------------------------------------

    def add_or_update_resource_flavor(self, flavor: ReadOnlyTree) -> list[str]:
        """Take a ResourceFlavor."""
        self.resource_flavors = {**self.resource_flavors, meta.name_of(flavor): flavor}
        if self._settings.tas is not None and self._has_topology(flavor):
            self._settings.tas.add_flavor(flavor)
        return self.update_cluster_queues()

    def delete_resource_flavor(self, flavor: ReadOnlyTree) -> list[str]:
        """A ResourceFlavor is gone."""
        name = meta.name_of(flavor)
        self.resource_flavors = {each: tree for each, tree in self.resource_flavors.items() if each != name}
        if self._settings.tas is not None and self._has_topology(flavor):
            self._settings.tas.delete_flavor(name)
        return self.update_cluster_queues()

    def _has_topology(self, flavor: ReadOnlyTree) -> bool:
        return self._uses_tas and bool((flavor.get("spec") or meta.EMPTY).get("topologyName"))

    def add_or_update_topology(self, topology: ReadOnlyTree) -> list[str]:
        """Take a Topology."""
        if self._settings.tas is not None:
            self._settings.tas.add_topology(topology)
        return self.update_cluster_queues()

    def delete_topology(self, name: str) -> list[str]:
        """A Topology is gone."""
        if self._settings.tas is not None:
            self._settings.tas.delete_topology(name)
        return self.update_cluster_queues()

    def add_or_update_admission_check(self, check: ReadOnlyTree) -> list[str]:
        """Take an AdmissionCheck."""
        self.admission_checks[meta.name_of(check)] = AdmissionCheck(
            meta.is_condition_true(check, "Active"), (check.get("spec") or meta.EMPTY).get("controllerName", ""))
        return self.update_cluster_queues()

    def delete_admission_check(self, name: str) -> list[str]:
        """An AdmissionCheck is gone."""
        self.admission_checks.pop(name, None)
        return self.update_cluster_queues()

    def update_cluster_queues(self) -> list[str]:
        """Look anew at what each ClusterQueue refers to. The names of those that may admit now."""
        result = []
        for name, found in self.hm.cluster_queues.items():
            before = found.status
            found.update_with_flavors(self.resource_flavors)
            found.update_with_admission_checks(self.admission_checks)
            if before != ACTIVE and found.active():
                result.append(name)
        return result

    # -- LocalQueues ----------------------------------------------------------------------------

    def add_local_queue(self, local_queue: ReadOnlyTree) -> None:
        """Count the Workloads of a LocalQueue."""
        found = self.hm.cluster_queues.get(_cluster_queue_of(local_queue))
        if found is not None and meta.key_of(local_queue) not in found.local_queues:
            found.add_local_queue(meta.key_of(local_queue))

    def delete_local_queue(self, local_queue: ReadOnlyTree) -> None:
        """Count them no longer."""
        found = self.hm.cluster_queues.get(_cluster_queue_of(local_queue))
        if found is not None:
            found.local_queues.pop(meta.key_of(local_queue), None)

    def update_local_queue(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        """A LocalQueue may name another ClusterQueue."""
        if _cluster_queue_of(old) != _cluster_queue_of(new):
            self.delete_local_queue(old)
            self.add_local_queue(new)

    def local_queue(self, cluster_queue: str, key: LocalQueueReference) -> LocalQueue | None:
        """The counts of a LocalQueue."""
        found = self.hm.cluster_queues.get(cluster_queue)
        return found.local_queues.get(key) if found is not None else None

    # -- Workloads ------------------------------------------------------------------------------

    def add_or_update_workload(self, workload: ReadOnlyTree) -> bool:
        """Count what a Workload uses, or nothing for one without quota. Whether it is counted."""
        key = meta.key_of(workload)
        assigned = self.workload_assigned_queues.get(key)
        if not states.has_active_quota_reservation(workload):
            if assigned is not None:
                self._delete_from(assigned, key)
                del self.workload_assigned_queues[key]
                self._pods_ready_changed()
            return False
        found = self.hm.cluster_queues.get((states.admission(workload) or meta.EMPTY).get("clusterQueue", ""))
        if found is None:
            return False
        if assigned is not None and assigned != found.name:
            self._delete_from(assigned, key)
        self.workload_assigned_queues[key] = found.name
        found.add_or_update_workload(workload)
        self._pods_ready_changed()
        return True

    def delete_workload(self, key: ObjectKey) -> None:
        """Count a Workload no longer."""
        assigned = self.workload_assigned_queues.pop(key, None)
        if assigned is not None:
            self._delete_from(assigned, key)
            self._pods_ready_changed()

    def _delete_from(self, cluster_queue: str, key: ObjectKey) -> None:
        found = self.hm.cluster_queues.get(cluster_queue)
        if found is not None:
            found.delete_workload(key)

    def is_added(self, key: ObjectKey, cluster_queue: str) -> bool:
        """Whether a Workload counts in a ClusterQueue."""
        found = self.hm.cluster_queues.get(cluster_queue)
        return found is not None and key in found.workloads

    def pods_ready_for_all_admitted_workloads(self) -> bool:
        """Whether no Workload waits for its pods; always, unless that is tracked."""
        return not any(found.workloads_not_ready for found in self.hm.cluster_queues.values())

    def _pods_ready_changed(self) -> None:
        if self._settings.is_pods_ready_tracked:
            self.when_pods_ready_changes()

    # -- who refers to what ---------------------------------------------------------------------

    def cluster_queues_using_flavor(self, flavor: str) -> list[str]:
        """The names of ClusterQueues with a flavor."""
        return [name for name, found in self.hm.cluster_queues.items() if flavor in found.spec.flavors]

    def cluster_queues_using_topology(self, topology: str) -> list[str]:
        """Those with a flavor that has a topology."""
        return [name for name, found in self.hm.cluster_queues.items() if topology in found.tas_flavors.values()]

    def cluster_queues_using_admission_check(self, check: str) -> list[str]:
        """Those with an admission check."""
        return [name for name, found in self.hm.cluster_queues.items() if check in found.spec.admission_checks]

    def matching_cluster_queues(self, namespace_labels: Mapping[str, str]) -> list[str]:
        """Those that select a namespace with these labels."""
        return [
            name for name, found in self.hm.cluster_queues.items() if found.spec.namespace_selector.matches(namespace_labels)]

    # -- snapshots ------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The state as it is, for one scheduling cycle to change.

        Looks anew only at what changed since the last one.
        """
        tas = self._settings.tas.snapshot() if self._settings.tas is not None and self._uses_tas else {}
        return self._snapshots.take(self.resource_flavors, tas)

    def cluster_queue_share(self, name: str) -> DRS:
        """The share of a ClusterQueue."""
        return dominant_resource_share(self.hm.cluster_queues[name])

    def cohort_share(self, name: str) -> DRS:
        """The share of a cohort; nothing for one that is not there."""
        found = self.hm.cohorts.get(name)
        return dominant_resource_share(found) if found is not None else DRS()


def _cluster_queue_of(local_queue: ReadOnlyTree) -> str:
    return str((local_queue.get("spec") or meta.EMPTY).get("clusterQueue", ""))


def _nothing() -> None:
    pass
