"""Jobs that change their size while they run on another cluster."""

from collections.abc import Awaitable, Callable

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DEPLOYMENTS, JOBS, STATEFUL_SETS, Resource
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS, RAY_CLUSTERS, RAY_JOBS
from tests.controllers.kueue.multikueue import kinds, workers
from tests.controllers.kueue.multikueue.kinds import ELASTIC
from tests.controllers.kueue.multikueue.workers import MANAGER, NS, condition

WITH_RAY = pytest.mark.fakekube(controllers="*,kueue,ray", nodes=3, fleet="manager,worker1,worker2")
WITH_LWS = pytest.mark.fakekube(controllers="*,kueue,lws", nodes=3, fleet="manager,worker1,worker2")


async def queue(fleet: Fleet, resource: Resource, body: Tree) -> None:
    """Queue one on the manager, and let it begin."""
    body["metadata"]["namespace"] = NS
    await fleet[MANAGER].client.create(resource, body)
    await fleet.advance("30s")


async def running(fleet: Fleet, member: str) -> int:
    """How many pods run in a cluster."""
    return sum(bool(pod["spec"].get("nodeName")) for pod in await workers.pods(fleet, member))


async def unfinished(fleet: Fleet, member: str = MANAGER) -> list[Tree]:
    """The Workloads that go on."""
    return [each for each in await workers.workloads(fleet, member) if condition(each, "Finished")[0] != "True"]


async def scale_ray(fleet: Fleet, replicas: int, resource: Resource = RAY_CLUSTERS, path: str = "/spec") -> None:
    """Let the workers of Ray be so many."""
    patch = [{"op": "replace", "path": f"{path}/workerGroupSpecs/0/replicas", "value": replicas}]
    await fleet[MANAGER].client.patch(resource, "j", NS, patch, type="json")


async def scale_job(fleet: Fleet, parallelism: int) -> None:
    """Let so many pods run at a time."""
    await fleet[MANAGER].client.patch(JOBS, "j", NS, {"spec": {"parallelism": parallelism}})


async def scale_ray_cluster(fleet: Fleet, replicas: int) -> None:
    """One of them is the head."""
    await scale_ray(fleet, replicas - 1)


def long_job() -> Tree:
    """Three pods at a time, of nine."""
    made = kinds.job(ELASTIC)
    made["spec"] |= {"parallelism": 3, "completions": 9}
    return made


@pytest.mark.spec("KUEUE-163", "KUEUE-164")
@pytest.mark.parametrize(("resource", "body", "scale"), [
    pytest.param(JOBS, long_job(), scale_job, marks=pytest.mark.fakekube(
        controllers="*,kueue", nodes=3, fleet="manager,worker1,worker2"), id="job"),
    pytest.param(RAY_CLUSTERS, kinds.ray_cluster(2, ELASTIC), scale_ray_cluster, marks=WITH_RAY, id="ray-cluster"),
])
async def test_an_elastic_job_changes_its_size_on_its_worker(
    fake_fleet: Fleet, resource: Resource, body: Tree, scale: Callable[[Fleet, int], Awaitable[None]],
) -> None:
    """Given an elastic job of three pods on a worker, when it shrinks, grows twice and shrinks
    again, then so do its pods there, in one object that is never suspended; it grows by slices and
    shrinks in place, and the other worker sees nothing of it.
    """
    await workers.set_up(fake_fleet, ("1", "0"))
    await queue(fake_fleet, resource, body)
    [before] = (await fake_fleet["worker1"].client.list(resource, NS)).items
    for count, slices in ((3, 1), (2, 1), (4, 2), (6, 3), (1, 3)):
        await scale(fake_fleet, count)
        await fake_fleet.advance("1m")
        assert await running(fake_fleet, "worker1") == count
        assert len(await workers.workloads(fake_fleet, MANAGER)) == slices
        [local], [copy] = await unfinished(fake_fleet), await unfinished(fake_fleet, "worker1")
        assert local["metadata"]["name"] == copy["metadata"]["name"]
        assert local["spec"]["podSets"] == copy["spec"]["podSets"]
        replaced = [each for each in await workers.workloads(fake_fleet, MANAGER) if each != local]
        assert {condition(each, "Finished")[1] for each in replaced} <= {"WorkloadSliceReplaced"}
        [there] = (await fake_fleet["worker1"].client.list(resource, NS)).items
        assert (there["metadata"]["uid"], there["spec"]["suspend"]) == (before["metadata"]["uid"], False)
    assert await workers.workloads(fake_fleet, "worker2") == await workers.pods(fake_fleet, "worker2") == []
    # a slice of the past takes nothing with it
    for each in replaced:
        await fake_fleet[MANAGER].client.delete(names.WORKLOADS, each["metadata"]["name"], NS)
    await fake_fleet.advance("1m")
    [there] = (await fake_fleet["worker1"].client.list(resource, NS)).items
    assert there["metadata"]["uid"] == before["metadata"]["uid"]
    assert len(await workers.workloads(fake_fleet, "worker1")) == 1


