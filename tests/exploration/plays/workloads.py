"""Plays of workloads: Jobs, CronJobs, and what keeps pods running."""

from fakekube.client.resources import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    JOBS,
    NODES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from tests.exploration.plays.play import Play, all_of, load, one_of, phases

STAYS = "{metadata: {labels: {a: web}}, spec: {containers: [{name: a, image: a}]}}"
ENDS = "{metadata: {labels: {a: web}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}"
USING = """{metadata: {labels: {a: web}, annotations: {fakekube.dev/cpu-usage: 90m}},
 spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 100m}}}]}}"""

JOB = """
{apiVersion: batch/v1, kind: Job, metadata: {name: web, namespace: default},
 spec: {completions: 3, parallelism: 2, template: TEMPLATE}}""".replace("TEMPLATE", ENDS)
SHORT_LIVED_JOB = """
{apiVersion: batch/v1, kind: Job, metadata: {name: web, namespace: default},
 spec: {ttlSecondsAfterFinished: 30, template: TEMPLATE}}""".replace("TEMPLATE", ENDS)
CRON_JOB = """
{apiVersion: batch/v1, kind: CronJob, metadata: {name: web, namespace: default},
 spec: {schedule: "*/5 * * * *", successfulJobsHistoryLimit: 1,
  jobTemplate: {spec: {template: TEMPLATE}}}}""".replace("TEMPLATE", ENDS)
DEPLOYMENT = """
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default},
 spec: {replicas: 2, selector: {matchLabels: {a: web}}, template: %s}}"""
REPLICATION_CONTROLLER = """
{apiVersion: v1, kind: ReplicationController, metadata: {name: web, namespace: default},
 spec: {replicas: 2, selector: {a: web}, template: TEMPLATE}}""".replace("TEMPLATE", STAYS)
STATEFUL_SET = """
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: default},
 spec: {replicas: 3, serviceName: web, selector: {matchLabels: {a: web}}, template: TEMPLATE}}""".replace("TEMPLATE", STAYS)
DAEMON_SET = """
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web, namespace: default},
 spec: {selector: {matchLabels: {a: web}}, template: TEMPLATE}}""".replace("TEMPLATE", STAYS)
AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]"""
BUDGET = """
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: default},
 spec: {minAvailable: 1, selector: {matchLabels: {a: web}}}}"""


async def job(cluster):
    await load(cluster, JOB)
    await cluster.advance("20m")
    ended = await one_of(cluster, JOBS, "web", "status.succeeded", "status.active", "status.conditions[Complete].status")
    return ended, await phases(cluster)


async def short_lived_job(cluster):
    await load(cluster, SHORT_LIVED_JOB)
    await cluster.advance("20m")
    return await all_of(cluster, JOBS), await phases(cluster)


async def cron_job(cluster):
    await load(cluster, CRON_JOB)
    await cluster.advance("18m")
    return await all_of(cluster, JOBS), await one_of(cluster, CRON_JOBS, "web", "status.lastScheduleTime", "status.active")


async def deployment(cluster):
    await load(cluster, DEPLOYMENT % STAYS)
    await cluster.advance("5m")
    changed = {"spec": {"replicas": 3, "template": {"metadata": {"annotations": {"b": "c"}}}}}
    await cluster.client.patch(DEPLOYMENTS, "web", "default", changed)
    await cluster.advance("20m")
    status = [f"status.{name}" for name in ("replicas", "readyReplicas", "updatedReplicas")]
    return (
        await one_of(cluster, DEPLOYMENTS, "web", *status),
        await all_of(cluster, REPLICA_SETS, "spec.replicas", "status.readyReplicas"), await phases(cluster))


async def replication_controller(cluster):
    await load(cluster, REPLICATION_CONTROLLER)
    await cluster.advance("2m")
    await cluster.client.patch(REPLICATION_CONTROLLERS, "web", "default", {"spec": {"replicas": 1}})
    await cluster.advance("20m")
    return await one_of(cluster, REPLICATION_CONTROLLERS, "web", "status.replicas", "status.readyReplicas"), await phases(cluster)


async def stateful_set(cluster):
    await load(cluster, STATEFUL_SET)
    await cluster.advance("5m")
    await cluster.client.patch(STATEFUL_SETS, "web", "default", {"spec": {"replicas": 2}})
    await cluster.advance("20m")
    ended = await one_of(cluster, STATEFUL_SETS, "web", "status.replicas", "status.readyReplicas", "status.currentReplicas")
    return ended, await all_of(cluster, PODS), await phases(cluster)


async def daemon_set(cluster):
    await load(cluster, DAEMON_SET)
    await cluster.advance("2m")
    await cluster.client.patch(NODES, "node-1", body={"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
    changed = {"spec": {"template": {"metadata": {"annotations": {"b": "c"}}}}}
    await cluster.client.patch(DAEMON_SETS, "web", "default", changed)
    await cluster.advance("20m")
    names = ("currentNumberScheduled", "numberReady", "updatedNumberScheduled")
    ended = await one_of(cluster, DAEMON_SETS, "web", *(f"status.{name}" for name in names))
    return ended, await all_of(cluster, PODS, "spec.nodeName", "status.phase", "metadata.annotations.b")


async def autoscaler(cluster):
    await load(cluster, DEPLOYMENT % USING)
    await load(cluster, AUTOSCALER)
    await cluster.advance("10m")
    ended = await one_of(
        cluster, HORIZONTAL_POD_AUTOSCALERS, "web", "status.currentReplicas", "status.desiredReplicas",
        "status.conditions[ScalingLimited].reason", "status.observedGeneration")
    return ended, await one_of(cluster, DEPLOYMENTS, "web", "status.readyReplicas")


async def budget(cluster):
    await load(cluster, DEPLOYMENT % STAYS)
    await load(cluster, BUDGET)
    await cluster.advance("2m")
    await cluster.client.patch(DEPLOYMENTS, "web", "default", {"spec": {"replicas": 3}})
    await cluster.advance("10m")
    names = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods", "observedGeneration")
    return await one_of(cluster, POD_DISRUPTION_BUDGETS, "web", *(f"status.{name}" for name in names))


PLAYS = (
    Play("job", job, ("job",)),
    Play("short-lived-job", short_lived_job, ("ttlafterfinished",)),
    Play("cron-job", cron_job, ("cronjob",)),
    Play("deployment", deployment, ("deployment", "replicaset")),
    Play("replication-controller", replication_controller, ("replicationcontroller",)),
    Play("stateful-set", stateful_set, ("statefulset",)),
    Play("daemon-set", daemon_set, ("daemonset",), {"nodes": 2}),
    Play("autoscaler", autoscaler, ("horizontalpodautoscaling",)),
    Play("budget", budget, ("disruption",)),
)
