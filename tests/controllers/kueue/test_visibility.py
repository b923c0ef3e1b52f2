"""What waits in queues, as the visibility API tells."""

import json
from urllib.parse import parse_qs

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue.names import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    QUEUE_LABEL,
    RESOURCE_FLAVORS,
    WORKLOAD_PRIORITY_CLASS_LABEL,
    WORKLOAD_PRIORITY_CLASSES,
)

ROOT = "/apis/visibility.kueue.x-k8s.io"


async def get(cluster, path, version="v1beta2"):
    path, _, query = path.partition("?")
    answer = await cluster.client.request("GET", f"{ROOT}/{version}/{path}", query=parse_qs(query))
    return json.loads(answer.body)


async def waiting(cluster, path, version="v1beta2"):
    """(owner, place in the ClusterQueue, place in the LocalQueue) of all items."""
    summary = await get(cluster, f"{path}/pendingworkloads", version)
    assert (summary["kind"], summary["apiVersion"]) == ("PendingWorkloadsSummary", f"visibility.kueue.x-k8s.io/{version}")
    return [
        (item["metadata"]["ownerReferences"][0]["name"], item["positionInClusterQueue"], item["positionInLocalQueue"])
        for item in summary["items"]]


async def submit(cluster, name, queue, **labels):
    container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    await cluster.client.create(
        JOBS, {"metadata": {"name": name, "labels": {QUEUE_LABEL: queue, **labels}}, "spec": {"template": template}}, "default")
    await cluster.advance(1)


@pytest.fixture
async def cluster():
    """One ClusterQueue with room for a job, and two LocalQueues; four jobs, of which one is let in.
    """
    async with Cluster(nodes=0, clock="manual", controllers="job,garbagecollector", kueue=True) as cluster:
        client = cluster.client
        await client.create(RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
        await client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 100})
        flavor = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
        await client.create(CLUSTER_QUEUES, {"metadata": {"name": "all"}, "spec": {
            "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}]}})
        for name in ("a", "b"):
            await client.create(LOCAL_QUEUES, {"metadata": {"name": name}, "spec": {"clusterQueue": "all"}}, "default")
        await cluster.advance(5)
        await submit(cluster, "first", "a")
        await submit(cluster, "second", "a")
        await submit(cluster, "third", "b")
        await submit(cluster, "high", "b", **{WORKLOAD_PRIORITY_CLASS_LABEL: "high"})
        yield cluster


@pytest.mark.spec("KUEUE-178")
async def test_places_are_those_of_the_queue(cluster):
    """Given three jobs that wait, one of them of a high class When they are asked for Then they are
    in the order of the queue, with their places in both queues; what is admitted is not there, and
    pages keep the places of the whole."""
    queue = "clusterqueues/all"
    assert await waiting(cluster, queue) == [("high", 0, 0), ("second", 1, 0), ("third", 2, 1)]
    assert [item["priority"] for item in (await get(cluster, f"{queue}/pendingworkloads"))["items"]] == [100, 0, 0]
    assert await waiting(cluster, queue, "v1beta1") == await waiting(cluster, queue)
    assert await waiting(cluster, "namespaces/default/localqueues/b") == [("high", 0, 0), ("third", 2, 1)]
    for query, names in (
            ("limit=1", ["high"]), ("offset=1", ["second", "third"]), ("offset=1&limit=1", ["second"]), ("offset=9", []),
            ("limit=0", ["high", "second", "third"]), ("limit=-1", []), ("offset=-1", ["high", "second", "third"])):
        found = await get(cluster, f"{queue}/pendingworkloads?{query}")
        assert [item["metadata"]["ownerReferences"][0]["name"] for item in found["items"]] == names
    await cluster.client.delete(JOBS, "first", "default")
    await cluster.advance(5)
    assert await waiting(cluster, queue) == [("second", 0, 0), ("third", 1, 0)]


@pytest.mark.spec("KUEUE-178")
@pytest.mark.parametrize(("path", "code", "text"), [
    ("clusterqueues/none/pendingworkloads", 404, 'clusterqueue.visibility.kueue.x-k8s.io "none" not found'),
    ("namespaces/default/localqueues/none/pendingworkloads", 404, 'localqueue.visibility.kueue.x-k8s.io "none" not found'),
    ("clusterqueues/all", 404, "the server could not find the requested resource"),
    ("clusterqueues/all/pendingworkloads?limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
])
async def test_what_is_not_there(cluster, path, code, text):
    """Given queues that there are not, and a limit that is no number When they are asked for Then
    the answer says so."""
    with pytest.raises(APIError) as caught:
        await get(cluster, path)
    assert (caught.value.code, caught.value.message) == (code, text)


async def test_a_restart_answers_the_same(cluster):
    """Given jobs that wait When Kueue is stopped and started Then meanwhile nobody answers, and
    then the answer is as before."""
    before = await waiting(cluster, "clusterqueues/all")
    await cluster.stop_controller("kueue")
    with pytest.raises(APIError) as caught:
        await waiting(cluster, "clusterqueues/all")
    assert caught.value.code == 503
    await cluster.start_controller("kueue")
    await cluster.advance(5)
    assert await waiting(cluster, "clusterqueues/all") == before


async def test_without_the_gate_there_is_no_such_group():
    """Given the gate VisibilityOnDemand switched off When the group is asked for Then there is
    none."""
    async with Cluster(nodes=0, clock="manual", controllers="", kueue={"featureGates": {"VisibilityOnDemand": False}}) as cluster:
        with pytest.raises(APIError) as caught:
            await get(cluster, "")
        assert caught.value.code == 404


async def test_which_resources_there_are(cluster):
    """Given Kueue When the resources of its visibility API are asked for Then queues of both kinds
    are there, with what waits in them to be read."""
    for version in ("v1beta1", "v1beta2"):
        found = await get(cluster, "", version)
        expected = []
        for singular, namespaced in (("clusterqueue", False), ("localqueue", True)):
            kind = {"namespaced": namespaced, "kind": "PendingWorkloadsSummary"}
            expected.append({"name": f"{singular}s", "singularName": singular, **kind, "verbs": []})
            expected.append({"name": f"{singular}s/pendingworkloads", "singularName": "", **kind, "verbs": ["get"]})
        assert found == {
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"visibility.kueue.x-k8s.io/{version}",
            "resources": expected}
