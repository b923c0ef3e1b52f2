"""Plain pods, single or in groups, that wait for their admission behind a scheduling gate.

``controller.py`` is what becomes of them, ``groups.py`` the rules of a group, and ``webhook.py``
how they come to wait. Upstream: pkg/controller/jobs/pod (KEP-976).
"""

from collections.abc import Iterable
from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS
from fakekube.runtime import builder, predicates
from fakekube.runtime.addon import Webhook
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Reconciler, Request
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import webhooks
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.job import GenericJob

FRAMEWORK = "pod"


def _job() -> type[GenericJob]:
    from fakekube_controllers.kueue.jobs.pod.controller import Pod

    return Pod


def _webhooks(options: Options) -> Iterable[Webhook]:
    from fakekube_controllers.kueue.jobs.pod import webhook

    default, validate = (partial(each, options=options) for each in (webhook.default, webhook.validate))
    yield webhooks.webhook("mpod.kb.io", default, PODS, options, mutating=True, has_find=True)
    yield webhooks.webhook("vpod.kb.io", validate, PODS, options)


def _controllers(options: Options) -> Iterable[Declaration]:
    def requests(pod: Tree) -> Iterable[Request]:
        from fakekube_controllers.kueue.jobs.pod.members import request_of

        return [request_of(pod, options.configuration.features)]

    building = builder.controller(f"kueue-{FRAMEWORK}").watches(PODS, requests, predicate=predicates.for_objects(is_of_kueue))
    building = building.watches(names.WORKLOADS, requests_of_workload)
    building = building.starts_with((PODS, is_of_kueue), (names.WORKLOADS, _is_of_pods))
    yield building.complete(partial(_reconciler, options))


def _reconciler(options: Options, ctx: Context) -> Reconciler:
    from fakekube_controllers.kueue.jobs.pod.reconciler import PodReconciler

    return PodReconciler(POD, options, ctx)


def is_of_kueue(pod: ReadOnlyTree) -> bool:
    """Whether a pod has anything of Kueue: its label, its finalizer, or a group."""
    metadata = pod["metadata"]
    labels = metadata.get("labels") or ()
    return (
        names.MANAGED_LABEL in labels or names.POD_GROUP_NAME_LABEL in labels
        or names.POD_FINALIZER in (metadata.get("finalizers") or ())
        or names.POD_GROUP_NAME_ANNOTATION in (metadata.get("annotations") or ()))


def requests_of_workload(workload: ReadOnlyTree) -> list[Request]:
    """What is reconciled for a Workload: the group of its name, or the pod that it is of."""
    namespace, name = meta.key_of(workload)
    if meta.owners_of(workload) and meta.annotations_of(workload).get(names.IS_GROUP_WORKLOAD_ANNOTATION) == "true":
        return [Request(f"{names.GROUP_PREFIX}{namespace}", name)]
    owner = meta.controller_of(workload)
    is_pod = owner is not None and (owner["apiVersion"], owner["kind"]) == (PODS.api_version, PODS.kind)
    return [Request(namespace, owner["name"])] if owner is not None and is_pod else []


def _is_of_pods(workload: Tree) -> bool:
    return bool(requests_of_workload(workload))


POD = Integration(FRAMEWORK, PODS, _job, webhooks=_webhooks, controllers=_controllers)
