"""Pods that nobody else would remove: of lost nodes, of none, of nodes out of service, and too many
finished ones.
"""

import pytest

from fakekube.client.resources import JOBS, NODES, PODS
from fakekube.runtime import controller
from fakekube_controllers.podgc.controller import PodGarbageCollector
from tests.controllers.world import NAMESPACE, World, condition, manual_cluster, phase, pod_template

CONTROLLERS = "podgc,job,garbagecollector,namespace,serviceaccount"


@pytest.fixture
async def world():
    async with manual_cluster(CONTROLLERS) as cluster:
        world = World(cluster)
        await world.client.create(NODES, {"metadata": {"name": "n"}})
        await world.settle()
        yield world


async def create_pod(world, name="p", *, node="n", finalizers=()):
    spec = {**pod_template()["spec"], "nodeName": node} if node else {**pod_template()["spec"], "schedulerName": "nobody"}
    await world.client.create(PODS, {
        "metadata": {"name": name, "namespace": NAMESPACE, "finalizers": list(finalizers)}, "spec": spec})
    await world.settle()


async def pod(world, name="p"):
    return await world.client.get(PODS, name, NAMESPACE, missing_ok=True)


async def test_a_lost_node_takes_its_pods_after_a_quarantine(world):
    """Given a pod on a node / when the node is deleted / then the pod stays for 40 seconds and is
    gone within another 20, and whoever waits for that needs to say no time.
    """
    await create_pod(world, finalizers=["test.dev/keep"])
    await world.run(await pod(world))
    await world.client.delete(NODES, "n")
    await world.advance(39)
    assert phase(await pod(world)) == "Running"

    async def failed():
        return phase(await pod(world)) == "Failed"

    before = world.cluster.clock.time()
    await world.cluster.run_until(failed)
    assert world.cluster.clock.time() - before <= 21
    kept = await pod(world)
    disrupted = condition(kept, "DisruptionTarget")
    assert (disrupted["status"], disrupted["reason"], disrupted["message"]) == (
        "True", "DeletionByPodGC", "PodGC: node no longer exists")
    assert kept["metadata"]["deletionGracePeriodSeconds"] == 0
    version = kept["metadata"]["resourceVersion"]
    await world.advance(600)
    assert (await pod(world))["metadata"]["resourceVersion"] == version


async def test_a_node_that_comes_back_keeps_its_pods(world):
    """Given a pod whose node is deleted / when the node is back within the quarantine / then the
    pod stays.
    """
    await create_pod(world)
    await world.client.delete(NODES, "n")
    await world.advance(30)
    await world.client.create(NODES, {"metadata": {"name": "n"}})
    await world.advance(600)
    assert await pod(world)


@pytest.mark.spec("JOB-166")
async def test_a_job_replaces_what_a_node_took_along(world):
    """Given a Job that ignores disruptions, with a pod on a node / when the node is deleted / then
    within a minute the pod has failed as a disruption, is gone, and another comes after its
    back-off; nothing counts as failed.
    """
    await world.create_job(backoffLimit=0, podFailurePolicy={"rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]})
    (first,) = await world.active()
    await world.bind(first, node="n")
    await world.run(first)
    seen = []
    world.cluster.manager.component("job").ctx.add_handler(PODS, on_update=lambda _, new: seen.append(new))
    await world.client.delete(NODES, "n")
    await world.advance(75)
    failed = next(last for last in seen if phase(last) == "Failed")
    assert condition(failed, "DisruptionTarget")["reason"] == "DeletionByPodGC"
    (second,) = await world.pods()
    assert second["metadata"]["name"] != first["metadata"]["name"]
    job = await world.client.get(JOBS, "j", NAMESPACE)
    assert job["status"]["active"] == 1
    assert job["status"].get("failed", 0) == 0


async def test_a_pod_that_never_had_a_node_goes(world):
    """Given a pod without a node that something holds / when it is deleted / then it has failed
    within 20 seconds.
    """
    await create_pod(world, node="", finalizers=["test.dev/keep"])
    await world.client.delete(PODS, "p", NAMESPACE)
    await world.advance(20)
    assert phase(await pod(world)) == "Failed"
    assert condition(await pod(world), "DisruptionTarget") is None


async def test_a_node_out_of_service_lets_its_pods_go(world):
    """Given a pod that ends on a node that is not ready / when the node is tainted as out of
    service / then the pod is removed; the one beside it, which nobody deleted, stays.
    """
    await create_pod(world)
    await create_pod(world, "other")
    await world.client.delete(PODS, "p", NAMESPACE)
    await world.advance(60)
    assert await pod(world)
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    await world.client.patch(NODES, "n", body={"spec": {"taints": [taint]}})
    await world.advance(20)
    assert await pod(world) is None
    assert await pod(world, "other")


async def test_finished_pods_are_kept_up_to_a_number():
    """Given two finished pods are kept / when four have ended, one evicted by its kubelet / then
    that one goes first, and then the oldest.
    """
    collector = controller("podgc").starts_with(PODS).complete(lambda ctx: PodGarbageCollector(ctx, terminated_pod_threshold=2))
    async with manual_cluster("namespace,serviceaccount", extra=[collector]) as cluster:
        world = World(cluster)
        await world.client.create(NODES, {"metadata": {"name": "n"}})
        for name in ("a", "b", "c", "d"):
            await create_pod(world, name)
            await world.advance(1)
        for name in ("a", "b", "c", "d"):
            reason = {"reason": "Evicted"} if name == "c" else {}
            await world.set_status(await pod(world, name), phase="Failed", **reason)
        await world.advance(20)
        assert [last["metadata"]["name"] for last in await world.pods()] == ["b", "d"]


async def test_nothing_to_do_costs_no_time(world):
    """Given pods and nodes in good order / when a day passes / then the collector has not made a
    single round.
    """
    await create_pod(world)
    await world.advance(60)
    worker = world.cluster.manager.component("podgc")
    rounds = []
    worker.queue.add = rounds.append
    await world.advance(86400)
    assert rounds == []
