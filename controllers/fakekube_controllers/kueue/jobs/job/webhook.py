"""What a new Job gets, and what it may not be. Upstream: pkg/controller/jobs/job/job_webhook.go."""

from collections.abc import Iterator
from functools import partial

from fakekube.apimachinery import field_errors, meta, strconv
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, invalid
from fakekube.client.client import Client
from fakekube.client.resources import JOBS
from fakekube.runtime.addon import Webhook
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.jobframework import objects, validation
from fakekube_controllers.kueue.jobframework import webhooks as framework
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs.job.controller import Job
from fakekube_controllers.kueue.topology import requests
from fakekube_controllers.kueue.topology import validation as topology
from fakekube_controllers.kueue.webhooks import declaring

MIN_PARALLELISM = field_errors.key(validation.ANNOTATIONS, names.JOB_MIN_PARALLELISM_ANNOTATION)
SYNC_COMPLETIONS = field_errors.key(validation.ANNOTATIONS, names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION)
TEMPLATE_METADATA = "spec.template.metadata"


def webhooks(options: Options) -> Iterator[Webhook]:
    """Both."""
    yield framework.webhook("mjob.kb.io", partial(default, options=options), JOBS, options, mutating=True)
    yield framework.webhook("vjob.kb.io", partial(validate, options=options), JOBS, options)


async def default(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Fill in a new Job."""
    job = Job(options.configuration.features, request.object)
    await framework.apply_defaults(client, job, options)
    if objects.is_elastic(job.obj, job.features):
        pods.gate(job.spec["template"], names.ELASTIC_JOB_GATE)


async def validate(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Look at a new Job, or at a change. Raises Denied."""
    features = options.configuration.features
    assert request.shown is not None, "it is asked about what is written"
    job = Job(features, request.shown)
    found = validation.errors_on_create(job)
    if request.shown_old is None:
        found += partial_admission_errors(job) + sync_completion_errors(job)
    else:
        old = Job(features, request.shown_old)
        annotations = (meta.annotations_of(each.obj).get(names.JOB_MIN_PARALLELISM_ANNOTATION) for each in (old, job))
        if len(set(annotations)) > 1:
            found += partial_admission_errors(job)
        found += sync_completion_errors(job)
        found += await framework.update_errors(client, old, job)
        found += partial_admission_update_errors(old, job)
    if features.TopologyAwareScheduling:
        found += await topology_errors(job)
    declaring.refuse(found)


def partial_admission_errors(job: Job) -> list[FieldError]:
    """Fewer pods are fewer than all, and at least one; and no Job with slices takes fewer."""
    text = meta.annotations_of(job.obj).get(names.JOB_MIN_PARALLELISM_ANNOTATION)
    if text is None:
        return []
    found: list[FieldError] = []
    try:
        count = strconv.parse_int(text)
    except strconv.NumberError as error:
        found.append(invalid(MIN_PARALLELISM, text, str(error).replace("ParseInt", "Atoi")))
    else:
        if not 0 < count < job.pods_count:
            found.append(invalid(MIN_PARALLELISM, count, f"should be between 0 and {job.pods_count - 1}"))
    if objects.is_elastic(job.obj, job.features):
        found.append(invalid(MIN_PARALLELISM, text, "partial admission and elastic job cannot be used together"))
    return found


def sync_completion_errors(job: Job) -> list[FieldError]:
    """Completions follow what runs at once only in indexed Jobs that begin so."""
    text = meta.annotations_of(job.obj).get(names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION)
    if text is None:
        return []
    try:
        enabled = requests.parse_bool(text)
    except ValueError as error:
        return [invalid(SYNC_COMPLETIONS, text, str(error))]
    if not enabled:
        return []
    found: list[FieldError] = []
    if job.spec.get("completionMode") in (None, "NonIndexed"):
        found.append(invalid(SYNC_COMPLETIONS, text, "should not be enabled for NonIndexed jobs"))
    completions = job.spec.get("completions")
    if job.parallelism != (1 if completions is None else completions):
        key = names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION
        detail = f"should be equal to parallelism when {key} annotation is true"
        found.append(invalid("spec.completions", completions, detail))
    return found


def partial_admission_update_errors(old: Job, new: Job) -> list[FieldError]:
    """What was admitted in part keeps its size while it runs."""
    found: list[FieldError] = []
    takes_fewer = names.JOB_MIN_PARALLELISM_ANNOTATION in meta.annotations_of(old.obj)
    if takes_fewer and not old.spec.get("suspend") and old.parallelism != new.parallelism:
        detail = "cannot change when partial admission is enabled and the job is not suspended"
        found.append(forbidden("spec.parallelism", detail))
    both_run = not old.is_suspended() and not new.is_suspended()
    if both_run and old.syncs_completions != new.syncs_completions:
        found.append(forbidden(SYNC_COMPLETIONS, f"{validation.IMMUTABLE} while the job is not suspended"))
    return found


async def topology_errors(job: Job) -> list[FieldError]:
    """What its template asks of a topology is whole, and modest where the Job changes its size.

    TopologyRequestError where it cannot be read.
    """
    metadata = job.spec["template"].get("metadata") or {}
    found = topology.of_template(TEMPLATE_METADATA, metadata, job.features)
    if found:
        return found
    if objects.is_elastic(job.obj, job.features):
        annotations = meta.annotations_of(job.spec["template"])
        for key, level in (
            (names.PODSET_REQUIRED_TOPOLOGY_ANNOTATION, "required"), (names.PODSET_PREFERRED_TOPOLOGY_ANNOTATION, "preferred"),
        ):
            if key in annotations:
                path = child(TEMPLATE_METADATA, "annotations", key)
                return [forbidden(path, f"{level} topology is not supported with elastic jobs")]
    podsets = await job.pod_sets(None)
    return topology.slice_size(TEMPLATE_METADATA, metadata, podsets[0])
