"""A Job's way through Kueue: it waits, runs, stops, ends."""

import pytest

from fakekube.client.resources import JOBS
from fakekube_controllers.kueue import names
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.world import NAMESPACE


@pytest.mark.spec("KUEUE-085")
async def test_a_job_with_a_queue_waits_with_a_workload(jobs):
    """Given a Job with a queue When it is created unsuspended Then it is stored suspended, and has
    a Workload named after it, of which an Event tells."""
    job = await jobs.create(parallelism=2, completions=3)
    workload = await jobs.workload()
    metadata, spec = workload["metadata"], workload["spec"]
    assert job["spec"]["suspend"] is True
    assert await jobs.pods() == []
    assert metadata["name"].startswith("job-j-")
    assert len(metadata["name"]) == len("job-j-") + 5
    assert metadata["finalizers"] == [names.RESOURCE_IN_USE_FINALIZER]
    assert metadata["labels"] == {names.JOB_UID_LABEL: job["metadata"]["uid"]}
    assert [(each["kind"], each["name"], each["controller"]) for each in metadata["ownerReferences"]] == [("Job", "j", True)]
    assert (spec["queueName"], spec["priority"], spec["active"]) == ("q", 0, True)
    assert [(each["name"], each["count"]) for each in spec["podSets"]] == [("main", 2)]
    assert await jobs.events("CreatedWorkload") == [f"Created Workload: default/{metadata['name']}"]


@pytest.mark.spec("KUEUE-087")
async def test_an_admitted_job_runs_with_what_its_flavor_asks_for(jobs):
    """Given a Job that waits When its Workload is admitted Then it runs, with the labels and
    tolerations of its flavor, and the labels that say what its pods are."""
    await jobs.create(parallelism=2, template={"nodeSelector": {"disk": "ssd"}})
    workload = await jobs.workload()
    await jobs.admit(workload)
    job = await jobs.job()
    template = job["spec"]["template"]
    assert job["spec"]["suspend"] is False
    assert template["spec"]["nodeSelector"] == {"disk": "ssd", "zone": "a"}
    assert template["spec"]["tolerations"] == [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]
    assert template["metadata"]["labels"].items() >= {
        names.PODSET_LABEL: "main", names.LOCAL_QUEUE_LABEL: "q", names.CLUSTER_QUEUE_LABEL: "cq"}.items()
    assert template["metadata"]["annotations"] == {names.WORKLOAD_ANNOTATION: workload["metadata"]["name"]}
    assert len(await jobs.active()) == 2
    assert await jobs.events("Started") == ["Admitted by clusterQueue cq"]


@pytest.mark.spec("KUEUE-088")
async def test_an_evicted_job_is_as_it_was_before(jobs):
    """Given a Job that runs When its Workload is evicted Then it is suspended with the template
    that it had, its start is forgotten, and its Workload gives the quota back."""
    before = await jobs.create(parallelism=2, template={"nodeSelector": {"disk": "ssd"}})
    await jobs.admit(await jobs.workload())
    await jobs.evict(await jobs.workload())
    job, workload = await jobs.job(), await jobs.workload()
    assert job["spec"]["suspend"] is True
    assert job["spec"]["template"] == before["spec"]["template"]
    assert "annotations" not in job["metadata"]
    assert "startTime" not in job["status"]
    assert "admission" not in workload["status"]
    assert condition_of(workload, "QuotaReserved") == ("False", "Pending", "for somebody else")
    assert condition_of(workload, "Requeued") == ("True", "Preempted", "for somebody else")
    assert await jobs.events("Stopped") == ["for somebody else"]


