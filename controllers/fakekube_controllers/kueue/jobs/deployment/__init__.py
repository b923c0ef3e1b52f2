"""Deployments: their pods are single pods that wait, each for itself.

There is no controller: ``webhook.py`` puts into the template what lets the pods wait. Upstream:
pkg/controller/jobs/deployment.
"""

from collections.abc import Iterable
from functools import partial

from fakekube.client.resources import DEPLOYMENTS
from fakekube.runtime.addon import Webhook
from fakekube_controllers.kueue.jobframework import webhooks
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options

OPERATIONS = ("CREATE", "UPDATE")


def _webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.deployment import webhook

    default, validate = (partial(each, options=options) for each in (webhook.default, webhook.validate))
    yield webhooks.webhook("mdeployment.kb.io", default, DEPLOYMENTS, options, mutating=True, operations=OPERATIONS)
    yield webhooks.webhook("vdeployment.kb.io", validate, DEPLOYMENTS, options)._replace(has_client=False)


DEPLOYMENT = Integration("deployment", DEPLOYMENTS, None, webhooks=_webhooks, controllers=lambda _: (), implies=("pod",))
