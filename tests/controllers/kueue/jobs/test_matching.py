"""Which Workload is a Job's: one that says what the Job says, or one that was there before it."""

import pytest

from fakekube.client.resources import JOBS
from fakekube_controllers.kueue import names
from tests.controllers.kueue.jobs.conftest import QUEUE, condition_of, manifest
from tests.controllers.world import NAMESPACE, pod_template

PREBUILT = QUEUE | {names.PREBUILT_WORKLOAD_LABEL: "built"}


async def prebuild(jobs, count=1, **metadata):
    """A Workload named ``built`` that fits a Job of ``count`` pods as the server has it."""
    probe = await jobs.client.create(JOBS, manifest("probe", labels={}, parallelism=count, suspend=True))
    template = probe["spec"]["template"]
    for label in [each for each in template["metadata"]["labels"] if "controller-uid" in each or "job-name" in each]:
        del template["metadata"]["labels"][label]
    await jobs.client.create(names.WORKLOADS, {
        "metadata": {"name": "built", "namespace": NAMESPACE, **metadata},
        "spec": {"queueName": "q", "podSets": [{"name": "main", "count": count, "template": template}]}})
    await jobs.advance(1)


async def built(jobs):
    return await jobs.client.get(names.WORKLOADS, "built", NAMESPACE)


@pytest.mark.spec("KUEUE-090")
async def test_a_job_that_waits_changes_its_workload(jobs):
    """Given a Job that waits When its size changes Then its Workload has the new one, and an Event
    tells."""
    await jobs.create(parallelism=1)
    before = await jobs.workload()
    await jobs.change_job(parallelism=3)
    after = await jobs.workload()
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["podSets"][0]["count"] == 3
    assert await jobs.events("UpdatedWorkload") == [
        f"Updated not matching Workload for suspended job: default/{before['metadata']['name']}"]


async def test_a_job_that_waits_takes_fewer_pods_from_now_on(jobs):
    """Given a Job that waits, which was compared with its Workload When an annotation alone changes
    that says how few pods will do Then its Workload says so, too."""
    await jobs.create(parallelism=3)
    before = await jobs.workload()
    assert "minCount" not in before["spec"]["podSets"][0]
    least = {"metadata": {"annotations": {names.JOB_MIN_PARALLELISM_ANNOTATION: "2"}}}
    await jobs.client.patch(JOBS, "j", NAMESPACE, least)
    await jobs.advance(1)
    after = await jobs.workload()
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["podSets"][0]["minCount"] == 2


@pytest.mark.spec("KUEUE-090")
async def test_a_job_that_runs_is_stopped_by_a_change(jobs):
    """Given a Job that runs When its size changes Then it is stopped, its Workload deleted, and a
    new one made."""
    await jobs.create(parallelism=2, completions=9)
    await jobs.admit(await jobs.workload())
    before = await jobs.workload()
    await jobs.change_job(parallelism=3)
    await jobs.advance(30)
    after = await jobs.workload()
    assert (await jobs.job())["spec"]["suspend"] is True
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"]["podSets"][0]["count"] == 3
    assert await jobs.events("Stopped") == ["No matching Workload; restoring pod templates according to existent Workload"]
    assert await jobs.events("DeletedWorkload") == [
        f"Deleted not matching Workload: default/{before['metadata']['name']}"]


async def test_a_second_workload_of_a_job_is_deleted(jobs):
    """Given a Job with its Workload When another one is owned by it Then that is deleted."""
    job = await jobs.create()
    first = await jobs.workload()
    owner = first["metadata"]["ownerReferences"]
    await jobs.client.create(names.WORKLOADS, {
        "metadata": {"name": "zz", "namespace": NAMESPACE, "ownerReferences": owner},
        "spec": {"podSets": [{"name": "main", "count": 1, "template": pod_template()}]}})
    await jobs.advance(1)
    assert (await jobs.workload())["metadata"]["uid"] == first["metadata"]["uid"]
    assert (await jobs.job())["metadata"]["uid"] == job["metadata"]["uid"]


