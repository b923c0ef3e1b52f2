"""The Workload of a StatefulSet: made with it, on hold while it has no pods.

Upstream: pkg/controller/jobs/statefulset/statefulset_reconciler.go.
"""

from copy import deepcopy
from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS, STATEFUL_SETS
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, patches
from fakekube_controllers.kueue.jobframework import construction, defaults, objects, priorities
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs import serving_pods
from fakekube_controllers.kueue.jobs.kinds import STATEFUL_SET
from fakekube_controllers.kueue.jobs.pod.members import group_of, new_group_workload
from fakekube_controllers.kueue.jobs.statefulset import workloads
from fakekube_controllers.kueue.topology import requests
from fakekube_controllers.kueue.workload import reasons, reservation, states

POD_BATCH_SECONDS = 1.0
POD_INDEX = "apps.kubernetes.io/pod-index"
ON_HOLD = "StatefulSet scaled to zero; workload on hold"
NO_LONGER_ON_HOLD = "Workload no longer on hold; waiting for quota reservation"
NOT_FOUND, CONFLICT = 404, 409


class StatefulSetReconciler:
    """Reconciles one StatefulSet."""

    def __init__(self, framework: Framework, options: Options) -> None:
        self._framework, self._options = framework, options
        self._features, self._pods = framework.features, framework.ctx.lister(PODS)

    def setup(self, queue: WorkQueue[ObjectKey]) -> None:
        """Look at a StatefulSet again when it has a new pod."""
        def added(pod: Tree) -> None:
            if meta.annotations_of(pod).get(names.SUSPENDED_BY_PARENT_ANNOTATION) != STATEFUL_SET:
                return
            owner = meta.controller_of(pod)
            if owner is not None and workloads.is_stateful_set(owner):
                queue.add_after(ObjectKey(meta.namespace_of(pod), owner["name"]), POD_BATCH_SECONDS)

        self._framework.ctx.add_handler(PODS, added)

    async def reconcile(self, request: Request) -> Result | None:
        """Bring the Workload and the pods of a StatefulSet up to date. Raises APIError."""
        sts = self._framework.jobs.get(*request)
        if sts is None or workloads.is_managed_by_another_framework(sts):
            return None
        if not await defaults.workload_should_be_suspended(self._framework.client, sts, self._options):
            return None
        workload = workloads.find_workload(self._framework.workloads, sts, self._features)
        name = workloads.workload_name(sts, self._features) if workload is None else meta.name_of(workload)
        group = group_of(self._pods, request.namespace, name, self._features)
        await self._sync_queue(request, sts, group)
        for pod in group:
            await self._patch_pod(request, pod, partial(serving_pods.ungate_and_finalize, sts))
        await self._reconcile_workload(request, sts, workload)
        return None

    async def _sync_queue(self, request: Request, sts: ReadOnlyTree, group: list[Tree]) -> None:
        queue = objects.queue_name(sts)
        if not queue or not _replicas(sts):
            return
        for pod in group:
            if meta.labels_of(pod).get(names.QUEUE_LABEL) != queue:
                await self._patch_pod(request, pod, partial(_put_queue, queue))

    async def _patch_pod(self, request: Request, pod: Tree, update: patches.Update) -> None:
        try:
            await self._framework.patch(request, PODS, pod, update)
        except APIError as error:
            if error.code != NOT_FOUND:
                raise

    async def _reconcile_workload(self, request: Request, sts: Tree, workload: Tree | None) -> None:
        replicas, everything = _replicas(sts), self._framework.configuration.manage_jobs_without_queue_name
        queue = objects.queue_name(sts)
        if workload is None:
            is_remote = names.MULTIKUEUE_ORIGIN_LABEL in meta.labels_of(sts)
            if replicas and (queue or everything) and not is_remote:
                await self._create_workload(request, sts)
            return
        releases = not replicas and states.has_active_quota_reservation(workload) and not states.is_finished(workload)
        releases, clears = releases and states.is_active(workload), replicas > 0 and states.is_on_hold(workload)
        changed = deepcopy(workload)
        if replicas:
            put_owner(changed, sts)
            changed["spec"]["queueName"] = queue
        written = await construction.update_workload(self._framework, request, sts, workload, changed)
        if releases:
            await self._unreserve(request, written, reasons.ON_HOLD, ON_HOLD)
        elif clears:
            reason = states.unadmitted_workload_reason_with_fallback(
                reasons.PENDING_EVALUATION, reasons.PENDING, self._features)
            await self._unreserve(request, written, reason, NO_LONGER_ON_HOLD)

    async def _unreserve(self, request: Request, workload: ReadOnlyTree, reason: str, message: str) -> None:
        now = self._framework.clock.time()

        def update(changed: Tree) -> bool:
            return reservation.unset_quota_reservation_with_condition(changed, reason, message, now=now, features=self._features)

        written = await patches.patch_status(
            self._framework.client, names.WORKLOADS, workload, update, retry_on_conflict=True)
        self._framework.wrote(request, names.WORKLOADS, written)

    async def _create_workload(self, request: Request, sts: Tree) -> None:
        workload = self._construct(sts)
        pod_sets = workload["spec"]["podSets"]
        priorities.put_priority(workload, priorities.extract_priority(self._framework, sts, pod_sets, None))
        try:
            created = await self._framework.client.create(names.WORKLOADS, workload)
        except APIError as error:
            if error.code != CONFLICT:
                raise
            return
        self._framework.wrote(request, names.WORKLOADS, created)
        self._framework.event(sts, "Normal", "CreatedWorkload", f"Created Workload: {meta.key_of(created)}")

    def _construct(self, sts: Tree) -> Tree:
        template = sts["spec"]["template"]
        pod_set: Tree = {
            "name": names.DEFAULT_PODSET_NAME, "count": _replicas(sts),
            "template": {"metadata": {}, "spec": deepcopy(template["spec"])}}
        construction.sanitize_pod_sets([pod_set])
        if self._features.TopologyAwareScheduling:
            request = requests.topology_request(
                template.get("metadata") or meta.EMPTY, self._features, pod_index_label=POD_INDEX)
            if request is not None:
                pod_set["topologyRequest"] = request
        integrations = self._framework.configuration.integrations._replace(label_keys_to_copy=(), annotation_keys_to_copy=())
        configuration = self._framework.configuration._replace(integrations=integrations)
        made = new_group_workload(workloads.workload_name(sts, self._features), sts, [pod_set], configuration)
        objects.put_metadata(made, "labels", names.JOB_UID_LABEL, meta.uid_of(sts))
        put_owner(made, sts)
        return made


def put_owner(workload: Tree, sts: ReadOnlyTree) -> None:
    """Let a StatefulSet own a Workload, in place, and let that say so where owners get lost."""
    if any(each["uid"] == meta.uid_of(sts) for each in meta.owners_of(workload)):
        return
    reference = meta.owner_reference({"apiVersion": STATEFUL_SETS.api_version, "kind": STATEFUL_SETS.kind, **sts})
    workload["metadata"]["ownerReferences"] = [*meta.owners_of(workload), reference]
    objects.put_metadata(workload, "annotations", names.JOB_OWNER_GVK_ANNOTATION, workloads.GVK_TEXT)
    objects.put_metadata(workload, "annotations", names.JOB_OWNER_NAME_ANNOTATION, meta.name_of(sts))


def _replicas(sts: ReadOnlyTree) -> int:
    replicas: int | None = sts["spec"].get("replicas")
    return 1 if replicas is None else replicas


def _put_queue(queue: str, pod: Tree) -> bool:
    objects.put_metadata(pod, "labels", names.QUEUE_LABEL, queue)
    return True


