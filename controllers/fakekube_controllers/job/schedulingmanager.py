"""The Workload and the PodGroup of a Job, as Kubernetes 1.37 has them.

A Job that nobody controls gets both. A Job of another controller gets a PodGroup alone, of a
template of its parent's Workload that an annotation names, or nothing. What exists is found by
what it refers to; pods come after both. A gang's minCount follows the Job, nothing else changes.
Three gates of ours do as the KEPs say where upstream does otherwise: ``CronJobWorkloads``,
``UserWorkloadsForJobs`` and ``ParentCompositePodGroups``.
Upstream: pkg/controller/job/job_scheduling_manager.go, pkg/api/job/util.go.
"""

import copy
import logging
from collections.abc import Sequence

from fakekube.apimachinery import gvk, meta, scheduling_blocks
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube_controllers import workloadbuilder
from fakekube_controllers.job import schedulingobjects
from fakekube_controllers.job.pods import Pod
from fakekube_controllers.job.schedulingobjects import UnsupportedWorkload
from fakekube_controllers.job.writer import Writer

log = logging.getLogger(__name__)

WORKLOADS = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")
POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
TEMPLATE_ANNOTATION = "scheduling.k8s.io/group-template-name"
PARENT_ANNOTATIONS = ("scheduling.k8s.io/parent-compositepodgroup", "scheduling.k8s.io/parent-composite-podgroup")


class SchedulingManager:
    """Finds or makes the Workload and the PodGroup of a Job, and resizes both."""

    def __init__(self, ctx: Context, writer: Writer) -> None:
        self.client, self.writer = ctx.client, writer
        self.workloads, self.groups = ctx.lister(WORKLOADS), ctx.lister(POD_GROUPS)
        schedulingobjects.index_workloads(self.workloads)
        schedulingobjects.index_groups(self.groups, ("workloadRef",))
        self.of_cron_jobs, self.of_users = ctx.enabled("CronJobWorkloads"), ctx.enabled("UserWorkloadsForJobs")
        self.below_composites = ctx.enabled("ParentCompositePodGroups")

    async def ensure(self, job: Tree, pods: Sequence[Pod]) -> str:
        """The name of the PodGroup that new pods of the Job belong to; empty for none.

        Raises APIError, UnsupportedWorkload or WorkloadBuildError: then the Job makes no pods.
        """
        if job["spec"]["template"]["spec"].get("schedulingGroup") is not None:
            return ""
        new, owner = schedulingobjects.is_new(job, pods), meta.controller_of(job)
        if owner is None or (self.of_cron_jobs and _is_cron_job(owner)):
            return await self._ensure_both(job, new=new)
        if TEMPLATE_ANNOTATION in meta.annotations_of(job):
            return await self._ensure_delegated(job, new=new)
        return ""

    async def _ensure_both(self, job: Tree, *, new: bool) -> str:
        workload = await self._workload(job, new=new)
        if workload is None:
            return ""
        group = await self._group(job, workload, new=new)
        await self._resize(job, workload, group)
        return "" if group is None else meta.name_of(group)

    # what there is, or else what is made

    async def _workload(self, job: Tree, *, new: bool) -> Tree | None:
        found = self._mine(schedulingobjects.workloads_of(self.workloads, job), job)
        if len(found) > 1:
            log.error(
                "found %d Workloads referencing Job %s, falling back to default scheduling", len(found), meta.key_of(job))
            return None
        if not found:
            return await self._create_workload(job) if new else None
        count = len(found[0]["spec"].get("podGroupTemplates") or ())
        if count != 1 and not meta.is_controlled_by(found[0], job):
            log.error("the Workload of a user for Job %s has %d PodGroupTemplates", meta.key_of(job), count)
            return None
        if count != 1:
            raise UnsupportedWorkload(
                f"workload {meta.key_of(found[0])} for job {meta.key_of(job)} has {count} PodGroupTemplates, want exactly 1")
        return found[0]

    async def _group(self, job: Tree, workload: Tree, *, new: bool) -> Tree | None:
        found = self._mine(schedulingobjects.groups_of(self.groups, workload), job)
        if len(found) > 1:
            log.error(
                "found %d PodGroups referencing Workload %s, falling back to default scheduling",
                len(found), meta.key_of(workload))
            return None
        if found:
            return found[0]
        if not new:
            return None
        template = workload["spec"]["podGroupTemplates"][0]
        return await self._create_group(job, workload, template, [schedulingobjects.workload_owner(workload)])

    def _mine(self, found: list[Tree], job: Tree) -> list[Tree]:
        if self.of_users:
            return found
        return [each for each in found if meta.is_controlled_by(each, job)]

    async def _ensure_delegated(self, job: Tree, *, new: bool) -> str:
        """The PodGroup of a Job whose parent has the Workload.

        Without Workload or template there is none, and pods go without.
        """
        workload = schedulingobjects.parents_workload(self.workloads, job)
        template = None if workload is None else self._template(workload, meta.annotations_of(job)[TEMPLATE_ANNOTATION])
        if workload is None or template is None:
            log.debug("no PodGroupTemplate for the delegated Job %s", meta.key_of(job))
            return ""
        found = schedulingobjects.groups_of(self.groups, workload)
        group = next((each for each in found if meta.is_controlled_by(each, job)), None)
        if group is None and new:
            group = await self._create_group(job, workload, template, [])
        if group is None:
            return ""
        wanted = template["schedulingPolicy"].get("gang")
        if wanted is not None:
            await self._resize_group(group, wanted["minCount"])
        return meta.name_of(group)

    def _template(self, workload: Tree, name: str) -> Tree | None:
        templates = workload["spec"].get("podGroupTemplates") or []
        if self.below_composites:
            templates = [*templates, *_leaves_below(workload["spec"])]
        if not name:
            return templates[0] if templates else None
        return next((template for template in templates if template["name"] == name), None)

    # writes

    async def _create_workload(self, job: Tree) -> Tree:
        name = meta.name_of(job)
        options = workloadbuilder.BuildOptions(
            schedulingobjects.workload_name(job), meta.namespace_of(job), meta.controller_reference(job))
        try:
            workload = workloadbuilder.Builder(item_of(job), options).build_workload()
        except workloadbuilder.WorkloadBuildError as error:
            text = f"Failed to compile Workload for Job {name}: {error}"
            self.writer.event(job, "Warning", "FailedWorkloadCompilation", text)
            raise
        try:
            made = await self.client.create(WORKLOADS, workload)
        except APIError as error:
            self.writer.event(job, "Warning", "FailedWorkloadCreate", f"Failed to create Workload for Job {name}: {error}")
            raise
        self.writer.event(job, "Normal", "WorkloadCreated", f"Created Workload {meta.name_of(made)} for Job {name}")
        return made

    async def _create_group(self, job: Tree, workload: Tree, template: Tree, owners: Sequence[Tree]) -> Tree:
        flat = {**workload, "spec": {"podGroupTemplates": [template]}}
        builder = workloadbuilder.Builder.from_existing_workload(
            flat, workloadbuilder.BuildOptions(owner=meta.controller_reference(job)))
        name = schedulingobjects.group_name(meta.name_of(workload), template["name"])
        group = builder.new_pod_group(name, template["name"])
        group["metadata"]["ownerReferences"] += owners
        if self.below_composites and not owners and (parent := _parent(job)):
            group["spec"]["parentCompositePodGroupName"] = parent
        made = await self.client.create(POD_GROUPS, group)
        text = f"Created PodGroup {meta.name_of(made)} for Job {meta.name_of(job)}"
        self.writer.event(job, "Normal", "PodGroupCreated", text)
        return made

    async def _resize(self, job: Tree, workload: Tree, group: Tree | None) -> None:
        """Write the size of the Job's gang into what the Job controls. Raises APIError."""
        scheduling = job["spec"].get("scheduling")
        if scheduling is None or scheduling_blocks.policy_of(scheduling.get("schedulingPolicy")) != "gang":
            return
        policy = item_of(job).resolved().policy
        wanted = policy.gang.min_count if policy is not None and policy.gang is not None else None
        assert wanted is not None, "the callback has filled it in"
        [template] = workload["spec"]["podGroupTemplates"]
        gang = template["schedulingPolicy"].get("gang")
        if gang is not None and gang["minCount"] != wanted and meta.is_controlled_by(workload, job):
            changed = copy.deepcopy(template)
            changed["schedulingPolicy"]["gang"]["minCount"] = wanted
            await self.client.patch(
                WORKLOADS, meta.name_of(workload), meta.namespace_of(workload),
                {"spec": {"podGroupTemplates": [changed]}}, type="strategic")
        if group is not None and meta.is_controlled_by(group, job):
            await self._resize_group(group, wanted)

    async def _resize_group(self, group: Tree, wanted: int) -> None:
        gang = group["spec"]["schedulingPolicy"].get("gang")
        if gang is not None and gang["minCount"] != wanted:
            await self.client.patch(
                POD_GROUPS, meta.name_of(group), meta.namespace_of(group),
                {"spec": {"schedulingPolicy": {"gang": {"minCount": wanted}}}}, type="strategic")


