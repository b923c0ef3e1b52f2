"""RayCluster and RayJob, as KubeRay runs them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery import conditions
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import EVENTS, JOBS, PODS, SERVICES
from fakekube.testing.history import History
from fakekube_controllers.ray import addon
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS

CONTAINER = {"name": "ray", "image": "rayproject/ray:2.9.0", "resources": {"requests": {"cpu": "100m"}}}
NS = "default"


def cluster_spec(replicas: int = 2, **fields: Any) -> Tree:
    """A head, and one group of workers."""
    group = {
        "groupName": "small", "replicas": replicas, "minReplicas": 1, "maxReplicas": 3, "rayStartParams": {},
        "template": {"spec": {"containers": [CONTAINER]}}}
    head = {"rayStartParams": {}, "template": {"spec": {"containers": [CONTAINER]}}}
    return {"headGroupSpec": head, "workerGroupSpecs": [group], **fields}


@pytest.fixture
async def world() -> AsyncIterator[Cluster]:
    async with Cluster(nodes=2, extra=[addon()]) as cluster:
        yield cluster


async def pods_of(world: Cluster, node_type: str) -> list[Tree]:
    found = await world.client.list(PODS, NS, label_selector=f"ray.io/node-type={node_type}")
    return sorted(found.items, key=lambda pod: pod["metadata"]["name"])


async def ray_cluster(world: Cluster) -> Tree:
    return await world.client.get(RAY_CLUSTERS, "c", NS)


async def has_state(world: Cluster, state: str) -> bool:
    return bool((await ray_cluster(world)).get("status", {}).get("state") == state)


async def job_is(world: Cluster, *states: str) -> bool:
    found = await world.client.get(RAY_JOBS, "j", NS)
    return found.get("status", {}).get("jobDeploymentStatus", "") in states


async def create_cluster(world: Cluster, spec: Tree) -> None:
    await world.client.create(RAY_CLUSTERS, {"metadata": {"name": "c", "namespace": NS}, "spec": spec})


async def create_job(world: Cluster, annotations: dict[str, str] | None = None, **fields: Any) -> None:
    spec = {"entrypoint": "python x.py", "rayClusterSpec": cluster_spec(1), **fields}
    metadata = {"name": "j", "namespace": NS, "annotations": annotations or {}}
    await world.client.create(RAY_JOBS, {"metadata": metadata, "spec": spec})


@pytest.mark.spec("JOB-205")
async def test_a_cluster_is_ready_when_all_its_pods_are(world: Cluster) -> None:
    """Given a cluster of a head and two workers, when its pods start, then it is ready only once
    all are; a head that is deleted comes back.
    """
    await create_cluster(world, cluster_spec())
    await world.settle()
    status = (await ray_cluster(world))["status"]
    assert status.get("state") is None
    assert conditions.find(status["conditions"], "RayClusterProvisioned")["reason"] == "RayClusterPodsProvisioning"  # type: ignore[index]
    await world.run_until(lambda: has_state(world, "ready"))
    status = (await ray_cluster(world))["status"]
    assert (status["desiredWorkerReplicas"], status["readyWorkerReplicas"], status["maxWorkerReplicas"]) == (2, 2, 3)
    assert conditions.find(status["conditions"], "RayClusterProvisioned")["reason"] == "AllPodRunningAndReadyFirstTime"  # type: ignore[index]
    assert conditions.is_true(status["conditions"], "HeadPodReady")
    [head] = await pods_of(world, "head")
    assert head["metadata"]["name"].startswith("c-head-")
    assert [pod["metadata"]["generateName"] for pod in await pods_of(world, "worker")] == ["c-small-worker-"] * 2
    assert (await world.client.get(SERVICES, "c-head-svc", NS))["spec"]["selector"]["ray.io/node-type"] == "head"
    await world.client.delete(PODS, head["metadata"]["name"], NS)
    await world.advance("1m")
    [other] = await pods_of(world, "head")
    assert other["metadata"]["uid"] != head["metadata"]["uid"]


@pytest.mark.spec("JOB-205")
async def test_a_cluster_that_is_suspended_has_no_pods(world: Cluster) -> None:
    """Given a ready cluster, when it is suspended, then it says that it is being so until its pods
    are gone, and is; resumed, it gets ready again.
    """
    await create_cluster(world, cluster_spec())
    await world.run_until(lambda: has_state(world, "ready"))
    await world.client.patch(RAY_CLUSTERS, "c", NS, {"spec": {"suspend": True}})
    await world.run_until(lambda: has_state(world, "suspended"))
    told = [change.object for change in History.of(world).changes if change.resource.resource == "rayclusters"]
    assert any(conditions.is_true(obj.get("status", {}).get("conditions"), "RayClusterSuspending") for obj in told)
    status = (await ray_cluster(world))["status"]
    assert conditions.is_true(status["conditions"], "RayClusterSuspended")
    assert not conditions.is_true(status["conditions"], "RayClusterSuspending")
    assert (await world.client.list(PODS, NS)).items == []
    await world.client.patch(RAY_CLUSTERS, "c", NS, {"spec": {"suspend": False}})
    await world.run_until(lambda: has_state(world, "ready"))
    assert not conditions.is_true((await ray_cluster(world))["status"]["conditions"], "RayClusterSuspended")


@pytest.mark.spec("JOB-206")
@pytest.mark.parametrize(("replicas", "workers"), [(9, 3), (0, 1)])
async def test_replicas_stay_within_their_bounds(world: Cluster, replicas: int, workers: int) -> None:
    """Given a group with more replicas than it may have, or fewer, when the cluster is made, then
    it has as many as it may; scaled, it follows.
    """
    await create_cluster(world, cluster_spec(replicas))
    await world.settle()
    assert len(await pods_of(world, "worker")) == workers
    await world.client.patch(RAY_CLUSTERS, "c", NS, {"spec": cluster_spec(2)})
    await world.advance("1m")
    assert len(await pods_of(world, "worker")) == 2


@pytest.mark.spec("JOB-206")
@pytest.mark.parametrize(("change", "text"), [
    ({"minReplicas": 4}, "worker group small has minReplicas 4 greater than maxReplicas 3"),
    ({"minReplicas": -1}, "worker group small has negative minReplicas -1"),
])
async def test_a_cluster_that_makes_no_sense_is_told(world: Cluster, change: Tree, text: str) -> None:
    """Given a spec that the operator does not take, when the cluster is made, then an Event says
    why, and there are no pods.
    """
    spec = cluster_spec()
    spec["workerGroupSpecs"][0] |= change
    await create_cluster(world, spec)
    await world.settle()
    [event] = [event for event in (await world.client.list(EVENTS, NS)).items if event["reason"] == "InvalidRayClusterSpec"]
    assert event["message"] == f"The RayCluster spec is invalid {NS}/c: {text}"
    assert (await world.client.list(PODS, NS)).items == []


@pytest.mark.spec("JOB-207")
async def test_a_job_succeeds_and_its_cluster_goes_after_its_time(world: Cluster) -> None:
    """Given a job that shuts its cluster down 60 s after its end, when its submitter succeeds, then
    it is complete, and the cluster goes a minute later; the submitter stays.
    """
    await create_job(world, shutdownAfterJobFinishes=True, ttlSecondsAfterFinished=60)
    await world.run_until(lambda: job_is(world, "Complete"))
    status = (await world.client.get(RAY_JOBS, "j", NS))["status"]
    assert (status["jobStatus"], status["succeeded"], status["failed"]) == ("SUCCEEDED", 1, 0)
    assert status["rayClusterName"].startswith("j-")
    assert len((await world.client.list(RAY_CLUSTERS, NS)).items) == 1
    await world.advance("2m")
    assert (await world.client.list(RAY_CLUSTERS, NS)).items == []
    assert (await world.client.get(JOBS, "j", NS))["status"]["succeeded"] == 1


@pytest.mark.spec("JOB-207")
async def test_a_job_that_fails_is_tried_again_on_another_cluster(world: Cluster) -> None:
    """Given a job that fails and may be tried once more, when it runs, then the second try has a
    cluster of its own, and after it the job has failed.
    """
    await create_job(world, {"fakekube.dev/exit-code": "1"}, backoffLimit=1, submitterConfig={"backoffLimit": 0})
    clusters = set()
    await world.run_until(lambda: job_is(world, "Running"))
    clusters.add((await world.client.get(RAY_JOBS, "j", NS))["status"]["rayClusterName"])
    await world.run_until(lambda: job_is(world, "Failed"))
    status = (await world.client.get(RAY_JOBS, "j", NS))["status"]
    clusters.add(status["rayClusterName"])
    assert (status["failed"], status["reason"], len(clusters)) == (2, "AppFailed", 2)


@pytest.mark.spec("JOB-207")
async def test_a_job_is_suspended_with_all_that_it_has(world: Cluster) -> None:
    """Given a running job, when it is suspended, then its cluster and its submitter go; resumed, it
    runs on another cluster. One that may not be suspended is told so.
    """
    await create_job(world, {"fakekube.dev/run-duration": "1h"}, shutdownAfterJobFinishes=True)
    await world.run_until(lambda: job_is(world, "Running"))
    first = (await world.client.get(RAY_JOBS, "j", NS))["status"]["rayClusterName"]
    await world.client.patch(RAY_JOBS, "j", NS, {"spec": {"suspend": True}})
    await world.run_until(lambda: job_is(world, "Suspended"))
    assert (await world.client.list(RAY_CLUSTERS, NS)).items == (await world.client.list(JOBS, NS)).items == []
    await world.client.patch(RAY_JOBS, "j", NS, {"spec": {"suspend": False}})
    await world.run_until(lambda: job_is(world, "Running"))
    assert (await world.client.get(RAY_JOBS, "j", NS))["status"]["rayClusterName"] != first


@pytest.mark.spec("JOB-207")
async def test_a_job_that_keeps_its_cluster_cannot_be_suspended(world: Cluster) -> None:
    """Given a job that does not shut its cluster down, when it is made suspended, then its
    validation has failed.
    """
    await create_job(world, suspend=True)
    await world.settle()
    status = (await world.client.get(RAY_JOBS, "j", NS))["status"]
    assert (status["jobDeploymentStatus"], status["message"]) == (
        "ValidationFailed",
        "The RayJob spec is invalid: a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended")


@pytest.mark.spec("JOB-207")
async def test_annotations_say_how_a_job_without_a_submitter_fares(world: Cluster) -> None:
    """Given a job that is submitted over HTTP, when its annotations say that it fails after ten
    minutes, then it does, and no sooner; a deadline ends it before.
    """
    await create_job(world, {"fakekube.dev/run-duration": "10m", "fakekube.dev/exit-code": "3"}, submissionMode="HTTPMode")
    await world.run_until(lambda: job_is(world, "Running"))
    started = world.clock.time()
    await world.run_until(lambda: job_is(world, "Failed"))
    assert 590 < world.clock.time() - started < 610
    assert (await world.client.list(JOBS, NS)).items == []


@pytest.mark.spec("JOB-207")
async def test_a_deadline_ends_a_job(world: Cluster) -> None:
    """Given a job that would run for an hour, when its deadline of two minutes passes, then it has
    failed for that, and is not tried again.
    """
    await create_job(
        world, {"fakekube.dev/run-duration": "1h"}, submissionMode="HTTPMode", activeDeadlineSeconds=120, backoffLimit=2)
    await world.run_until(lambda: job_is(world, "Failed"))
    status = (await world.client.get(RAY_JOBS, "j", NS))["status"]
    assert (status["reason"], status["failed"]) == ("DeadlineExceeded", 1)
    assert "activeDeadlineSeconds" in status["message"]
