"""Controllers that a pod is none of the business of: they queue nothing, and send nothing."""

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, condition, job_manifest, pod_template

CONCERNED = ["job", "kubelet", "scheduler"]  # who makes, runs and places the pods of a Job


def adds(cluster):
    """How many keys each queue has taken so far."""
    found = {}
    for line in cluster.metrics.text().splitlines():
        if line.startswith("workqueue_adds_total{"):
            name, _, number = line.rpartition(" ")
            found[name.partition('name="')[2].partition('"')[0]] = int(float(number))
    return found


async def test_the_life_of_a_jobs_pods_concerns_only_who_works_on_it():
    """Given a cluster in which every controller runs that may hear of pods / when a Job of four
    pods runs to its end / then nobody queued anything but who makes, places, and runs pods.
    """
    async with Cluster(nodes=2, clock="manual") as cluster:
        for name in cluster.manager.names:
            cluster.manager.activate(name)
        await cluster.advance(30)
        before = adds(cluster)
        await cluster.client.create(JOBS, job_manifest(parallelism=4, completions=4))

        async def completed():
            return condition(await cluster.client.get(JOBS, "j", NAMESPACE), "Complete")

        await cluster.run_until(completed)
        await cluster.advance(5)
        assert [name for name, number in adds(cluster).items() if number != before.get(name, 0)] == CONCERNED


async def test_a_pod_by_itself_concerns_no_controller_of_workloads(world):
    """Given a Job, so that its controller listens / when a pod comes, changes and goes that nobody
    controls and that no selector matches / then the Job is not looked at again, and neither queue
    of its controller takes anything.
    """
    await world.create_job()
    await world.advance(5)
    before = adds(world.cluster)
    await world.client.create(PODS, {"metadata": {"name": "alone", "namespace": NAMESPACE}, **pod_template()})
    await world.settle()
    pod = await world.client.get(PODS, "alone", NAMESPACE)
    await world.run(pod)
    await world.end(pod, 0)
    await world.client.patch(PODS, "alone", NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
    await world.settle()
    await world.client.delete(PODS, "alone", NAMESPACE)
    await world.advance(5)
    assert adds(world.cluster) == before
