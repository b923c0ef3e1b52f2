"""When a CronJob runs: schedules, zones, missed runs, deadlines, suspension."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CRON_JOBS, JOBS
from fakekube.composition.cluster import Cluster
from fakekube.util.driver import Stalled
from fakekube_controllers.cronjob.schedule import plan_of
from tests.controllers.cronjob.conftest import START
from tests.controllers.world import NAMESPACE, job_manifest, manual_cluster

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


@pytest.mark.spec("JOB-135", "JOB-136")
async def test_runs_come_when_the_schedule_says_so(cron_world):
    """Given every five minutes, created at 10:01 / when 10:11 has come / then Jobs of 10:05 and
    10:10 are there, named after their minutes, made from the template, owned by the CronJob, and
    the last run's time is when it was due.
    """
    await cron_world.at("2026-01-01 10:01")
    template = {"metadata": {"labels": {"from": "template"}, "annotations": {"note": "b"}}}
    await cron_world.create_cron("*/5 * * * *", template=template)
    await cron_world.at("2026-01-01 10:11")
    assert await cron_world.runs() == ["01-01 10:05", "01-01 10:10"]
    job, cron = (await cron_world.jobs())[-1], await cron_world.cron()
    assert job["metadata"]["name"] == f"c-{int(cron_world.cluster.clock.time()) // 60 - 1}"
    assert job["metadata"]["labels"]["from"] == "template"
    assert job["metadata"]["annotations"] == {"note": "b", SCHEDULED_AT: "2026-01-01T10:10:00Z"}
    assert job["metadata"]["creationTimestamp"] == "2026-01-01T10:10:00Z"
    assert job["metadata"]["ownerReferences"] == [{
        "apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "uid": cron["metadata"]["uid"], "controller": True,
        "blockOwnerDeletion": True}]
    assert cron["status"]["lastScheduleTime"] == "2026-01-01T10:10:00Z"
    assert cron["status"]["active"][-1] == {
        "apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "namespace": NAMESPACE,
        "uid": job["metadata"]["uid"], "resourceVersion": job["metadata"]["resourceVersion"]}
    assert (await cron_world.events("c"))[0] == (
        "Normal", "SuccessfulCreate", f"Created job {(await cron_world.jobs())[0]['metadata']['name']}")


@pytest.mark.spec("JOB-150")
@pytest.mark.parametrize(("month", "due"), [("01", "02:00"), ("07", "01:00")])
async def test_a_time_zone_has_its_winter_and_its_summer(cron_world, month, due):
    """Given three in the morning in Berlin / when a day passes / then it is 02:00 UTC in winter,
    01:00 in summer, and the annotation tells the time as Berlin does.
    """
    await cron_world.at(f"2026-{month}-10 12:00")
    await cron_world.create_cron("0 3 * * *", timeZone="Europe/Berlin")
    await cron_world.at(f"2026-{month}-11 12:00")
    assert await cron_world.runs() == [f"{month}-11 {due}"]
    offset = {"02:00": "+01:00", "01:00": "+02:00"}[due]
    assert (await cron_world.jobs())[0]["metadata"]["annotations"][SCHEDULED_AT] == f"2026-{month}-11T03:00:00{offset}"


@pytest.mark.spec("JOB-159")
async def test_a_time_that_the_clocks_skip_is_skipped(cron_world):
    """Given half past two in Berlin / when the clocks go from two to three / then there is no run
    on that day.
    """
    await cron_world.at("2026-03-27 12:00")
    await cron_world.create_cron("30 2 * * *", timeZone="Europe/Berlin")
    await cron_world.at("2026-03-30 12:00")
    assert await cron_world.runs() == ["03-28 01:30", "03-30 00:30"]


@pytest.mark.spec("JOB-155")
async def test_days_of_month_and_of_week_are_alternatives(cron_world):
    """Given the 13th and Fridays / when half of April passes / then Fridays run, and the 13th, a
    Monday.
    """
    await cron_world.at("2026-04-01 12:00")
    await cron_world.create_cron("0 0 13 * 5")
    await cron_world.at("2026-04-18 12:00")
    assert await cron_world.runs() == ["04-03 00:00", "04-10 00:00", "04-13 00:00", "04-17 00:00"]


@pytest.mark.spec("JOB-156")
async def test_a_constant_delay_counts_from_the_run_before(cron_world):
    """Given every 90 minutes, created at 00:20 / when five hours pass / then the runs are 90
    minutes apart, from 00:20 on.
    """
    await cron_world.at("2026-01-01 00:20")
    await cron_world.create_cron("@every 90m")
    await cron_world.at("2026-01-01 05:20")
    assert await cron_world.runs() == ["01-01 01:50", "01-01 03:20", "01-01 04:50"]


@pytest.mark.spec("JOB-141")
async def test_of_many_missed_runs_only_the_last_is_made(cron_world):
    """Given a run every minute / when the controller is away for three hours / then it makes one
    Job, and warns.
    """
    await cron_world.create_cron("* * * * *")
    await cron_world.cluster.manager.stop_component("cronjob")
    await cron_world.at("2026-01-01 03:00")
    await cron_world.cluster.manager.start_component("cronjob")
    await cron_world.settle()
    assert await cron_world.runs() == ["01-01 03:00"]
    assert (await cron_world.events("c"))[0] == (
        "Warning", "TooManyMissedTimes",
        "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")


@pytest.mark.spec("JOB-143")
async def test_a_deadline_narrows_what_was_missed(cron_world):
    """Given the same with a deadline of 200 seconds / when the controller comes back / then it
    makes one Job and is quiet.
    """
    await cron_world.create_cron("* * * * *", startingDeadlineSeconds=200)
    await cron_world.cluster.manager.stop_component("cronjob")
    await cron_world.at("2026-01-01 03:00")
    await cron_world.cluster.manager.start_component("cronjob")
    await cron_world.settle()
    assert await cron_world.runs() == ["01-01 03:00"]
    assert await cron_world.reasons("c") == ["SuccessfulCreate"]


@pytest.mark.spec("JOB-142")
async def test_a_resumed_cron_job_makes_up_for_one_run(cron_world):
    """Given a suspended CronJob / when three runs have passed and it is resumed / then the last of
    them is made, now.
    """
    await cron_world.create_cron("*/5 * * * *", suspend=True)
    await cron_world.at("2026-01-01 00:17")
    assert await cron_world.jobs() == []
    await cron_world.change_cron(suspend=False)
    assert await cron_world.runs() == ["01-01 00:15"]
    await cron_world.at("2026-01-01 00:21")
    assert await cron_world.runs() == ["01-01 00:15", "01-01 00:20"]


@pytest.mark.spec("JOB-157")
async def test_a_new_schedule_waits_for_its_own_next_run(cron_world):
    """Given a CronJob / when its schedule is edited / then nothing runs at once, and the next run
    is the new schedule's.
    """
    await cron_world.create_cron("0 6 * * *")
    await cron_world.at("2026-01-01 05:50")
    await cron_world.change_cron(schedule="*/20 * * * *")
    assert await cron_world.jobs() == []
    await cron_world.at("2026-01-01 06:01")
    assert await cron_world.runs() == ["01-01 06:00"]
    await cron_world.change_cron(schedule="15 * * * *")
    await cron_world.at("2026-01-01 07:10")
    assert await cron_world.runs() == ["01-01 06:00", "01-01 06:15"]


@pytest.mark.spec("JOB-153")
async def test_a_schedule_that_never_comes(cron_world):
    """Given the 31st of February / when it is created / then it is accepted, a warning says so, and
    it never runs.
    """
    await cron_world.create_cron("0 0 31 2 *")
    await cron_world.settle()
    assert (await cron_world.events("c"))[0] == (
        "Warning", "InvalidSchedule",
        "invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second")
    await cron_world.at("2026-04-01 00:00")
    assert await cron_world.jobs() == []


@pytest.mark.spec("JOB-151")
@pytest.mark.parametrize(("zone", "said"), [
    ("Local", ["timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"]),
    ("local", ["timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
               "unknown time zone local"]),
    ("", ["timeZone must be nil or non-empty string"]),
    ("Foo/Bar", ["unknown time zone Foo/Bar"]),
])
async def test_zones_that_are_none(cron_world, zone, said):
    """Given a time zone that is none / when a CronJob names it / then it is refused, in upstream's
    words.
    """
    with pytest.raises(APIError) as refused:
        await cron_world.create_cron("0 0 * * *", timeZone=zone)
    assert [cause["message"].partition(": ")[2].partition(": ")[2] for cause in refused.value.causes] == said


@pytest.mark.spec("JOB-152", "JOB-154", "JOB-158", "JOB-160")
@pytest.mark.parametrize(("name", "spec", "field", "said"), [
    ("c", {"schedule": "CRON_TZ=UTC 0 0 * * *"}, "spec.schedule", "cannot use TZ or CRON_TZ in schedule"),
    ("c", {"schedule": "0 0 * * 7"}, "spec.schedule", "end of range (7) above maximum (6): 7"),
    ("c" * 53, {"schedule": "0 0 * * *"}, "metadata.name", "must be no more than 52 characters"),
    ("c", {"schedule": "0 0 * * sun", "selector": {"matchLabels": {"a": "b"}}}, "spec.jobTemplate.spec.selector",
     "`selector` will be auto-generated"),
])
async def test_what_is_refused(cron_world, name, spec, field, said):
    """Given a CronJob that makes no sense / when it is created / then it is 422 and names the
    field.
    """
    job = job_manifest()["spec"] | ({"selector": spec.pop("selector")} if "selector" in spec else {})
    with pytest.raises(APIError) as refused:
        await cron_world.client.create(CRON_JOBS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {**spec, "jobTemplate": {"spec": job}}})
    assert refused.value.code == 422
    assert [cause["field"] for cause in refused.value.causes] == [field]
    assert said in refused.value.message


def test_a_zone_in_front_of_a_schedule_beats_the_field():
    """Given a schedule that an older release let in, with a zone in front / when it is read / then
    it is read in that zone.
    """
    cron_job = {"spec": {"schedule": "TZ=Asia/Tokyo 0 9 * * *", "timeZone": "Europe/Berlin"}}
    assert plan_of(cron_job).next(START) == START + 86400


async def test_an_idle_cron_job_never_pulls_time():
    """Given a CronJob every minute and nothing else / when nothing but it is left / then virtual
    time stands still; whoever says how long to wait gets its runs.
    """
    async with manual_cluster("cronjob") as cluster:
        await cluster.client.create(CRON_JOBS, {
            "metadata": {"name": "c", "namespace": NAMESPACE},
            "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job_manifest()["spec"]}}})

        async def ran():
            return bool((await cluster.client.list(JOBS, NAMESPACE)).items)

        before = cluster.clock.time()
        await cluster.settle()
        with pytest.raises(Stalled):
            await cluster.run_until(ran)
        assert cluster.clock.time() == before
        await cluster.run_until(ran, within=90)


async def test_a_month_of_nights_on_a_node():
    """Given a nightly CronJob and a node / when a month passes / then every night had its run, the
    history holds three, all of them complete, and none is left in the list of active ones.
    """
    async with Cluster(clock="manual") as cluster:
        await cluster.client.create(CRON_JOBS, {
            "metadata": {"name": "c", "namespace": NAMESPACE},
            "spec": {"schedule": "0 2 * * *", "jobTemplate": {"spec": job_manifest()["spec"]}}})
        await cluster.advance(31 * 86400)
        jobs = (await cluster.client.list(JOBS, NAMESPACE)).items
        assert [job["status"]["succeeded"] for job in jobs] == [1, 1, 1]
        status = (await cluster.client.get(CRON_JOBS, "c", NAMESPACE))["status"]
        assert status == {"lastScheduleTime": "2026-01-31T02:00:00Z", "lastSuccessfulTime": jobs[-1]["status"]["completionTime"]}
