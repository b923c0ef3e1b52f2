"""Which pods are let go without being counted, and which are never even asked: upstream's queue of
orphan pods.
"""

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, TRACKING, condition, is_tracked, job_manifest, pod_template

ADDS = "workqueue_adds_total"


def orphans(cluster):
    """How many pods were queued as orphans so far."""
    return cluster.metrics.value(ADDS, name="job_orphan_pod")


async def test_pods_of_a_job_that_completes_are_never_queued_as_orphans():
    """Given a Job of five pods on nodes / when it completes, and is deleted with its pods / then
    none of its pods was ever queued as an orphan: the sync that completed the Job had taken their
    finalizers.
    """
    async with Cluster(nodes=2, clock="manual") as cluster:
        await cluster.client.create(JOBS, job_manifest(parallelism=5, completions=5))

        async def completed():
            return condition(await cluster.client.get(JOBS, "j", NAMESPACE), "Complete")

        await cluster.run_until(completed)
        await cluster.advance(5)
        assert not any(is_tracked(pod) for pod in (await cluster.client.list(PODS, NAMESPACE)).items)
        assert cluster.metrics.value(ADDS, name="job") > 0
        assert orphans(cluster) == 0
        await cluster.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
        await cluster.advance(5)
        assert (await cluster.client.list(PODS, NAMESPACE)).items == []
        assert orphans(cluster) == 0


async def test_pods_of_a_job_that_fails_are_never_queued_as_orphans(world):
    """Given two pods and no retries / when one fails / then both are counted and let go, and
    neither is an orphan.
    """
    await world.create_job(parallelism=2, backoffLimit=0)
    await world.fail((await world.active())[0])
    await world.advance(5)
    assert condition(await world.job(), "Failed")
    assert not any(is_tracked(pod) for pod in await world.pods())
    assert orphans(world.cluster) == 0


async def test_a_finished_job_lets_a_pod_go_that_is_tracked_again(world):
    """Given a Job that is complete / when somebody gives its pod the finalizer anew, and the Job
    changes / then the pod is an orphan, and is let go.
    """
    await world.create_job()
    await world.succeed(*await world.active())
    await world.advance(3)
    [pod] = await world.pods()
    await world.client.patch(PODS, pod["metadata"]["name"], NAMESPACE, {"metadata": {"finalizers": [TRACKING]}})
    await world.settle()
    assert orphans(world.cluster) == 0
    await world.client.patch(JOBS, "j", NAMESPACE, {"metadata": {"labels": {"seen": "again"}}})
    await world.advance(1)
    assert orphans(world.cluster) == 1
    assert not any(is_tracked(pod) for pod in await world.pods())


async def test_a_tracked_pod_without_a_controller_is_let_go_each_time_it_comes(world):
    """Given no controller / when a pod comes with the finalizer / then it is let go / when it gets
    it again / then once more.
    """
    await world.create_job()
    await world.client.create(PODS, {
        "metadata": {"name": "stray", "namespace": NAMESPACE, "finalizers": [TRACKING]}, **pod_template()})
    for times in (1, 2):
        await world.settle()
        assert not is_tracked(await world.client.get(PODS, "stray", NAMESPACE))
        assert orphans(world.cluster) >= times
        await world.client.patch(PODS, "stray", NAMESPACE, {"metadata": {"finalizers": [TRACKING]}})
    await world.settle()
    assert not is_tracked(await world.client.get(PODS, "stray", NAMESPACE))
