"""Workloads that are made of jobs.

Upstream: constructWorkload, prepareWorkload and EnsurePrebuiltWorkloadOwnership in
pkg/controller/jobframework/reconciler.go, NewWorkload and SanitizePodSets in utils.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy

from fakekube.apimachinery import meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects, priorities
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import ComposableJob, GenericJob, UnretryableError
from fakekube_controllers.kueue.jobframework.workload_names import workload_name_for_owner
from fakekube_controllers.kueue.slices import chains

CONTAINERS = ("containers", "initContainers")


async def job_pod_sets(framework: Framework, job: GenericJob) -> list[Tree]:
    """The podsets of a job; of variables that a container names twice the last one counts."""
    pod_sets = await job.pod_sets(framework.client)
    sanitize_pod_sets(pod_sets)
    return pod_sets


def sanitize_pod_sets(pod_sets: Iterable[Tree]) -> None:
    """Drop variables that are named again further on; their first place stays. The podsets get
    templates of their own then.
    """
    for pod_set in pod_sets:
        template = pod_set["template"]
        spec = template.get("spec") or {}
        if any(_repeats(container) for field in CONTAINERS for container in spec.get(field) or ()):
            changed = {field: [_sanitized(container) for container in spec[field]] for field in CONTAINERS if spec.get(field)}
            pod_set["template"] = {**template, "spec": {**spec, **changed}}


def _repeats(container: ReadOnlyTree) -> bool:
    variables = container.get("env") or ()
    return len({each["name"] for each in variables}) < len(variables)


def _sanitized(container: ReadOnlyTree) -> ReadOnlyTree:
    if not container.get("env"):
        return container
    return {**container, "env": [*{each["name"]: each for each in container["env"]}.values()]}


def without_min_counts(pod_sets: list[Tree], features: Features) -> list[Tree]:
    """The podsets, which take no fewer pods where that is switched off."""
    if not features.PartialAdmission:
        for pod_set in pod_sets:
            pod_set.pop("minCount", None)
    return pod_sets


async def construct_workload(framework: Framework, job: GenericJob) -> Tree:
    """The Workload of a job, without what ``prepare_workload`` adds.

    Raises UnretryableError, ValueError.
    """
    if isinstance(job, ComposableJob):
        return await job.construct_workload(framework)
    pod_sets = await job_pod_sets(framework, job)
    workload = new_workload(new_workload_name(job), job.obj, pod_sets, framework.configuration)
    for key, value in job.workload_annotations().items():
        objects.put_metadata(workload, "annotations", key, value)
    put_owner(workload, job.obj)
    return workload


def new_workload_name(job: GenericJob) -> str:
    """The name of a job's next Workload."""
    obj, features = job.obj, job.features
    extra = job.workload_name_extra() if objects.is_elastic(obj, features) else ""
    return workload_name_for_owner(meta.name_of(obj), meta.uid_of(obj), job.resource.gvk, features, extra)


def new_workload(name: str, obj: ReadOnlyTree, pod_sets: list[Tree], configuration: Configuration) -> Tree:
    """A Workload without an owner. Upstream: NewWorkload."""
    metadata: Tree = {
        "name": name, "namespace": meta.namespace_of(obj), "finalizers": [names.RESOURCE_IN_USE_FINALIZER]}
    annotations = copied_annotations(meta.annotations_of(obj), configuration)
    labels = chosen(meta.labels_of(obj), configuration.integrations.label_keys_to_copy)
    for key, values in (("annotations", annotations), ("labels", labels)):
        if values:
            metadata[key] = values
    spec: Tree = {"podSets": pod_sets}
    put_queue_name(spec, objects.queue_name(obj))
    seconds = objects.maximum_execution_time_seconds(obj)
    if seconds is not None:
        spec["maximumExecutionTimeSeconds"] = seconds
    return {"apiVersion": names.WORKLOADS.api_version, "kind": names.WORKLOADS.kind, "metadata": metadata, "spec": spec}


def put_queue_name(spec: Tree, queue: str) -> None:
    """Name the queue of a Workload, whose spec is the caller's own; the API takes no empty name."""
    if queue:
        spec["queueName"] = queue
    else:
        spec.pop("queueName", None)


