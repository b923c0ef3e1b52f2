"""What a new job gets before it is stored. Upstream: pkg/controller/jobframework/defaults.go, and
WorkloadShouldBeSuspended in utils.go.

All functions change the job in place, which is a webhook's own.
"""

from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import NAMESPACES
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.ancestors import find_ancestor_job_managed_by_kueue
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobframework.job import GenericJob

NAMESPACE_NAME = "kubernetes.io/metadata.name"


async def default_local_queue_exists(client: Client, namespace: str) -> bool:
    """Whether a namespace has a LocalQueue that jobs get which name none."""
    found = await client.get(names.LOCAL_QUEUES, names.DEFAULT_LOCAL_QUEUE_NAME, namespace, missing_ok=True)
    return found is not None


async def namespace_matches(client: Client, namespace: str, selector: Selector) -> bool:
    """Whether jobs of a namespace are managed. APIError 404 where there is no such namespace, and
    its labels matter.
    """
    if all(each.key == NAMESPACE_NAME for each in selector.requirements):
        return selector.matches({NAMESPACE_NAME: namespace})  # which the server sees to
    return selector.matches(meta.labels_of(await client.get(NAMESPACES, namespace)))


async def apply_default_local_queue(client: Client, obj: Tree, options: Options) -> None:
    """Name the default LocalQueue, where there is one, and the job and its owner name none."""
    namespace = meta.namespace_of(obj)
    if objects.queue_name(obj) or options.integrations.is_managed_owner(meta.controller_of(obj)):
        return
    if not await default_local_queue_exists(client, namespace):
        return
    if await namespace_matches(client, namespace, options.configuration.managed_jobs_namespace_selector):
        objects.put_metadata(obj, "labels", names.QUEUE_LABEL, names.DEFAULT_LOCAL_QUEUE_NAME)


async def apply_default_workload_priority_class(client: Client, obj: Tree, options: Options) -> None:
    """Name the default WorkloadPriorityClass, where the gate is on and there is one."""
    if not options.configuration.features.WorkloadPriorityClassDefaulting:
        return
    if objects.workload_priority_class_name(obj) or options.integrations.is_managed_owner(meta.controller_of(obj)):
        return
    name = names.DEFAULT_WORKLOAD_PRIORITY_CLASS_NAME
    if await client.get(names.WORKLOAD_PRIORITY_CLASSES, name, missing_ok=True) is not None:
        objects.put_metadata(obj, "labels", names.WORKLOAD_PRIORITY_CLASS_LABEL, name)


async def workload_should_be_suspended(
    client: Client, obj: ReadOnlyTree, options: Options, *, tolerates_deleting: bool = False,
) -> bool:
    """Whether a job is to wait for its admission: not if one above it is managed.

    ``tolerates_deleting``: what is being deleted, perhaps after its owner, is left alone.
    """
    configuration = options.configuration
    if tolerates_deleting and configuration.features.SkipAncestorCheckForDeletedWorkloads and meta.is_deleting(obj):
        return False
    everything = configuration.manage_jobs_without_queue_name
    ancestor = await find_ancestor_job_managed_by_kueue(
        client, options.integrations, obj, manage_jobs_without_queue_name=everything)
    if ancestor is not None:
        return False
    if objects.queue_name(obj):
        return True
    selector = configuration.managed_jobs_namespace_selector
    return everything and await namespace_matches(client, meta.namespace_of(obj), selector)


async def apply_default_for_suspend(client: Client, job: GenericJob, options: Options) -> None:
    """Let a job wait that Kueue manages."""
    wait = await workload_should_be_suspended(client, job.obj, options, tolerates_deleting=True)
    if wait and not job.is_suspended():
        job.suspend()


async def apply_default_for_managed_by(client: Client, job: GenericJob, options: Options) -> None:
    """Give a job to MultiKueue, where its queue does."""
    queue = objects.queue_name(job.obj)
    if not queue or not options.configuration.features.MultiKueue or not job.can_default_managed_by():
        return
    local = await client.get(names.LOCAL_QUEUES, queue, meta.namespace_of(job.obj), missing_ok=True)
    cluster_queue: Any = local and await client.get(
        names.CLUSTER_QUEUES, local["spec"].get("clusterQueue") or "-", missing_ok=True)
    strategy = ((cluster_queue or {}).get("spec") or {}).get("admissionChecksStrategy") or {}
    for rule in strategy.get("admissionChecks") or ():
        check = await client.get(names.ADMISSION_CHECKS, rule["name"], missing_ok=True)
        if check is not None and check["spec"].get("controllerName") == names.MULTIKUEUE_CONTROLLER_NAME:
            job.set_managed_by(names.MULTIKUEUE_CONTROLLER_NAME)
            return
