"""Jobs that are suspended, before they start or while they run."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS
from tests.controllers.world import NAMESPACE, condition, counts, job_manifest, true_conditions


@pytest.mark.spec("JOB-055", "JOB-126", "JOB-214")
async def test_a_running_job_can_be_suspended(world):
    """Given two pods / when the Job is suspended / then they go without being counted, and it says
    so and has no start time.
    """
    await world.create_job(parallelism=2, completions=2)
    job = await world.change_job(suspend=True)
    assert await world.active() == []
    assert counts(job) == (0, 0, 0, 0)
    assert "startTime" not in job["status"]
    suspended = condition(job, "Suspended")
    assert (suspended["status"], suspended["reason"], suspended["message"]) == ("True", "JobSuspended", "Job suspended")
    assert ("Normal", "Suspended", "Job suspended") in await world.events()
    await world.advance(3)


@pytest.mark.spec("JOB-056", "JOB-214")
async def test_a_suspended_job_starts_when_it_is_resumed(world):
    """Given a Job that was made suspended / then it has no pods / when it is resumed / then it has,
    and says so.
    """
    job = await world.create_job(parallelism=2, completions=2, suspend=True)
    assert await world.pods() == []
    assert true_conditions(job) == ["Suspended"]
    job = await world.change_job(suspend=False)
    assert len(await world.active()) == 2
    resumed = condition(job, "Suspended")
    assert (resumed["status"], resumed["reason"], resumed["message"]) == ("False", "JobResumed", "Job resumed")
    assert job["status"]["startTime"] == "2026-01-01T00:00:01Z"
    assert ("Normal", "Resumed", "Job resumed") in await world.events()


@pytest.mark.spec("JOB-057")
async def test_a_controller_that_starts_later_sees_that_a_job_is_suspended(world):
    """Given no controller / when a suspended Job is made and the controller starts / then the
    condition is set, no start time.
    """
    await world.cluster.manager.stop_component("job")
    await world.client.create(JOBS, job_manifest(suspend=True))
    await world.cluster.manager.start_component("job")
    await world.settle()
    job = await world.job()
    assert true_conditions(job) == ["Suspended"]
    assert "startTime" not in job["status"]


@pytest.mark.spec("JOB-058")
async def test_where_pods_may_run_can_be_changed_only_while_a_job_is_suspended(world):
    """Given a suspended Job / when one update gives a node selector and resumes it / then its pods
    have the selector / when the selector is changed again / then that is refused.
    """
    await world.create_job(suspend=True)
    selector = {"spec": {"nodeSelector": {"disk": "fast"}}}
    await world.change_job(suspend=False, template=selector)
    [pod] = await world.active()
    assert pod["spec"]["nodeSelector"] == {"disk": "fast"}
    with pytest.raises(APIError, match=r"spec.template: Invalid value.*field is immutable"):
        await world.change_job(template={"spec": {"nodeSelector": {"disk": "slow"}}})


@pytest.mark.spec("JOB-064")
async def test_a_job_that_was_suspended_while_it_ran_takes_directives(world):
    """Given a running Job / when it is suspended and its pods are gone / then tolerations and
    labels may change, and are used.
    """
    await world.create_job()
    await world.change_job(suspend=True)
    await world.advance(1)
    tolerations = [{"key": "gpu", "operator": "Exists"}]
    await world.change_job(template={"metadata": {"labels": {"team": "a"}}, "spec": {"tolerations": tolerations}})
    await world.change_job(suspend=False)
    [pod] = await world.active()
    assert pod["metadata"]["labels"]["team"] == "a"
    assert pod["spec"]["tolerations"][0] == tolerations[0]


@pytest.mark.spec("JOB-066")
async def test_a_suspended_job_of_no_completions_is_complete(world):
    """Given a suspended Job of no completions / then it is complete, and never started."""
    job = await world.create_job(suspend=True, completions=0)
    assert true_conditions(job)[-1] == "Complete"
    assert "startTime" not in job["status"]


@pytest.mark.spec("JOB-124")
async def test_a_job_that_is_failing_fails_though_it_is_suspended(world):
    """Given a Job whose FailureTarget waits for a pod / when it is suspended / then it fails all
    the same.
    """
    await world.create_job(parallelism=2, backoffLimit=0)
    failing, other = await world.active()
    await world.bind(other)
    await world.fail(failing)
    await world.advance(1)
    assert true_conditions(await world.job()) == ["FailureTarget"]
    await world.change_job(suspend=True)
    await world.delete_pods(other, grace_period_seconds=0)
    await world.advance(2)
    assert true_conditions(await world.job()) == ["FailureTarget", "Failed"]


@pytest.mark.spec("JOB-065", "JOB-125")
async def test_a_resumed_job_waits_for_the_pods_of_before(world):
    """Given policy Failed and a suspended Job whose pods stop slowly / when it is resumed
    / then new pods come only once the old ones have failed.
    """
    await world.create_job(parallelism=2, completions=2, podReplacementPolicy="Failed")
    pods = await world.active()
    await world.bind(*pods)
    await world.change_job(suspend=True)
    await world.change_job(suspend=False)
    await world.advance(30)
    assert counts(await world.job()) == (0, 0, 0, 2)
    await world.delete_pods(*pods, grace_period_seconds=0)
    await world.advance(2)
    assert counts(await world.job()) == (2, 0, 0, 0)


def asking(cpu):
    return {"spec": {"containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}


@pytest.mark.spec("JOB-060", "JOB-063")
@pytest.mark.parametrize("started", [False, True])
async def test_what_pods_ask_for_can_be_changed_while_a_job_is_suspended(world, started):
    """Given a Job that is suspended, before it ran or while it did / when its pods are to ask for
    more / then new pods do.
    """
    await world.create_job(suspend=not started)
    if started:
        await world.change_job(suspend=True)
        await world.advance(2)
    await world.change_job(template=asking("2"))
    await world.change_job(suspend=False)
    [pod] = await world.active()
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


@pytest.mark.spec("JOB-061")
async def test_what_pods_ask_for_stays_while_a_job_runs(world):
    """Given a running Job / when its pods are to ask for more / then that is refused."""
    await world.create_job()
    with pytest.raises(APIError, match="field is immutable") as refused:
        await world.change_job(template=asking("2"))
    assert refused.value.code == 422


async def running_then_suspended(world):
    """A Job that was resumed in its spec while its status still says suspended, and whose status
    has a start again.
    """
    job = await world.create_job(suspend=True)
    await world.cluster.manager.stop_component("job")
    job["status"]["startTime"] = "2026-01-01T00:00:00Z"
    await world.client.update_status(JOBS, job)
    await world.client.patch(JOBS, "j", NAMESPACE, {"spec": {"suspend": False}})
    return await world.job()


@pytest.mark.spec("JOB-059")
async def test_a_start_may_change_with_the_resumption(world):
    """Given a stored start and a resumed spec / when one write of the status gives another start
    and says Suspended False / then it is taken / when a later write takes the start away / then
    that is refused.
    """
    job = await running_then_suspended(world)
    job["status"]["startTime"] = "2026-01-01T00:00:01Z"
    condition(job, "Suspended").update(status="False", reason="JobResumed", message="Job resumed")
    job = await world.client.update_status(JOBS, job)
    assert job["status"]["startTime"] == "2026-01-01T00:00:01Z"
    del job["status"]["startTime"]
    with pytest.raises(APIError, match=r"status.startTime: Invalid value: null: field is immutable for unsuspended job once set"):
        await world.client.update_status(JOBS, job)


@pytest.mark.spec("JOB-059")
async def test_a_start_stays_when_nothing_is_resumed(world):
    """Given the same / when the start alone changes / then that is refused."""
    job = await running_then_suspended(world)
    job["status"]["startTime"] = "2026-01-01T00:00:01Z"
    with pytest.raises(APIError, match=r"status.startTime: Invalid value: .*: field is immutable for unsuspended job once set"):
        await world.client.update_status(JOBS, job)
