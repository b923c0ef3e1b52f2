"""Jobs of batch/v1. Upstream: pkg/controller/jobs/job."""

from collections.abc import Iterable

from fakekube.apimachinery.meta import ObjectKey
from fakekube.client.resources import JOBS
from fakekube.runtime.addon import Webhook
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.job import GenericJob


def _job() -> type[GenericJob]:
    from fakekube_controllers.kueue.jobs.job.controller import Job

    return Job


def _webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.job import webhook

    return webhook.webhooks(options)


def _watch(framework: Framework, queue: WorkQueue[ObjectKey]) -> None:
    from fakekube_controllers.kueue.jobs.job import controller

    controller.watch_parent_workloads(framework, queue)


JOB = Integration("batch/job", JOBS, _job, webhooks=_webhooks, watch=_watch)
