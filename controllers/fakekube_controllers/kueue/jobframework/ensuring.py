"""The one Workload of a job: found, changed to fit, or to be made; and those besides, which go.

Upstream: ensureOneWorkload and what it calls in pkg/controller/jobframework/reconciler.go.
"""

from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import ExpectedError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import construction, matching, objects, priorities, stopping
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import NO_MATCHING_WORKLOAD, ComposableJob, GenericJob, Matching
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.workload import finish, reasons, states

MISSING = "Missing Workload; unable to restore pod templates"
NO_MATCH = "No matching Workload; restoring pod templates according to existent Workload"
PREBUILT_OUT_OF_SYNC = "The prebuilt workload is out of sync with its user job"


class WorkloadsChange(ExpectedError):
    """The Workloads of a job are not what they will be soon: it is looked at again then."""


class PrebuiltWorkloadNotFound(WorkloadsChange):
    """The Workload that a job names is not there, or is another's."""


class NoMatchingWorkloads(WorkloadsChange):
    """The Workloads of a job were deleted, since none of them was right."""


class ExtraWorkloads(WorkloadsChange):
    """Workloads that a job had besides the right one were deleted."""


async def ensure_one_workload(framework: Framework, job: GenericJob) -> ReadOnlyTree | None:
    """The Workload of a job; None where one is to be made, or waited for.

    Raises NoMatchingWorkloads and ExtraWorkloads, and what ``construction`` raises.
    """
    name = objects.prebuilt_workload_name(job.obj, framework.features)
    if name:
        return await _prebuilt(framework, job, name)
    if objects.is_elastic(job.obj, framework.features):
        plan = await _slices(framework, job)
        if plan.compatible:
            return plan.workload
    matches = await _matching(framework, job)
    match, to_delete, to_update = matches.match, matches.to_delete, None
    if match is None and to_delete and job.is_suspended() and not states.has_quota_reservation(to_delete[0]):
        to_update, to_delete = to_delete[0], to_delete[1:]
    if match is None and not job.is_suspended():
        await _stop_without_match(framework, job, to_delete)
    await _delete(framework, job, to_delete, has_match=match is not None)
    if to_update is not None:
        return await _update_to_match(framework, job, to_update)
    if match is not None:
        if framework.features.AdmissionGatedBy:
            match = await update_admission_gated_by(framework, job, match)
        await priorities.update_workload_priorities(framework, job, [match])
    return match


async def _prebuilt(framework: Framework, job: GenericJob, name: str) -> ReadOnlyTree | None:
    workload: ReadOnlyTree | None = framework.workloads.get(meta.namespace_of(job.obj), name)
    if workload is None:
        return None
    owner = meta.controller_of(workload)
    if owner is not None and owner["uid"] != meta.uid_of(job.obj):
        return None
    if isinstance(job, ComposableJob):
        workload = await job.ensure_workload_owned_by_all_members(framework, workload)
    else:
        workload = await construction.ensure_prebuilt_workload_ownership(framework, workload, job.obj)
    if objects.is_elastic(job.obj, framework.features) and chains.replacement_for_key(workload) is not None:
        # the scheduler finishes these, if it is not stopped before; upstream leaves them quota
        for each in chains.superseded(workload, framework.workloads_of(job.resource.gvk, job.key)):
            await _finish(framework, job, each, reasons.SLICE_REPLACED, chains.REPLACED)
        return workload  # the job is not of its size yet
    if isinstance(job, ComposableJob):
        in_sync = await job.equivalent_to_workload(framework, workload)
    else:
        in_sync = await matching.equivalent_to_workload(framework, job, workload)
    if in_sync:
        return workload
    await _finish(framework, job, workload, reasons.OUT_OF_SYNC, PREBUILT_OUT_OF_SYNC)
    return None


async def _finish(framework: Framework, job: GenericJob, workload: ReadOnlyTree, reason: str, message: str) -> None:
    now = framework.clock.time()
    written = await finish.finish(framework.client, workload, reason, message, now=now, features=framework.features)
    framework.wrote(job.key, names.WORKLOADS, written)