@WITH_RAY
@pytest.mark.spec("KUEUE-155", "KUEUE-163")
async def test_a_worker_vanishes_while_a_job_grows(fake_fleet: Fleet) -> None:
    """Given an elastic RayCluster on a worker, when it is to grow while the worker is away, then it
    has grown soon after the worker is back; when the worker is away for long, it runs in its new
    size on the other, and once.
    """
    await workers.set_up(fake_fleet, ("1", "1"))
    fake_fleet.cut("worker2")
    await queue(fake_fleet, RAY_CLUSTERS, kinds.ray_cluster(1, ELASTIC))
    fake_fleet.mend("worker2")
    for replicas, away in ((2, "0s"), (3, "1s"), (4, "1m")):
        await scale_ray(fake_fleet, replicas)
        fake_fleet.cut("worker1")
        await fake_fleet.advance(away)
        fake_fleet.mend("worker1")
        await fake_fleet.advance("6m")
        assert await running(fake_fleet, "worker1") == replicas + 1
        assert len(await unfinished(fake_fleet)) == len(await unfinished(fake_fleet, "worker1")) == 1
    await scale_ray(fake_fleet, 6)
    fake_fleet.cut("worker1")
    await fake_fleet.advance("30m")
    assert await running(fake_fleet, "worker2") == 7
    [local] = await unfinished(fake_fleet)
    assert local["status"]["clusterName"] == "worker2"
    fake_fleet.mend("worker1")
    await fake_fleet.advance("6m")
    assert [await running(fake_fleet, name) for name in workers.WORKERS] == [0, 7]
    assert await workers.workloads(fake_fleet, "worker1") == []


