"""The job above a job that Kueue manages in its place.

Upstream: FindAncestorJobManagedByKueue in pkg/controller/jobframework/reconciler.go.
"""

from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import cast

from fakekube.apimachinery import errors, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind, split_api_version
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.runtime.addon import FindComponent
from fakekube.runtime.reconcile import ExpectedError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.integrations import Integrations

CachedJobs = Mapping[tuple[str, str], Lister]
"""Caches of jobs by ``apiVersion`` and ``kind``."""
NO_JOBS: CachedJobs = MappingProxyType({})


class CyclicOwnership(ExpectedError):
    """An object is above itself."""

    def __init__(self) -> None:
        super().__init__("cyclic ownership")


class WorkloadOwnerNotFound(ExpectedError):
    """An owner is gone, for which ``status`` is what the API says, or its kind is not served."""

    def __init__(self, why: object, status: APIError | None = None) -> None:
        super().__init__(f"workload owner not found\n{why}")
        self.status = status


class ChainLimitReached(ExpectedError):
    """There are more owners above a job than are looked at."""

    def __init__(self) -> None:
        super().__init__("managed owner chain limit reached")


async def find_ancestor_job_managed_by_kueue(
    client: Client, integrations: Integrations, job: ReadOnlyTree, *, manage_jobs_without_queue_name: bool,
) -> ReadOnlyTree | None:
    """The uppermost controller above a job that is managed: of an enabled kind, and with a queue
    unless jobs without are managed too.

    Raises CyclicOwnership, WorkloadOwnerNotFound, ChainLimitReached, and APIError.
    """
    ascent = _ascent(integrations, job, manage_jobs_without_queue_name=manage_jobs_without_queue_name)
    try:
        owner = next(ascent)
        while True:
            owner = ascent.send(await _read(client, owner, meta.namespace_of(job)))
    except StopIteration as top:
        found: ReadOnlyTree | None = top.value
        return found


def cached_jobs(find: FindComponent) -> CachedJobs:
    """The caches of jobs of a Kueue that runs; none where none does."""
    kueue = getattr(find(names.KUEUE_NAME), "kueue", None)
    return NO_JOBS if kueue is None else cast("CachedJobs", kueue.jobs)


def cached_ancestor_job_managed_by_kueue(
    jobs: CachedJobs, integrations: Integrations, job: ReadOnlyTree, *, manage_jobs_without_queue_name: bool,
) -> ReadOnlyTree | None:
    """The same as far as caches show it, which upstream's client reads; None also where they do not
    show all owners.
    """
    ascent = _ascent(integrations, job, manage_jobs_without_queue_name=manage_jobs_without_queue_name)
    namespace = meta.namespace_of(job)
    try:
        owner = next(ascent)
        while (lister := jobs.get((owner["apiVersion"], owner["kind"]))) is not None:
            shown = lister.get(namespace, owner["name"])
            if shown is None:
                return None
            owner = ascent.send(shown)
    except StopIteration as top:
        found: ReadOnlyTree | None = top.value
        return found
    return None


def _ascent(
    integrations: Integrations, job: ReadOnlyTree, *, manage_jobs_without_queue_name: bool,
) -> Generator[ReadOnlyTree, ReadOnlyTree, ReadOnlyTree | None]:
    """The way up from a job: yields references to owners, and is sent the owners."""
    seen: dict[str, None] = {}
    current, top = job, None
    while True:
        uid = meta.uid_of(current)
        if uid in seen:
            raise CyclicOwnership
        seen[uid] = None
        owner = meta.controller_of(current)
        if owner is None or not integrations.is_known_owner(owner):
            return top
        current = yield owner
        if integrations.is_managed_owner(owner) and (manage_jobs_without_queue_name or objects.queue_name(current)):
            top = current
        if len(seen) > names.MAX_ANCESTORS:
            raise ChainLimitReached


async def _read(client: Client, owner: ReadOnlyTree, namespace: str) -> ReadOnlyTree:
    group, version = split_api_version(owner["apiVersion"])
    try:
        resource = await client.for_kind(GroupVersionKind(group, version, owner["kind"]))
    except KeyError as error:
        raise WorkloadOwnerNotFound(error) from error
    found = await client.get(resource, owner["name"], namespace, missing_ok=True)
    if found is None:
        status = errors.not_found(GroupResource(group, owner["kind"]), owner["name"])  # a cache knows kinds alone
        raise WorkloadOwnerNotFound(status, status)
    return found
