"""Whether a Workload says what its job says.

Upstream: FindMatchingWorkloads, EquivalentToWorkload and expectedRunningPodSets in
pkg/controller/jobframework/reconciler.go, pkg/util/equality.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import podset
from fakekube_controllers.kueue.jobframework import construction, objects, podsets_info
from fakekube_controllers.kueue.jobframework.framework import Compared, Framework
from fakekube_controllers.kueue.jobframework.job import GenericJob, Matching
from fakekube_controllers.kueue.workload import states


async def find_matching_workloads(framework: Framework, job: GenericJob) -> Matching:
    """The first of the Workloads of a job that says what it says, and the others."""
    match: ReadOnlyTree | None = None
    to_delete: list[ReadOnlyTree] = []
    for workload in framework.workloads_of(job.resource.gvk, meta.key_of(job.obj)):
        if match is None and await equivalent_to_workload(framework, job, workload):
            match = workload
        else:
            to_delete.append(workload)
    return Matching(match, to_delete)


async def equivalent_to_workload(framework: Framework, job: GenericJob, workload: ReadOnlyTree) -> bool:
    """Whether a Workload is that of a job: its controller, with the same podsets."""
    features = framework.features
    owner = meta.controller_of(workload)
    if owner is None or owner["name"] != meta.name_of(job.obj):
        return False
    if features.FinishOrphanedWorkloads and owner["uid"] != meta.uid_of(job.obj):
        return False
    if states.spec_of(workload).get("maximumExecutionTimeSeconds") != objects.maximum_execution_time_seconds(job.obj):
        return False
    present: Sequence[ReadOnlyTree] = states.spec_of(workload).get("podSets") or ()
    ignores_tolerations = states.is_admitted(workload)
    if (ignores_tolerations and not states.can_be_partially_admitted(workload)) or not states.has_quota_reservation(workload):
        # nothing is injected yet, or what is injected is in no field that is compared then
        return await _says_the_same(framework, job, present, ignores_tolerations=ignores_tolerations)
    pod_sets = construction.without_min_counts(await construction.job_pod_sets(framework, job), features)
    running = expected_running_pod_sets(framework, workload)
    if running is None:
        return same_pod_sets(pod_sets, present, ignores_tolerations=ignores_tolerations)
    if same_pod_sets(pod_sets, running, ignores_tolerations=ignores_tolerations):
        return True
    # It may be about to start; once it runs it is compared again, with the injected parts.
    return job.is_suspended() and same_pod_sets(pod_sets, present, ignores_tolerations=ignores_tolerations)


async def _says_the_same(
    framework: Framework, job: GenericJob, present: Sequence[ReadOnlyTree], *, ignores_tolerations: bool,
) -> bool:
    """Whether a job has the podsets ``present``.

    Most reconciles are about a status, and see the very trees that were compared before.
    """
    sources = job.pod_sets_sources()
    seen = None if sources is None else (*sources, present)
    key = None if seen is None else (ignores_tolerations, *map(id, seen))
    known = None if key is None else framework.compared.get(key)
    if known is not None:
        return known.is_same
    pod_sets = construction.without_min_counts(await construction.job_pod_sets(framework, job), framework.features)
    found = same_pod_sets(pod_sets, present, ignores_tolerations=ignores_tolerations)
    if key is not None and seen is not None:
        framework.compared.put(key, Compared(found, seen))
    return found


def expected_running_pod_sets(framework: Framework, workload: ReadOnlyTree) -> list[Tree] | None:
    """The podsets as they are while the job runs; None where there is no such thing."""
    if not states.has_quota_reservation(workload):
        return None
    try:
        infos = podsets_info.from_status(workload, framework.flavor, framework.features)
    except (podset.FlavorNotFound, podset.PermanentError):
        return None
    by_name = {info.name: info for info in infos}
    takes_fewer = states.can_be_partially_admitted(workload)
    running: list[Tree] = orjson.loads(orjson.dumps(states.spec_of(workload).get("podSets") or ()))
    for pod_set in running:
        info = by_name.get(pod_set["name"])
        if info is None or not _merged(pod_set["template"], info, framework):
            return None
        if takes_fewer and pod_set.get("minCount") is not None:
            pod_set["count"] = info.count
    return running


def _merged(template: Tree, info: podset.PodSetInfo, framework: Framework) -> bool:
    """Put into a template what it gets; whether that could be done."""
    try:
        podset.merge(template, info, framework.features)
    except podset.PermanentError:
        return False
    return True


def same_pod_sets(one: Sequence[ReadOnlyTree], other: Sequence[ReadOnlyTree], *, ignores_tolerations: bool = False) -> bool:
    """Whether two lists of podsets ask for the same, in sizes, containers and tolerations.

    Upstream: ComparePodSetSlices.
    """
    if len(one) != len(other):
        return False
    return all(
        left.get("count", 1) == right.get("count", 1) and left.get("minCount") == right.get("minCount")
        and _same_template(left, right, ignores_tolerations=ignores_tolerations)
        for left, right in zip(one, other, strict=True))


def _same_template(one: ReadOnlyTree, other: ReadOnlyTree, *, ignores_tolerations: bool) -> bool:
    left, right = ((each.get("template") or meta.EMPTY).get("spec") or meta.EMPTY for each in (one, other))
    fields = ("initContainers", "containers") if ignores_tolerations else ("tolerations", "initContainers", "containers")
    return all(_alike(left.get(field), right.get(field)) for field in fields)


def _alike(one: Any, other: Any) -> bool:
    """Whether two trees mean the same: what is empty is as what is not there, and quantities are
    numbers.
    """
    return bool(one == other or _plain(one) == _plain(other))


def _plain(value: Any, *, in_resources: bool = False) -> Any:
    if isinstance(value, dict):
        plain = {
            key: _plain(each, in_resources=in_resources or key == "resources") for key, each in value.items()}
        return {key: each for key, each in plain.items() if each not in (None, {}, [], "")} or None
    if isinstance(value, list):
        return [_plain(each, in_resources=in_resources) for each in value] or None
    if in_resources and isinstance(value, str | int):
        try:
            return quantity.parse(value).nano
        except ValueError:
            return value
    return value
