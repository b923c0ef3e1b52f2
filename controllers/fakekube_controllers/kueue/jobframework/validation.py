"""What every job may not be, new or changed. Upstream: pkg/controller/jobframework/validation.go,
pkg/util/webhook/validation_admissiongatedby.go.
"""

from collections.abc import Mapping

from fakekube.apimachinery import field_errors, meta, strconv
from fakekube.apimachinery import names as words
from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid
from fakekube.apimachinery.field_names import domain_prefixed_path
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.job import GenericJob

LABELS, ANNOTATIONS = "metadata.labels", "metadata.annotations"
QUEUE_NAME = field_errors.key(LABELS, names.QUEUE_LABEL)
MAX_EXEC_TIME = field_errors.key(LABELS, names.MAX_EXEC_TIME_SECONDS_LABEL)
PRIORITY_CLASS = field_errors.key(LABELS, names.WORKLOAD_PRIORITY_CLASS_LABEL)
ELASTIC_JOB = field_errors.key(ANNOTATIONS, names.ELASTIC_JOB_ANNOTATION)
GATED_BY = field_errors.key(ANNOTATIONS, names.ADMISSION_GATED_BY_ANNOTATION)
MAX_GATE_NAME_LENGTH = 63
IMMUTABLE = "field is immutable"
ELASTIC_KINDS = (
    GroupVersionKind("batch", "v1", "Job"), GroupVersionKind("ray.io", "v1", "RayCluster"),
    GroupVersionKind("ray.io", "v1", "RayJob"), GroupVersionKind("ray.io", "v1", "RayService"))
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
KINDS_WITHOUT_PREBUILT_WORKLOAD = (
    DEPLOYMENT, GroupVersionKind("apps", "v1", "StatefulSet"),
    GroupVersionKind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"),
    GroupVersionKind("sparkoperator.k8s.io", "v1beta2", "SparkApplication"))
"""Upstream lists those that may; kinds of users may here, too."""


def gvk_text(gvk: GroupVersionKind) -> str:
    """A kind as Go prints it."""
    return f"{gvk.group}/{gvk.version}, Kind={gvk.kind}"


def errors_on_create(job: GenericJob) -> list[FieldError]:
    """The complaints about a new job. Upstream: ValidateJobOnCreate."""
    obj, features, gvk = job.obj, job.features, job.resource.gvk
    found = queue_name_errors(obj) + _prebuilt_errors(job) + _max_exec_time_errors(obj)
    found += elastic_job_errors(obj, gvk, features)
    return found + admission_gate_errors(obj, features)


def errors_on_update(old: GenericJob, new: GenericJob, *, has_default_queue: bool) -> list[FieldError]:
    """The complaints about a change. ``has_default_queue``: its namespace has a LocalQueue for jobs
    that name none. Upstream: ValidateJobOnUpdate.
    """
    features = new.features
    found = queue_name_update_errors(old, new, has_default_queue=has_default_queue)
    found += _prebuilt_update_errors(old, new)
    if not (new.is_suspended() and old.is_suspended()):
        found += _immutable_label(old, new, names.MAX_EXEC_TIME_SECONDS_LABEL, MAX_EXEC_TIME)
    found += priority_class_update_errors(old.obj, new.obj, is_suspended=new.is_suspended())
    elastic = objects.is_elastic(new.obj, features)
    if objects.is_elastic(old.obj, features) != elastic:
        found.append(invalid(ELASTIC_JOB, elastic, IMMUTABLE))
    return found + admission_gate_update_errors(old.obj, new.obj, features)


def queue_name_errors(obj: ReadOnlyTree) -> list[FieldError]:
    """A queue is named as objects are. Upstream: ValidateQueueName."""
    return _name_errors(meta.labels_of(obj), names.QUEUE_LABEL, QUEUE_NAME)


def _name_errors(values: Mapping[str, str], key: str, path: str) -> list[FieldError]:
    if key not in values:
        return []
    texts = words.dns1123_subdomain(values[key])
    return [invalid(path, values[key], ",".join(texts))] if texts else []


def queue_name_update_errors(old: GenericJob, new: GenericJob, *, has_default_queue: bool) -> list[FieldError]:
    """A queue may change while the job waits, and may not vanish where there is a default one."""
    found: list[FieldError] = []
    before, now = objects.queue_name(old.obj), objects.queue_name(new.obj)
    if not new.is_suspended() and before != now:
        found.append(invalid(QUEUE_NAME, now, IMMUTABLE))
    if not now and before and has_default_queue:
        found.append(invalid(QUEUE_NAME, "", "queue-name must not be empty in namespace with default queue"))
    return found


def prebuilt_workload_path(obj: ReadOnlyTree, features: Features) -> str:
    """Where an object names its Workload. Upstream: GetPrebuiltWorkloadPath."""
    in_annotation = _names_workload_in_annotation(obj, features)
    return field_errors.key(ANNOTATIONS if in_annotation else LABELS, names.PREBUILT_WORKLOAD_LABEL)


def _names_workload_in_annotation(obj: ReadOnlyTree, features: Features) -> bool:
    annotation = meta.annotations_of(obj).get(names.PREBUILT_WORKLOAD_ANNOTATION, "")
    return bool(annotation) and (
        features.WorkloadIdentifierAnnotations or len(annotation) > objects.MAX_LABEL_VALUE_LENGTH)


