"""What new RayClusters and RayJobs get, and what they may not be.

Upstream: pkg/controller/jobs/raycluster/raycluster_webhook.go,
pkg/controller/jobs/rayjob/rayjob_webhook.go.
"""

from collections.abc import Iterator
from functools import partial

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, invalid, required
from fakekube.client.client import Client
from fakekube.runtime.addon import Webhook
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.jobframework import objects, validation
from fakekube_controllers.kueue.jobframework import webhooks as framework
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs.kinds import RAY_CLUSTERS, RAY_JOBS
from fakekube_controllers.kueue.jobs.ray import groups
from fakekube_controllers.kueue.jobs.ray.cluster import RayCluster
from fakekube_controllers.kueue.jobs.ray.job import RayJob
from fakekube_controllers.kueue.webhooks import declaring

NEEDS_SLICES = "a kueue managed job should only use autoscaling when workload slicing is enabled"


def of_clusters(options: Options) -> Iterator[Webhook]:
    """Both of RayClusters."""
    yield framework.webhook(
        "mraycluster.kb.io", partial(default_cluster, options=options), RAY_CLUSTERS, options, mutating=True)
    yield framework.webhook("vraycluster.kb.io", partial(validate_cluster, options=options), RAY_CLUSTERS, options)


def of_jobs(options: Options) -> Iterator[Webhook]:
    """Both of RayJobs."""
    yield framework.webhook("mrayjob.kb.io", partial(default_job, options=options), RAY_JOBS, options, mutating=True)
    yield framework.webhook("vrayjob.kb.io", partial(validate_job, options=options), RAY_JOBS, options)


async def default_cluster(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Fill in a new RayCluster."""
    cluster = RayCluster(options.configuration.features, request.object)
    await framework.apply_defaults(client, cluster, options)
    if objects.is_elastic(cluster.obj, cluster.features):
        for template in groups.templates_of(cluster.spec):
            pods.gate(template, names.ELASTIC_JOB_GATE)


async def default_job(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Fill in a new RayJob."""
    await framework.apply_defaults(client, RayJob(options.configuration.features, request.object), options)


def _is_managed(obj: RayCluster | RayJob, options: Options) -> bool:
    return options.configuration.manage_jobs_without_queue_name or bool(objects.queue_name(obj.obj))


async def validate_cluster(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Look at a new RayCluster, or at a change. Raises Denied, TopologyRequestError."""
    features = options.configuration.features
    cluster = RayCluster(features, request.object)
    found: list[FieldError] = []
    if request.old_object is not None:
        if not _is_managed(cluster, options):
            return
        found += await framework.update_errors(client, RayCluster(features, request.old_object), cluster)
    if _is_managed(cluster, options):
        found += _elastic_errors(cluster) if objects.is_elastic(cluster.obj, features) else _autoscaling_errors(cluster)
        found += groups.count_errors(cluster.spec, "spec")
    found += validation.errors_on_create(cluster)
    if features.TopologyAwareScheduling:
        found += groups.topology_errors(cluster.spec, await cluster.pod_sets(None), features)
    declaring.refuse(found)


def _autoscaling_errors(cluster: RayCluster) -> list[FieldError]:
    if not cluster.spec.get("enableInTreeAutoscaling"):
        return []
    text = (
        "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices "
        f'feature gate and set the "{names.ELASTIC_JOB_ANNOTATION}": "true" annotation')
    return [invalid("spec.enableInTreeAutoscaling", value=True, detail=text)]


def _elastic_errors(cluster: RayCluster) -> list[FieldError]:
    """All templates have the gate, and who scales itself stays here."""
    found: list[FieldError] = []
    paths = [field_errors.index("spec.workerGroupSpecs", place) for place in range(len(groups.groups_of(cluster.spec)))]
    head, *workers = groups.templates_of(cluster.spec)
    for path, template in [*zip(paths, workers, strict=True), ("spec.headGroupSpec", head)]:
        gates = template["spec"].get("schedulingGates")
        if {"name": names.ELASTIC_JOB_GATE} not in (gates or []):
            where = child(path, "template", "spec", "schedulingGates")
            found.append(invalid(where, gates, "an elastic job must have the ElasticJobSchedulingGate"))
    if cluster.spec.get("enableInTreeAutoscaling") and cluster.managed_by() == names.MULTIKUEUE_CONTROLLER_NAME:
        found.append(forbidden(
            "spec.enableInTreeAutoscaling", "in-tree autoscaling is not supported for a MultiKueue-managed elastic RayCluster"))
    return found


async def validate_job(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Look at a new RayJob, or at a change. Raises Denied, TopologyRequestError."""
    features = options.configuration.features
    job = RayJob(features, request.object)
    found: list[FieldError] = []
    if request.old_object is not None:
        if not _is_managed(job, options):
            return
        found += await framework.update_errors(client, RayJob(features, request.old_object), job)
    if _is_managed(job, options):
        selector, has_spec = job.spec.get("clusterSelector"), bool(job.spec.get("rayClusterSpec"))
        if selector and has_spec:
            found.append(invalid("spec.clusterSelector", selector, "a kueue managed job should not use an existing cluster"))
        elif not selector and not has_spec:
            text = "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector"
            found.append(required("spec.rayClusterSpec", text))
        if selector or not has_spec:
            declaring.refuse(found)
            return
        found += _managed_errors(job)
    found += validation.errors_on_create(job)
    if features.TopologyAwareScheduling and job.cluster_spec:
        found += groups.topology_errors(job.cluster_spec, await job.pod_sets(None), features)
    declaring.refuse(found)


def _managed_errors(job: RayJob) -> list[FieldError]:
    found: list[FieldError] = []
    if not job.spec.get("shutdownAfterJobFinishes"):
        found.append(invalid(
            "spec.shutdownAfterJobFinishes", value=False, detail="a kueue managed job should delete the cluster after finishing"))
    path = "spec.rayClusterSpec"
    if job.cluster_spec.get("enableInTreeAutoscaling") and not objects.is_elastic(job.obj, job.features):
        found.append(invalid(child(path, "enableInTreeAutoscaling"), value=True, detail=NEEDS_SLICES))
    return found + groups.count_errors(job.cluster_spec, path)
