"""RayClusters and RayJobs in queues, with the controllers of both."""

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS
from fakekube_controllers.kueue import addon, names
from fakekube_controllers.ray import addon as ray_addon
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS

NS = "default"
CONTAINER = {"name": "ray", "image": "rayproject/ray:2.9.0", "resources": {"requests": {"cpu": "100m"}}}
QUEUE, ELASTIC = {names.QUEUE_LABEL: "q"}, {names.ELASTIC_JOB_ANNOTATION: "true"}


def cluster_spec(replicas=2, **fields):
    """A head, and one group of workers."""
    group = {
        "groupName": "Small", "replicas": replicas, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {},
        "template": {"spec": {"containers": [CONTAINER]}}}
    head = {"rayStartParams": {}, "template": {"spec": {"containers": [CONTAINER]}}}
    return {"headGroupSpec": head, "workerGroupSpecs": [group], **fields}


class Rays:
    """A cluster with a queue of one cpu."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def set_up(self, quota="1"):
        await self.client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
        quotas = {"cpu": quota, "memory": "9Gi"}
        resources = [{"name": name, "nominalQuota": amount} for name, amount in quotas.items()]
        flavors = [{"name": "f", "resources": resources}]
        await self.client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": {
            "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": flavors}]}})
        await self.client.create(names.LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": NS}, "spec": {"clusterQueue": "cq"}})

    async def create_cluster(self, spec, annotations=None):
        metadata = {"name": "c", "namespace": NS, "labels": QUEUE, "annotations": annotations or {}}
        return await self.client.create(RAY_CLUSTERS, {"metadata": metadata, "spec": spec})

    async def create_job(self, spec, **fields):
        metadata = {"name": "j", "namespace": NS, "labels": QUEUE}
        body = {"entrypoint": "python x.py", "rayClusterSpec": spec, "shutdownAfterJobFinishes": True, **fields}
        return await self.client.create(RAY_JOBS, {"metadata": metadata, "spec": body})

    async def scale(self, replicas):
        patch = [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": replicas}]
        await self.client.patch(RAY_CLUSTERS, "c", NS, patch, type="json")

    async def workloads(self, *, unfinished=False):
        found = (await self.client.list(names.WORKLOADS, NS)).items
        return [each for each in found if not (unfinished and condition(each, "Finished"))]

    async def running(self):
        return [pod for pod in (await self.client.list(PODS, NS)).items if pod["status"]["phase"] == "Running"]

    async def usage(self):
        queue = await self.client.get(names.CLUSTER_QUEUES, "cq")
        return queue["status"]["flavorsReservation"][0]["resources"][0]["total"]


def condition(workload, type_):
    """Whether a Workload has a condition."""
    found = [each for each in workload.get("status", {}).get("conditions", ()) if each["type"] == type_]
    return bool(found) and found[0]["status"] == "True"


@pytest.fixture
async def rays():
    async with Cluster(nodes=3, extra=[addon(), ray_addon()]) as cluster:
        world = Rays(cluster)
        await world.set_up()
        yield world


@pytest.mark.spec("KUEUE-126")
async def test_a_ray_cluster_waits_for_the_quota_of_all_its_pods(rays):
    """Given a queue of one cpu, when a RayCluster of ten pods of a tenth is made, then it is
    suspended until all of them have quota, with a pod set for the head and one for its group,
    whose name is in small letters.
    """
    made = await rays.create_cluster(cluster_spec(9, enableInTreeAutoscaling=False) | {"suspend": False})
    assert made["spec"]["suspend"]
    await rays.cluster.advance("1m")
    [workload] = await rays.workloads()
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("head", 1), ("small", 9)]
    assert len(await rays.running()) == 10
    assert await rays.usage() == "1"


@pytest.mark.spec("KUEUE-126")
async def test_an_elastic_ray_cluster_grows_and_shrinks_by_slices(rays):
    """Given an elastic RayCluster with one worker, when it is to have three and then one again,
    then it grows by a second slice that takes the place of the first, shrinks within it, and is
    never suspended.
    """
    await rays.create_cluster(cluster_spec(1), ELASTIC)
    await rays.cluster.advance("1m")
    assert (len(await rays.running()), await rays.usage()) == (2, "200m")
    await rays.scale(3)
    await rays.cluster.advance("1m")
    assert not (await rays.client.get(RAY_CLUSTERS, "c", NS))["spec"]["suspend"]
    assert (len(await rays.workloads()), len(await rays.workloads(unfinished=True))) == (2, 1)
    assert await rays.usage() == "400m"
    await rays.cluster.advance("1m")
    assert len(await rays.running()) == 4
    [second] = await rays.workloads(unfinished=True)
    await rays.scale(1)
    await rays.cluster.advance("1m")
    [same] = await rays.workloads(unfinished=True)
    assert same["metadata"]["uid"] == second["metadata"]["uid"]
    assert (len(await rays.running()), await rays.usage()) == (2, "200m")


@pytest.mark.spec("KUEUE-114")
async def test_what_stays_as_it_is_counts_once(rays):
    """Given an elastic RayCluster of a head and four workers, when it is to have eight workers, and
    six, then what is reserved is each time that of the head and of its workers.
    """
    await rays.create_cluster(cluster_spec(4), ELASTIC)
    for replicas, expected in ((4, "500m"), (8, "900m"), (6, "700m")):
        await rays.scale(replicas)
        await rays.cluster.advance("1m")
        assert await rays.usage() == expected


@pytest.mark.spec("KUEUE-126")
async def test_a_ray_job_ends_with_its_workload(rays):
    """Given a RayJob whose submitter asks for half a cpu, when it runs, then its Workload has a pod
    set for the submitter, and is finished as the job is; nothing is reserved then.
    """
    await rays.create_job(cluster_spec(1))
    await rays.cluster.settle()
    [workload] = await rays.workloads()
    assert [each["name"] for each in workload["spec"]["podSets"]] == ["head", "small", "submitter"]
    await rays.cluster.advance("2m")
    [workload] = await rays.workloads()
    assert condition(workload, "Finished")
    assert (await rays.client.get(RAY_JOBS, "j", NS))["status"]["jobDeploymentStatus"] == "Complete"
    assert await rays.usage() == "0"


@pytest.mark.spec("KUEUE-099")
@pytest.mark.parametrize(("spec", "annotations", "text"), [
    (cluster_spec(1, enableInTreeAutoscaling=True), {}, "can use autoscaling only as an elastic job"),
    (cluster_spec(1) | {"workerGroupSpecs": [cluster_spec()["workerGroupSpecs"][0] | {"groupName": "head"}]}, {},
     'spec.workerGroupSpecs[0].groupName: Forbidden: "head" is reserved for the head group'),
    (cluster_spec(1) | {"workerGroupSpecs": [cluster_spec()["workerGroupSpecs"][0] | {"groupName": f"g{i}"} for i in range(18)]},
     {}, "spec.workerGroupSpecs: Too many: 19: must have at most 18 items"),
])
async def test_what_a_ray_cluster_may_not_be(rays, spec, annotations, text):
    """Given a RayCluster that Kueue cannot manage, when it is made, then it is refused in
    upstream's words.
    """
    with pytest.raises(APIError) as caught:
        await rays.create_cluster(spec, annotations)
    assert text in caught.value.message
    assert caught.value.message.startswith('admission webhook "vraycluster.kb.io" denied the request: ')


@pytest.mark.spec("KUEUE-099")
@pytest.mark.parametrize(("spec", "fields", "text"), [
    (cluster_spec(1), {"shutdownAfterJobFinishes": False},
     "spec.shutdownAfterJobFinishes: Invalid value: false: a kueue managed job should delete the cluster after finishing"),
    (cluster_spec(1), {"clusterSelector": {"ray.io/cluster": "c"}}, "a kueue managed job should not use an existing cluster"),
    (None, {}, "spec.rayClusterSpec: Required value: rayClusterSpec is required for Kueue-managed jobs"),
])
async def test_what_a_ray_job_may_not_be(rays, spec, fields, text):
    """Given a RayJob that Kueue cannot manage, when it is made, then it is refused in upstream's
    words.
    """
    with pytest.raises(APIError) as caught:
        await rays.create_job(spec, **fields)
    assert text in caught.value.message
