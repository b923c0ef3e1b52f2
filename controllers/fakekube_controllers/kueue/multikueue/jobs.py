"""Jobs and pods on another cluster.

Upstream: pkg/controller/jobs/job/job_multikueue_adapter.go, pkg/controller/jobs/pod/
pod_multikueue_adapter.go.
"""

import copy
from collections.abc import Iterable, Mapping

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import JOBS, PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names, patches
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod.members import without_pod_finalizer
from fakekube_controllers.kueue.multikueue import adapters
from fakekube_controllers.kueue.multikueue.adapters import ManagedByAdapter, Sides
from fakekube_controllers.kueue.multikueue.elastic import ElasticAdapter

GENERATED_LABELS = (
    "job-name", "controller-uid", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid")
"""Those that the API server puts into the template of a Job, and that name the local one."""


class JobAdapter(ElasticAdapter):
    """batch/v1 Job, elastic ones included."""

    def __init__(self, features: Features) -> None:
        super().__init__(JOBS, features)

    async def sync_job(self, sides: Sides, key: Request, workload_name: str) -> bool:
        """Make the copy, or copy its status as soon as the local Job may have it.

        An elastic Job's size and its Workload's name go to the copy too.
        """
        job = sides.lister.get(key.namespace, key.name)
        if job is None:
            return False
        remote = await sides.remote.get(JOBS, key.name, key.namespace, missing_ok=True)
        if remote is None:
            await sides.remote.create(JOBS, _copy_of_job(job, workload_name, sides), key.namespace)
            return False
        status, is_deferred = _status_for(job, remote, sides)
        await self.write_status(sides, job, status)
        await self.sync_size(sides, workload_name, job, remote)
        return is_deferred

    def counts(self, job: ReadOnlyTree) -> Mapping[str, int]:
        """Its parallelism."""
        return {names.DEFAULT_PODSET_NAME: job["spec"].get("parallelism", 0)}

    def resize(self, changed: Tree, job: ReadOnlyTree) -> None:
        """The copy gets the same."""
        changed["spec"]["parallelism"] = job["spec"].get("parallelism", 0)


def _copy_of_job(job: ReadOnlyTree, workload_name: str, sides: Sides) -> Tree:
    made = adapters.copy_of(job, JOBS, workload_name, sides.origin, sides.features)
    spec = made["spec"]
    for field in ("selector", "managedBy"):
        spec.pop(field, None)
    labels = spec["template"].get("metadata", {}).get("labels", {})
    for label in GENERATED_LABELS:
        labels.pop(label, None)
    return made


def _is_suspended(job: ReadOnlyTree) -> bool:
    stopping = names.STOPPING_ANNOTATION in meta.annotations_of(job)
    return bool(job["spec"].get("suspend")) and not stopping


def _status_for(job: ReadOnlyTree, remote: ReadOnlyTree, sides: Sides) -> tuple[ReadOnlyTree, bool]:
    """The status that the local Job is to have, and whether the copy's has to wait.

    A suspended Job may not have begun: the API server would refuse to change its template then.
    """
    there: ReadOnlyTree = remote.get("status") or meta.EMPTY
    found = there.get("conditions")
    is_over = conditions.is_true(found, "Complete") or conditions.is_true(found, "Failed")
    if not _is_suspended(job) or _is_suspended(remote) or is_over:
        return there, False
    here: ReadOnlyTree = job.get("status") or meta.EMPTY
    if conditions.is_true(here.get("conditions"), "Suspended"):
        return here, True
    now = times.format_time(sides.now)
    suspended = {
        "type": "Suspended", "status": "True", "reason": "MultiKueueAdapter", "message": "Set by MultiKueue adapter",
        "lastTransitionTime": now, "lastProbeTime": now}
    others = [condition for condition in here.get("conditions") or () if condition["type"] != "Suspended"]
    return {**here, "conditions": [*others, suspended]}, True


class PodAdapter(ManagedByAdapter):
    """Pods, alone and in groups: the local ones stay gated and show what becomes of their copies.
    """

    def __init__(self, features: Features) -> None:
        super().__init__(PODS, features)

    def is_managed_by_kueue(self, job: ReadOnlyTree) -> str:
        """Every pod with a Workload is."""
        return ""

    async def sync_job(self, sides: Sides, key: Request, workload_name: str) -> bool:
        """Copy every pod of the group, or bring its status back."""
        pod = sides.lister.get(key.namespace, key.name)
        for each in _group_of(pod, sides) if pod is not None else ():
            await self._sync_pod(sides, each, workload_name)
        return False

    async def _sync_pod(self, sides: Sides, pod: ReadOnlyTree, workload_name: str) -> None:
        name, namespace = meta.name_of(pod), meta.namespace_of(pod)
        remote = await sides.remote.get(PODS, name, namespace, missing_ok=True)
        if remote is None:
            made = adapters.copy_of(pod, PODS, workload_name, sides.origin, sides.features)
            await sides.remote.create(PODS, made, namespace)
        elif not meta.is_deleting(pod):
            await self.write_status(sides, pod, _pod_status(pod, remote))

    async def delete_remote_object(self, sides: Sides, key: Request) -> None:
        """Delete the copies of the whole group, which wait for no others in their place.

        That of the key goes last: it is what the others are found by, if this is stopped before.
        """
        remote = await sides.remote.get(PODS, key.name, key.namespace, missing_ok=True)
        group = group_name(remote) if remote is not None else ""
        if not group:
            await sides.remote.delete(PODS, key.name, key.namespace, missing_ok=True)
            return
        copies = await sides.remote.list(
            PODS, key.namespace, label_selector=f"{names.MULTIKUEUE_ORIGIN_LABEL}={sides.origin}")
        of_group = [pod for pod in copies.items if group_name(pod) == group]
        for pod in sorted(of_group, key=lambda each: meta.name_of(each) == key.name):
            await patches.patch(sides.remote, PODS, pod, without_pod_finalizer)
            await sides.remote.delete(PODS, meta.name_of(pod), key.namespace, missing_ok=True)


def group_name(pod: ReadOnlyTree) -> str:
    """The group that a pod belongs to; the annotation goes before the label."""
    name = meta.annotations_of(pod).get(names.POD_GROUP_NAME_ANNOTATION)
    return name or meta.labels_of(pod).get(names.POD_GROUP_NAME_LABEL, "")


def _group_of(pod: ReadOnlyTree, sides: Sides) -> Iterable[ReadOnlyTree]:
    """The local pods of a pod's group; the pod alone without a group."""
    group = group_name(pod)
    if not group:
        return [pod]
    return [each for each in sides.lister.list(meta.namespace_of(pod)) if group_name(each) == group]


def _pod_status(pod: ReadOnlyTree, remote: ReadOnlyTree) -> Tree:
    """The copy's status. While the copy has no node, the local pod goes on saying that it is gated:
    "unschedulable" would make an autoscaler of this cluster act.
    """
    status: Tree = copy.deepcopy(dict(remote.get("status") or {}))
    here = conditions.find((pod.get("status") or meta.EMPTY).get("conditions"), "PodScheduled")
    gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    is_scheduled = conditions.is_true(status.get("conditions"), "PodScheduled")
    if names.ADMISSION_GATE in gates and here is not None and not is_scheduled:
        found = status.setdefault("conditions", [])
        present = next((index for index, each in enumerate(found) if each["type"] == "PodScheduled"), len(found))
        found[present:present + 1] = [here]
    return status