def item_of(job: ReadOnlyTree) -> workloadbuilder.WorkloadItem:
    """A Job as one group: basic, unless its user says otherwise; a gang of all pods, unless of a
    number.
    """
    spec = job["spec"]
    everybody = max(1, spec.get("parallelism", 1))

    def fill_in(config: workloadbuilder.SchedulingConfig) -> None:
        if config.policy is not None and config.policy.gang is not None and config.policy.gang.min_count is None:
            config.policy.gang.min_count = everybody

    basic = workloadbuilder.SchedulingPolicy(basic=workloadbuilder.BasicSchedulingPolicy())
    default = workloadbuilder.SchedulingConfig(
        basic, priority_class_name=spec["template"]["spec"].get("priorityClassName", ""))
    return workloadbuilder.WorkloadItem(
        schedulingobjects.template_name(job), "spec.scheduling", default,
        workloadbuilder.WorkloadInput.of(spec.get("scheduling")), [fill_in])


def _is_cron_job(owner: ReadOnlyTree) -> bool:
    return (owner["kind"], gvk.split_api_version(owner["apiVersion"])[0]) == ("CronJob", "batch")


def _parent(job: ReadOnlyTree) -> str:
    annotations = meta.annotations_of(job)
    return next((annotations[key] for key in PARENT_ANNOTATIONS if annotations.get(key)), "")


def _leaves_below(spec: ReadOnlyTree) -> list[Tree]:
    found: list[Tree] = []
    for composite in spec.get("compositePodGroupTemplates") or ():
        found += composite.get("podGroupTemplates") or ()
        found += _leaves_below(composite)
    return found
