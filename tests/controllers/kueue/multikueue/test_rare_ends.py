"""What becomes of Workloads nobody can send, of workers that are taken away, and of what was left.
"""

from typing import TYPE_CHECKING

import pytest

from fakekube.apimachinery import conditions
from fakekube.client.resources import EVENTS, JOBS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue.multikueue.parts import DifferentClusters, Parts
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, MULTIKUEUE_CLUSTERS, WORKLOADS
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, NS

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

pytestmark = pytest.mark.fakekube(controllers="*,kueue", nodes=0, fleet="manager,worker1,worker2")


def on(*clusters: str) -> Parts:
    """The parts of a job, each on a worker, or on none."""
    others: list[Tree] = [{"metadata": {"name": name}, "status": {"clusterName": name}} for name in clusters]
    return Parts({"metadata": {"name": "w"}}, others)


@pytest.mark.parametrize(("clusters", "wanted"), [((), ""), (("",), ""), (("b",), "b"), (("b", "", "b"), "b")])
def test_the_worker_of_the_other_parts(clusters: tuple[str, ...], wanted: str) -> None:
    """Given the parts of a job, when it is asked where they are, then it is the worker of those
    that are on one.
    """
    assert on(*clusters).cluster() == wanted


def test_parts_on_different_workers_are_an_error() -> None:
    """Given parts on three workers, when it is asked where they are, then the error names two."""
    with pytest.raises(DifferentClusters) as refused:
        on("c", "b", "a").cluster()
    assert str(refused.value) == 'component workloads assigned to different clusters: "a" and "b"'


@pytest.mark.spec("KUEUE-151")
async def test_a_worker_that_is_taken_away(fake_fleet: Fleet) -> None:
    """Given two connected workers, when the MultiKueueCluster of one is deleted, then the check
    lacks it, and the next Job goes to the other.
    """
    await workers.set_up(fake_fleet)
    client = fake_fleet[MANAGER].client
    await client.delete(MULTIKUEUE_CLUSTERS, "worker1")
    await fake_fleet.settle()
    found = conditions.find((await client.get(ADMISSION_CHECKS, "mk"))["status"]["conditions"], "Active")
    assert found is not None
    assert (found["status"], found["reason"], found["message"]) == (
        "True", "SomeActiveClusters", "Missing clusters: [worker1]")
    await client.create(JOBS, workers.job())
    await fake_fleet.advance("5s")
    assert [len(await workers.jobs(fake_fleet, name)) for name in ("worker1", "worker2")] == [0, 1]


async def test_a_workload_of_no_job_is_rejected(fake_fleet: Fleet) -> None:
    """Given a Workload that nobody owns, when it has quota of a queue for workers, then its check
    is rejected, as there is no kind of job to send.
    """
    await workers.set_up(fake_fleet)
    container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}
    podset = {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    client = fake_fleet[MANAGER].client
    await client.create(WORKLOADS, {"metadata": {"name": "w"}, "spec": {"queueName": "q", "podSets": [podset]}}, NS)
    await fake_fleet.settle()
    [workload] = await workers.workloads(fake_fleet, MANAGER)
    assert workers.condition(workload, "Evicted")[1] == "DeactivatedDueToAdmissionCheck"
    assert workload["spec"]["active"] is False
    told = [each["message"] for each in (await client.list(EVENTS, NS)).items if each["involvedObject"]["name"] == "w"]
    why = '"mk" (No multikueue adapter found, Previously: "Pending")'
    assert f"Deactivated due to AdmissionCheck in Rejected state: {why}" in told
    assert await workers.workloads(fake_fleet, "worker1") == []


async def test_what_was_left_is_collected_when_it_can_be(fake_fleet: Fleet) -> None:
    """Given a worker with a Workload of which the manager knows nothing, when it cannot be listed,
    then the Workload stays, and goes once it can be.
    """
    await workers.set_up(fake_fleet)
    client, labels = fake_fleet["worker1"].client, {"kueue.x-k8s.io/multikueue-origin": "multikueue"}
    container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}
    podset = {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    await client.create(WORKLOADS, {
        "metadata": {"name": "left", "labels": labels}, "spec": {"queueName": "q", "podSets": [podset]}}, NS)
    with fake_fleet["worker1"].faults.add(error="InternalError", verbs="list", resources="workloads", optional=True) as fault:
        await fake_fleet.advance("65s")
        assert fault.met > 0
    assert len(await workers.workloads(fake_fleet, "worker1")) == 1
    await fake_fleet.advance("3m")
    assert await workers.workloads(fake_fleet, "worker1") == []
