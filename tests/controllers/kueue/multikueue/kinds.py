"""One job of every kind that MultiKueue sends to other clusters."""

from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DEPLOYMENTS, JOBS, PODS, STATEFUL_SETS, Resource
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import JOBSETS, LEADER_WORKER_SETS, RAY_CLUSTERS, RAY_JOBS
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, NS

RUNS = {"fakekube.dev/run-duration": "10m"}
ELASTIC = {names.ELASTIC_JOB_ANNOTATION: "true"}


def pod_spec(**fields: Any) -> Tree:
    """A container that asks for a tenth of a cpu."""
    return {"containers": [{"name": "c", "image": "a", "resources": {"requests": {"cpu": "100m"}}}], **fields}


def _template(**fields: Any) -> Tree:
    return {"metadata": {"annotations": RUNS}, "spec": pod_spec(**fields)}


def _metadata(name: str = "j", annotations: Tree | None = None, **labels: str) -> Tree:
    return {"name": name, "namespace": NS, "labels": {names.QUEUE_LABEL: "q", **labels}, "annotations": annotations or {}}


def job(annotations: Tree | None = None) -> Tree:
    """Two pods at a time."""
    return {"metadata": _metadata(annotations=annotations), "spec": {
        "parallelism": 2, "completions": 2, "template": _template(restartPolicy="Never")}}


def jobset() -> Tree:
    """One Job of two pods."""
    template = {"spec": {"parallelism": 2, "completions": 2, "template": _template(restartPolicy="Never")}}
    return {"metadata": _metadata(), "spec": {"replicatedJobs": [{"name": "w", "replicas": 1, "template": template}]}}


def pod(name: str = "j", total: int = 0) -> Tree:
    """Alone, or one of a group."""
    made = {"metadata": _metadata(name, {**RUNS}), "spec": pod_spec(restartPolicy="Never")}
    if total:
        made["metadata"]["labels"][names.POD_GROUP_NAME_LABEL] = "g"
        made["metadata"]["annotations"][names.POD_GROUP_TOTAL_COUNT_ANNOTATION] = str(total)
    return made


def _serving(**spec: Any) -> Tree:
    template = {"metadata": {"labels": {"app": "j"}}, "spec": pod_spec()}
    return {"metadata": _metadata(), "spec": {"selector": {"matchLabels": {"app": "j"}}, "template": template, **spec}}


def stateful_set(replicas: int = 2) -> Tree:
    """So many pods."""
    return _serving(serviceName="j", replicas=replicas)


def deployment(replicas: int = 2) -> Tree:
    """So many pods, each with a Workload."""
    return _serving(replicas=replicas)


def leader_worker_set(replicas: int = 2) -> Tree:
    """Groups of two pods, each with a Workload."""
    template = {"size": 2, "workerTemplate": {"spec": pod_spec()}}
    return {"metadata": _metadata(), "spec": {"replicas": replicas, "leaderWorkerTemplate": template}}


def cluster_spec(replicas: int = 1, **fields: Any) -> Tree:
    """A head, and workers."""
    template = {"spec": pod_spec()}
    group = {
        "groupName": "small", "replicas": replicas, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {},
        "template": template}
    return {"headGroupSpec": {"rayStartParams": {}, "template": template}, "workerGroupSpecs": [group], **fields}


def ray_cluster(replicas: int = 1, annotations: Tree | None = None) -> Tree:
    """A head, and workers."""
    return {"metadata": _metadata(annotations=annotations), "spec": cluster_spec(replicas)}


def ray_job(replicas: int = 1, annotations: Tree | None = None, **fields: Any) -> Tree:
    """What ends after ten minutes, without a pod that submits it."""
    return {"metadata": _metadata(annotations={**RUNS, **(annotations or {})}), "spec": {
        "entrypoint": "python x.py", "submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True,
        "rayClusterSpec": cluster_spec(replicas), **fields}}


class Kind(NamedTuple):
    """``bodies`` are of one job; it runs as ``pods`` pods, and has ``workloads`` Workloads.
    ``ends``: it does so by itself. ``is_shown``: the local one shows how the copy fares.
    """

    resource: Resource
    bodies: tuple[Tree, ...]
    pods: int = 2
    workloads: int = 1
    ends: bool = True
    is_shown: bool = True
    copied: Resource | None = None

    @property
    def on_workers(self) -> Resource:
        """What is made on a worker."""
        return self.copied or self.resource

    async def create(self, fleet: Fleet, member: str = MANAGER) -> None:
        """Create all of it."""
        for body in self.bodies:
            await fleet[member].client.create(self.resource, body)

    async def delete(self, fleet: Fleet) -> None:
        """Delete all of it on the manager."""
        for body in self.bodies:
            await fleet[MANAGER].client.delete(
                self.resource, body["metadata"]["name"], NS, propagation_policy="Background")

    async def copies(self, fleet: Fleet, member: str) -> list[Tree]:
        """The objects of its kind on a worker."""
        return list((await fleet[member].client.list(self.on_workers, NS)).items)

    async def shown(self, fleet: Fleet) -> list[Tree]:
        """The local objects."""
        return [await fleet[MANAGER].client.get(self.resource, body["metadata"]["name"], NS) for body in self.bodies]

    async def is_gone_from(self, fleet: Fleet, member: str) -> bool:
        """Whether nothing of it is on a worker."""
        left = [await self.copies(fleet, member), await workers.workloads(fleet, member), await workers.pods(fleet, member)]
        return left == [[], [], []]


KINDS = {
    "job": Kind(JOBS, (job(),)),
    "elastic job": Kind(JOBS, (job(ELASTIC),)),
    "jobset": Kind(JOBSETS, (jobset(),)),
    "pod": Kind(PODS, (pod(),), pods=1),
    "pod group": Kind(PODS, (pod("j", 2), pod("k", 2))),
    "deployment": Kind(DEPLOYMENTS, (deployment(),), workloads=2, ends=False, copied=PODS),
    "statefulset": Kind(STATEFUL_SETS, (stateful_set(),), ends=False, is_shown=False),
    "leaderworkerset": Kind(LEADER_WORKER_SETS, (leader_worker_set(),), pods=4, workloads=2, ends=False, is_shown=False),
    "raycluster": Kind(RAY_CLUSTERS, (ray_cluster(),), ends=False),
    "elastic raycluster": Kind(RAY_CLUSTERS, (ray_cluster(annotations=ELASTIC),), ends=False),
    "rayjob": Kind(RAY_JOBS, (ray_job(),)),
    "elastic rayjob": Kind(RAY_JOBS, (ray_job(annotations=ELASTIC),)),
}
