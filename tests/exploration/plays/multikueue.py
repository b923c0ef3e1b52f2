"""Plays of MultiKueue: a manager and two workers, and jobs that the manager sends to one of them.

Components are named as in fleets: ``manager/kueue`` also asks the workers, ``worker1/kueue`` knows
of no manager.
"""

from fakekube.client.resources import JOBS, PODS, SECRETS
from fakekube.testing.history import History
from fakekube_controllers.jobset.names import JOBSETS
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, WORKLOADS
from tests.exploration.plays.addons import QUEUES
from tests.exploration.plays.play import Play, all_of, load, one_of

FLEET, WORKERS = "manager,worker1,worker2", ("worker1", "worker2")
CONTROLLERS = "job,garbagecollector,scheduler,kubelet,kueue"
CHECKED = "admissionChecksStrategy: {admissionChecks: [{name: mk}]}"
WORKER = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: %s}
spec: {clusterSource: {kubeConfig: {locationType: Secret, location: %s}}}
"""
CHECK = """
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueConfig, metadata: {name: c}, spec: {clusters: [worker1, worker2]}}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: AdmissionCheck
  metadata: {name: mk}
  spec:
    controllerName: kueue.x-k8s.io/multikueue
    parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: c}
"""
POD = """{metadata: {annotations: {fakekube.dev/run-duration: %s}},
 spec: {restartPolicy: Never, containers: [{name: a, image: a, resources: {requests: {cpu: "1"}}}]}}"""
JOB = """
{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}},
 spec: {template: TEMPLATE}}""".replace("TEMPLATE", POD)
JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicatedJobs:
  - {name: a, replicas: 1, template: {spec: {template: TEMPLATE}}}
  - {name: b, replicas: 1, template: {spec: {template: TEMPLATE}}}
""".replace("TEMPLATE", POD)
MEMBER = """
apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: default
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}
  annotations: {kueue.x-k8s.io/pod-group-total-count: "2", fakekube.dev/run-duration: 1m}
spec: {restartPolicy: Never, containers: [{name: a, image: a, resources: {requests: {cpu: "1"}}}]}
"""


async def _set_up(fleet, second="0"):
    """Both workers are connected; the first has room, the second as much as is said."""
    manager = fleet["manager"]
    for name, quota in zip(WORKERS, ("2", second), strict=True):
        await load(fleet[name], QUEUES % (quota, ""))
        secret = {"metadata": {"name": name, "namespace": "kueue-system"}, "stringData": {"kubeconfig": fleet.kubeconfig(name)}}
        await manager.client.create(SECRETS, secret, "kueue-system")
        await load(manager, WORKER % (name, name))
    await load(manager, CHECK)
    await load(manager, QUEUES % ("9", CHECKED))
    await fleet.advance("5s")


async def _queues(fleet):
    """What is left in all clusters: counts of queues, and Workloads."""
    counts = [f"status.{name}Workloads" for name in ("admitted", "pending", "reserving")]
    conditions = [f"status.conditions[{name}].status" for name in ("QuotaReserved", "Admitted", "Evicted", "Finished")]
    return [(await one_of(cluster, CLUSTER_QUEUES, "cq", *counts), await all_of(cluster, WORKLOADS, *conditions))
            for cluster in fleet.values()]


async def _left(fleet, resource, *paths):
    return [await all_of(cluster, resource, "metadata.name", *paths) for cluster in fleet.values()]


def _made(fleet, resource):
    """How many objects of a resource there ever were, in each cluster: nothing runs twice."""
    return [sum(change.type == "ADDED" and change.resource == resource.group_resource for change in History.of(cluster).changes)
            for cluster in fleet.values()]


async def dispatched_job(fleet):
    await _set_up(fleet)
    await load(fleet["manager"], JOB % "1m")
    await fleet.advance("8m")
    left = await _left(fleet, JOBS, "spec.suspend", "status.succeeded"), await _left(fleet, PODS)
    return await _queues(fleet), left, _made(fleet, PODS)


async def lost_worker(fleet):
    """It is away for less than a Job is waited for, and the Job goes on there meanwhile."""
    await _set_up(fleet)
    await load(fleet["manager"], JOB % "3m")
    await fleet.advance("1m")
    fleet.cut("worker1")
    await fleet.advance("5m")
    fleet.mend("worker1")
    await fleet.advance("10m")
    left = await _left(fleet, JOBS, "spec.suspend", "status.succeeded"), await _left(fleet, PODS)
    return await _queues(fleet), left, _made(fleet, PODS)


async def replaced_worker(fleet):
    """It is away for so long that its Job begins anew on the other one, and comes back."""
    await _set_up(fleet, second="2")
    await load(fleet["manager"], JOB % "30m")
    await fleet.advance("1m")
    [local] = (await fleet["manager"].client.list(WORKLOADS, "default")).items
    lost = local["status"]["clusterName"]
    fleet.cut(lost)
    await fleet.advance("20m")
    fleet.mend(lost)
    await fleet.advance("45m")
    left = await _left(fleet, JOBS, "spec.suspend", "status.succeeded"), await _left(fleet, PODS)
    return await _queues(fleet), left, _made(fleet, PODS)


async def dispatched_pods(fleet):
    await _set_up(fleet)
    for name in ("a", "b"):
        await load(fleet["manager"], MEMBER % name)
    await fleet.advance("8m")
    return await _queues(fleet), await _left(fleet, PODS, "status.phase"), _made(fleet, PODS)


async def dispatched_job_set(fleet):
    await _set_up(fleet)
    await load(fleet["manager"], JOBSET % ("1m", "1m"))
    await fleet.advance("8m")
    left = await _left(fleet, JOBSETS, "spec.suspend", "status.terminalState"), await _left(fleet, PODS)
    return await _queues(fleet), left, _made(fleet, PODS)


OPTIONS = {"fleet": FLEET, "nodes": 1, "controllers": CONTROLLERS, "members": {"manager": {"nodes": 0}}}
BOTH = ("manager/kueue", "worker1/kueue")
PLAYS = (
    Play("dispatched-job", dispatched_job, BOTH, OPTIONS),
    Play("lost-worker", lost_worker, BOTH, OPTIONS),
    Play("replaced-worker", replaced_worker, BOTH, OPTIONS),
    Play("dispatched-pods", dispatched_pods, BOTH, OPTIONS),
    Play("dispatched-job-set", dispatched_job_set, BOTH, {**OPTIONS, "controllers": f"{CONTROLLERS},jobset"}),
)
SLOW = PLAYS[1:]
"""Left out of quick tests."""
