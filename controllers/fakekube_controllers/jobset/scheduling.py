"""What the scheduler is told of a JobSet: a Workload, and groups of groups down to the pods.

The tree is that of KEP-6089: the JobSet is a group of its replicated jobs, each of these a group of
its Jobs, each Job a group of pods. Without a word from the user, replicated jobs start together,
and so do the Jobs of each; where they start one after the other, only the latter hold. Jobs of one
replicated job are alike, so that one template serves all of them: a Workload has few templates,
whatever the number of Jobs. All groups of a Workload have one priority: a JobSet whose pods have
several is scheduled pod by pod, and may not ask for more.
"""

import copy
from collections.abc import Callable, Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import OMITTED, FieldError, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube_controllers import workloadbuilder as wb
from fakekube_controllers.jobset import names, policies, schedulingfields

WORKLOADS = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")
POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
COMPOSITES = Resource("scheduling.k8s.io", "v1alpha3", "compositepodgroups", "CompositePodGroup")
TEMPLATE = "scheduling.k8s.io/group-template-name"
PARENT = "scheduling.k8s.io/parent-compositepodgroup"
ROOT_TEMPLATE = "jobset"
SEVERAL_PRIORITIES = "all pods must have the same priorityClassName to be scheduled in groups"
GANG_COUNTS = ("minCount", "minGroupCount")


class ForeignObject(ValueError):
    """An object of the name that one of the JobSet is to have, and that is not the JobSet's."""


def errors_of(jobset: ReadOnlyTree) -> list[FieldError]:
    """The complaints about how a new JobSet is to be scheduled."""
    found = [*schedulingfields.errors_of(jobset)]
    if len(_priorities(jobset)) > 1 and schedulingfields.is_given(jobset):
        found.append(invalid("spec.replicatedJobs", OMITTED, SEVERAL_PRIORITIES))
    root = item_of(jobset)
    return found + (wb.Builder(root, _options(jobset)).validate() if root is not None else [])


def item_of(jobset: ReadOnlyTree) -> wb.WorkloadItem | None:
    """The tree of a JobSet; None where there are no Jobs in it, or pods of several priorities."""
    children = [
        _role_of(jobset, place, each) for place, each in enumerate(names.replicated_jobs(jobset)) if names.replicas(each) > 0]
    if not children or len(_priorities(jobset)) > 1:
        return None
    starts_together = not policies.keeps_order(jobset) and not any(
        each.get("dependsOn") for each in names.replicated_jobs(jobset))
    default = wb.SchedulingConfig(_gang() if starts_together else _basic(), priority_class_name=_priorities(jobset)[0])
    told = wb.WorkloadInput.of(schedulingfields.of_jobset(jobset), composite=True)
    return wb.WorkloadItem(ROOT_TEMPLATE, schedulingfields.ROOT, default, told, [_sized(len(children))], children)


def _role_of(jobset: ReadOnlyTree, place: int, replicated_job: ReadOnlyTree) -> wb.WorkloadItem:
    """A replicated job as a group of its Jobs."""
    path, blocks = schedulingfields.of_replicated_job(jobset, place)
    job = replicated_job["template"].get("spec") or meta.EMPTY
    pods = job.get("parallelism", 1)
    if job.get("completions") is not None:
        pods = min(pods, job["completions"])
    priority = _priority(replicated_job)
    leaf = wb.WorkloadItem(
        leaf_template(replicated_job["name"]), path, wb.SchedulingConfig(_basic(), priority_class_name=priority),
        wb.WorkloadInput.of(blocks), [_sized(max(pods, 1))])
    default = wb.SchedulingConfig(_gang(), priority_class_name=priority)
    name, sized = _role_template(replicated_job["name"]), _sized(names.replicas(replicated_job))
    return wb.WorkloadItem(name, path, default, callbacks=[sized], children=[leaf])


def leaf_template(replicated_job: str) -> str:
    """The name of the template for the pods of each Job of a replicated job."""
    return f"job-{replicated_job}"


def _role_template(replicated_job: str) -> str:
    return f"group-{replicated_job}"


def composite_name(jobset: str, replicated_job: str) -> str:
    """The name of the group of a replicated job's Jobs."""
    return f"{jobset}-{replicated_job}"


def _gang() -> wb.SchedulingPolicy:
    return wb.SchedulingPolicy(gang=wb.GangSchedulingPolicy())


def _basic() -> wb.SchedulingPolicy:
    return wb.SchedulingPolicy(basic=wb.BasicSchedulingPolicy())


def _sized(members: int) -> wb.Callback:
    """A gang without a size is one of all members."""
    def fill_in(config: wb.SchedulingConfig) -> None:
        if config.policy is not None and config.policy.gang is not None and config.policy.gang.min_count is None:
            config.policy.gang.min_count = members

    return fill_in


def _priority(replicated_job: ReadOnlyTree) -> str:
    job = replicated_job["template"].get("spec") or meta.EMPTY
    return str(((job.get("template") or meta.EMPTY).get("spec") or meta.EMPTY).get("priorityClassName", ""))


