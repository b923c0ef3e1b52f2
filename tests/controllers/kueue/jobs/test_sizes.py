"""How many pods of a Job need quota: fewer where it takes fewer, fewer towards its end."""

import pytest

from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.job.controller import terminal_indexes_count

MIN, EQUAL = names.JOB_MIN_PARALLELISM_ANNOTATION, names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION


async def reclaimable(jobs):
    return (await jobs.workload())["status"].get("reclaimablePods")


@pytest.mark.spec("KUEUE-093")
async def test_what_a_job_does_not_need_any_more_is_given_back(jobs):
    """Given a Job of five completions, three at once When three, and four pods have succeeded Then
    one, and two pods need no quota any more."""
    await jobs.create(parallelism=3, completions=5)
    await jobs.admit(await jobs.workload())
    for number, expected in ((2, None), (1, 1), (1, 2)):
        await jobs.succeed(*(await jobs.active())[:number])
        await jobs.advance(2)
        assert await reclaimable(jobs) == (expected and [{"name": "main", "count": expected}])


@pytest.mark.spec("KUEUE-093")
async def test_a_job_of_one_pod_at_once_gives_nothing_back(jobs):
    """Given a Job of two completions, one at once When one has succeeded Then nothing is given
    back."""
    await jobs.create(parallelism=1, completions=2)
    await jobs.admit(await jobs.workload())
    await jobs.succeed(*await jobs.active())
    await jobs.advance(2)
    assert await reclaimable(jobs) is None


@pytest.mark.spec("KUEUE-093")
async def test_an_index_that_failed_for_good_needs_no_quota(jobs):
    """Given an indexed Job of two When one index has failed for good Then its pod is given back."""
    await jobs.create(parallelism=2, completions=2, completionMode="Indexed", backoffLimitPerIndex=0)
    await jobs.admit(await jobs.workload())
    await jobs.fail((await jobs.by_index())[1])
    await jobs.advance(2)
    assert await reclaimable(jobs) == [{"name": "main", "count": 1}]


@pytest.mark.parametrize(("texts", "completions", "count"), [
    (["0-3,5", ""], 8, 5), (["0-3,5", "2-4"], 8, 6), (["0-3,5", ""], 3, 3), (["x,3-1,4", "-2"], 8, 1), (["0-7"], 0, 0)])
def test_indexes_count_once(texts, completions, count):
    """Given texts of indexes When those below the completions are counted Then each counts once,
    and what is no range not at all."""
    assert terminal_indexes_count(texts, completions) == count


async def test_a_job_that_takes_fewer_pods_runs_with_fewer(jobs):
    """Given a Job of six that takes two When four are admitted Then it runs with four, and when it
    is evicted it has six again."""
    await jobs.create(parallelism=6, completions=6, annotations={MIN: "2"})
    workload = await jobs.workload()
    assert workload["spec"]["podSets"][0]["minCount"] == 2
    await jobs.admit(workload, main=4)
    job = await jobs.job()
    assert (job["spec"]["suspend"], job["spec"]["parallelism"], job["spec"]["completions"]) == (False, 4, 6)
    await jobs.evict(await jobs.workload())
    job = await jobs.job()
    assert (job["spec"]["suspend"], job["spec"]["parallelism"], job["spec"]["completions"]) == (True, 6, 6)


async def test_completions_follow_where_they_are_to(jobs):
    """Given an indexed Job whose completions follow its size When fewer are admitted Then it has as
    many completions, until it is evicted."""
    await jobs.create(
        parallelism=6, completions=6, completionMode="Indexed", annotations={MIN: "2", EQUAL: "true"})
    await jobs.admit(await jobs.workload(), main=3)
    assert (await jobs.job())["spec"]["completions"] == 3
    await jobs.evict(await jobs.workload())
    assert (await jobs.job())["spec"]["completions"] == 6
