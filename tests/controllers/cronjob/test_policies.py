"""What a CronJob does about runs that overlap, about Jobs that end, vanish or were never its own,
and about its history.
"""

import pytest

from fakekube.client.resources import CRON_JOBS, JOBS
from tests.controllers.world import NAMESPACE, job_manifest


def names(jobs):
    return [job["metadata"]["name"] for job in jobs]


async def active(world):
    return [reference["name"] for reference in (await world.cron())["status"].get("active") or ()]


@pytest.mark.spec("JOB-137")
async def test_runs_may_overlap(cron_world):
    """Given a run every minute that takes long / when two have come / then both are active."""
    await cron_world.create_cron("* * * * *")
    await cron_world.at("2026-01-01 00:02")
    assert len(await active(cron_world)) == 2
    assert await active(cron_world) == names(await cron_world.jobs())


@pytest.mark.spec("JOB-138")
async def test_a_forbidden_overlap_starts_late(cron_world):
    """Given overlap is forbidden and a run every five minutes / when the first takes seven / then
    the second is not started and the last run's time stays; once the first is over, the second
    starts at once.
    """
    await cron_world.create_cron("*/5 * * * *", concurrencyPolicy="Forbid")
    await cron_world.at("2026-01-01 00:11")
    (first,) = await cron_world.jobs()
    assert (await cron_world.cron())["status"]["lastScheduleTime"] == "2026-01-01T00:05:00Z"
    assert (await cron_world.events("c"))[1] == (
        "Normal", "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
    await cron_world.at("2026-01-01 00:12")
    await cron_world.finish(first)
    assert await cron_world.runs() == ["01-01 00:05", "01-01 00:10"]
    assert (await cron_world.jobs())[1]["metadata"]["creationTimestamp"] == "2026-01-01T00:12:00Z"
    assert (await cron_world.cron())["status"]["lastScheduleTime"] == "2026-01-01T00:10:00Z"


@pytest.mark.spec("JOB-139")
async def test_a_late_run_may_be_too_late(cron_world):
    """Given the same with a deadline of 30 seconds / when the first run is over two minutes after
    the second was due / then the second never starts, and the third comes in time.
    """
    await cron_world.create_cron("*/5 * * * *", concurrencyPolicy="Forbid", startingDeadlineSeconds=30)
    await cron_world.at("2026-01-01 00:12")
    (first,) = await cron_world.jobs()
    await cron_world.finish(first)
    await cron_world.at("2026-01-01 00:16")
    assert await cron_world.runs() == ["01-01 00:05", "01-01 00:15"]


async def test_nothing_starts_within_no_time(cron_world):
    """Given a deadline of zero seconds / when a run is due / then it is looked at a moment late, as
    upstream does, and missed.
    """
    await cron_world.create_cron("0 * * * *", startingDeadlineSeconds=0)
    await cron_world.at("2026-01-01 01:01")
    assert await cron_world.jobs() == []


@pytest.mark.spec("JOB-140")
async def test_a_run_may_replace_the_one_before(cron_world):
    """Given overlap replaces / when the second run is due while the first runs / then the first is
    deleted and the second made, one after the other.
    """
    await cron_world.create_cron("*/5 * * * *", concurrencyPolicy="Replace")
    await cron_world.at("2026-01-01 00:05")
    (first,) = names(await cron_world.jobs())
    await cron_world.at("2026-01-01 00:10")
    (second,) = names(await cron_world.jobs())
    assert first != second
    assert await active(cron_world) == [second]
    assert (await cron_world.events("c"))[1:] == [
        ("Normal", "SuccessfulDelete", f"Deleted job {first}"), ("Normal", "SuccessfulCreate", f"Created job {second}")]


@pytest.mark.spec("JOB-144")
async def test_the_history_has_limits(cron_world):
    """Given one success and no failure to be kept / when Jobs end / then the older success goes,
    and the failure.
    """
    await cron_world.create_cron("*/5 * * * *", successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0)
    ends = ["Complete", "Failed", "Complete"]
    for minute, how in zip((5, 10, 15), ends, strict=True):
        await cron_world.at(f"2026-01-01 00:{minute:02}")
        await cron_world.finish((await cron_world.jobs())[-1], how)
    assert await cron_world.runs() == ["01-01 00:15"]


@pytest.mark.spec("JOB-144")
async def test_the_history_has_limits_of_its_own(cron_world):
    """Given limits of null / when five Jobs succeed and three fail / then three and one of them are
    left.
    """
    await cron_world.create_cron("*/5 * * * *", successfulJobsHistoryLimit=None, failedJobsHistoryLimit=None)
    for number in range(1, 9):
        await cron_world.at(f"2026-01-01 00:{number * 5:02}")
        await cron_world.finish((await cron_world.jobs())[-1], "Failed" if number % 3 == 0 or number == 1 else "Complete")
    assert await cron_world.runs() == ["01-01 00:25", "01-01 00:30", "01-01 00:35", "01-01 00:40"]


@pytest.mark.spec("JOB-145")
async def test_a_suspended_cron_job_still_tidies_up(cron_world):
    """Given a Job that runs and a CronJob that keeps none / when it is suspended and the Job ends /
    then the Job is deleted, and no other comes.
    """
    await cron_world.create_cron("*/5 * * * *", successfulJobsHistoryLimit=0)
    await cron_world.at("2026-01-01 00:05")
    await cron_world.change_cron(suspend=True)
    await cron_world.finish((await cron_world.jobs())[0])
    await cron_world.at("2026-01-01 01:00")
    assert await cron_world.jobs() == []
    assert (await cron_world.cron())["status"] == {
        "lastScheduleTime": "2026-01-01T00:05:00Z", "lastSuccessfulTime": "2026-01-01T00:05:00Z"}


@pytest.mark.spec("JOB-146")
async def test_the_end_of_a_run_is_one_write(cron_world):
    """Given an active Job / when it completes / then one write takes it from the list and tells
    when, and an Event tells how.
    """
    await cron_world.create_cron("*/5 * * * *")
    await cron_world.at("2026-01-01 00:06")
    versions = []
    handle = cron_world.cluster.manager.component("cronjob").ctx.add_handler(
        CRON_JOBS, on_update=lambda _, new: versions.append(new["status"]))
    (job,) = await cron_world.jobs()
    await cron_world.finish(job)
    handle.remove()
    assert versions == [{"lastScheduleTime": "2026-01-01T00:05:00Z", "lastSuccessfulTime": "2026-01-01T00:06:00Z"}]
    text = f"Saw completed job: {job['metadata']['name']}, condition: Complete"
    assert (await cron_world.events("c"))[-1] == ("Normal", "SawCompletedJob", text)


@pytest.mark.spec("JOB-147")
async def test_a_job_that_somebody_deleted(cron_world):
    """Given an active Job / when somebody deletes it / then it is no longer active, and an Event
    says that it went missing.
    """
    await cron_world.create_cron("*/5 * * * *")
    await cron_world.at("2026-01-01 00:05")
    (job,) = names(await cron_world.jobs())
    await cron_world.client.delete(JOBS, job, NAMESPACE, propagation_policy="Background")
    await cron_world.settle()
    assert await active(cron_world) == []
    assert (await cron_world.events("c"))[-1] == ("Normal", "MissingJob", f"Active job went missing: {job}")


def owned(cron, name):
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "uid": cron["metadata"]["uid"], "controller": True}
    manifest = job_manifest(name)
    manifest["metadata"]["ownerReferences"] = [owner]
    return manifest


