"""Deployments: their pods are single pods that wait, each for itself.

There is no controller: ``webhook.py`` puts into the template what lets the pods wait. Upstream:
pkg/controller/jobs/deployment. Where a gate of our own is on, a Deployment may be elastic, and then
``elastic.py`` is a job like others.
"""

from collections.abc import Iterable
from functools import partial

from fakekube.apimachinery.meta import ObjectKey
from fakekube.client.resources import DEPLOYMENTS
from fakekube.runtime.addon import Webhook
from fakekube.runtime.builder import Declaration
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue.jobframework import setup, webhooks
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.job import GenericJob

OPERATIONS = ("CREATE", "UPDATE")


def _webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.deployment import webhook

    default, validate = (partial(each, options=options) for each in (webhook.default, webhook.validate))
    yield webhooks.webhook("mdeployment.kb.io", default, DEPLOYMENTS, options, mutating=True, operations=OPERATIONS)
    yield webhooks.webhook("vdeployment.kb.io", validate, DEPLOYMENTS, options)._replace(has_client=False)


def _controllers(options: Options) -> Iterable[Declaration]:
    if options.configuration.features.ElasticDeployments:
        yield setup.controller(DEPLOYMENT, options, name="kueue-deployment")


def _job() -> type[GenericJob]:
    from fakekube_controllers.kueue.jobs.deployment.elastic import ElasticDeployment

    return ElasticDeployment


def _watch(framework: Framework, queue: WorkQueue[ObjectKey]) -> None:
    from fakekube_controllers.kueue.jobs.deployment import elastic

    elastic.watch_pods(framework, queue)


DEPLOYMENT = Integration(
    "deployment", DEPLOYMENTS, _job, webhooks=_webhooks, controllers=_controllers, watch=_watch, implies=("pod",))
