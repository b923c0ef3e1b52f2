"""A Workload and its copies on the workers that can be reached.

Upstream: wlGroup in pkg/controller/admissionchecks/multikueue/workload.go.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.multikueue import adapters
from fakekube_controllers.kueue.multikueue.adapters import MultiKueueAdapter, Sides
from fakekube_controllers.kueue.multikueue.parts import Parts
from fakekube_controllers.kueue.multikueue.remote import RemoteClient
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.workload import states


class Group(NamedTuple):
    """``remotes`` are the copies by cluster, None where there is none; ``job`` is the local job's
    name, ``unavailable`` are the clusters that cannot be reached now, ``parts`` are the Workloads
    of the job.
    """

    local: ReadOnlyTree
    remotes: dict[str, Tree | None]
    clients: Mapping[str, RemoteClient]
    sides: Mapping[str, Sides]
    check: str
    adapter: MultiKueueAdapter
    job: Request
    unavailable: Sequence[str]
    parts: Parts

    def first_with(self, condition_type: str) -> tuple[Tree | None, str]:
        """The condition of a type that became true first on any worker, and the worker's name.

        Once the Workload runs on one that can be reached, that one alone counts: a copy elsewhere
        is left from before an outage, and goes. Upstream looks at all.
        """
        found: list[tuple[str, str, Tree]] = []
        chosen = states.cluster_name(self.local)
        for name, remote in self.remotes.items():
            if chosen in self.remotes and name != chosen:
                continue
            condition = states.condition(remote, condition_type) if remote is not None else None
            if condition is not None and condition["status"] == "True":
                found.append((condition["lastTransitionTime"], name, condition))
        if not found:
            return None, ""
        _, name, condition = min(found, key=lambda each: each[:2])
        return condition, name

    async def remove_remote_objects(self, cluster: str) -> None:
        """Delete the job and then the Workload on a worker. Raises APIError, TransportError.

        The job stays for other Workloads of it: the slice that took the place of this one, the
        other parts. Upstream deletes it, and makes it anew.
        """
        if self.parts.run_on(cluster):
            await self.adapter.sync_job(self.sides[cluster], self.job, meta.name_of(self.local))
        elif not is_replaced(self.local):
            await self._remove_job(cluster)
        await self._remove_workload(cluster)

    async def remove_from_others(self, cluster: str) -> None:
        """Delete job and Workload on all workers but one. Raises APIError, TransportError."""
        for other, remote in self.remotes.items():
            if remote is not None and other != cluster:
                await self._remove_job(other)
                await self._remove_workload(other)

    async def _remove_job(self, cluster: str) -> None:
        await adapters.delete_remote_object_if_owned(self.sides[cluster], self.adapter, self.job)

    async def _remove_workload(self, cluster: str) -> None:
        remote, sides = self.remotes[cluster], self.sides[cluster]
        if remote is None:
            return
        name, namespace = meta.name_of(remote), meta.namespace_of(remote)
        finalizers = meta.finalizers_of(remote)
        if names.RESOURCE_IN_USE_FINALIZER in finalizers:
            remote["metadata"]["finalizers"] = [each for each in finalizers if each != names.RESOURCE_IN_USE_FINALIZER]
            await sides.remote.update(WORKLOADS, remote)
        await sides.remote.delete(WORKLOADS, name, namespace, missing_ok=True)
        self.remotes[cluster] = None

    async def has_remote_job(self, cluster: str) -> bool:
        """Whether the worker has the job. Raises NotOwned for another one's of that name."""
        return await adapters.validate_remote_object_ownership(self.sides[cluster], self.adapter.resource, self.job)

    async def sync_job(self, cluster: str) -> bool:
        """As the adapter's ``sync_job``, after a look at whose the job on the worker is.

        Raises NotOwned, APIError, TransportError.
        """
        await self.has_remote_job(cluster)
        return await self.adapter.sync_job(self.sides[cluster], self.job, meta.name_of(self.local))

    async def create_remote(self, cluster: str) -> None:
        """Make the copy of the Workload on a worker. Raises APIError, TransportError."""
        made = clone_for_create(self.local, self.clients[cluster].origin)
        await self.sides[cluster].remote.create(WORKLOADS, made, meta.namespace_of(self.local))


def clone_for_create(workload: ReadOnlyTree, origin: str) -> Tree:
    """The copy of a Workload for a worker: without its owners and the label of its job."""
    made = adapters.clone_for_creation(workload, WORKLOADS, origin)
    made["metadata"]["labels"].pop(names.JOB_UID_LABEL, None)
    return made


def is_out_of_sync(local: ReadOnlyTree, remote: ReadOnlyTree) -> bool:
    """Whether a copy's spec differs; gates of preemption each side has for itself.

    A worker evicts what was evicted here in two steps: it makes the copy inactive, and evicts it
    when it hears of that. Between them the copy is no other; upstream deletes it then and makes it
    anew, for as long as the worker hears later than this manager.
    """
    own: dict[str, object] = {"preemptionGates": None}
    if states.is_evicted(local) and remote["spec"].get("active") is False:
        own["active"] = None
    one, other = ({**tree["spec"], **own} for tree in (local, remote))
    return one != other


def counts(workload: ReadOnlyTree) -> dict[str, int]:
    """Pods by podset."""
    return {podset["name"]: podset.get("count", 0) for podset in workload["spec"].get("podSets") or ()}


def is_scaled_down(before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    """Whether some podset is smaller, and none larger."""
    if before.keys() != after.keys():
        return False
    return any(after[name] < before[name] for name in before) and not any(after[name] > before[name] for name in before)


def is_priority_changed(local: ReadOnlyTree, remote: ReadOnlyTree) -> bool:
    """Whether the copy of a Workload has another class or another priority."""
    if states.is_pod_priority_class(local) or not states.is_workload_priority_class(remote):
        return False
    name = states.priority_class_name(remote)
    if name and states.priority_class_name(local) != name:
        return True
    return bool(local["spec"].get("priority", 0) != remote["spec"].get("priority", 0))


def is_elastic(workload: ReadOnlyTree, features: Features) -> bool:
    """Whether a Workload is a slice of an elastic job."""
    return states.is_elastic_workload(workload, features)


def is_replaced(workload: ReadOnlyTree) -> bool:
    """Whether a slice has finished because the next one took its place."""
    condition = states.condition(workload, "Finished")
    return condition is not None and condition["status"] == "True" and condition["reason"] == "WorkloadSliceReplaced"


def replaces_another(workload: ReadOnlyTree) -> bool:
    """Whether it is a slice that is to take the place of another."""
    return bool(meta.annotations_of(workload).get(names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION))
