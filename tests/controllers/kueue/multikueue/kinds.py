"""One job of every kind that MultiKueue sends to other clusters, each in a namespace of its own."""

import copy
from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DEPLOYMENTS, JOBS, NAMESPACES, PODS, STATEFUL_SETS, Resource
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import JOBSETS, LEADER_WORKER_SETS, RAY_CLUSTERS, RAY_JOBS
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER

RUNS = {"fakekube.dev/run-duration": "10m"}
ELASTIC = {names.ELASTIC_JOB_ANNOTATION: "true"}


def pod_spec(**fields: Any) -> Tree:
    """A container that asks for a tenth of a cpu."""
    return {"containers": [{"name": "c", "image": "a", "resources": {"requests": {"cpu": "100m"}}}], **fields}


def _template(**fields: Any) -> Tree:
    return {"metadata": {"annotations": RUNS}, "spec": pod_spec(**fields)}


def _metadata(name: str = "j", annotations: Tree | None = None, **labels: str) -> Tree:
    return {"name": name, "labels": {names.QUEUE_LABEL: "q", **labels}, "annotations": annotations or {}}


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
    ``is_stopped``: an eviction ends it for good. ``copied`` is what is made on a worker, if that is
    not the same.
    """

    resource: Resource
    bodies: tuple[Tree, ...]
    pods: int = 2
    workloads: int = 1
    ends: bool = True
    is_shown: bool = True
    is_stopped: bool = False
    copied: Resource | None = None


KINDS = {
    "job": Kind(JOBS, (job(),)),
    "elastic-job": Kind(JOBS, (job(ELASTIC),)),
    "jobset": Kind(JOBSETS, (jobset(),)),
    "pod": Kind(PODS, (pod(),), pods=1, is_stopped=True),
    "pod-group": Kind(PODS, (pod("j", 2), pod("k", 2)), is_stopped=True),
    "deployment": Kind(DEPLOYMENTS, (deployment(),), workloads=2, ends=False, copied=PODS),
    "stateful-set": Kind(STATEFUL_SETS, (stateful_set(),), ends=False, is_shown=False),
    "leader-worker-set": Kind(LEADER_WORKER_SETS, (leader_worker_set(),), pods=4, workloads=2, ends=False, is_shown=False),
    "ray-cluster": Kind(RAY_CLUSTERS, (ray_cluster(),), ends=False),
    "elastic-ray-cluster": Kind(RAY_CLUSTERS, (ray_cluster(annotations=ELASTIC),), ends=False),
    "ray-job": Kind(RAY_JOBS, (ray_job(),)),
    "elastic-ray-job": Kind(RAY_JOBS, (ray_job(annotations=ELASTIC),)),
}


class Running(NamedTuple):
    """How a job fares: the state of its check, the worker that it is on, and the pods that run in
    each cluster.
    """

    states: list[str]
    cluster: str
    pods: dict[str, int]


class Case:
    """A job of a kind in the namespace that is called as the kind."""

    def __init__(self, fleet: Fleet, name: str) -> None:
        self.fleet, self.name, self.kind = fleet, name, KINDS[name]

    async def set_up(self) -> None:
        """A namespace with a queue in every cluster."""
        for cluster in self.fleet.values():
            await cluster.client.create(NAMESPACES, {"metadata": {"name": self.name}})
            queue = {"metadata": {"name": "q", "namespace": self.name}, "spec": {"clusterQueue": "cq"}}
            await cluster.client.create(names.LOCAL_QUEUES, queue)

    async def create(self) -> None:
        """Queue it on the manager."""
        for body in self.kind.bodies:
            await self.fleet[MANAGER].client.create(self.kind.resource, self._own(body))

    async def create_foreign(self, member: str) -> None:
        """Create objects of the same names elsewhere, none of which Kueue has to do with."""
        for body in self.kind.bodies:
            metadata = {"name": body["metadata"]["name"], "namespace": self.name}
            if self.kind.copied is None:
                await self.fleet[member].client.create(self.kind.resource, {**copy.deepcopy(body), "metadata": metadata})

    def _own(self, body: Tree) -> Tree:
        made = copy.deepcopy(body)
        made["metadata"]["namespace"] = self.name
        return made

    async def delete(self) -> None:
        """Delete it on the manager."""
        for body in self.kind.bodies:
            await self.fleet[MANAGER].client.delete(
                self.kind.resource, body["metadata"]["name"], self.name, propagation_policy="Background")
        if self.name == "pod-group":  # it would wait for other pods in their place
            await self.fleet[MANAGER].client.delete(names.WORKLOADS, "g", self.name)

    async def here(self) -> list[Tree]:
        """The local objects."""
        return list((await self.fleet[MANAGER].client.list(self.kind.resource, self.name)).items)

    async def workloads(self, member: str = MANAGER) -> list[Tree]:
        """Its Workloads in a cluster."""
        return list((await self.fleet[member].client.list(names.WORKLOADS, self.name)).items)

    async def copies(self, member: str) -> list[Tree]:
        """The objects of its kind on a worker."""
        return list((await self.fleet[member].client.list(self.kind.copied or self.kind.resource, self.name)).items)

    async def running(self) -> Running:
        """How it fares."""
        found = [each for each in await self.workloads() if workers.condition(each, "Finished")[0] != "True"]
        clusters = {each.get("status", {}).get("clusterName", "") for each in found}
        pods = {name: await self._pods(name) for name in self.fleet}
        return Running([workers.check_of(each)[0] for each in found], "+".join(sorted(clusters)), pods)

    async def _pods(self, member: str) -> int:
        pods = (await self.fleet[member].client.list(PODS, self.name)).items
        return sum(bool(pod["spec"].get("nodeName")) for pod in pods)

    def expected(self, cluster: str) -> Running:
        """How it is to fare on a worker."""
        pods = {name: self.kind.pods if name == cluster else 0 for name in self.fleet}
        return Running(["Ready"] * self.kind.workloads, cluster, pods)

    async def left_on(self, member: str) -> list[str]:
        """What of it is in a cluster."""
        client = self.fleet[member].client
        kinds = {self.kind.copied or self.kind.resource, names.WORKLOADS, PODS}
        found = [each for kind in kinds for each in (await client.list(kind, self.name)).items]
        return sorted(f"{each['kind']} {each['metadata']['name']}" for each in found)
