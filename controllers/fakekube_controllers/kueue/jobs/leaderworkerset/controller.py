"""The Workloads of a LeaderWorkerSet, one for each of its groups, and its pods as groups.

Upstream: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

from fakekube.apimachinery import intstr, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS, STATEFUL_SETS
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.jobframework import construction, defaults, objects, priorities
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs import serving_pods
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SET, LEADER_WORKER_SETS
from fakekube_controllers.kueue.jobs.leaderworkerset import groups
from fakekube_controllers.kueue.jobs.pod.members import new_group_workload
from fakekube_controllers.kueue.workload import finish

NOT_FOUND = 404
GVK_TEXT = "leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet"


class LeaderWorkerSetReconciler:
    """Reconciles one LeaderWorkerSet, also after it has gone: then its pods are let go."""

    def __init__(self, framework: Framework, options: Options) -> None:
        self._framework, self._options, self._features = framework, options, framework.features
        self._pods, self._sets = framework.ctx.lister(PODS), framework.ctx.lister(STATEFUL_SETS)

    def setup(self, queue: WorkQueue[ObjectKey]) -> None:
        """Look at a LeaderWorkerSet when it changes, at once where Kueue manages it; and a second
        after its Workloads, pods and StatefulSets change.
        """
        ctx = self._framework.ctx

        def later(key_of: Callable[[Tree], ObjectKey | None], obj: Tree) -> None:
            key = key_of(obj)
            if key is not None:
                queue.add_after(key, names.UPDATES_BATCH_PERIOD_SECONDS)

        def at_once(obj: Tree) -> None:
            queue.add(meta.key_of(obj))

        def updated(handle: Callable[[Tree], None], _old: Tree, new: Tree) -> None:
            handle(new)

        of_workload, of_pod, of_set = (partial(later, each) for each in (_owner_of_workload, _owner_of_pod, _owner_of_set))
        ctx.add_handler(LEADER_WORKER_SETS, at_once, partial(updated, at_once))
        ctx.add_handler(names.WORKLOADS, of_workload, partial(updated, of_workload), of_workload)
        ctx.add_handler(PODS, of_pod, partial(updated, of_pod))
        ctx.add_handler(STATEFUL_SETS, None, partial(updated, of_set))

    async def reconcile(self, request: Request) -> Result | None:
        """Bring the Workloads and the pods of a LeaderWorkerSet up to date. Raises APIError."""
        lws = self._framework.jobs.get(*request)
        if lws is not None and not await defaults.workload_should_be_suspended(self._framework.client, lws, self._options):
            return None
        of_set = {groups.NAME: request.name}
        members = self._pods.list(request.namespace, of_set)
        sets = {meta.name_of(each): each for each in self._sets.list(request.namespace, of_set)} if members else {}
        if lws is not None:
            await self._reconcile_workloads(request, lws)
        for pod in members:
            owner = meta.controller_of(pod)
            await self._reconcile_pod(request, lws, None if owner is None else sets.get(owner["name"]), pod)
        return None

    # Workloads

    async def _reconcile_workloads(self, request: Request, lws: Tree) -> None:
        """Make those that are missing, and delete those of groups that there are no longer."""
        present = {meta.name_of(each): each for each in self._framework.workloads.owned_by(meta.uid_of(lws))}
        is_remote = names.MULTIKUEUE_ORIGIN_LABEL in meta.labels_of(lws)
        for index in range(_wanted(lws)):
            name = groups.workload_name(lws, index, self._features)
            found = present.pop(name, None)
            if found is not None:
                await self._update(request, lws, found)
            elif not is_remote:
                await self._create(request, lws, name, index)
        for workload in present.values():
            await finish.delete(self._framework.client, workload)

    async def _create(self, request: Request, lws: Tree, name: str, index: int) -> None:
        pod_sets = groups.pod_sets(lws, self._features)
        made = new_group_workload(name, lws, pod_sets, self._framework.configuration)
        objects.put_metadata(made, "labels", names.JOB_UID_LABEL, meta.uid_of(lws))
        for annotation, value in (
            (names.JOB_OWNER_GVK_ANNOTATION, GVK_TEXT), (names.JOB_OWNER_NAME_ANNOTATION, meta.name_of(lws)),
            (names.COMPONENT_WORKLOAD_INDEX_ANNOTATION, str(index)),
        ):
            objects.put_metadata(made, "annotations", annotation, value)
        owner = {"apiVersion": LEADER_WORKER_SETS.api_version, "kind": LEADER_WORKER_SETS.kind, **lws}
        made["metadata"]["ownerReferences"] = [meta.owner_reference(owner)]
        priorities.put_priority(made, priorities.extract_priority(self._framework, lws, pod_sets, None))
        created = await self._framework.client.create(names.WORKLOADS, made)
        self._framework.wrote(request, names.WORKLOADS, created)
        self._framework.event(lws, "Normal", "CreatedWorkload", f"Created Workload: {meta.key_of(created)}")

    async def _update(self, request: Request, lws: Tree, workload: Tree) -> None:
        changed = deepcopy(workload)
        changed["spec"]["queueName"] = objects.queue_name(lws)
        written = await construction.update_workload(self._framework, request, lws, workload, changed)
        await priorities.update_priorities(self._framework, request, lws, [written], None)

    # pods

    async def _reconcile_pod(self, request: Request, lws: ReadOnlyTree | None, sts: ReadOnlyTree | None, pod: Tree) -> None:
        if lws is None or serving_pods.should_finalize(sts, pod):
            update = partial(serving_pods.ungate_and_finalize, sts, force=lws is None)
        else:
            update = partial(self._put_into_group, lws)
        try:
            await self._framework.patch(request, PODS, pod, update)
        except APIError as error:
            if error.code != NOT_FOUND:
                raise

    def _put_into_group(self, lws: ReadOnlyTree, pod: Tree) -> bool:
        """Let a pod say, in place, which Workload it is of; whether it did not yet."""
        labels = meta.labels_of(pod)
        if names.MANAGED_LABEL in labels or groups.GROUP_INDEX not in labels:
            return False
        name = groups.workload_name(lws, labels[groups.GROUP_INDEX], self._features)
        role = groups.role_of(lws, pod)
        objects.put_metadata(pod, "labels", names.MANAGED_LABEL, "true")
        pods.set_pod_group_name(pod, name, self._features)
        objects.set_prebuilt_workload_name(pod, name, self._features)
        objects.put_metadata(pod, "annotations", names.POD_GROUP_TOTAL_COUNT_ANNOTATION, str(groups.size_of(lws)))
        objects.put_metadata(pod, "annotations", names.ROLE_HASH_ANNOTATION, role)
        return True


def _wanted(lws: ReadOnlyTree) -> int:
    """How many Workloads there are to be: more than groups are wanted, while an update adds
    some.
    """
    replicas, status = groups.replicas_of(lws), lws.get("status") or meta.EMPTY
    rolling = (lws["spec"].get("rolloutStrategy") or meta.EMPTY).get("rollingUpdateConfiguration") or meta.EMPTY
    surge = rolling.get("maxSurge", 0)
    surge = intstr.scaled(surge, 100, round_up=False) if isinstance(surge, str) and surge.endswith("%") else surge
    is_surging = isinstance(surge, int) and surge > 0 and status.get("updatedReplicas", 0) < replicas
    return max(replicas, status.get("replicas", 0)) if is_surging else replicas


def _owner_of_workload(workload: ReadOnlyTree) -> ObjectKey | None:
    for owner in meta.owners_of(workload):
        if (owner["apiVersion"], owner["kind"]) == (LEADER_WORKER_SETS.api_version, LEADER_WORKER_SETS.kind):
            return ObjectKey(meta.namespace_of(workload), owner["name"])
    return None


def _owner_of_pod(pod: ReadOnlyTree) -> ObjectKey | None:
    if meta.annotations_of(pod).get(names.SUSPENDED_BY_PARENT_ANNOTATION) != LEADER_WORKER_SET:
        return None
    return _named_by_label(pod)


def _owner_of_set(sts: ReadOnlyTree) -> ObjectKey | None:
    """That of a StatefulSet that has a revision, and whose pods wait for Kueue."""
    annotations = meta.annotations_of((sts.get("spec") or meta.EMPTY).get("template") or meta.EMPTY)
    if not (sts.get("status") or meta.EMPTY).get("currentRevision"):
        return None
    return _named_by_label(sts) if annotations.get(names.SUSPENDED_BY_PARENT_ANNOTATION) == LEADER_WORKER_SET else None


def _named_by_label(obj: ReadOnlyTree) -> ObjectKey | None:
    name = meta.labels_of(obj).get(groups.NAME)
    return None if name is None else ObjectKey(meta.namespace_of(obj), name)


