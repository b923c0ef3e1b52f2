"""The webhooks of pods: who is held behind a gate, and what a pod may say of its group.

Upstream: pkg/controller/jobs/pod/pod_webhook.go. Left out: ``podOptions`` of old configurations.
"""

from collections.abc import Awaitable

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid, required
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.runtime.addon import FindComponent
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import defaults, objects, validation, webhooks
from fakekube_controllers.kueue.jobframework.ancestors import (
    cached_ancestor_job_managed_by_kueue,
    cached_jobs,
    find_ancestor_job_managed_by_kueue,
)
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs.pod import groups, sets
from fakekube_controllers.kueue.jobs.pod.controller import Pod
from fakekube_controllers.kueue.topology import validation as topology_validation
from fakekube_controllers.kueue.webhooks import declaring

METADATA, LABELS, ANNOTATIONS = "metadata", "metadata.labels", "metadata.annotations"
MANAGED = field_errors.key(LABELS, names.MANAGED_LABEL)
TOTAL_COUNT = field_errors.key(ANNOTATIONS, names.POD_GROUP_TOTAL_COUNT_ANNOTATION)
RETRIABLE = field_errors.key(ANNOTATIONS, names.RETRIABLE_IN_GROUP_ANNOTATION)
TRUE, GROUP = "true", f"{names.GROUP}/"
OF_STARTED_JOBS = (names.PODSET_LABEL, names.CLUSTER_QUEUE_LABEL, names.LOCAL_QUEUE_LABEL, names.WORKLOAD_ANNOTATION)
"""What Kueue puts into the templates of every job that it starts: nothing is asked of these."""


def default(
    request: AdmissionRequest, *, client: Client, find: FindComponent, options: Options,
) -> Awaitable[None] | None:
    """Hold a new pod that is to wait for its admission. Returns what is to be awaited, if
    anything.
    """
    shown = request.shown
    if shown is None or _is_pod_of_managed_job(shown, find, options):
        return None
    return _default(request, shown, client, options)


def _is_pod_of_managed_job(shown: Tree, find: FindComponent, options: Options) -> bool:
    """Whether the caches of a Kueue that runs show that a job above a pod is managed, so that
    nobody waits for the pod.
    """
    configuration, jobs = options.configuration, cached_jobs(find)
    if not jobs or configuration.features.PodGroupSets:
        return False
    if names.SUSPENDED_BY_PARENT_ANNOTATION in meta.annotations_of(shown):
        return False
    return cached_ancestor_job_managed_by_kueue(
        jobs, options.integrations, shown,
        manage_jobs_without_queue_name=configuration.manage_jobs_without_queue_name) is not None


async def _default(request: AdmissionRequest, shown: Tree, client: Client, options: Options) -> None:
    by_parent = names.SUSPENDED_BY_PARENT_ANNOTATION in meta.annotations_of(shown)
    if not by_parent and not await _is_managed(shown, request, client, options):
        return
    pod: Tree = request.object
    if not by_parent:
        objects.put_metadata(pod, "labels", names.MANAGED_LABEL, TRUE)
        if names.POD_FINALIZER not in meta.finalizers_of(pod):
            pod["metadata"]["finalizers"] = [*meta.finalizers_of(pod), names.POD_FINALIZER]
    pods.gate(pod, names.ADMISSION_GATE)
    if options.configuration.features.TopologyAwareScheduling:
        index = meta.annotations_of(pod).get(names.POD_GROUP_POD_INDEX_LABEL_ANNOTATION)
        if index is not None:
            value = meta.labels_of(pod).get(index, "")
            objects.put_metadata(pod, "labels", names.POD_GROUP_POD_INDEX_LABEL, value)
        pods.gate(pod, names.TOPOLOGY_GATE)
    objects.put_metadata(pod, "annotations", names.ROLE_HASH_ANNOTATION, _role_of(pod, options.configuration.features))


def _role_of(pod: ReadOnlyTree, features: Features) -> str:
    """What tells a pod from others of its group; those of a parent differ in nothing but labels.
    """
    if features.PodGroupSets and sets.is_of_sets(pod) and (role := sets.role_of(pod, features)):
        return role
    is_told = names.ROLE_HASH_ANNOTATION in meta.annotations_of(pod)
    if features.KEPTexts and not is_told and names.SUSPENDED_BY_PARENT_ANNOTATION not in meta.annotations_of(pod):
        return pods.role_hash_of_kep(pod)
    return pods.role_hash(pod)


async def _is_managed(shown: Tree, request: AdmissionRequest, client: Client, options: Options) -> bool:
    """Whether a pod that nobody else holds is Kueue's; it gets the queue and class that it
    lacks.
    """
    configuration = options.configuration
    everything = configuration.manage_jobs_without_queue_name
    if not await defaults.namespace_matches(client, request.namespace, configuration.managed_jobs_namespace_selector):
        return False
    ancestor = await find_ancestor_job_managed_by_kueue(
        client, options.integrations, shown, manage_jobs_without_queue_name=everything)
    if ancestor is not None and not (
        configuration.features.PodGroupSets and sets.is_worker_of(shown, ancestor, configuration.features)):
        return False
    queue = objects.queue_name(shown)
    if not queue and await defaults.default_local_queue_exists(client, request.namespace):
        queue = names.DEFAULT_LOCAL_QUEUE_NAME
        objects.put_metadata(request.object, "labels", names.QUEUE_LABEL, queue)
    if configuration.features.WorkloadPriorityClassDefaulting:
        await defaults.apply_default_workload_priority_class(client, request.object, options)
    return bool(queue) or everything


