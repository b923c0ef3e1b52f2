"""Which Workload and PodGroup belong to a Job: their names, the indexes that find them by what they
refer to, and whether a Job is new enough to get some.

Names are never used to find anything: who makes an object again makes the same name.
Upstream: pkg/controller/job/job_scheduling_manager.go.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from fakekube.apimachinery import gvk, meta, names
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.runtime.revisions import fnv1a, safe_encode
from fakekube_controllers.job.pods import Pod

CONTROLLER, WORKLOAD = "controller that a Workload refers to", "Workload that a PodGroup refers to"


class SchedulingObjects(Protocol):
    """Finds or makes what the scheduler needs to know of a Job."""

    async def ensure(self, job: Tree, pods: Sequence[Pod]) -> str:
        """The name of the PodGroup that new pods of the Job belong to; empty for none.

        Raises APIError, or UnsupportedWorkload: then the Job makes no pods.
        """


class UnsupportedWorkload(Exception):
    """A Workload of the Job's own that somebody has changed to what no Job has."""


def is_new(job: ReadOnlyTree, pods: Sequence[Pod]) -> bool:
    """Whether a Job has never started: only then are objects made for it."""
    status = job.get("status") or meta.EMPTY
    if pods or status.get("startTime") or status.get("succeeded") or status.get("failed"):
        return False
    return meta.find_condition(job, "Suspended") is None


def index_workloads(workloads: Lister) -> None:
    """Find Workloads by ``controller_key``."""
    workloads.add_index(CONTROLLER, _controllers)


def index_groups(groups: Lister, reference: Sequence[str]) -> None:
    """Find PodGroups by namespace and name of the Workload that the field ``reference`` of their
    spec leads to.
    """

    def values(group: Tree) -> Iterable[str]:
        found = group["spec"]
        for field in reference:
            found = found.get(field) or meta.EMPTY
        name = found.get("workloadName")
        return (f"{meta.namespace_of(group)}/{name}",) if name else ()

    groups.add_index(WORKLOAD, values)


def _controllers(workload: Tree) -> Iterable[str]:
    reference = workload["spec"].get("controllerRef")
    if reference is None:
        return ()
    return (controller_key(
        meta.namespace_of(workload), reference.get("apiGroup", ""), reference.get("kind", ""), reference.get("name", "")),)


def controller_key(namespace: str, group: str, kind: str, name: str) -> str:
    """How the index of Workloads knows a controller."""
    return f"{namespace}/{group}/{kind}/{name}"


def workloads_of(workloads: Lister, job: ReadOnlyTree) -> list[Tree]:
    """The Workloads that refer to a Job, whoever made them."""
    return workloads.by_index(CONTROLLER, controller_key(meta.namespace_of(job), "batch", "Job", meta.name_of(job)))


def groups_of(groups: Lister, workload: ReadOnlyTree) -> list[Tree]:
    """The PodGroups that refer to a Workload, whoever made them."""
    return groups.by_index(WORKLOAD, f"{meta.namespace_of(workload)}/{meta.name_of(workload)}")


def parents_workload(workloads: Lister, job: ReadOnlyTree) -> Tree | None:
    """The Workload of the controller that owns a Job."""
    owner = meta.controller_of(job)
    if owner is None:
        return None
    group, _ = gvk.split_api_version(owner["apiVersion"])
    found = workloads.by_index(CONTROLLER, controller_key(meta.namespace_of(job), group, owner["kind"], owner["name"]))
    return found[0] if found else None


def template_name(job: ReadOnlyTree) -> str:
    """The name of the only template that a Job's Workload has."""
    return f"{meta.name_of(job)}-pgt-0"


def workload_name(job: ReadOnlyTree) -> str:
    """The name of the Workload that is made for a Job; another one for each uid."""
    suffix = safe_encode(str(fnv1a(f"(types.UID){meta.uid_of(job)}".encode())))
    return f"{meta.name_of(job)[:names.MAX_SUBDOMAIN_LENGTH - len(suffix) - 1]}-{suffix}"


def group_name(workload: str, template: str) -> str:
    """The name of the PodGroup that is made of a template; each part gives way where it is too
    long.
    """
    suffix = safe_encode(str(fnv1a((workload + template).encode())))
    room = names.MAX_SUBDOMAIN_LENGTH - len(suffix) - 2
    if len(workload) + len(template) > room:
        half = room // 2
        if len(workload) <= half:
            template = template[:room - len(workload)]
        elif len(template) <= half:
            workload = workload[:room - len(template)]
        else:
            workload, template = workload[:room - half], template[:half]
    return f"{workload}-{template}-{suffix}"


def workload_owner(workload: ReadOnlyTree) -> Tree:
    """The reference by which a PodGroup goes with its Workload, and does not hold it."""
    return meta.owner_reference(workload)