def chosen(values: Mapping[str, str], keys: Sequence[str]) -> dict[str, str]:
    """The values of these keys, as far as they are there."""
    return {key: values[key] for key in keys if key in values}


def copied_annotations(annotations: Mapping[str, str], configuration: Configuration) -> dict[str, str]:
    """Those that a Workload takes over."""
    copied = {key: value for key, value in annotations.items() if key.startswith(names.PROV_REQ_ANNOTATION_PREFIX)}
    if configuration.features.CustomMetricLabels:
        copied.update(chosen(annotations, configuration.integrations.annotation_keys_to_copy))
    return copied


def put_owner(workload: Tree, obj: ReadOnlyTree) -> None:
    """Make an object the controller of a Workload, which is the caller's own.

    UnretryableError where another one is.
    """
    owner = meta.controller_of(workload)
    if owner is not None and owner["uid"] != meta.uid_of(obj):
        raise UnretryableError(f"{meta.key_of(workload)} is already owned by another {owner['kind']}: {owner['name']}")
    metadata = workload["metadata"]
    kept = [each for each in meta.owners_of(workload) if each["uid"] != meta.uid_of(obj)]
    metadata["ownerReferences"] = [*kept, meta.controller_reference(obj)]
    if not words.label_value(meta.uid_of(obj)):
        objects.put_metadata(workload, "labels", names.JOB_UID_LABEL, meta.uid_of(obj))


async def ensure_prebuilt_workload_ownership(framework: Framework, workload: ReadOnlyTree, obj: ReadOnlyTree) -> ReadOnlyTree:
    """Own a Workload that was there before; the Workload then. APIError."""
    owner = meta.controller_of(workload)
    if owner is not None and owner["uid"] == meta.uid_of(obj):
        return workload
    changed = deepcopy(dict(workload))
    put_owner(changed, obj)
    return await framework.update_workload(meta.key_of(obj), changed)


def propagate_admission_gated_by(obj: ReadOnlyTree, workload: Tree) -> bool:
    """Let a Workload, which is the caller's own, wait for what its job waits for; whether that is
    new.
    """
    key = names.ADMISSION_GATED_BY_ANNOTATION
    wanted, present = (meta.annotations_of(each).get(key, "") for each in (obj, workload))
    if wanted == present:
        return False
    annotations = {name: value for name, value in meta.annotations_of(workload).items() if name != key}
    workload["metadata"]["annotations"] = {**annotations, **({key: wanted} if wanted else {})}
    return True


async def update_workload(
    framework: Framework, request: meta.ObjectKey, obj: ReadOnlyTree, workload: ReadOnlyTree, changed: Tree,
) -> ReadOnlyTree:
    """Write a Workload as it is to be, which waits besides for what its job waits for; the Workload
    then. APIError.
    """
    gates = framework.features.AdmissionGatedBy and propagate_admission_gated_by(obj, changed)
    if changed != workload:
        workload = await framework.update_workload(request, changed)
    if gates:
        tell_admission_gated_by(framework, obj)
    return workload


def tell_admission_gated_by(framework: Framework, obj: ReadOnlyTree) -> None:
    """Say of a job that its Workload waits for something else now."""
    told = meta.annotations_of(obj).get(names.ADMISSION_GATED_BY_ANNOTATION, "")
    framework.event(obj, "Normal", "UpdatedWorkload", f"Updated workload AdmissionGatedBy to {go_quote(told)}")


async def prepare_workload(framework: Framework, job: GenericJob, workload: Tree, *, active: bool | None = None) -> None:
    """Add priority and gates to a new Workload, and its place in a chain of slices.

    APIError 404 for a priority class that is not there; SliceError.
    """
    features = framework.features
    if features.AdmissionGatedBy:
        propagate_admission_gated_by(job.obj, workload)
    pod_sets = workload["spec"]["podSets"]
    priorities.put_priority(workload, priorities.extract_priority(framework, job.obj, pod_sets, job.priority_class()))
    without_min_counts(pod_sets, features)
    if objects.is_elastic(job.obj, features):
        siblings = framework.workloads_of(job.resource.gvk, meta.key_of(job.obj))
        chains.put_into_chain(workload, chains.not_finished(siblings))
    elif active is not None:
        workload["spec"]["active"] = active