def prebuilt_workload_name_errors(obj: ReadOnlyTree, features: Features) -> list[FieldError]:
    """A Workload is named as objects are. Upstream: ValidatePrebuiltWorkloadName."""
    path = prebuilt_workload_path(obj, features)
    values = meta.annotations_of(obj) if _names_workload_in_annotation(obj, features) else meta.labels_of(obj)
    return _name_errors(values, names.PREBUILT_WORKLOAD_LABEL, path)


def _prebuilt_errors(job: GenericJob) -> list[FieldError]:
    found = prebuilt_workload_name_errors(job.obj, job.features)
    gvk = job.resource.gvk
    if objects.prebuilt_workload_name(job.obj, job.features) and gvk in KINDS_WITHOUT_PREBUILT_WORKLOAD:
        path = prebuilt_workload_path(job.obj, job.features)
        found.append(forbidden(path, f"Is not supported for {field_errors.go_quote(gvk_text(gvk))}"))
    return found


def _prebuilt_update_errors(old: GenericJob, new: GenericJob) -> list[FieldError]:
    if new.is_suspended() or objects.is_elastic(old.obj, old.features):
        return _prebuilt_errors(new)
    before = objects.prebuilt_workload_name(old.obj, old.features)
    now = objects.prebuilt_workload_name(new.obj, new.features)
    return [] if before == now else [invalid(prebuilt_workload_path(new.obj, new.features), now, IMMUTABLE)]


def _max_exec_time_errors(obj: ReadOnlyTree) -> list[FieldError]:
    text = meta.labels_of(obj).get(names.MAX_EXEC_TIME_SECONDS_LABEL)
    if text is None:
        return []
    try:
        seconds = strconv.parse_int(text)
    except strconv.NumberError as error:
        return [invalid(MAX_EXEC_TIME, text, str(error).replace("ParseInt", "Atoi"))]
    return [invalid(MAX_EXEC_TIME, seconds, "should be greater than 0")] if seconds <= 0 else []


def _immutable_label(old: GenericJob, new: GenericJob, label: str, path: str) -> list[FieldError]:
    before, now = (meta.labels_of(each.obj).get(label, "") for each in (old, new))
    return [] if before == now else [invalid(path, now, IMMUTABLE)]


def priority_class_update_errors(old: ReadOnlyTree, new: ReadOnlyTree, *, is_suspended: bool) -> list[FieldError]:
    """A class may be added while the job waits, and never go. Upstream:
    ValidateUpdateForWorkloadPriorityClassName.
    """
    before, now = map(objects.workload_priority_class_name, (old, new))
    if not is_suspended and not before and now:
        return [invalid(PRIORITY_CLASS, now, "WorkloadPriorityClass cannot be added to a non-suspended workload")]
    if before and not now:
        return [invalid(PRIORITY_CLASS, now, "WorkloadPriorityClass cannot be removed from a workload")]
    return []


def elastic_job_errors(obj: ReadOnlyTree, gvk: GroupVersionKind, features: Features) -> list[FieldError]:
    """Few kinds may change their size while they run. Upstream: ValidateElasticJobAnnotation."""
    if not objects.is_elastic(obj, features) or gvk in ELASTIC_KINDS or (features.ElasticDeployments and gvk == DEPLOYMENT):
        return []
    return [forbidden(ELASTIC_JOB, f"elastic job is not supported for {field_errors.go_quote(gvk_text(gvk))}")]


def gates_of(text: str) -> list[str]:
    """The names in a list that commas separate."""
    return [each.strip() for each in text.split(",")] if text else []


def _gate_name_errors(text: str) -> list[FieldError]:
    found: list[FieldError] = []
    seen: dict[str, None] = {}
    for gate in gates_of(text):
        if not gate:
            found.append(invalid(GATED_BY, text, "cannot contain empty gate names"))
            continue
        if gate in seen:
            found.append(invalid(GATED_BY, text, f"duplicate gate name: {gate}"))
            continue
        seen[gate] = None
        found += domain_prefixed_path(GATED_BY, gate)
        if len(gate.encode()) > MAX_GATE_NAME_LENGTH:
            found.append(field_errors.too_long(GATED_BY, MAX_GATE_NAME_LENGTH))
    return found


def admission_gate_errors(obj: ReadOnlyTree, features: Features) -> list[FieldError]:
    """What a new object waits for is well named. Upstream:
    ValidateAdmissionGatedByAnnotationOnCreate.
    """
    text = meta.annotations_of(obj).get(names.ADMISSION_GATED_BY_ANNOTATION, "")
    return _gate_name_errors(text) if features.AdmissionGatedBy else []


def admission_gate_update_errors(old: ReadOnlyTree, new: ReadOnlyTree, features: Features) -> list[FieldError]:
    """What an object waits for gets less. Upstream: ValidateAdmissionGatedByAnnotationOnUpdate."""
    if not features.AdmissionGatedBy:
        return []
    before, now = (meta.annotations_of(each).get(names.ADMISSION_GATED_BY_ANNOTATION, "") for each in (old, new))
    found: list[FieldError] = []
    if not before and now:
        found.append(forbidden(GATED_BY, "cannot add admission gate after creation"))
    if before and now and not set(gates_of(now)) <= set(gates_of(before)):
        found.append(forbidden(GATED_BY, "can only remove gates, not add new ones"))
    return found + _gate_name_errors(now)
