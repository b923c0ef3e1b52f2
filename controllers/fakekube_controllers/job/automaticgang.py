"""The Workload and the PodGroup of a Job, as Kubernetes 1.36 has them: an indexed Job that runs all
of its pods at once is a gang, without being asked.

Its template may name a group of its user's, and a Workload of the user's keeps the controller from
making one. The Job's parallelism is frozen meanwhile, by admission (``JobValidation``).
Upstream: pkg/controller/job/job_scheduling_manager.go of 1.36.
"""

import copy
import logging
from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube_controllers.job import schedulingobjects
from fakekube_controllers.job.pods import Pod
from fakekube_controllers.job.writer import Writer

log = logging.getLogger(__name__)

WORKLOADS = Resource("scheduling.k8s.io", "v1alpha2", "workloads", "Workload")
POD_GROUPS = Resource("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup")


class AutomaticGangs:
    """Finds or makes the Workload and the PodGroup of a Job."""

    def __init__(self, ctx: Context, writer: Writer) -> None:
        self.client, self.writer = ctx.client, writer
        self.workloads, self.groups = ctx.lister(WORKLOADS), ctx.lister(POD_GROUPS)
        schedulingobjects.index_workloads(self.workloads)
        schedulingobjects.index_groups(self.groups, ("podGroupTemplateRef", "workload"))

    async def ensure(self, job: Tree, pods: Sequence[Pod]) -> str:
        """The name of the PodGroup that new pods of the Job belong to; empty for none.

        Raises APIError: then the Job makes no pods.
        """
        if not is_gang(job["spec"]):
            return ""
        workload = await self._workload(job, pods)
        group = None if workload is None else await self._group(job, workload)
        return "" if group is None else meta.name_of(group)

    async def _workload(self, job: Tree, pods: Sequence[Pod]) -> Tree | None:
        found = schedulingobjects.workloads_of(self.workloads, job)
        if not found:
            return await self._create_workload(job) if schedulingobjects.is_new(job, pods) else None
        if len(found) > 1:
            log.error(
                "found %d Workloads referencing Job %s, falling back to default scheduling", len(found), meta.key_of(job))
            return None
        [workload] = found
        fits = meta.is_controlled_by(workload, job) and len(workload["spec"]["podGroupTemplates"]) == 1
        return workload if fits else None

    async def _group(self, job: Tree, workload: Tree) -> Tree | None:
        found = schedulingobjects.groups_of(self.groups, workload)
        if not found:
            return await self._create_group(job, workload)
        if len(found) > 1:
            log.error(
                "found %d PodGroups referencing Workload %s, falling back to default scheduling",
                len(found), meta.key_of(workload))
            return None
        return found[0] if meta.is_controlled_by(found[0], job) else None

    async def _create_workload(self, job: Tree) -> Tree:
        name = meta.name_of(job)
        template = {
            "name": schedulingobjects.template_name(job),
            "schedulingPolicy": {"gang": {"minCount": job["spec"]["parallelism"]}},
        }
        made = await self.client.create(WORKLOADS, {
            "apiVersion": WORKLOADS.api_version, "kind": WORKLOADS.kind,
            "metadata": {
                "name": schedulingobjects.workload_name(job), "namespace": meta.namespace_of(job),
                "ownerReferences": [meta.controller_reference(job)],
            },
            "spec": {
                "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": name},
                "podGroupTemplates": [template],
            },
        })
        self.writer.event(job, "Normal", "WorkloadCreated", f"Created Workload {meta.name_of(made)} for Job {name}")
        return made

    async def _create_group(self, job: Tree, workload: Tree) -> Tree:
        template, name = workload["spec"]["podGroupTemplates"][0], meta.name_of(workload)
        return await self.client.create(POD_GROUPS, {
            "apiVersion": POD_GROUPS.api_version, "kind": POD_GROUPS.kind,
            "metadata": {
                "name": schedulingobjects.group_name(name, template["name"]), "namespace": meta.namespace_of(job),
                "ownerReferences": [meta.controller_reference(job), schedulingobjects.workload_owner(workload)],
            },
            "spec": {
                "podGroupTemplateRef": {"workload": {"workloadName": name, "podGroupTemplateName": template["name"]}},
                "schedulingPolicy": copy.deepcopy(template["schedulingPolicy"]),
            },
        })


def is_gang(spec: ReadOnlyTree) -> bool:
    """Whether a Job of that spec is a gang: indexed, of several pods that all run at once."""
    parallelism: int = spec.get("parallelism", 1)
    return (
        parallelism > 1 and spec.get("completionMode") == "Indexed" and spec.get("completions") == parallelism
        and spec["template"]["spec"].get("schedulingGroup") is None)
