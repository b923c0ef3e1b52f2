"""The controllers of this project under every strategy: they end as they do undisturbed."""

import pytest
import yaml

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, CRON_JOBS, DEPLOYMENTS, JOBS, PODS, REPLICA_SETS, STATEFUL_SETS
from fakekube.exploration.crashes import strategy_points
from fakekube.exploration.strategies import STRATEGIES

POD = "{metadata: {labels: {a: web}}, spec: {restartPolicy: %s, containers: [{name: a, image: a}]}}"

JOB = yaml.safe_load("""
{apiVersion: batch/v1, kind: Job, metadata: {name: web, namespace: default},
 spec: {completions: 3, parallelism: 2, template: %s}}""" % (POD % "Never"))
CRON_JOB = yaml.safe_load("""
{apiVersion: batch/v1, kind: CronJob, metadata: {name: web, namespace: default},
 spec: {schedule: "*/5 * * * *", successfulJobsHistoryLimit: 2, jobTemplate: {spec: {template: %s}}}}""" % (POD % "Never"))
DEPLOYMENT = yaml.safe_load("""
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default},
 spec: {replicas: 2, selector: {matchLabels: {a: web}}, template: %s}}""" % (POD % "Always"))
STATEFUL_SET = yaml.safe_load("""
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: default},
 spec: {replicas: 3, serviceName: web, selector: {matchLabels: {a: web}}, template: %s}}""" % (POD % "Always"))


async def phases(cluster):
    return sorted(pod["status"]["phase"] for pod in (await cluster.client.list(PODS, "default")).items)


async def job(cluster):
    await cluster.client.create(JOBS, JOB)
    await cluster.advance("20m")
    status = (await cluster.client.get(JOBS, "web", "default"))["status"]
    return status["succeeded"], status.get("active"), [one["type"] for one in status["conditions"]], await phases(cluster)


async def deployment(cluster):
    made = await cluster.client.create(DEPLOYMENTS, DEPLOYMENT)
    await cluster.advance("5m")
    made = await cluster.client.get(DEPLOYMENTS, "web", "default")
    made["spec"]["template"]["spec"]["containers"][0]["image"] = "b"
    made["spec"]["replicas"] = 3
    await cluster.client.update(DEPLOYMENTS, made)
    await cluster.advance("20m")
    status = (await cluster.client.get(DEPLOYMENTS, "web", "default"))["status"]
    sets = sorted(one["spec"]["replicas"] for one in (await cluster.client.list(REPLICA_SETS, "default")).items)
    return status["replicas"], status["readyReplicas"], status["updatedReplicas"], sets, await phases(cluster)


async def stateful_set(cluster):
    made = await cluster.client.create(STATEFUL_SETS, STATEFUL_SET)
    await cluster.advance("5m")
    made = await cluster.client.get(STATEFUL_SETS, "web", "default")
    await cluster.client.update(STATEFUL_SETS, {**made, "spec": {**made["spec"], "replicas": 2}})
    await cluster.advance("20m")
    status = (await cluster.client.get(STATEFUL_SETS, "web", "default"))["status"]
    pods = [pod["metadata"]["name"] for pod in (await cluster.client.list(PODS, "default")).items]
    return status["replicas"], status["readyReplicas"], sorted(pods), await phases(cluster)


async def cron_job(cluster):
    await cluster.client.create(CRON_JOBS, CRON_JOB)
    await cluster.advance("33m")
    jobs = (await cluster.client.list(JOBS, "default")).items
    status = (await cluster.client.get(CRON_JOBS, "web", "default"))["status"]
    return sorted(one["metadata"]["name"] for one in jobs), status["lastScheduleTime"], status.get("active")


async def garbage(cluster):
    made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "owner", "namespace": "default"}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": made["metadata"]["uid"]}
    for name in ("a", "b"):
        await cluster.client.create(
            CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]}})
    await cluster.advance("1m")
    await cluster.client.delete(CONFIG_MAPS, "owner", "default")
    await cluster.advance("20m")
    return [one["metadata"]["name"] for one in (await cluster.client.list(CONFIG_MAPS, "default")).items]


PLAYS = [
    ("job", job), ("deployment", deployment), ("replicaset", deployment), ("statefulset", stateful_set),
    ("cronjob", cron_job), ("garbagecollector", garbage)]


KNOWN = [("replicaset", "slow-deliveries"), ("job", "stale-states")]
"""What does not hold: the first is not mended yet and has a test of its own below. A Job controller
that dies, and comes back to a replica older than what it saw, knows of no pod that it made since:
it makes others, as upstream's would.
"""

TRIED = [(name, play, strategy) for name, play in PLAYS for strategy in STRATEGIES if (name, strategy) not in KNOWN]
AGENTS = "kube-controller-manager,job-controller,deployment-controller"
"""Of kube-controller-manager, where components have caches of their own."""
CALM = "1:0:eJyLjgUAARUAuQ"


@pytest.mark.parametrize("seeds", [2, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("component", "play", "strategy"), TRIED, ids=[f"{name}-{strategy}" for name, _, strategy in TRIED])
async def test_it_ends_as_undisturbed(component, play, strategy, seeds):
    """Given a controller and a story, when a strategy tries it, then the story ends as it does when
    nothing goes wrong.
    """
    found = await strategy_points(play, component, [strategy], range(1, seeds + 1))
    assert [str(point) for point in found.differing] == []


@pytest.mark.parametrize("fault", [
    {"watch": "stall", "events": 2, "times": 1}, {"watch": "late"}], ids=["unobserved-states", "slow-deliveries"])
async def test_a_job_makes_no_more_pods_than_it_needs(fault):
    """Given a Job controller whose watch of Jobs is behind what it wrote itself, when its pods end,
    then it waits for its own writes before it makes others, and makes three pods for three
    completions.
    """
    rule = {"resources": "jobs.batch", "lasting": "5s", "user_agents": AGENTS, "optional": True, **fault}
    async with Cluster(schedule=CALM, faults=[rule]) as cluster:
        succeeded, _, _, ended = await job(cluster)
    assert (succeeded, len(ended)) == (3, 3)


async def test_leases_that_come_late_do_not_end_a_node():
    """Given a node controller that hears of leases 200 ms late, when 20 minutes pass at once, then
    the nodes stay ready, and so do the pods of a Deployment.
    """
    late = {"watch": "late", "user_agents": AGENTS, "optional": True}
    rules = [
        {**late, "resources": "leases.coordination.k8s.io", "lasting": "200ms"},
        {**late, "resources": "deployments.apps", "lasting": "200ms"}, {**late, "resources": "nodes", "lasting": "20ms"}]
    async with Cluster(schedule=CALM, faults=rules) as cluster:
        replicas, ready, *_ = await deployment(cluster)
    assert (replicas, ready) == (3, 3)
