"""RayClusters and RayJobs: a pod set for the head and for each group of workers, and one for the
submitter of a RayJob.

``groups.py`` are the pod sets of a cluster's spec, for both. Upstream:
pkg/controller/jobs/raycluster, rayjob. Left out: RayService.
"""

from collections.abc import Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.runtime.addon import Webhook
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.job import GenericJob
from fakekube_controllers.kueue.jobs.kinds import RAY_CLUSTERS, RAY_JOBS


def _cluster() -> type[GenericJob]:
    from fakekube_controllers.kueue.jobs.ray.cluster import RayCluster

    return RayCluster


def _job() -> type[GenericJob]:
    from fakekube_controllers.kueue.jobs.ray.job import RayJob

    return RayJob


def _cluster_webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.ray import webhooks

    return webhooks.of_clusters(options)


def _job_webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.ray import webhooks

    return webhooks.of_jobs(options)


def _watch_clusters(framework: Framework, queue: WorkQueue[ObjectKey]) -> None:
    """A RayJob is looked at again when its cluster changes."""
    def changed(cluster: Tree) -> None:
        owner = meta.controller_of(cluster)
        if owner is not None and owner["kind"] == RAY_JOBS.kind:
            queue.add(ObjectKey(meta.namespace_of(cluster), owner["name"]))

    framework.ctx.add_handler(RAY_CLUSTERS, changed, lambda _, new: changed(new), changed)


RAY_CLUSTER = Integration("ray.io/raycluster", RAY_CLUSTERS, _cluster, webhooks=_cluster_webhooks)
RAY_JOB = Integration("ray.io/rayjob", RAY_JOBS, _job, webhooks=_job_webhooks, watch=_watch_clusters)