async def test_the_workload_of_a_job_that_was_there_before_is_not_taken(jobs):
    """Given a Job that was deleted with its Workload left behind When one of its name is created
    Then it has a Workload of its own."""
    await jobs.create()
    old = await jobs.workload()
    await jobs.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Orphan")
    await jobs.advance(1)
    await jobs.client.create(JOBS, manifest("j", parallelism=2))
    await jobs.advance(5)
    live = [each for each in await jobs.workloads() if condition_of(each, "Finished") is None]
    assert [each["spec"]["podSets"][0]["count"] for each in live] == [2]
    assert live[0]["metadata"]["uid"] != old["metadata"]["uid"]


@pytest.mark.spec("KUEUE-094")
async def test_a_job_waits_for_the_workload_that_it_names(jobs):
    """Given a Job that names a Workload When there is none Then it waits; when it comes Then it is
    the Job's, and the Job runs once it is admitted."""
    job = await jobs.create(labels=PREBUILT)
    assert await jobs.workloads() == []
    await jobs.advance(60)
    await prebuild(jobs)
    workload = await built(jobs)
    assert [(each["name"], each["controller"]) for each in workload["metadata"]["ownerReferences"]] == [("j", True)]
    assert workload["metadata"]["labels"][names.JOB_UID_LABEL] == job["metadata"]["uid"]
    await jobs.admit(workload)
    assert (await jobs.job())["spec"]["suspend"] is False


@pytest.mark.spec("KUEUE-094")
async def test_a_workload_that_says_otherwise_is_out_of_sync(jobs):
    """Given a Workload of two pods When a Job of one names it Then it is finished."""
    await prebuild(jobs, count=2)
    await jobs.create(labels=PREBUILT)
    await jobs.advance(5)
    assert condition_of(await built(jobs), "Finished") == (
        "True", "OutOfSync", "The prebuilt workload is out of sync with its user job")
    assert (await jobs.job())["spec"]["suspend"] is True


@pytest.mark.spec("KUEUE-094")
async def test_a_workload_of_somebody_else_is_not_taken(jobs):
    """Given a Workload that another object controls When a Job names it Then it stays as it is."""
    owner = {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "u", "controller": True}
    await prebuild(jobs, ownerReferences=[owner])
    before = await built(jobs)
    await jobs.create(labels=PREBUILT)
    after = await built(jobs)
    assert after["metadata"]["ownerReferences"] == before["metadata"]["ownerReferences"]
    assert (await jobs.job())["spec"]["suspend"] is True


async def test_the_annotation_names_the_workload_before_the_label(jobs):
    """Given a Job that names one Workload by its label and another by its annotation When both are
    there Then it has the latter."""
    await prebuild(jobs)
    await jobs.create(
        labels=QUEUE | {names.PREBUILT_WORKLOAD_LABEL: "none"}, annotations={names.PREBUILT_WORKLOAD_ANNOTATION: "built"})
    assert (await built(jobs))["metadata"]["ownerReferences"][0]["name"] == "j"


async def test_variables_that_are_named_twice_count_once(jobs):
    """Given a container that names a variable twice When its Workload is made Then the last value
    stands in the first place."""
    job = manifest("j")
    job["spec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]
    await jobs.client.create(JOBS, job)
    await jobs.advance(1)
    container = (await jobs.workload())["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "A", "value": "3"}, {"name": "B", "value": "2"}]


async def test_a_job_waits_for_what_its_annotation_names(jobs):
    """Given a Job with admission gates When it is created, and a gate is removed Then its Workload
    has the same gates."""
    key = names.ADMISSION_GATED_BY_ANNOTATION
    await jobs.create(annotations={key: "example.com/a,example.com/b"})
    assert (await jobs.workload())["metadata"]["annotations"] == {key: "example.com/a,example.com/b"}
    await jobs.label_job(annotations={key: "example.com/b"})
    assert (await jobs.workload())["metadata"]["annotations"] == {key: "example.com/b"}
    await jobs.label_job(annotations={key: None})
    assert key not in ((await jobs.workload())["metadata"].get("annotations") or {})
