"""The priority of a job's Workload: of which class it is, and when it changes.

Upstream: ExtractPriority and UpdateWorkloadPriority in pkg/controller/jobframework/reconciler.go,
pkg/util/priority.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import NamedTuple

from fakekube.apimachinery import errors, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PRIORITY_CLASSES, Resource
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import GenericJob
from fakekube_controllers.kueue.workload import states


class Priority(NamedTuple):
    """A value, and the class that it comes from; None where it comes from none."""

    ref: Tree | None
    value: int


class WorkloadPriorityClassNotFound(APIError):
    """404 for a class that a job names."""

    def __init__(self, name: str) -> None:
        found = errors.not_found(names.WORKLOAD_PRIORITY_CLASSES.group_resource, name)
        super().__init__(found.code, found.reason, found.message, found.details)


def extract_priority(
    framework: Framework, obj: ReadOnlyTree, pod_sets: Iterable[ReadOnlyTree], custom: str | None,
) -> Priority:
    """By the object's WorkloadPriorityClass, else by the PriorityClass ``custom``, else by that of
    the first podset which has one, else by the cluster's default.

    ``custom`` None: the kind of job names no class. APIError 404 for a class that is not there, and
    WorkloadPriorityClassNotFound for one of Kueue's.
    """
    name = objects.workload_priority_class_name(obj)
    if name:
        own = framework.workload_priority_classes.get("", name)
        if own is None:
            raise WorkloadPriorityClassNotFound(name)
        return Priority(_ref(names.WORKLOAD_PRIORITY_CLASSES, own), own["value"])
    name = _of_pod_sets(pod_sets) if custom is None else custom
    if name:
        found = framework.priority_classes.get("", name)
        if found is None:
            raise errors.not_found(PRIORITY_CLASSES.group_resource, name)
        return Priority(_ref(PRIORITY_CLASSES, found), found["value"])
    defaults = [each for each in framework.priority_classes.list() if each.get("globalDefault")]
    if not defaults:
        return Priority(None, 0)
    lowest = min(defaults, key=lambda each: int(each["value"]))
    return Priority(_ref(PRIORITY_CLASSES, lowest), lowest["value"])


def _of_pod_sets(pod_sets: Iterable[ReadOnlyTree]) -> str:
    names_of_classes = (each["template"]["spec"].get("priorityClassName") for each in pod_sets)
    return next(filter(None, names_of_classes), "")


def _ref(resource: Resource, found: ReadOnlyTree) -> Tree:
    return {"group": resource.group, "kind": resource.kind, "name": meta.name_of(found)}


async def update_workload_priorities(
    framework: Framework, job: GenericJob, workloads: Sequence[ReadOnlyTree | None],
) -> None:
    """Give the Workloads of a job the class that it names now. APIError."""
    await update_priorities(framework, job.key, job.obj, workloads, job.priority_class())


async def update_priorities(
    framework: Framework, key: ObjectKey, obj: ReadOnlyTree, workloads: Sequence[ReadOnlyTree | None], custom: str | None,
) -> None:
    """The same, of any object with Workloads; ``key`` is what is reconciled. APIError."""
    wanted = objects.workload_priority_class_name(obj)
    following = [each for each in workloads if each is not None and _follows_class(each)]
    stale = [each for each in following if states.priority_class_name(each) != wanted]
    if not stale:
        return
    priority = extract_priority(framework, obj, states.spec_of(stale[0]).get("podSets") or (), custom)
    for workload in [each for each in following if states.priority_class_name(each) == wanted] + stale:
        spec = states.spec_of(workload)
        if spec.get("priority") == priority.value and spec.get("priorityClassRef") == priority.ref:
            continue
        changed = deepcopy(dict(workload))
        put_priority(changed, priority)
        await framework.update_workload(key, changed)
        message = f"Updated workload priority class: {meta.key_of(workload)}"
        framework.event(obj, "Normal", "UpdatedWorkload", message)


def _follows_class(workload: ReadOnlyTree) -> bool:
    """Not where a PriorityClass counts, nor where quota is reserved without any: the API lets no
    class be added then.
    """
    if states.has_no_priority(workload):
        return not states.has_quota_reservation(workload)
    return states.is_workload_priority_class(workload)


def put_priority(workload: Tree, priority: Priority) -> None:
    """Give a Workload, which is the caller's own, a priority."""
    workload["spec"]["priority"] = priority.value
    if priority.ref is None:
        workload["spec"].pop("priorityClassRef", None)
    else:
        workload["spec"]["priorityClassRef"] = priority.ref
