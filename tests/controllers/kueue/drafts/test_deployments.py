"""Deployments that change their size while they run: ElasticDeployments."""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import DEPLOYMENTS, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from tests.controllers.kueue.apps.test_serving import app, change, refused
from tests.controllers.kueue.jobs.queues import ELASTIC, Queues
from tests.controllers.world import CONTROLLERS, NAMESPACE

ON = Configuration(features=Features(ElasticDeployments=True))


@pytest.fixture
async def apps():
    """Whole Kueue, with a queue for five pods in the zone ``a``."""
    controllers = f"{CONTROLLERS},deployment,replicaset"
    async with Cluster(nodes=0, clock="manual", controllers=controllers, extra=[kueue.addon(ON)]) as cluster:
        world = Queues(cluster, ON)
        await world.queue(5)
        await world.client.patch(names.RESOURCE_FLAVORS, "q1", "", {"spec": {
            "nodeLabels": {"zone": "a"}, "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]}})
        yield world


async def create(apps, replicas=2, **fields):
    made = await apps.client.create(DEPLOYMENTS, app(replicas=replicas, annotations=ELASTIC, **fields))
    await apps.advance(5)
    return made


async def scale(apps, replicas):
    await change(apps, DEPLOYMENTS, "d", 5, spec={"replicas": replicas})


async def let_go(apps):
    """The pods that do not wait, by name."""
    listed = (await apps.client.list(PODS, NAMESPACE)).items
    return {meta.name_of(pod): pod for pod in listed
            if not pods.has_gate(pod, names.ELASTIC_JOB_GATE) and not meta.is_deleting(pod)}


async def size(apps):
    return len((await apps.client.list(PODS, NAMESPACE)).items)


async def test_a_deployment_has_one_workload_for_all_its_pods(apps):
    """Given an elastic Deployment of two, then it has one Workload, for two, and both pods are let
    go with the labels and tolerations of their flavor; nothing was rolled out for that.
    """
    await create(apps)
    assert await apps.slices("d") == [(2, "admitted")]
    found = await let_go(apps)
    assert len(found) == await size(apps) == 2
    for pod in found.values():
        assert (pod["spec"]["nodeSelector"], pods.is_gated(pod)) == ({"zone": "a"}, False)
        assert any(each.get("key") == "k" for each in pod["spec"]["tolerations"])
        assert meta.labels_of(pod)[names.PODSET_LABEL] == "main"
    made = await apps.client.get(DEPLOYMENTS, "d", NAMESPACE)
    assert meta.annotations_of(made)["deployment.kubernetes.io/revision"] == "1"


async def test_it_grows_by_a_slice_and_shrinks_in_place(apps):
    """Given an elastic Deployment of two, when it grows to four, then a second slice takes the
    place of the first, and pods that ran go on; when it shrinks to one, the same slice is smaller.
    """
    await create(apps)
    before = await let_go(apps)
    await scale(apps, 4)
    assert await apps.slices("d") == [(2, "WorkloadSliceReplaced"), (4, "admitted")]
    assert before.keys() < (await let_go(apps)).keys()
    assert (len(await let_go(apps)), await apps.usage()) == (4, [4])
    await scale(apps, 1)
    assert await apps.slices("d") == [(2, "WorkloadSliceReplaced"), (1, "admitted")]
    assert (len(await let_go(apps)), await apps.usage()) == (1, [1])


async def test_growth_waits_for_quota(apps):
    """Given a queue for five pods, when a Deployment of two is to have seven, then two run, five
    wait and can tell for what, and one that is deleted is replaced; with fewer all run.
    """
    await create(apps)
    await scale(apps, 7)
    assert (await apps.slices("d"), len(await let_go(apps)), await size(apps)) == ([(2, "admitted"), (7, "pending")], 2, 7)
    listed = (await apps.client.list(PODS, NAMESPACE)).items
    waiting = next(meta.name_of(pod) for pod in listed if pods.has_gate(pod, names.ELASTIC_JOB_GATE))
    slice_ = meta.name_of((await apps.workloads())[-1])
    told = str((await apps.cluster.why(f"pod/{waiting}")).message)
    assert told == f"is held back by {names.ELASTIC_JOB_GATE} until its workload {slice_} is admitted"
    gone = min(await let_go(apps))
    await apps.client.delete(PODS, gone, NAMESPACE, grace_period_seconds=0)
    await apps.advance(5)
    assert (len(await let_go(apps)), await size(apps)) == (2, 7)
    await scale(apps, 5)
    assert (len(await let_go(apps)), await apps.usage()) == (5, [5])


async def test_it_is_evicted_as_a_whole(apps):
    """Given an elastic Deployment that runs, when its queue is drained, then no pod of it runs, its
    quota is back, and pods wait in their place; they run when the queue goes on. At the end nothing
    is held.
    """
    await create(apps)
    ran = await let_go(apps)
    await apps.client.patch(names.CLUSTER_QUEUES, "q", "", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await apps.advance(5)
    assert (await let_go(apps), await size(apps), await apps.usage()) == ({}, 2, [0])
    assert not ran.keys() & set(map(meta.name_of, (await apps.client.list(PODS, NAMESPACE)).items))
    await apps.client.patch(names.CLUSTER_QUEUES, "q", "", {"spec": {"stopPolicy": "None"}})
    await apps.advance(120)
    assert (len(await let_go(apps)), await apps.usage()) == (2, [2])
    await apps.client.delete(DEPLOYMENTS, "d", NAMESPACE)
    await apps.advance(30)
    assert await apps.usage() == [0]
    assert [each for each in await apps.workloads() if meta.finalizers_of(each)] == []


async def test_what_it_asks_for_stays(apps):
    """Given an elastic Deployment, when its queue, the requests of its pods or that it is elastic
    is to change, then that is refused; another image is rolled out within its quota.
    """
    await create(apps, strategy={"type": "Recreate"})
    assert "metadata.labels[kueue.x-k8s.io/queue-name]" in await refused(
        apps, DEPLOYMENTS, "d", metadata={"labels": {names.QUEUE_LABEL: "other"}})
    assert "metadata.annotations[kueue.x-k8s.io/elastic-job]" in await refused(
        apps, DEPLOYMENTS, "d", metadata={"annotations": {names.ELASTIC_JOB_ANNOTATION: "false"}})
    container = {"name": "c", "image": "b:2", "resources": {"requests": {"cpu": "200m"}}}
    assert "requests: Invalid value" in await refused(
        apps, DEPLOYMENTS, "d", spec={"template": {"spec": {"containers": [container]}}})
    container["resources"]["requests"]["cpu"] = "100m"
    await change(apps, DEPLOYMENTS, "d", 60, spec={"template": {"spec": {"containers": [container]}}})
    assert [pod["spec"]["containers"][0]["image"] for pod in (await let_go(apps)).values()] == ["b:2"] * 2
    assert await apps.slices("d") == [(2, "admitted")]


async def test_a_restart_of_kueue_changes_nothing(apps):
    """Given an elastic Deployment that waits in part, when Kueue starts anew, then all is as it
    was, and it goes on.
    """
    await create(apps)
    await scale(apps, 7)
    await apps.cluster.restart_controller("kueue")
    await apps.advance(5)
    assert (await apps.slices("d"), len(await let_go(apps))) == ([(2, "admitted"), (7, "pending")], 2)
    await scale(apps, 3)
    assert (len(await let_go(apps)), await apps.usage()) == (3, [3])


async def test_other_deployments_are_as_before(apps):
    """Given the gate, when a Deployment comes that is not elastic, then each of its pods has a
    Workload of its own.
    """
    await apps.client.create(DEPLOYMENTS, app())
    await apps.advance(5)
    found = await apps.workloads()
    assert [each["metadata"]["ownerReferences"][0]["kind"] for each in found] == ["Pod", "Pod"]


async def test_without_the_gate_a_deployment_has_no_slices():
    """Given Kueue as it is, when an elastic Deployment comes, then it is refused."""
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon()]) as cluster:
        with pytest.raises(APIError, match="elastic job is not supported"):
            await cluster.client.create(DEPLOYMENTS, app(annotations=ELASTIC))
