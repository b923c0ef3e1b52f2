"""Plays of the scheduler: pods, gangs, preemption, devices, and what goes with groups."""

from fakekube.client.resources import JOBS, PODS, RESOURCE_CLAIMS, Resource
from tests.exploration.plays.play import Play, all_of, load, phases

POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
WORKLOADS = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")
POD = """
{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default},
 spec: {%s terminationGracePeriodSeconds: 0, containers: [{name: a, image: a, resources: {requests: {cpu: "%s"}}}]}}"""
CLASS = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}"
GANG = """
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: %s, namespace: default},
 spec: {schedulingPolicy: {gang: {minCount: 3}}}}"""
JOB = """
{apiVersion: batch/v1, kind: Job, metadata: {name: web, namespace: default},
 spec: {completions: 2, parallelism: 2, completionMode: Indexed, scheduling: {schedulingPolicy: {gang: {}}},
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}"""
DEVICES = """
- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: s}
  spec:
    driver: example.com
    nodeName: node-0
    pool: {name: node-0, generation: 1, resourceSliceCount: 1}
    devices: [{name: d0}, {name: d1}]
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaimTemplate
  metadata: {name: t, namespace: default}
  spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
"""
TAKER = """
{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default},
 spec: {terminationGracePeriodSeconds: 0, containers: [{name: a, image: a, resources: {claims: [{name: one}]}}],
  resourceClaims: [{name: one, resourceClaimTemplateName: t}]}}"""


async def placed(cluster):
    found = (await cluster.client.list(PODS, "default")).items
    return sorted((pod["metadata"]["name"], bool(pod["spec"].get("nodeName")), pod["status"]["phase"]) for pod in found)


async def cpus(cluster):
    """How many of node-0's CPUs are there."""
    from fakekube.client.resources import NODES

    return int((await cluster.client.get(NODES, "node-0"))["status"]["allocatable"]["cpu"])


async def pods(cluster):
    most = await cpus(cluster)
    for name, cpu in (("a", 1), ("b", most - 1), ("c", 1)):
        await load(cluster, POD % (name, "", cpu))
    await cluster.advance("2m")
    await cluster.client.delete(PODS, "b", "default")
    await cluster.advance("20m")
    return await placed(cluster)


async def preemption(cluster):
    most = await cpus(cluster)
    await load(cluster, CLASS)
    for name in ("a", "b"):
        await load(cluster, POD % (name, "", most // 2))
    await cluster.advance("2m")
    await load(cluster, POD % ("first", "priorityClassName: high,", most))
    await cluster.advance("20m")
    return await placed(cluster)


async def gangs(cluster):
    most = await cpus(cluster)
    for group in ("g", "h"):
        await load(cluster, GANG % group)
        for index in range(3):
            await load(cluster, POD % (f"{group}-{index}", f"schedulingGroup: {{podGroupName: {group}}},", most // 4))
    await cluster.advance("2m")
    for index in range(3):
        await cluster.client.delete(PODS, f"g-{index}", "default")
    await cluster.advance("20m")
    return await placed(cluster)


async def grouped_job(cluster):
    await load(cluster, JOB)
    await cluster.advance("20m")
    groups = await all_of(cluster, POD_GROUPS), await all_of(cluster, WORKLOADS)
    return await phases(cluster), await all_of(cluster, JOBS, "status.succeeded"), groups


async def grouped_job_that_goes(cluster):
    await grouped_job(cluster)
    await cluster.client.delete(JOBS, "web", "default", propagation_policy="Background")
    await cluster.advance("20m")
    return [await all_of(cluster, resource) for resource in (POD_GROUPS, WORKLOADS, PODS, JOBS)]


async def devices(cluster):
    await load(cluster, DEVICES)
    for name in ("a", "b", "c"):
        await load(cluster, TAKER % name)
    await cluster.advance("2m")
    await cluster.client.delete(PODS, "a", "default")
    await cluster.advance("20m")
    return await placed(cluster), await _allocated(cluster)


async def _allocated(cluster):
    found = (await cluster.client.list(RESOURCE_CLAIMS, "default")).items
    return sorted(
        (bool(one.get("status", {}).get("allocation")), len(one.get("status", {}).get("reservedFor") or ())) for one in found)


AWARE = {"feature_gates": "workload-aware"}
PLAYS = (
    Play("pods", pods, ("scheduler",)),
    Play("preemption", preemption, ("scheduler",)),
    Play("gangs", gangs, ("scheduler",), AWARE),
    Play("grouped-job", grouped_job, ("job", "scheduler"), AWARE),
    Play("grouped-job-that-goes", grouped_job_that_goes, ("podgroup-protection",), AWARE),
    Play("devices", devices, ("resourceclaim", "scheduler")),
)