@pytest.mark.spec("KUEUE-091")
@pytest.mark.parametrize(("ends", "reason"), [("succeed", "Succeeded"), ("fail", "Failed")])
async def test_a_workload_finishes_with_its_job(jobs, ends, reason):
    """Given a Job that runs When it ends Then its Workload is finished with the Job's message, and
    lets itself be deleted."""
    await jobs.create(backoffLimit=0)
    await jobs.admit(await jobs.workload())
    await getattr(jobs, ends)(*await jobs.active())
    await jobs.advance(2)
    job, workload = await jobs.job(), await jobs.workload()
    ended = next(each for each in job["status"]["conditions"] if each["type"] in ("Complete", "Failed"))
    assert condition_of(workload, "Finished") == ("True", reason, ended.get("message", ""))
    assert workload["metadata"].get("finalizers") is None
    assert f"Workload 'default/{workload['metadata']['name']}' is declared finished" in await jobs.events("FinishedWorkload")


@pytest.mark.spec("KUEUE-092")
async def test_a_deleted_workload_stops_its_job_and_comes_anew(jobs):
    """Given a Job that runs When its Workload is deleted Then it is suspended and restored, and a
    new Workload waits for quota."""
    before = await jobs.create()
    await jobs.admit(await jobs.workload())
    old = await jobs.workload()
    await jobs.client.delete(names.WORKLOADS, old["metadata"]["name"], NAMESPACE)
    await jobs.advance(2)
    job, new = await jobs.job(), await jobs.workload()
    assert job["spec"]["suspend"] is True
    assert job["spec"]["template"] == before["spec"]["template"]
    assert new["metadata"]["uid"] != old["metadata"]["uid"]
    assert "Workload is deleted" in await jobs.events("Stopped")


@pytest.mark.spec("KUEUE-092")
async def test_the_workload_of_a_deleted_job_is_let_go(jobs):
    """Given a Job that runs When it is deleted Then its Workload goes, too."""
    await jobs.create()
    await jobs.admit(await jobs.workload())
    await jobs.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
    await jobs.advance(2)
    assert await jobs.workloads() == []


async def test_a_job_that_somebody_lets_run_is_stopped(jobs):
    """Given a Job that waits When somebody unsuspends it Then it is suspended again."""
    await jobs.create()
    await jobs.change_job(suspend=False)
    await jobs.advance(1)
    assert (await jobs.job())["spec"]["suspend"] is True
    assert await jobs.events("Stopped") == ["Not admitted by cluster queue"]


async def test_a_job_without_a_queue_is_left_alone(jobs):
    """Given no default queue When a Job without a queue is created Then it runs."""
    await jobs.create(labels={})
    assert await jobs.workloads() == []
    assert len(await jobs.active()) == 1


async def test_the_readiness_of_pods_is_told(jobs):
    """Given an admitted Job When its pods become ready, and are so no more Then the condition of
    its Workload says so."""
    await jobs.create(parallelism=2, completions=2)
    assert condition_of(await jobs.workload(), "PodsReady") == ("False", "WaitForStart", "Not all pods are ready or succeeded")
    await jobs.admit(await jobs.workload())
    first, second = await jobs.active()
    await jobs.make_ready(first)
    await jobs.advance(1)
    assert condition_of(await jobs.workload(), "PodsReady")[:2] == ("False", "WaitForStart")
    await jobs.make_ready(second)
    await jobs.advance(1)
    assert condition_of(await jobs.workload(), "PodsReady") == (
        "True", "Started", "All pods reached readiness and the workload is running")
    await jobs.run(first, ready=False)
    await jobs.advance(1)
    assert condition_of(await jobs.workload(), "PodsReady") == (
        "False", "WaitForRecovery", "At least one pod has failed, waiting for recovery")
    await jobs.run(first)
    await jobs.advance(1)
    assert condition_of(await jobs.workload(), "PodsReady")[:2] == ("True", "Recovered")


@pytest.mark.spec("KUEUE-089")
async def test_a_workload_follows_the_queue_of_its_job(jobs):
    """Given a Job that waits When its queue changes Then that of its Workload does."""
    await jobs.create()
    await jobs.label_job(labels={names.QUEUE_LABEL: "other"})
    assert (await jobs.workload())["spec"]["queueName"] == "other"
