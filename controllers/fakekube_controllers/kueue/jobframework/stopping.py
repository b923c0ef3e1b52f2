"""A job is stopped, and its Workloads let go.

Upstream: stopJob, finalizeWorkloads and shouldSuspendChildJob in
pkg/controller/jobframework/reconciler.go, Delete in pkg/workload.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.jobframework import objects, podsets_info
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import WORKLOAD_EVICTED, ComposableJob, GenericJob
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.workload import finish, reasons, states

NOT_FOUND = 404


async def stop_job(
    framework: Framework, job: GenericJob, workload: ReadOnlyTree | None, reason: str, message: str,
) -> None:
    """Stop a job, and give its templates back what the Workload remembers. APIError."""
    if isinstance(job, ComposableJob) and reason == WORKLOAD_EVICTED and workload is not None:
        evicted = states.condition(workload, reasons.EVICTED)
        if evicted is not None and evicted["status"] == "True":
            reason = f"{reason}DueTo{evicted['reason']}"
    for stopped in await job.stop(framework, podsets_info.from_workload(workload), reason, message):
        framework.event(stopped, "Normal", "Stopped", message)


async def delete_workload(framework: Framework, workload: ReadOnlyTree) -> bool:
    """Delete a Workload; whether this asked for it. APIError, but for one that is gone."""
    try:
        return await finish.delete(framework.client, workload)
    except APIError as error:
        if error.code != NOT_FOUND:
            raise
        return False


async def finalize_workloads(framework: Framework, job: GenericJob, key: ObjectKey) -> None:
    """Let the Workloads of a job go, which is going or gone. APIError."""
    if isinstance(job, ComposableJob):
        workloads = [*job.list_child_workloads(framework, key)]
    else:
        workloads = [*framework.workloads_of(job.resource.gvk, key)]
    for workload in workloads:
        await finish.finalize_orphaned_workload(
            framework.client, workload, can_finish=meta.controller_of(workload) is not None, now=framework.clock.time(),
            features=framework.features)


def should_suspend_child_job(framework: Framework, job: GenericJob, ancestor: ReadOnlyTree) -> bool:
    """Whether a job has to wait for that of one above it: as long as that is not admitted, or,
    where sizes change while jobs run, once it is evicted.
    """
    if job.finished() is not None or job.is_suspended():
        return False
    group, version = split_api_version(ancestor["apiVersion"])
    owned = framework.workloads_of(GroupVersionKind(group, version, ancestor["kind"]), meta.key_of(ancestor))
    unfinished = chains.not_finished(owned)
    if not unfinished:
        return True
    features = framework.features
    if objects.is_elastic(job.obj, features) or objects.is_elastic(ancestor, features):
        return states.is_evicted(unfinished[-1])
    return not states.is_admitted(unfinished[-1])
