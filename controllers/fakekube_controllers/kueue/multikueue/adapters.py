"""What MultiKueue needs to know of a kind of job: how its copy on a worker is made, how its status
comes back, how the copy is deleted.

A user's integration may bring one. Upstream: MultiKueueAdapter in
pkg/controller/jobframework/interface.go, and the helpers for it in utils.go.
"""

import copy
from collections.abc import Iterable
from typing import NamedTuple, Protocol, runtime_checkable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.runtime.reconcile import ExpectedError, Request
from fakekube_controllers.kueue import names, patches
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects


class Sides(NamedTuple):
    """The two ends of a copy: the local cache and client, and the worker's client. ``origin`` is
    the value of the label on everything that this manager has made on workers, ``now`` the time,
    Unix seconds.
    """

    lister: Lister
    local: Client
    remote: Client
    origin: str
    features: Features
    now: float


class MultiKueueAdapter(Protocol):
    """One kind of job."""

    resource: Resource

    async def sync_job(self, sides: Sides, key: Request, workload_name: str) -> bool:
        """Make the copy on the worker, or bring its status back.

        Whether the status could not be brought back yet, as the local job is still suspended.
        Raises APIError, TransportError.
        """

    async def delete_remote_object(self, sides: Sides, key: Request) -> None:
        """Delete the copy; harmless when there is none. Raises APIError, TransportError."""

    def is_managed_by_kueue(self, job: ReadOnlyTree) -> str:
        """Empty for a job that MultiKueue may run elsewhere; else why it may not."""

    def workload_keys_for(self, job: ReadOnlyTree) -> Iterable[Request]:
        """The Workloads of a copy on a worker."""


@runtime_checkable
class MultiWorkloadAdapter(Protocol):
    """A kind with a Workload for each part of a job. All parts of a job go to one worker."""

    def expected_workload_count(self, job: ReadOnlyTree) -> int:
        """How many Workloads a job has when all are there."""

    def workload_index(self, workload: ReadOnlyTree) -> int | None:
        """Which part of its job a Workload is; None where it does not say."""


class NotOwned(ExpectedError):
    """An object on a worker has the name of a copy, and is none of ours."""


def clone_metadata_for_creation(obj: ReadOnlyTree) -> Tree:
    """The metadata of a copy on another cluster: name, namespace, labels and annotations."""
    metadata = obj["metadata"]
    kept = ("name", "namespace", "labels", "annotations")
    return {field: copy.deepcopy(metadata[field]) for field in kept if metadata.get(field)}


def clone_for_creation(obj: ReadOnlyTree, resource: Resource, origin: str) -> Tree:
    """A copy for another cluster, which says whose it is."""
    made: Tree = {
        "apiVersion": resource.api_version, "kind": resource.kind, "metadata": clone_metadata_for_creation(obj),
        "spec": copy.deepcopy(obj["spec"])}
    made["metadata"].setdefault("labels", {})[names.MULTIKUEUE_ORIGIN_LABEL] = origin
    return made


def copy_of(job: ReadOnlyTree, resource: Resource, workload_name: str, origin: str, features: Features) -> Tree:
    """A job as it is to be created on a worker, of the Workload of a name."""
    made = clone_for_creation(job, resource, origin)
    objects.set_prebuilt_workload_name(made, workload_name, features)
    return made


async def validate_remote_object_ownership(sides: Sides, resource: Resource, key: Request) -> bool:
    """Whether the copy is there. Raises NotOwned for an object that is none of ours."""
    found = await sides.remote.get(resource, key.name, key.namespace, missing_ok=True)
    if found is None:
        return False
    if meta.labels_of(found).get(names.MULTIKUEUE_ORIGIN_LABEL) != sides.origin:
        raise NotOwned(
            "remote object is not owned by MultiKueue: expected "
            f'"{names.MULTIKUEUE_ORIGIN_LABEL}"="{sides.origin}" on {resource.kind} "{key.namespace}/{key.name}"')
    return True


async def delete_remote_object_if_owned(sides: Sides, adapter: MultiKueueAdapter, key: Request) -> None:
    """Delete the copy, and leave alone what is none of ours."""
    try:
        found = await validate_remote_object_ownership(sides, adapter.resource, key)
    except NotOwned:
        return
    if found:
        await adapter.delete_remote_object(sides, key)


class ManagedByAdapter:
    """Kinds with ``spec.managedBy``, whose status is simply copied: JobSet, RayJob, your own."""

    managed_by_path = "spec.managedBy"

    def __init__(self, resource: Resource, features: Features) -> None:
        self.resource, self._features = resource, features

    async def sync_job(self, sides: Sides, key: Request, workload_name: str) -> bool:
        """Make the copy, which its own controller then manages, or copy its status."""
        job = sides.lister.get(key.namespace, key.name)
        if job is not None:
            await self.sync(sides, job, workload_name)
        return False

    async def sync(self, sides: Sides, job: ReadOnlyTree, workload_name: str) -> ReadOnlyTree | None:
        """Do so for a local job; the copy that was there. Raises APIError, TransportError."""
        name, namespace = meta.name_of(job), meta.namespace_of(job)
        found = await sides.remote.get(self.resource, name, namespace, missing_ok=True)
        if found is None:
            made = copy_of(job, self.resource, workload_name, sides.origin, sides.features)
            made["spec"].pop("managedBy", None)
            await sides.remote.create(self.resource, made, namespace)
        else:
            await self.write_status(sides, job, found.get("status") or {})
        return found

    async def write_status(self, sides: Sides, job: ReadOnlyTree, status: ReadOnlyTree) -> None:
        """Give the local job a status, where it has another."""
        def update(changed: Tree) -> bool:
            changed["status"] = copy.deepcopy(dict(status))
            return (job.get("status") or {}) != status

        await patches.patch_status(sides.local, self.resource, job, update)

    async def delete_remote_object(self, sides: Sides, key: Request) -> None:
        """Delete the copy and all that is its own."""
        await sides.remote.delete(self.resource, key.name, key.namespace, propagation_policy="Background", missing_ok=True)

    def is_managed_by_kueue(self, job: ReadOnlyTree) -> str:
        """Its ``spec.managedBy`` must say so."""
        manager = (job.get("spec") or meta.EMPTY).get("managedBy") or ""
        if manager == names.MULTIKUEUE_CONTROLLER_NAME:
            return ""
        return f'Expecting {self.managed_by_path} to be "{names.MULTIKUEUE_CONTROLLER_NAME}" not "{manager}"'

    def workload_keys_for(self, job: ReadOnlyTree) -> Iterable[Request]:
        """The one that it names."""
        name = objects.prebuilt_workload_name(job, self._features)
        return [Request(meta.namespace_of(job), name)] if name else []
