"""Namespaces that are deleted lose their content, pods first, and say what holds them."""

from types import SimpleNamespace

import pytest

from fakekube.apimachinery import times
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, PODS
from fakekube_controllers.namespace.controller import NamespaceReconciler
from tests.controllers.world import World, condition, job_manifest, manual_cluster, pod_template


@pytest.fixture
async def world():
    async with manual_cluster("job,garbagecollector,namespace,serviceaccount") as cluster:
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.settle()
        yield World(cluster)


async def delete(world):
    return await world.client.delete(NAMESPACES, "team")


@pytest.mark.spec("API-152")
async def test_a_namespace_goes_with_what_is_in_it(world):
    """Given a namespace with ConfigMaps / when it is deleted / then it is Terminating at once, and
    gone soon, with all of it.
    """
    await world.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "team"}})
    await delete(world)
    assert (await world.namespace("team"))["status"]["phase"] == "Terminating"
    await world.advance(10)
    assert await world.namespace("team") is None
    assert (await world.client.list(CONFIG_MAPS, "team")).items == []


@pytest.mark.spec("API-152")
async def test_pods_go_first_and_what_holds_is_told(world):
    """Given a pod that a finalizer holds and a ConfigMap / when the namespace is deleted / then the
    ConfigMap stays while the pod does; conditions say so; a second deletion changes nothing / when
    the pod is let go / then the namespace goes.
    """
    await world.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "team"}})
    pod = {"metadata": {"name": "p", "namespace": "team", "finalizers": ["example.com/hold"]}} | pod_template()
    await world.client.create(PODS, pod)
    await delete(world)
    await world.advance(6)
    namespace = await world.namespace("team")
    assert condition(namespace, "NamespaceDeletionContentFailure")["status"] == "False"
    assert await world.client.get(CONFIG_MAPS, "c", "team")
    again = await delete(world)
    assert again["metadata"]["resourceVersion"] == namespace["metadata"]["resourceVersion"]
    await world.client.patch(PODS, "p", "team", {"metadata": {"finalizers": None}})
    await world.advance(60)
    assert await world.namespace("team") is None


@pytest.mark.spec("API-152")
async def test_finalizers_of_other_content_are_counted(world):
    """Given a ConfigMap that a finalizer holds / when its namespace is deleted / then conditions
    name resource and finalizer.
    """
    held = {"name": "c", "namespace": "team", "finalizers": ["example.com/hold"]}
    await world.client.create(CONFIG_MAPS, {"metadata": held})
    await delete(world)
    await world.advance(6)
    namespace = await world.namespace("team")
    assert condition(namespace, "NamespaceContentRemaining")["message"] == (
        "Some resources are remaining: configmaps. has 1 resource instances")
    assert condition(namespace, "NamespaceFinalizersRemaining")["message"] == (
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances")


@pytest.mark.spec("API-153")
async def test_the_systems_namespaces_stay(world):
    """Given the namespace default / when it is deleted / then that is forbidden."""
    with pytest.raises(APIError, match="this namespace may not be deleted") as refused:
        await world.client.delete(NAMESPACES, "default")
    assert refused.value.code == 403


@pytest.mark.spec("JOB-180", "JOB-123")
async def test_a_namespace_takes_a_running_job_along(world):
    """Given a Job with tracked pods / when its namespace is deleted / then creation in it is
    refused / and pods, Job and namespace go, and no failed creation is told.
    """
    manifest = job_manifest(parallelism=2)
    manifest["metadata"]["namespace"] = "team"
    await world.client.apply(manifest, field_manager="test")
    await world.settle()
    assert len((await world.client.list(PODS, "team")).items) == 2
    await delete(world)
    with pytest.raises(APIError, match="because it is being terminated") as refused:
        await world.client.create(CONFIG_MAPS, {"metadata": {"name": "late", "namespace": "team"}})
    assert refused.value.code == 403
    assert refused.value.causes[0]["reason"] == "NamespaceTerminating"
    await world.advance(120)
    assert await world.namespace("team") is None
    assert (await world.client.list(PODS, "team")).items == []


@pytest.mark.parametrize(("left", "seconds"), [
    ([], 1), ([{"metadata": {"deletionTimestamp": "2026-01-01T00:00:30Z"}}], 30),
    ([{"metadata": {"deletionTimestamp": f"2026-01-01T00:0{minute}:30Z"}} for minute in (0, 1)], 90),
    ([{"metadata": {"deletionTimestamp": "2025-12-31T23:59:00Z"}}], 1), ([{"metadata": {}}], 1),
    ([{"metadata": {"deletionTimestamp": "2026-01-01T00:00:30Z", "finalizers": ["a/b"]}}], 15)])
def test_how_long_what_is_left_may_take(left, seconds):
    """Given pods that are left / then they may take until the longest grace ends, at least a
    second; with finalizers nobody knows, and it is a guess. Other content is such a guess always.
    """
    clock = SimpleNamespace(time=lambda: times.parse_time("2026-01-01T00:00:00Z"))
    reconciler = SimpleNamespace(ctx=SimpleNamespace(clock=clock))
    assert NamespaceReconciler._estimate(reconciler, PODS, left) == seconds
    assert NamespaceReconciler._estimate(reconciler, CONFIG_MAPS, left) == 15