async def scale_the_cluster_there(fleet: Fleet, replicas: int) -> None:
    """Somebody on the worker scales the RayCluster of the RayJob's copy."""
    worker = fleet["worker1"].client
    [cluster] = (await worker.list(RAY_CLUSTERS, NS)).items
    patch = [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": replicas}]
    await worker.patch(RAY_CLUSTERS, cluster["metadata"]["name"], NS, patch, type="json")
    await fleet.advance("1m")


@WITH_RAY
@pytest.mark.spec("KUEUE-126", "KUEUE-163")
async def test_somebody_scales_the_cluster_of_a_ray_job_on_its_worker(fake_fleet: Fleet) -> None:
    """Given an elastic RayJob on a worker, when somebody there scales its RayCluster, then pods
    beyond its quota stay gated, it takes no more quota, and runs on; when the RayJob is deleted
    here, nothing of it is left there.
    """
    await workers.set_up(fake_fleet, ("1",))
    await queue(fake_fleet, RAY_JOBS, kinds.ray_job(1, ELASTIC))
    for replicas in (3, 1, 9, 2):
        await scale_the_cluster_there(fake_fleet, replicas)
        found = await workers.pods(fake_fleet, "worker1")
        assert (await running(fake_fleet, "worker1"), len(found)) == (2, replicas + 1)
        for member in (MANAGER, "worker1"):
            [workload] = await unfinished(fake_fleet, member)
            assert [each["count"] for each in workload["spec"]["podSets"]] == [1, 1]
    await fake_fleet[MANAGER].client.delete(RAY_JOBS, "j", NS, propagation_policy="Background")
    await fake_fleet.advance("2m")
    for member in fake_fleet:
        assert await workers.workloads(fake_fleet, member) == await workers.pods(fake_fleet, member) == []


@WITH_RAY
@pytest.mark.spec("KUEUE-126", "KUEUE-163")
async def test_the_copy_of_a_ray_job_stays_as_large_as_it_was(fake_fleet: Fleet) -> None:
    """Given an elastic RayJob on a worker, when it is given another size here, then it runs on as
    it is, and ends as it should; a RayJob that selects a cluster goes nowhere.
    """
    await workers.set_up(fake_fleet, ("1",))
    await queue(fake_fleet, RAY_JOBS, kinds.ray_job(1, ELASTIC))
    await scale_ray(fake_fleet, 3, RAY_JOBS, "/spec/rayClusterSpec")
    await fake_fleet.advance("1m")
    assert await running(fake_fleet, "worker1") == 2
    selecting = kinds.ray_job(clusterSelector={"ray.io/cluster": "c"})
    selecting["metadata"]["name"] = "selecting"
    del selecting["spec"]["rayClusterSpec"]
    await queue(fake_fleet, RAY_JOBS, selecting)
    assert [each["metadata"]["name"] for each in (await fake_fleet["worker1"].client.list(RAY_JOBS, NS)).items] == ["j"]
    await fake_fleet.advance("30m")
    job = await fake_fleet[MANAGER].client.get(RAY_JOBS, "j", NS)
    assert (job["status"]["jobStatus"], job["status"]["jobDeploymentStatus"]) == ("SUCCEEDED", "Complete")
    assert await unfinished(fake_fleet) == await workers.workloads(fake_fleet, "worker1") == []


@WITH_LWS
@pytest.mark.spec("KUEUE-177")
async def test_groups_come_and_go_on_one_worker(fake_fleet: Fleet) -> None:
    """Given a LeaderWorkerSet on a worker, when it gets groups and loses them again, then so it
    does there, in one object; a group that waits for quota, here or there, changes nothing for the
    others.
    """
    await workers.set_up(fake_fleet, ("1", "1"))
    fake_fleet.cut("worker2")
    await queue(fake_fleet, LEADER_WORKER_SETS, kinds.leader_worker_set(2))
    fake_fleet.mend("worker2")
    [before] = (await fake_fleet["worker1"].client.list(LEADER_WORKER_SETS, NS)).items
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1200m"}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    await fake_fleet[MANAGER].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"resourceGroups": groups}})
    for replicas, here, there in ((2, 2, 2), (3, 3, 3), (7, 6, 5), (1, 1, 1), (2, 2, 2)):
        await fake_fleet[MANAGER].client.patch(LEADER_WORKER_SETS, "j", NS, {"spec": {"replicas": replicas}})
        await fake_fleet.advance("1m")
        assert await running(fake_fleet, "worker1") == 2 * there
        found = await workers.workloads(fake_fleet, MANAGER)
        assert len(found) == replicas
        assert sum(condition(each, "QuotaReserved")[0] == "True" for each in found) == here
        [copy] = (await fake_fleet["worker1"].client.list(LEADER_WORKER_SETS, NS)).items
        assert (copy["metadata"]["uid"], copy["spec"]["replicas"]) == (before["metadata"]["uid"], replicas)
        assert len(await workers.workloads(fake_fleet, "worker1")) == here


@pytest.mark.fakekube(controllers="*,kueue", nodes=3, fleet="manager,worker1")
@pytest.mark.spec("KUEUE-160", "KUEUE-176")
async def test_what_serves_changes_its_size(fake_fleet: Fleet) -> None:
    """Given a Deployment and a StatefulSet on a worker, when the first changes its size, and the
    second goes to none and comes back, then so do their pods there.
    """
    await workers.set_up(fake_fleet, ("1",))
    client = fake_fleet[MANAGER].client
    await queue(fake_fleet, DEPLOYMENTS, kinds.deployment(2))
    for replicas in (3, 1):
        await client.patch(DEPLOYMENTS, "j", NS, {"spec": {"replicas": replicas}})
        await fake_fleet.advance("1m")
        assert await running(fake_fleet, "worker1") == replicas
        shown = await client.get(DEPLOYMENTS, "j", NS)
        assert shown["status"]["readyReplicas"] == replicas
    await queue(fake_fleet, STATEFUL_SETS, kinds.stateful_set(2))
    for replicas in (2, 0, 2):
        await client.patch(STATEFUL_SETS, "j", NS, {"spec": {"replicas": replicas}})
        await fake_fleet.advance("1m")
        assert await running(fake_fleet, "worker1") == 1 + replicas
        assert len((await fake_fleet["worker1"].client.list(STATEFUL_SETS, NS)).items) == bool(replicas)
    [local] = [each for each in await workers.workloads(fake_fleet, MANAGER) if each["spec"]["podSets"][0]["count"] == 2]
    assert condition(local, "PodsReady")[:2] == ("True", "Started")
    await fake_fleet.advance("40m")
    [same] = [each for each in await workers.workloads(fake_fleet, MANAGER) if each["spec"]["podSets"][0]["count"] == 2]
    assert condition(same, "Admitted") == condition(local, "Admitted")
