"""What others do to a pod while it runs, and what a kubelet does that was away."""

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.kubelet.machine import container
from tests.controllers.world import NAMESPACE, condition, counts, job_manifest


async def test_who_writes_that_a_pod_failed_ends_it(machine):
    """Given a running pod / when somebody writes that it has failed / then that stands, and its
    container is stopped.
    """
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    body = {"status": {"phase": "Failed", "reason": "Evicted", "message": "for a test"}}
    await machine.client.patch(PODS, "p", NAMESPACE, body, subresource="status")
    await machine.advance(60)
    status = await machine.status()
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Evicted", "for a test")
    assert await machine.states() == [143]
    assert await machine.condition("Ready") == ("False", "PodFailed")


async def test_a_job_replaces_a_pod_that_somebody_ended():
    """Given a Job with a pod that runs on / when somebody writes that it has failed / then it is
    counted and replaced.
    """
    async with Cluster(nodes=1, clock="manual", outcome=lambda *_: {"run-duration": "forever"}) as cluster:
        await cluster.client.create(JOBS, job_manifest())
        await cluster.advance(3)
        [pod] = (await cluster.client.list(PODS, NAMESPACE)).items
        name = pod["metadata"]["name"]
        await cluster.client.patch(PODS, name, NAMESPACE, {"status": {"phase": "Failed"}}, subresource="status")
        await cluster.advance(15)
        assert counts(await cluster.client.get(JOBS, "j", NAMESPACE)) == (1, 0, 1, 0)


async def test_a_pod_that_waits_for_its_restart_ends_when_it_is_ended(machine):
    """Given a container in back-off / when somebody writes that the pod has failed / then it is not
    started again.
    """
    await machine.run(restart_policy="OnFailure", annotations={"exit-code": "1"})
    await machine.advance(4)
    await machine.client.patch(PODS, "p", NAMESPACE, {"status": {"phase": "Failed"}}, subresource="status")
    await machine.advance(600)
    status = await machine.status()
    assert (status["phase"], status["containerStatuses"][0]["restartCount"]) == ("Failed", 1)


async def test_what_happens_while_the_kubelet_is_down_is_told_when_it_is_back(machine):
    """Given a pod that sleeps for five seconds / when the kubelet is down for a minute / then the
    API shows it running / when the kubelet is back / then the pod has succeeded, at the time at
    which its container ended.
    """
    await machine.run(container("main", "sleep", "5"))
    await machine.advance(2)
    await machine.cluster.manager.stop_component("kubelet")
    await machine.advance(60)
    assert await machine.phase() == "Running"
    await machine.cluster.manager.start_component("kubelet")
    await machine.advance(0)
    status = await machine.status()
    assert status["phase"] == "Succeeded"
    assert status["containerStatuses"][0]["state"]["terminated"]["finishedAt"] == "2026-01-01T00:00:06Z"


async def test_a_pod_bound_while_the_kubelet_is_down_starts_when_it_is_back(machine):
    """Given no kubelet / when a pod is bound / then it is pending / when the kubelet is back / then
    it runs.
    """
    await machine.cluster.manager.stop_component("kubelet")
    await machine.run()
    assert await machine.phase() == "Pending"
    assert condition(await machine.pod(), "PodScheduled")["status"] == "True"
    await machine.cluster.manager.start_component("kubelet")
    await machine.advance(3)
    assert await machine.phase() == "Succeeded"
