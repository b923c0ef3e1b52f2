"""What may change in a JobSet. Upstream: ValidateUpdate in pkg/webhooks/jobset_webhook.go."""

from collections.abc import Iterator

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import addontables
from fakekube_controllers.jobset import names
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.status import COMPLETED, FAILED

IMMUTABLE = "field is immutable"
JOBS = "[]jobset.ReplicatedJob"
OF_TEMPLATE, OF_PODS = ("annotations", "labels"), ("nodeSelector", "tolerations", "schedulingGates")
"""What may change while a JobSet is suspended: Kueue and its like decide it."""
NUMBERS = ("parallelism", "completions")


def errors_of(old: ReadOnlyTree, new: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about a change."""
    found: list[FieldError] = []
    wanted = orjson.loads(orjson.dumps(names.replicated_jobs(new)))
    before = {each["name"]: each for each in names.replicated_jobs(old)}
    pairs = [(place, each, before[each["name"]]) for place, each in enumerate(wanted) if each["name"] in before]
    if features.ElasticJobSet:
        is_finished = any(meta.is_condition_true(old, type_) for type_ in (COMPLETED, FAILED))
        for place, each, former in pairs:
            job, job_before = each["template"].get("spec") or {}, former["template"].get("spec") or {}
            if job.get("completionMode") == "Indexed":
                path = child(index("spec.replicatedJobs", place), "template", "spec")
                found += _of_size(job_before, job, path, is_finished=is_finished)
                _take(job, job_before, NUMBERS)
    if names.is_suspended(old) or names.is_suspended(new):
        for _, each, former in pairs:
            pods, pods_before = _pods_of(each), _pods_of(former)
            for part, fields in (("metadata", OF_TEMPLATE), ("spec", OF_PODS)):
                _take(pods.setdefault(part, {}), pods_before.get(part) or {}, fields)
    structs = addontables.structs(__package__)
    if structs.compared(wanted, JOBS) != structs.compared(names.replicated_jobs(old), JOBS):
        found.append(invalid("spec.replicatedJobs", structs.shown(wanted, JOBS), IMMUTABLE))
    spec, spec_before = (each.get("spec") or meta.EMPTY for each in (new, old))
    for field in ("managedBy", "scheduling"):
        if spec.get(field) != spec_before.get(field):
            found.append(invalid(child("spec", field), spec.get(field), IMMUTABLE))
    return found


def _pods_of(replicated_job: Tree) -> Tree:
    spec: Tree = replicated_job["template"].setdefault("spec", {})
    pods: Tree = spec.setdefault("template", {})
    return pods


def _take(into: Tree, source: ReadOnlyTree, fields: tuple[str, ...]) -> None:
    """Let fields be what they are elsewhere."""
    for field in fields:
        into.pop(field, None)
        if field in source:
            into[field] = source[field]


def _of_size(before: ReadOnlyTree, job: ReadOnlyTree, path: str, *, is_finished: bool) -> Iterator[FieldError]:
    """An Indexed Job may have more pods or fewer, as long as all of them run at once."""
    changed = [field for field in NUMBERS if job.get(field) != before.get(field)]
    if changed and is_finished:
        yield forbidden(path, "Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)")
        return
    for field in changed:
        if job.get(field) is not None and job[field] < 1:
            yield invalid(child(path, field), job[field], f"{field} must be >= 1")
    completions, parallelism = job.get("completions"), job.get("parallelism")
    if changed and None not in (completions, parallelism) and completions != parallelism:
        text = "completions must be equal to parallelism for Elastic Indexed Jobs"
        yield invalid(child(path, "completions"), completions, text)