def validate(request: AdmissionRequest, *, client: Client, options: Options) -> Awaitable[None] | None:
    """Look at a new pod, or at a change of one. Returns what is to be awaited, if anything, which
    raises Denied.
    """
    pod, old = request.shown, request.shown_old
    if pod is None or not (_says_something(pod) or (old is not None and _says_something(old))):
        return None
    return _validate(request, pod, old, client, options)


async def _validate(request: AdmissionRequest, pod: Tree, old: Tree | None, client: Client, options: Options) -> None:
    features = options.configuration.features
    if old is None:
        found = validation.errors_on_create(Pod(features, pod)) + errors_of(pod, features)
    else:
        found = await webhooks.update_errors(client, Pod(features, old), Pod(features, pod))
        found += errors_of(pod, features) + errors_of_update(old, pod, features)
    told = old is not None and names.SUSPENDED_BY_PARENT_ANNOTATION in meta.annotations_of(pod)
    is_marked = meta.labels_of(pod).get(names.MANAGED_LABEL) == TRUE
    if is_marked and not told and options.integrations.is_managed_owner(meta.controller_of(pod)):
        label = f"{names.MANAGED_LABEL}={TRUE}"
        request.warn(f"pod owner is managed by kueue, label '{label}' might lead to unexpected behaviour")
    declaring.refuse(found)


def _says_something(pod: ReadOnlyTree) -> bool:
    """Whether a label or an annotation tells Kueue something: most pods are looked at for nothing.
    """
    for said in (meta.labels_of(pod), meta.annotations_of(pod)):
        for key in said:
            if GROUP in key and key not in OF_STARTED_JOBS:
                return True
    return False


def errors_of(pod: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about what a pod says of Kueue. Upstream: validateCommon."""
    found: list[FieldError] = []
    if meta.labels_of(pod).get(names.MANAGED_LABEL, TRUE) != TRUE:
        found.append(forbidden(MANAGED, f"managed label value can only be '{TRUE}'"))
    found += _group_errors(pod, features)
    found += topology_validation.of_template(METADATA, pod["metadata"], features)
    group, prebuilt = pods.pod_group_name(pod, features), objects.prebuilt_workload_name(pod, features)
    if group and prebuilt and group != prebuilt:
        path = validation.prebuilt_workload_path(pod, features)
        found.append(invalid(path, prebuilt, "prebuilt workload and pod group should be equal"))
    return found


def _group_errors(pod: ReadOnlyTree, features: Features) -> list[FieldError]:
    told = sets.errors_of(pod, features) if features.PodGroupSets else []
    group, count = (
        pods.pod_group_name(pod, features), meta.annotations_of(pod).get(names.POD_GROUP_TOTAL_COUNT_ANNOTATION))
    kind = "annotation" if _names_group_in_annotation(pod, features) else "label"
    both = f"'{names.POD_GROUP_TOTAL_COUNT_ANNOTATION}' annotation and the '{names.POD_GROUP_NAME_LABEL}' {kind}"
    detail, found = f"both the {both} should be set", list[FieldError]()
    if not group:
        return [*told, *([] if count is None else [required(group_name_path(pod, features), detail)])]
    texts = words.dns1123_subdomain(group)
    if texts:
        found.append(invalid(group_name_path(pod, features), group, ",".join(texts)))
    if count is None and features.PodGroupSets and sets.is_of_sets(pod):
        return found + told
    if count is None:
        return [*found, required(TOTAL_COUNT, detail)]
    try:
        groups.total_count(pod, features)
    except ValueError as error:
        found.append(invalid(TOTAL_COUNT, count, str(error)))
    return found + told


def _names_group_in_annotation(pod: ReadOnlyTree, features: Features) -> bool:
    return features.WorkloadIdentifierAnnotations and bool(meta.annotations_of(pod).get(names.POD_GROUP_NAME_ANNOTATION))


def group_name_path(pod: ReadOnlyTree, features: Features) -> str:
    """Where a pod names its group."""
    return field_errors.key(
        ANNOTATIONS if _names_group_in_annotation(pod, features) else LABELS, names.POD_GROUP_NAME_LABEL)


def errors_of_update(old: ReadOnlyTree, pod: ReadOnlyTree, features: Features) -> list[FieldError]:
    """The complaints about a change of a pod's group."""
    before, group, found = pods.pod_group_name(old, features), pods.pod_group_name(pod, features), list[FieldError]()
    if group and groups.is_unretriable(old) and not groups.is_unretriable(pod):
        found.append(forbidden(RETRIABLE, "unretriable pod group can't be converted to retriable"))
    if before and group != before:
        found.append(invalid(group_name_path(pod, features), group, validation.IMMUTABLE))
    return found + (sets.errors_of_update(old, pod) if features.PodGroupSets else [])
