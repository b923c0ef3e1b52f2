"""Plays of the add-ons: JobSet, LeaderWorkerSet, Ray, Kueue."""

from fakekube.client.resources import JOBS, PODS, SERVICES, STATEFUL_SETS
from fakekube_controllers.jobset.names import JOBSETS
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, WORKLOADS
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS
from tests.exploration.plays.play import Play, all_of, load, one_of, phases

POD = "{spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}"
JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, namespace: default}
spec:
  replicatedJobs:
  - {name: a, replicas: 1, template: {spec: {template: POD}}}
  - {name: b, replicas: 1, template: {spec: {template: POD}}}
""".replace("POD", POD)
LWS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l, namespace: default}
spec: {replicas: 2, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: a, image: a}]}}}}
"""
RAY = """{headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: ray, image: ray}]}}},
 workerGroupSpecs: [{groupName: small, replicas: 1, minReplicas: 1, maxReplicas: 3, rayStartParams: {},
  template: {spec: {containers: [{name: ray, image: ray}]}}}]}"""
RAY_CLUSTER = """
{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: c, namespace: default}, spec: SPEC}""".replace("SPEC", RAY)
RAY_JOB = """
{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: j, namespace: default},
 spec: {entrypoint: python x.py, shutdownAfterJobFinishes: true, rayClusterSpec: SPEC}}""".replace("SPEC", RAY)
QUEUES = """
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: cq}
  spec:
    namespaceSelector: {}
    resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "%s"}]}]}]
    %s
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: default}, spec: {clusterQueue: cq}}
"""
"""The quota of CPUs, and what else the spec of the ClusterQueue says."""
QUEUED_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: a, resources: {requests: {cpu: "2"}}}]}}
"""
MEMBER = """
apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: default
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}
  annotations: {kueue.x-k8s.io/pod-group-total-count: "2"}
spec: {restartPolicy: Never, containers: [{name: a, image: a, resources: {requests: {cpu: "1"}}}]}
"""


async def job_set(cluster):
    await load(cluster, JOBSET)
    await cluster.advance("20m")
    ended = await one_of(cluster, JOBSETS, "js", "status.terminalState", "status.conditions[Completed].status")
    jobs = await all_of(cluster, JOBS, "metadata.name", "status.succeeded")
    return ended, jobs, await all_of(cluster, SERVICES), await phases(cluster)


async def leader_worker_set(cluster):
    await load(cluster, LWS)
    await cluster.advance("5m")
    await cluster.client.patch(LEADER_WORKER_SETS, "l", "default", {"spec": {"replicas": 1}})
    await cluster.advance("20m")
    ended = await one_of(
        cluster, LEADER_WORKER_SETS, "l", "status.replicas", "status.readyReplicas", "status.conditions[Available].status")
    return ended, await all_of(cluster, STATEFUL_SETS), await all_of(cluster, PODS, "metadata.name", "status.phase")


async def ray_cluster(cluster):
    await load(cluster, RAY_CLUSTER)
    await cluster.advance("5m")
    [head] = (await cluster.client.list(PODS, "default", label_selector="ray.io/node-type=head")).items
    await cluster.client.delete(PODS, head["metadata"]["name"], "default")
    await cluster.advance("20m")
    return await one_of(cluster, RAY_CLUSTERS, "c", "status.state", "status.readyWorkerReplicas"), await phases(cluster)


async def ray_job(cluster):
    await load(cluster, RAY_JOB)
    await cluster.advance("30m")
    ended = await one_of(cluster, RAY_JOBS, "j", "status.jobStatus", "status.jobDeploymentStatus")
    return ended, await all_of(cluster, RAY_CLUSTERS, "status.state"), await phases(cluster)


async def _in_queues(cluster):
    conditions = [f"status.conditions[{name}].status" for name in ("QuotaReserved", "Admitted", "Finished")]
    counts = [f"status.{name}Workloads" for name in ("admitted", "pending", "reserving")]
    return await one_of(cluster, CLUSTER_QUEUES, "cq", *counts), await all_of(cluster, WORKLOADS, *conditions)


async def _queued(cluster, text):
    """Two of a kind are queued."""
    await load(cluster, QUEUES % (2, ""))
    await cluster.advance("2s")
    for name in ("a", "b"):
        await load(cluster, text % name)
    await cluster.advance("20m")


async def queued_jobs(cluster):
    await _queued(cluster, QUEUED_JOB)
    return await _in_queues(cluster), await all_of(cluster, JOBS, "spec.suspend", "status.succeeded")


async def queued_pods(cluster):
    await _queued(cluster, MEMBER)
    return await _in_queues(cluster), await all_of(cluster, PODS, "metadata.name", "status.phase")


PLAYS = (
    Play("job-set", job_set, ("jobset",), {"controllers": "*,jobset"}),
    Play("leader-worker-set", leader_worker_set, ("lws", "lws-pod"), {"controllers": "*,lws"}),
    Play("ray-cluster", ray_cluster, ("raycluster",), {"controllers": "*,ray"}),
    Play("ray-job", ray_job, ("rayjob", "raycluster"), {"controllers": "*,ray"}),
    Play("queued-jobs", queued_jobs, ("kueue",), {"controllers": "*,kueue"}),
    Play("queued-pods", queued_pods, ("kueue",), {"controllers": "*,kueue"}),
)
