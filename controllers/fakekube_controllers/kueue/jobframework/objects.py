"""What labels and annotations of a job say to Kueue.

Upstream: pkg/controller/jobframework/utils.go.
"""

from fakekube.apimachinery import meta, strconv
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.workload import states

MAX_LABEL_VALUE_LENGTH = 63
MAX_INT32 = 2**31 - 1


def queue_name(obj: ReadOnlyTree) -> str:
    """The LocalQueue that an object names, or nothing."""
    return meta.labels_of(obj).get(names.QUEUE_LABEL, "")


def workload_priority_class_name(obj: ReadOnlyTree) -> str:
    """The WorkloadPriorityClass that an object names, or nothing."""
    return meta.labels_of(obj).get(names.WORKLOAD_PRIORITY_CLASS_LABEL, "")


def maximum_execution_time_seconds(obj: ReadOnlyTree) -> int | None:
    """How long a job may run, in seconds; None where it does not say so well."""
    text = meta.labels_of(obj).get(names.MAX_EXEC_TIME_SECONDS_LABEL)
    seconds = None if text is None else strconv.whole(text)
    return seconds if seconds is not None and 0 < seconds <= MAX_INT32 else None


def is_elastic(obj: ReadOnlyTree, features: Features) -> bool:
    """Whether a job, or a Workload, is one of slices. Upstream: workloadslicing.Enabled."""
    return states.is_elastic_workload(obj, features)


def is_suspended_by(pod: ReadOnlyTree, framework: str) -> bool:
    """Whether a kind of job above a pod lets it wait."""
    return (pod["metadata"].get("annotations") or meta.EMPTY).get(names.SUSPENDED_BY_PARENT_ANNOTATION) == framework


def prebuilt_workload_name(obj: ReadOnlyTree, features: Features) -> str:
    """The Workload that a job wants to be its own, or nothing."""
    metadata = obj.get("metadata") or meta.EMPTY
    annotation: str = (metadata.get("annotations") or meta.EMPTY).get(names.PREBUILT_WORKLOAD_ANNOTATION, "")
    label: str = (metadata.get("labels") or meta.EMPTY).get(names.PREBUILT_WORKLOAD_LABEL, "")
    if features.WorkloadIdentifierAnnotations:
        return annotation or label
    return label or (annotation if len(annotation) > MAX_LABEL_VALUE_LENGTH else "")


def set_prebuilt_workload_name(obj: Tree, name: str, features: Features) -> None:
    """Let a job, which is the caller's own, want a Workload."""
    by_annotation = features.WorkloadIdentifierAnnotations or len(name) > MAX_LABEL_VALUE_LENGTH
    key = names.PREBUILT_WORKLOAD_ANNOTATION if by_annotation else names.PREBUILT_WORKLOAD_LABEL
    put_metadata(obj, "annotations" if by_annotation else "labels", key, name)


def put_metadata(obj: Tree, where: str, key: str, value: str) -> None:
    """Set a label or an annotation of an object that is the caller's own; ``where`` is the field's
    name.
    """
    metadata = obj.setdefault("metadata", {})
    metadata[where] = {**(metadata.get(where) or {}), key: value}
