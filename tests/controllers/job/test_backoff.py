"""How long a Job waits before it tries again, and when it gives up."""

import pytest

from fakekube.apimachinery import times
from fakekube.client.resources import JOBS
from tests.controllers.world import NAMESPACE, condition, counts, job_manifest, true_conditions


async def gap_after_failure(world, *pods, limit=700):
    """Fail pods and let time pass until another one is created; seconds from the one to the other.
    """
    known = [pod["metadata"]["uid"] for pod in await world.pods()]
    failed_at = world.cluster.clock.time()
    await world.fail(*pods)

    async def replaced():
        return any(pod["metadata"]["uid"] not in known for pod in await world.pods())

    await world.cluster.run_until(replaced, within=limit)
    newest = max(times.parse_time(pod["metadata"]["creationTimestamp"]) for pod in await world.pods())
    return newest - failed_at


@pytest.mark.spec("JOB-052", "JOB-093")
async def test_the_wait_doubles_with_each_failure_until_the_limit(world):
    """Given the default limit of six / when one pod after the other fails
    / then each is replaced twice as late as the one before, and the seventh failure fails the Job.
    """
    await world.create_job()
    gaps = []
    for _ in range(6):
        [pod] = await world.active()
        gaps.append(await gap_after_failure(world, pod))
    assert gaps == [10, 20, 40, 80, 160, 320]
    await world.fail(*await world.active())
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert counts(job) == (0, 0, 7, 0)
    assert job["status"]["conditions"][-1]["reason"] == "BackoffLimitExceeded"


@pytest.mark.spec("JOB-094")
async def test_a_success_makes_the_wait_short_again(world):
    """Given two failures / when a pod succeeds and the next fails / then that one is replaced after
    ten seconds.
    """
    await world.create_job(completions=5)
    for expected in (10, 20):
        assert await gap_after_failure(world, *await world.active()) == expected
    await world.succeed(*await world.active())
    await world.advance(2)
    assert await gap_after_failure(world, *await world.active()) == 10


@pytest.mark.spec("JOB-091")
@pytest.mark.parametrize(("together", "expected"), [(2, 20), pytest.param(5, 160, marks=pytest.mark.spec("JOB-092"))])
async def test_failures_within_a_second_are_counted_together(world, together, expected):
    """Given several pods / when some fail within one second / then the wait is as after so many
    failures.
    """
    await world.create_job(parallelism=together)
    assert await gap_after_failure(world, *await world.active()) == expected


@pytest.mark.spec("JOB-095")
async def test_a_controller_that_restarts_has_forgotten_to_wait(world):
    """Given a Job that waits after three failures / when the controller restarts / then the pod is
    replaced at once.
    """
    await world.create_job()
    for _ in range(2):
        await gap_after_failure(world, *await world.active())
    await world.fail(*await world.active())
    await world.advance(2)
    assert await world.active() == []
    await world.restart()
    assert len(await world.active()) == 1


@pytest.mark.spec("JOB-096")
@pytest.mark.parametrize(("limit", "restarts"), [(2, 2), (0, 1)])
async def test_restarts_of_containers_count_against_the_limit(world, limit, restarts):
    """Given restartPolicy OnFailure / when a container has restarted as often as the limit, or once
    if it is 0 / then the Job fails and its pod is deleted.
    """
    await world.create_job(restart_policy="OnFailure", backoffLimit=limit)
    [pod] = await world.active()
    if limit:
        await world.run(pod, restarts=restarts - 1)
        await world.advance(1)
        assert true_conditions(await world.job()) == []
    await world.run(pod, restarts=restarts)
    await world.advance(3)
    job = await world.job()
    assert job["status"]["conditions"][0]["reason"] == "BackoffLimitExceeded"
    assert await world.active() == []


@pytest.mark.spec("JOB-097")
async def test_what_runs_when_the_job_fails_counts_as_failed(world):
    """Given three pods and a limit of two / when three have failed / then the two that run are
    stopped and counted too.
    """
    await world.create_job(parallelism=3, backoffLimit=2)
    await world.bind(*await world.active())
    await world.fail((await world.active())[0])
    await world.advance(12)
    pods = await world.active()
    await world.bind(pods[-1])
    await world.fail(*pods[:2])
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget"]
    assert counts(job)[0] == 0
    left = [pod for pod in await world.pods() if "deletionTimestamp" in pod["metadata"]]
    await world.fail(*left)
    await world.delete_pods(*left, grace_period_seconds=0)
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert job["status"]["failed"] == 4


@pytest.mark.spec("JOB-098")
async def test_a_job_that_takes_too_long_fails(world):
    """Given a deadline of ten seconds / when they are over / then the pods are deleted and the Job
    fails, and says so.
    """
    await world.create_job(parallelism=2, activeDeadlineSeconds=10)
    await world.advance(8)
    assert counts(await world.job()) == (2, 0, 0, 0)
    await world.advance(3)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert job["status"]["conditions"][0]["reason"] == "DeadlineExceeded"
    assert job["status"]["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:00:10Z"
    assert await world.active() == []
    assert ("Warning", "DeadlineExceeded", "Job was active longer than specified deadline") in await world.events()


@pytest.mark.spec("JOB-099")
async def test_a_deadline_that_is_moved_into_the_past_takes_effect_at_once(world):
    """Given a Job that has run for twenty seconds / when its deadline becomes five / then it fails
    now.
    """
    await world.create_job(activeDeadlineSeconds=100)
    await world.advance(19)
    job = await world.change_job(activeDeadlineSeconds=5)
    assert job["status"]["conditions"][0]["reason"] == "DeadlineExceeded"


@pytest.mark.spec("JOB-100")
async def test_a_suspended_job_gets_its_whole_deadline_again(world):
    """Given a deadline of ten seconds / when the Job is suspended after eight and resumed later
    / then the ten seconds begin anew.
    """
    await world.create_job(activeDeadlineSeconds=10)
    await world.advance(7)
    await world.change_job(suspend=True)
    await world.advance(91)
    await world.change_job(suspend=False)
    await world.advance(7)
    assert true_conditions(await world.job()) == []
    await world.advance(3)
    job = await world.job()
    assert condition(job, "FailureTarget")["lastTransitionTime"] == "2026-01-01T00:01:50Z"


@pytest.mark.spec("JOB-101")
async def test_failure_is_looked_at_before_success(world):
    """Given two completions and no failure allowed / when one pod succeeds and the other fails at
    once / then the Job fails.
    """
    await world.create_job(parallelism=2, completions=1, backoffLimit=0)
    [pod] = await world.active()
    await world.fail(pod)
    await world.advance(1)
    assert true_conditions(await world.job()) == ["FailureTarget", "Failed"]


@pytest.mark.spec("JOB-127")
async def test_active_is_what_is_active_while_the_job_waits(world):
    """Given three pods / when one fails and its replacement waits / then active says two, and the
    status is accepted.
    """
    await world.create_job(parallelism=3)
    await world.fail((await world.active())[0])
    await world.advance(3)
    job = await world.job()
    assert counts(job) == (2, 0, 1, 0)
    assert len(await world.active()) == 2


async def test_a_job_of_the_same_name_does_not_wait_for_the_failures_of_the_one_before(world):
    """Given a Job whose pod has failed / when it is deleted and one of its name is there before the
    controller works again / then that one gets its pod at once.
    """
    await world.create_job()
    await world.fail(*await world.active())
    await world.advance(2)
    assert not await world.active()
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
    await world.client.create(JOBS, job_manifest())
    await world.advance(2)
    assert len(await world.active()) == 1
