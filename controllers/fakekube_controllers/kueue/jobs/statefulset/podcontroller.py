"""The pods of a StatefulSet as a group: what they say of themselves once they are there.

Upstream: pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go.
"""

from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS, STATEFUL_SETS
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobs.pod.members import without_pod_finalizer
from fakekube_controllers.kueue.jobs.statefulset import workloads
from fakekube_controllers.kueue.jobs.statefulset.controller import POD_INDEX

NOT_FOUND = 404


class StatefulSetPodReconciler:
    """Reconciles one pod of a StatefulSet; ``framework`` is one for pods."""

    def __init__(self, framework: Framework) -> None:
        self._framework, self._features = framework, framework.features
        self._sets = framework.ctx.lister(STATEFUL_SETS)

    async def reconcile(self, request: Request) -> Result | None:
        """Put a pod into the group of its StatefulSet, or let it go. Raises APIError."""
        pod = self._framework.jobs.get(*request)
        if pod is None:
            return None
        over = pods.is_terminated(pod) or meta.is_deleting(pod)
        update = without_pod_finalizer if over else partial(self._put_into_group, self._owner_of(pod))
        try:
            await self._framework.patch(request, PODS, pod, update)
        except APIError as error:
            if error.code != NOT_FOUND:
                raise
        return None

    def _owner_of(self, pod: ReadOnlyTree) -> ReadOnlyTree | None:
        owner = meta.controller_of(pod)
        if owner is None or not workloads.is_stateful_set(owner):
            return None
        return self._sets.get(meta.namespace_of(pod), owner["name"])

    def _put_into_group(self, sts: ReadOnlyTree | None, pod: Tree) -> bool:
        if sts is None:
            return False
        features, queue = self._features, objects.queue_name(sts)
        workload = workloads.find_workload(self._framework.workloads, sts, features)
        name = workloads.workload_name(sts, features) if workload is None else meta.name_of(workload)
        if pods.pod_group_name(pod, features) == name:
            if not queue or meta.labels_of(pod).get(names.QUEUE_LABEL) == queue:
                return False
            objects.put_metadata(pod, "labels", names.QUEUE_LABEL, queue)
            return True
        if not queue and not self._framework.configuration.manage_jobs_without_queue_name:
            return False
        objects.put_metadata(pod, "labels", names.MANAGED_LABEL, "true")
        for label in (names.QUEUE_LABEL, names.WORKLOAD_PRIORITY_CLASS_LABEL):
            if value := meta.labels_of(sts).get(label):
                objects.put_metadata(pod, "labels", label, value)
        objects.set_prebuilt_workload_name(pod, name, features)
        pods.set_pod_group_name(pod, name, features)
        replicas = sts["spec"].get("replicas")
        for annotation, value in (
            (names.POD_GROUP_TOTAL_COUNT_ANNOTATION, str(1 if replicas is None else replicas)),
            (names.POD_GROUP_FAST_ADMISSION_ANNOTATION, "true"), (names.POD_GROUP_SERVING_ANNOTATION, "true"),
            (names.POD_GROUP_POD_INDEX_LABEL_ANNOTATION, POD_INDEX), (names.ROLE_HASH_ANNOTATION, names.DEFAULT_PODSET_NAME),
        ):
            objects.put_metadata(pod, "annotations", annotation, value)
        return True
