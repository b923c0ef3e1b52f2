"""What a RayCluster and a RayJob may be; the operator tells of it by an Event and a status, as it
has no webhook that refuses.

Upstream: ray-operator/controllers/ray/utils/validation.go.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery import names as object_names
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.ray import names

INTERACTIVE, SIDECAR = "InteractiveMode", "SidecarMode"


class Invalid(Exception):
    """A text of upstream's."""


def check_cluster_metadata(cluster: ReadOnlyTree) -> None:
    """Raises Invalid."""
    _check_name("RayCluster", meta.name_of(cluster), names.MAX_CLUSTER_NAME_LENGTH)


def check_job_metadata(job: ReadOnlyTree) -> None:
    """Raises Invalid."""
    try:
        _check_name("RayJob", meta.name_of(job), names.MAX_JOB_NAME_LENGTH)
    except Invalid as error:
        raise Invalid(f"The RayJob metadata is invalid: {error}") from error


def _check_name(kind: str, name: str, limit: int) -> None:
    if len(name) > limit:
        raise Invalid(f"{kind} name should be no more than {limit} characters")
    if found := object_names.dns1035_label(name):
        raise Invalid(f"{kind} name should be a valid DNS1035 label: [{' '.join(found)}]")


def check_cluster_spec(spec: ReadOnlyTree) -> None:
    """Raises Invalid."""
    if not spec["headGroupSpec"]["template"].get("spec", {}).get("containers"):
        raise Invalid("headGroupSpec should have at least one container")
    autoscales = bool(spec.get("enableInTreeAutoscaling"))
    for group in spec.get("workerGroupSpecs") or ():
        _check_group(group, autoscales=autoscales)


def _check_group(group: ReadOnlyTree, *, autoscales: bool) -> None:
    name, least, most = group["groupName"], group.get("minReplicas"), group.get("maxReplicas")
    if not group["template"].get("spec", {}).get("containers"):
        raise Invalid("workerGroupSpec should have at least one container")
    if not autoscales and (least is None or most is None):
        raise Invalid(f"worker group {name} must set both minReplicas and maxReplicas when autoscaling is disabled")
    for field, value in (("minReplicas", least), ("maxReplicas", most)):
        if value is not None and value < 0:
            raise Invalid(f"worker group {name} has negative {field} {value}")
    if least is not None and most is not None and least > most:
        raise Invalid(f"worker group {name} has minReplicas {least} greater than maxReplicas {most}")
    if group.get("suspend") and autoscales:
        raise Invalid(f"worker group {name} cannot be suspended with Autoscaler enabled")


def check_job_spec(job: ReadOnlyTree) -> None:
    """Raises Invalid."""
    spec, text = job["spec"], "The RayJob spec is invalid: "
    selector, mode = spec.get("clusterSelector") or {}, spec.get("submissionMode")
    limit = spec.get("backoffLimit") or 0
    if spec.get("suspend") and not spec.get("shutdownAfterJobFinishes"):
        raise Invalid(f"{text}a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended")
    if (spec.get("ttlSecondsAfterFinished") or 0) < 0:
        raise Invalid(f"{text}TTLSecondsAfterFinished must be a non-negative integer")
    if spec.get("suspend") and selector:
        raise Invalid(f"{text}the ClusterSelector mode doesn't support the suspend operation")
    if not spec.get("rayClusterSpec") and not selector:
        raise Invalid(f"{text}one of RayClusterSpec or ClusterSelector must be set")
    if selector:
        if not selector.get(names.CLUSTER_LABEL):
            raise Invalid("cluster name in ClusterSelector should not be empty")
        if limit > 0:
            raise Invalid(f"{text}BackoffLimit is incompatible with ClusterSelector mode")
    if mode == INTERACTIVE and limit > 0:
        raise Invalid(f"{text}BackoffLimit is incompatible with InteractiveMode")
    if spec.get("rayClusterSpec"):
        try:
            check_cluster_spec(spec["rayClusterSpec"])
        except Invalid as error:
            raise Invalid(f"{text}{error}") from error
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        if spec.get(field) is not None and spec[field] <= 0:
            raise Invalid(f"{text}{field} must be a positive integer")
    if limit < 0:
        raise Invalid(f"{text}backoffLimit must be a positive integer")
