"""LeaderWorkerSets: a Workload for each group, whose leader and workers are a group that serves.

``controller.py`` keeps them, ``groups.py`` says what a group is. Upstream:
pkg/controller/jobs/leaderworkerset.
"""

from collections.abc import Iterable
from functools import partial

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PODS
from fakekube.runtime import builder
from fakekube.runtime.addon import Webhook
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Reconciler
from fakekube_controllers.kueue.jobframework import objects, webhooks
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SET as FRAMEWORK
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS

OPERATIONS = ("CREATE", "UPDATE")


def _webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.leaderworkerset import webhook

    default, validate = (partial(each, options=options) for each in (webhook.default, webhook.validate))
    yield webhooks.webhook(
        "mleaderworkerset.kb.io", default, LEADER_WORKER_SETS, options, mutating=True, operations=OPERATIONS)
    yield webhooks.webhook("vleaderworkerset.kb.io", validate, LEADER_WORKER_SETS, options)


def _controllers(options: Options) -> Iterable[Declaration]:
    building = builder.controller("kueue-leaderworkerset").starts_with(LEADER_WORKER_SETS, (PODS, _waits))
    yield building.complete(partial(_reconciler, options))


def _reconciler(options: Options, ctx: Context) -> Reconciler:
    from fakekube_controllers.kueue.jobframework.framework import Framework
    from fakekube_controllers.kueue.jobs.leaderworkerset.controller import LeaderWorkerSetReconciler

    framework = Framework(ctx, options.configuration, FRAMEWORK, LEADER_WORKER_SETS)
    return LeaderWorkerSetReconciler(framework, options)


def _waits(pod: ReadOnlyTree) -> bool:
    return objects.is_suspended_by(pod, FRAMEWORK)


LEADER_WORKER_SET = Integration(
    FRAMEWORK, LEADER_WORKER_SETS, None, webhooks=_webhooks, controllers=_controllers, implies=("pod",))
