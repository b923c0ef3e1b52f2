"""StatefulSets: one Workload for each, and its pods are a group that serves.

``controller.py`` makes the Workload, ``podcontroller.py`` makes the pods a group of it. Upstream:
pkg/controller/jobs/statefulset.
"""

from collections.abc import Iterable
from functools import partial

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PODS, STATEFUL_SETS
from fakekube.runtime import builder, predicates
from fakekube.runtime.addon import Webhook
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.predicates import Predicate
from fakekube.runtime.reconcile import Reconciler
from fakekube_controllers.kueue.jobframework import objects, webhooks
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobs.kinds import STATEFUL_SET as FRAMEWORK

OPERATIONS = ("CREATE", "UPDATE")


def _webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.statefulset import webhook

    default, validate = (partial(each, options=options) for each in (webhook.default, webhook.validate))
    yield webhooks.webhook("mstatefulset.kb.io", default, STATEFUL_SETS, options, mutating=True, operations=OPERATIONS)
    yield webhooks.webhook("vstatefulset.kb.io", validate, STATEFUL_SETS, options)


def _controllers(options: Options) -> Iterable[Declaration]:
    everything = options.configuration.manage_jobs_without_queue_name

    def may_be_managed(sts: ReadOnlyTree) -> bool:
        return everything or bool(objects.queue_name(sts))

    sets = builder.controller(f"kueue-{FRAMEWORK}").for_(STATEFUL_SETS, predicate=predicates.for_objects(may_be_managed))
    yield sets.starts_with((STATEFUL_SETS, may_be_managed)).complete(partial(_reconciler, options))
    pods = builder.controller(f"kueue-{FRAMEWORK}-pod").for_(PODS, predicate=Predicate(_waits, _waits_now, _never))
    yield pods.starts_with((PODS, _waits)).complete(partial(_pod_reconciler, options))


def _reconciler(options: Options, ctx: Context) -> Reconciler:
    from fakekube_controllers.kueue.jobframework.framework import Framework
    from fakekube_controllers.kueue.jobs.statefulset.controller import StatefulSetReconciler

    return StatefulSetReconciler(Framework(ctx, options.configuration, FRAMEWORK, STATEFUL_SETS), options)


def _pod_reconciler(options: Options, ctx: Context) -> Reconciler:
    from fakekube_controllers.kueue.jobframework.framework import Framework
    from fakekube_controllers.kueue.jobs.statefulset.podcontroller import StatefulSetPodReconciler

    return StatefulSetPodReconciler(Framework(ctx, options.configuration, FRAMEWORK, PODS))


def _waits(pod: ReadOnlyTree) -> bool:
    """Whether a StatefulSet lets a pod wait."""
    return objects.is_suspended_by(pod, FRAMEWORK)


def _waits_now(_old: ReadOnlyTree, pod: ReadOnlyTree) -> bool:
    return _waits(pod)


def _never(_pod: ReadOnlyTree) -> bool:
    return False


STATEFUL_SET = Integration(
    FRAMEWORK, STATEFUL_SETS, None, webhooks=_webhooks, controllers=_controllers, implies=("pod",))