@pytest.mark.spec("JOB-148")
async def test_a_job_that_it_did_not_make(cron_world):
    """Given a Job that names the CronJob as its controller / when the CronJob sees it / then it
    warns and does not count it.
    """
    cron = await cron_world.create_cron("*/5 * * * *")
    await cron_world.client.create(JOBS, owned(cron, "foreign"))
    await cron_world.settle()
    assert await active(cron_world) == []
    assert (await cron_world.events("c"))[0] == (
        "Warning", "UnexpectedJob", "Saw a job that the controller did not create or forgot: foreign")


@pytest.mark.spec("JOB-149")
async def test_a_run_that_is_there_already(cron_world):
    """Given a Job with the name of the next run, owned by the CronJob / when the run is due / then
    there is no second one, and the status tells of the first.
    """
    cron = await cron_world.create_cron("*/5 * * * *")
    name = f"c-{int(cron_world.cluster.clock.time()) // 60 + 5}"
    await cron_world.client.create(JOBS, owned(cron, name))
    await cron_world.at("2026-01-01 00:06")
    assert names(await cron_world.jobs()) == [name]
    assert await active(cron_world) == [name]
    assert (await cron_world.cron())["status"]["lastScheduleTime"] == "2026-01-01T00:05:00Z"


async def test_a_name_that_somebody_else_took(cron_world):
    """Given a Job of somebody else with the name of the next run / when the run is due / then
    nothing is made and nothing claimed.
    """
    await cron_world.create_cron("*/5 * * * *")
    await cron_world.client.create(JOBS, job_manifest(f"c-{int(cron_world.cluster.clock.time()) // 60 + 5}"))
    await cron_world.at("2026-01-01 00:06")
    assert await active(cron_world) == []
    assert "lastScheduleTime" not in (await cron_world.cron())["status"]


async def test_a_job_that_is_refused_is_tried_again(cron_world):
    """Given a template that a limit of the namespace refuses / when a run is due / then a warning
    tells why, and once the limit is gone the run is made.
    """
    await cron_world.create_cron("*/5 * * * *", template={"metadata": {"labels": {"bad label": "x"}}})
    await cron_world.at("2026-01-01 00:05")
    await cron_world.advance(10)
    (event, *_) = await cron_world.events("c")
    assert event[:2] == ("Warning", "FailedCreate")
    assert event[2].startswith('Error creating job: Job.batch "c-')
    await cron_world.change_cron(jobTemplate={"metadata": {"labels": None}})
    assert await cron_world.runs() == ["01-01 00:05"]


async def test_a_deleted_cron_job_takes_its_jobs_along(cron_world):
    """Given a CronJob with a run / when it is deleted / then the Job goes too, and no other comes.
    """
    await cron_world.create_cron("*/5 * * * *")
    await cron_world.at("2026-01-01 00:05")
    await cron_world.client.delete(CRON_JOBS, "c", NAMESPACE)
    await cron_world.at("2026-01-01 00:11")
    assert await cron_world.jobs() == []
