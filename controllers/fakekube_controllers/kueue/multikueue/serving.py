"""StatefulSets and LeaderWorkerSets on another cluster.

Neither has ``spec.managedBy``: the local one's own controller makes pods too, which stay gated, and
it would overwrite any status that is brought back. Upstream:
pkg/controller/jobs/statefulset/statefulset_multikueue_adapter.go,
pkg/controller/jobs/leaderworkerset/leaderworkerset_multikueue_adapter.go.
"""

from collections.abc import Iterable

from fakekube.apimachinery import meta, strconv
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.resources import STATEFUL_SETS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names, patches
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects, pods_ready
from fakekube_controllers.kueue.jobframework.pods_ready import PodsReady
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS
from fakekube_controllers.kueue.jobs.leaderworkerset import groups
from fakekube_controllers.kueue.multikueue.adapters import ManagedByAdapter, Sides, clone_for_creation
from fakekube_controllers.kueue.workload import patching, reasons, states


class ServingAdapter(ManagedByAdapter):
    """Both kinds: each with a Workload is managed, and the copy tells of the local one's uid, which
    names of Workloads are made of.
    """

    def is_managed_by_kueue(self, job: ReadOnlyTree) -> str:
        """Always."""
        return ""

    async def sync_job(self, sides: Sides, key: Request, workload_name: str) -> bool:
        """Make the copy; anew, if there is one of a local object of the past."""
        job = sides.lister.get(key.namespace, key.name)
        if job is None:
            return False
        remote = await sides.remote.get(self.resource, key.name, key.namespace, missing_ok=True)
        if remote is not None and origin_uid(remote) != meta.uid_of(job):
            await self.delete_remote_object(sides, key)
            remote = None
        if remote is None:
            made = clone_for_creation(job, self.resource, sides.origin)
            objects.put_metadata(made, "annotations", names.MULTIKUEUE_ORIGIN_UID_ANNOTATION, meta.uid_of(job))
            self.prepare(made, workload_name, sides.features)
            await sides.remote.create(self.resource, made, key.namespace)
        else:
            await self.update(sides, job, remote)
        return False

    def prepare(self, made: Tree, workload_name: str, features: Features) -> None:
        """Complete a copy, which is the caller's own."""

    async def update(self, sides: Sides, job: ReadOnlyTree, remote: ReadOnlyTree) -> None:
        """Bring a copy up to date. Raises APIError, TransportError."""


class StatefulSetAdapter(ServingAdapter):
    """apps/v1 StatefulSet. Its size cannot change while it has quota."""

    def __init__(self, features: Features) -> None:
        super().__init__(STATEFUL_SETS, features)

    def prepare(self, made: Tree, workload_name: str, features: Features) -> None:
        """It names its Workload."""
        objects.set_prebuilt_workload_name(made, workload_name, features)


class LeaderWorkerSetAdapter(ServingAdapter):
    """leaderworkerset.x-k8s.io/v1 LeaderWorkerSet, with a Workload for each of its groups: pods
    find theirs by the index of the group. ``workloads`` are the local ones.
    """

    def __init__(self, features: Features, workloads: Lister) -> None:
        super().__init__(LEADER_WORKER_SETS, features)
        self._workloads = workloads

    async def update(self, sides: Sides, job: ReadOnlyTree, remote: ReadOnlyTree) -> None:
        """Give the copy as many groups. Upstream deletes it, and makes it anew."""
        replicas = groups.replicas_of(job)
        if groups.replicas_of(remote) == replicas:
            return

        def resize(changed: Tree) -> bool:
            changed["spec"]["replicas"] = replicas
            return True

        await patches.patch(sides.remote, self.resource, remote, resize)

    def workload_keys_for(self, job: ReadOnlyTree) -> Iterable[Request]:
        """Those of the local one."""
        return [meta.key_of(each) for each in self._workloads.owned_by(origin_uid(job))]

    def expected_workload_count(self, job: ReadOnlyTree) -> int:
        """How many Workloads a job has when all are there."""
        return groups.replicas_of(job)

    def workload_index(self, workload: ReadOnlyTree) -> int | None:
        """Which part of its job a Workload is; None where it does not say."""
        return strconv.whole(meta.annotations_of(workload).get(names.COMPONENT_WORKLOAD_INDEX_ANNOTATION, ""))


async def copy_pods_ready(client: Client, local: ReadOnlyTree, remote: ReadOnlyTree, *, now: float, features: Features) -> None:
    """Let a Workload, whose own pods stay gated, be as ready as its copy; where Kueue on the worker
    does not wait for pods, it is at once. Raises APIError.
    """
    there = states.condition(remote, reasons.PODS_READY) or dict(
        zip(("status", "reason", "message"), pods_ready.STARTED, strict=True))
    wanted = PodsReady(there["status"], there["reason"], there.get("message", ""))
    if not pods_ready.is_set(local, wanted):
        await patching.set_condition_and_update(
            client, local, reasons.PODS_READY, *wanted, manager_prefix=names.JOB_CONTROLLER_NAME, now=now, features=features)


def origin_uid(remote: ReadOnlyTree) -> str:
    """The uid of the object that a copy is of; empty for what is no copy."""
    return meta.annotations_of(remote).get(names.MULTIKUEUE_ORIGIN_UID_ANNOTATION, "")
