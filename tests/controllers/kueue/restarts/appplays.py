"""Plays of JobSets, LeaderWorkerSets, StatefulSets, Deployments and Ray's kinds, on nodes."""

from typing import Any

from fakekube import Cluster
from fakekube.client.resources import DEPLOYMENTS, STATEFUL_SETS
from fakekube_controllers import jobset, kueue, leaderworkerset, ray
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import JOBSETS, LEADER_WORKER_SETS
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS
from tests.controllers.jobset.conftest import replicated
from tests.controllers.kueue.apps.test_jobsets import jobset as jobset_manifest
from tests.controllers.kueue.apps.test_leader_worker_sets import lws
from tests.controllers.kueue.apps.test_serving import app, stateful
from tests.controllers.kueue.jobs.test_ray import ELASTIC, cluster_spec
from tests.controllers.kueue.restarts.dying import Play, cluster
from tests.controllers.world import CONTROLLERS, NAMESPACE

HIGH = {names.WORKLOAD_PRIORITY_CLASS_LABEL: "high"}
QUEUE = {names.QUEUE_LABEL: "q"}


async def begin(made: Cluster, cpu: str, **spec: Any) -> None:
    """A queue with so much cpu, in which higher priorities preempt."""
    client = made.client
    await client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 100})
    await client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
    quotas = {"cpu": cpu, "memory": "9Gi"}
    resources = [{"name": name, "nominalQuota": amount} for name, amount in quotas.items()]
    await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": {
        "namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [{"coveredResources": [*quotas], "flavors": [{"name": "f", "resources": resources}]}], **spec}})
    await client.create(
        names.LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"clusterQueue": "cq"}})
    await made.advance("3s")


async def hold(made: Cluster, policy: str) -> None:
    """Stop the queue, or let it go on."""
    await made.client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": policy}})
    await made.advance("45s")


def replicas(number: int) -> dict[str, Any]:
    return {"spec": {"replicas": number}}


async def jobsets(made: Cluster) -> None:
    """A JobSet is evicted for another one, and runs to its end after it."""
    await begin(made, "500m")
    for name, labels in (("js", QUEUE), ("high", {**QUEUE, **HIGH})):
        jobs = replicated("head"), replicated("work", 2, parallelism=2, completions=2)
        for each in jobs:
            pod = each["template"]["spec"]["template"]
            pod["metadata"] = {"annotations": {"fakekube.dev/run-duration": "1m"}}
            pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
        await made.client.create(JOBSETS, jobset_manifest(*jobs, name=name, labels=labels))
        await made.advance("10s")
    await made.advance("5m")


async def leader_worker_sets(made: Cluster) -> None:
    """A LeaderWorkerSet gets a second group, loses it, is drained and comes back; a second goes."""
    await begin(made, "1")
    client = made.client
    await client.create(LEADER_WORKER_SETS, lws(1))
    await made.advance("10s")
    await client.patch(LEADER_WORKER_SETS, "l", NAMESPACE, replicas(2))
    await made.advance("20s")
    await client.patch(LEADER_WORKER_SETS, "l", NAMESPACE, replicas(1))
    await made.advance("40s")
    other = lws(1, leader=False)
    other["metadata"]["name"] = "m"
    await client.create(LEADER_WORKER_SETS, other)
    await made.advance("20s")
    await client.delete(LEADER_WORKER_SETS, "m", NAMESPACE, propagation_policy="Foreground")
    await made.advance("60s")
    await hold(made, "HoldAndDrain")
    await hold(made, "None")


async def stateful_sets(made: Cluster) -> None:
    """A StatefulSet goes to none and back, is drained and comes back; a second goes."""
    await begin(made, "300m")
    client = made.client
    await client.create(STATEFUL_SETS, stateful())
    await made.advance("10s")
    for number in (0, 2):
        await client.patch(STATEFUL_SETS, "s", NAMESPACE, replicas(number))
        await made.advance("45s")
    other = app("t", 1, serviceName="t")
    await client.create(STATEFUL_SETS, other)
    await made.advance("10s")
    await client.delete(STATEFUL_SETS, "t", NAMESPACE, propagation_policy="Foreground")
    await made.advance("45s")
    await hold(made, "HoldAndDrain")
    await hold(made, "None")


async def deployments(made: Cluster) -> None:
    """A Deployment grows beyond the quota, shrinks, is drained and comes back; a second goes."""
    await begin(made, "300m")
    client = made.client
    await client.create(DEPLOYMENTS, app())
    await made.advance("10s")
    await client.create(DEPLOYMENTS, app("e", 1))
    await made.advance("10s")
    await client.patch(DEPLOYMENTS, "d", NAMESPACE, replicas(4))
    await made.advance("10s")
    await client.delete(DEPLOYMENTS, "e", NAMESPACE, propagation_policy="Foreground")
    await made.advance("45s")
    await client.patch(DEPLOYMENTS, "d", NAMESPACE, replicas(2))
    await made.advance("45s")
    await hold(made, "HoldAndDrain")
    await hold(made, "None")


async def ray_jobs(made: Cluster) -> None:
    """A RayJob runs to its end; an elastic RayCluster waits for it, grows, shrinks and is drained.
    """
    await begin(made, "800m")
    client = made.client
    metadata = {"name": "j", "namespace": NAMESPACE, "labels": QUEUE}
    spec = cluster_spec(1)
    await client.create(RAY_JOBS, {"metadata": metadata, "spec": {
        "entrypoint": "python x.py", "rayClusterSpec": spec, "shutdownAfterJobFinishes": True}})
    await made.advance("5s")
    elastic = {**metadata, "name": "c", "annotations": ELASTIC}
    await client.create(RAY_CLUSTERS, {"metadata": elastic, "spec": cluster_spec(1)})
    await made.advance("3m")
    for number in (3, 2):
        path = "/spec/workerGroupSpecs/0/replicas"
        await client.patch(RAY_CLUSTERS, "c", NAMESPACE, [{"op": "replace", "path": path, "value": number}], type="json")
        await made.advance("45s")
    await hold(made, "HoldAndDrain")
    await hold(made, "None")


def scene(*addons: Any) -> Any:
    """Three nodes, and these add-ons beside Kueue."""
    controllers = f"{CONTROLLERS},deployment,replicaset,statefulset,scheduler,kubelet"
    return cluster(nodes=3, controllers=controllers, extra=[kueue.addon(), *addons])


PLAYS = [
    Play("jobsets", lambda: scene(jobset.addon()), jobsets),
    Play("leaderworkersets", lambda: scene(leaderworkerset.addon()), leader_worker_sets),
    Play("statefulsets", scene, stateful_sets),
    Play("deployments", scene, deployments),
    Play("ray", lambda: scene(ray.addon()), ray_jobs)]
