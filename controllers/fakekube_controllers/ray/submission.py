"""How the job on a Ray cluster fares. There is no Ray here, so somebody has to say.

With a submitter (``K8sJobMode``) the submitter's pod ends as the job does: its outcome is scripted
as that of any container, by the callback ``outcome`` or by annotations ``fakekube.dev/``; those of
the RayJob are passed on to it. Without one (``HTTPMode``, ``InteractiveMode``) the annotations
``run-duration`` and ``exit-code`` of the RayJob say it. Upstream: Ray's dashboard,
ray-operator/controllers/ray/common/job.go.
"""

import copy
from typing import NamedTuple

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.ownership import set_controller
from fakekube.util.durations import seconds_of
from fakekube_controllers.ray import names

K8S_JOB_MODE, SIDECAR_MODE = "K8sJobMode", "SidecarMode"
PREFIX = "fakekube.dev/"
RUN_DURATION, EXIT_CODE = f"{PREFIX}run-duration", f"{PREFIX}exit-code"
DEFAULT_DURATION, FOREVER = "1s", "forever"
RUNNING, SUCCEEDED, FAILED, STOPPED = "RUNNING", "SUCCEEDED", "FAILED", "STOPPED"
SUBMITTER_BACKOFF_LIMIT = 2


class Outcome(NamedTuple):
    """``status`` is Ray's word for how the job is; ``until`` when it ends, Unix seconds, if that is
    known and still to come.
    """

    status: str
    message: str = ""
    until: float | None = None


def mode_of(job: ReadOnlyTree) -> str:
    """``spec.submissionMode``."""
    return job["spec"].get("submissionMode") or K8S_JOB_MODE


def has_submitter(job: ReadOnlyTree) -> bool:
    """Whether a Kubernetes Job submits it."""
    return mode_of(job) == K8S_JOB_MODE


def submitter(job: ReadOnlyTree, cluster: ReadOnlyTree) -> Tree:
    """The Job that submits a RayJob, to be created."""
    name, config = meta.name_of(job), job["spec"].get("submitterConfig") or {}
    template = copy.deepcopy(job["spec"].get("submitterPodTemplate") or _template(cluster))
    container = template["spec"]["containers"][0]
    if not container.get("command"):
        container["command"] = ["/bin/bash", "-ce", "--"]
        container["args"] = [_command(job)]
    template["spec"].setdefault("restartPolicy", "Never")
    scripted = {key: value for key, value in meta.annotations_of(job).items() if key.startswith(PREFIX)}
    if scripted:
        metadata = template.setdefault("metadata", {})
        metadata["annotations"] = scripted | (metadata.get("annotations") or {})
    made: Tree = {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": meta.namespace_of(job), "labels": {
            names.ORIGIN_NAME_LABEL: name, names.ORIGIN_KIND_LABEL: "RayJob", names.CREATED_BY_LABEL: names.OPERATOR}},
        "spec": {"backoffLimit": config.get("backoffLimit", SUBMITTER_BACKOFF_LIMIT), "template": template}}
    set_controller(made, job)
    return made


def _template(cluster: ReadOnlyTree) -> Tree:
    """The submitter's pod, with the image of the head."""
    image = cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0].get("image", "")
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "200Mi"}}
    return {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "ray-job-submitter", "image": image, "resources": resources}]}}


def _command(job: ReadOnlyTree) -> str:
    status, entrypoint = job["status"], job["spec"].get("entrypoint", "")
    return (
        f"ray job submit --address http://{status.get('dashboardURL', '')} --no-wait --submission-id {status['jobId']} -- "
        f"{entrypoint} ; ray job logs --address http://{status.get('dashboardURL', '')} --follow {status['jobId']}")


def outcome_of_submitter(submitter_job: ReadOnlyTree) -> Outcome:
    """How the job is whose submitter this is: it ends with the last of its pods."""
    found = (submitter_job.get("status") or meta.EMPTY).get("conditions")
    if conditions.is_true(found, "Complete"):
        return Outcome(SUCCEEDED)
    if conditions.is_true(found, "Failed"):
        return Outcome(FAILED, "Job failed due to an application error")
    return Outcome(RUNNING)


def outcome_of_annotations(job: ReadOnlyTree, now: float) -> Outcome:
    """How the job is that was submitted over HTTP when the RayJob began to run."""
    annotations = meta.annotations_of(job)
    duration = annotations.get(RUN_DURATION, DEFAULT_DURATION)
    began = (job["status"].get("rayJobInfo") or meta.EMPTY).get("startTime")
    if duration == FOREVER or began is None:
        return Outcome(RUNNING)
    try:
        ends = times.parse_time(began) + seconds_of(duration)
    except ValueError:
        return Outcome(FAILED, f"{RUN_DURATION}: {duration!r} is no duration")
    if now < ends:
        return Outcome(RUNNING, until=ends)
    code = annotations.get(EXIT_CODE, "0")
    if code == "0":
        return Outcome(SUCCEEDED, "Job finished successfully.")
    return Outcome(FAILED, f"Job entrypoint command failed with exit code {code}")