def _priorities(jobset: ReadOnlyTree) -> list[str]:
    return [*dict.fromkeys(_priority(each) for each in names.replicated_jobs(jobset) if names.replicas(each) > 0)]


def _options(jobset: ReadOnlyTree, owner: ReadOnlyTree | None = None) -> wb.BuildOptions:
    return wb.BuildOptions(
        meta.name_of(jobset), meta.namespace_of(jobset), owner, [*wb.SchedulingPolicyOption], [*wb.DisruptionModeOption])


class SchedulingObjects:
    """The Workload and the groups of JobSets.

    ``delegates``: PodGroups are made by the controller of Jobs. ``wrote`` is told of every object
    that was written.
    """

    def __init__(
        self, client: Client, lister: Callable[[Resource], Lister], wrote: Callable[[Resource, Tree], None], *, delegates: bool,
    ) -> None:
        self._client, self._lister, self._wrote, self._delegates = client, lister, wrote, delegates

    async def ensure(self, jobset: Tree) -> None:
        """Make what is missing of a JobSet's objects, parents first, and write sizes that changed.

        Raises APIError; ForeignObject, WorkloadBuildError.
        """
        root = item_of(jobset)
        if root is None:
            return
        owner = meta.controller_reference(jobset)
        compiled = wb.Builder(root, _options(jobset, owner)).build_workload()
        workload = await self._present(WORKLOADS, compiled, jobset)
        for resource, group in _groups(jobset, workload, owner, with_leaves=not self._delegates):
            await self._present(resource, group, jobset)

    async def _present(self, resource: Resource, wanted: Tree, jobset: ReadOnlyTree) -> Tree:
        """An object as it is, after it was created or resized."""
        name, namespace = meta.name_of(wanted), meta.namespace_of(jobset)
        found = self._lister(resource).get(namespace, name)
        if found is None:
            made = await self._client.create(resource, wanted)
        elif not meta.is_controlled_by(found, jobset):
            raise ForeignObject(
                f"{resource.kind} {namespace}/{name} already exists and is not controlled by JobSet {meta.key_of(jobset)}")
        else:
            spec = copy.deepcopy(found["spec"])
            if resource == COMPOSITES or not _resize(spec, wanted["spec"]):
                return found
            made = await self._client.update(resource, {**found, "spec": spec})
        self._wrote(resource, made)
        return made

    def adopt(self, jobset: ReadOnlyTree, replicated_job: ReadOnlyTree, job: Tree) -> None:
        """Let the pods of a Job that is to be created belong to its group."""
        job["spec"].pop("scheduling", None)
        role = replicated_job["name"]
        if self._delegates:
            job["metadata"]["annotations"] |= {
                TEMPLATE: leaf_template(role), PARENT: composite_name(meta.name_of(jobset), role)}
        else:
            job["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": meta.name_of(job)}


def _groups(jobset: ReadOnlyTree, workload: ReadOnlyTree, owner: Tree, *, with_leaves: bool) -> Iterator[tuple[Resource, Tree]]:
    """The groups that a JobSet has, of the templates of its Workload."""
    name, options = meta.name_of(jobset), wb.BuildOptions(owner=owner)
    builder = wb.Builder.from_existing_workload(workload, options)
    yield COMPOSITES, builder.new_composite_pod_group(name, ROOT_TEMPLATE)
    [root] = workload["spec"]["compositePodGroupTemplates"]
    leaves = {each["name"]: each["podGroupTemplates"][0] for each in root["compositePodGroupTemplates"]}
    for each in names.replicated_jobs(jobset):
        role = each["name"]
        template = leaves.get(_role_template(role))
        if template is None:
            continue
        composite = builder.new_composite_pod_group(composite_name(name, role), _role_template(role))
        composite["spec"]["parentCompositePodGroupName"] = name
        yield COMPOSITES, composite
        # the library looks for templates of pods at the top
        of_pods = wb.Builder.from_existing_workload({**workload, "spec": {"podGroupTemplates": [template]}}, options)
        for number in range(names.replicas(each) if with_leaves else 0):
            group = of_pods.new_pod_group(names.job_name(name, role, number), template["name"])
            group["spec"]["parentCompositePodGroupName"] = composite_name(name, role)
            yield POD_GROUPS, group


def _resize(spec: Tree, wanted: ReadOnlyTree) -> bool:
    """Write the sizes of gangs into what is stored, templates by their names; whether one changed.
    """
    changed = False
    gang, wanted_gang = (each.get("schedulingPolicy", meta.EMPTY).get("gang") for each in (spec, wanted))
    if gang is not None and wanted_gang is not None:
        for count in GANG_COUNTS:
            if count in gang and gang[count] != wanted_gang.get(count):
                gang[count] = wanted_gang[count]
                changed = True
    for field in ("podGroupTemplates", "compositePodGroupTemplates"):
        known = {each["name"]: each for each in wanted.get(field) or ()}
        for template in spec.get(field) or ():
            changed = _resize(template, known.get(template["name"], meta.EMPTY)) or changed
    return changed