async def _slices(framework: Framework, job: GenericJob) -> chains.Plan:
    """What becomes of the slices of a job, all done."""
    pod_sets = await construction.job_pod_sets(framework, job)
    annotations = await job.custom_annotations(framework.client, pod_sets)
    if annotations.items() - meta.annotations_of(job.obj).items():
        def annotate() -> None:
            job.obj["metadata"]["annotations"] = {**meta.annotations_of(job.obj), **annotations}

        await job.patch(framework, annotate)
    key, gvk = job.key, job.resource.gvk
    plan = chains.plan(framework.workloads_of(gvk, key), pod_sets)
    for each in plan.to_finish:
        await _finish(framework, job, each.workload, each.reason, each.message)
    if not plan.compatible:
        return plan
    if plan.workload is not None and plan.counts is not None:
        plan = plan._replace(workload=await framework.update_workload(key, chains.scaled(plan.workload, plan.counts)))
    await _update_slice_priorities(framework, job, plan.workload)
    if framework.features.WorkloadSliceHistory:
        await _forget_old_slices(framework, job)
    return plan


async def _forget_old_slices(framework: Framework, job: GenericJob) -> None:
    """Delete the slices of a job that are of the past, but for the last of them."""
    limit = framework.configuration.workload_retention.preempted_workload_slice_history
    found = framework.workloads_of(job.resource.gvk, job.key)
    for workload in chains.beyond_history(found, meta.uid_of(job.obj), limit):
        if await stopping.delete_workload(framework, workload):
            message = f"Deleted Workload of an old slice: {meta.key_of(workload)}"
            framework.event(job.obj, "Normal", "DeletedWorkload", message)


async def _update_slice_priorities(framework: Framework, job: GenericJob, workload: ReadOnlyTree | None) -> None:
    """Of the slice that waits and of that which it waits behind: both count in preemption."""
    retained = chains.latest_active(framework.workloads_of(job.resource.gvk, job.key))
    live = [workload]
    if retained is not None and (workload is None or meta.name_of(retained) != meta.name_of(workload)):
        live.append(retained)
    await priorities.update_workload_priorities(framework, job, live)


async def _matching(framework: Framework, job: GenericJob) -> Matching:
    if isinstance(job, ComposableJob):
        return await job.find_matching_workloads(framework)
    return await matching.find_matching_workloads(framework, job)


async def _stop_without_match(framework: Framework, job: GenericJob, to_delete: Sequence[ReadOnlyTree]) -> None:
    if job.finished() is not None:
        return
    # where there are several, nobody knows which one has the templates
    workload = to_delete[0] if len(to_delete) == 1 else None
    await stopping.stop_job(framework, job, workload, NO_MATCHING_WORKLOAD, MISSING if workload is None else NO_MATCH)


async def _delete(framework: Framework, job: GenericJob, to_delete: Sequence[ReadOnlyTree], *, has_match: bool) -> None:
    deleted = 0
    for workload in to_delete:
        if await stopping.delete_workload(framework, workload):
            deleted += 1
            message = f"Deleted not matching Workload: {meta.key_of(workload)}"
            framework.event(job.obj, "Normal", "DeletedWorkload", message)
    if deleted and has_match:
        raise ExtraWorkloads(f"extra workloads: deleted {len(to_delete)} workloads")
    if deleted:
        raise NoMatchingWorkloads(f"no matching workloads: deleted {len(to_delete)} workloads")


async def _update_to_match(framework: Framework, job: GenericJob, workload: ReadOnlyTree) -> ReadOnlyTree:
    """Give a Workload what a new one of the job would have."""
    new = await construction.construct_workload(framework, job)
    await construction.prepare_workload(framework, job, new, active=states.spec_of(workload).get("active"))
    changed: Tree = {**workload, "spec": new["spec"]}
    written = await framework.update_workload(job.key, changed)
    message = f"Updated not matching Workload for suspended job: {meta.key_of(workload)}"
    framework.event(job.obj, "Normal", "UpdatedWorkload", message)
    return written


async def update_admission_gated_by(framework: Framework, job: GenericJob, workload: ReadOnlyTree) -> ReadOnlyTree:
    """Let a Workload wait for what its job waits for; the Workload then. APIError."""
    key = names.ADMISSION_GATED_BY_ANNOTATION
    if meta.annotations_of(job.obj).get(key, "") == meta.annotations_of(workload).get(key, ""):
        return workload

    def update(copied: Tree) -> bool:
        return construction.propagate_admission_gated_by(job.obj, copied)

    written = await framework.patch(job.key, names.WORKLOADS, workload, update)
    construction.tell_admission_gated_by(framework, job.obj)
    return written or workload
