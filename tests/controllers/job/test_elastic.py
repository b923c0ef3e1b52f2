"""Indexed Jobs that grow and shrink."""

import pytest

from tests.controllers.world import condition, counts, true_conditions


@pytest.mark.spec("JOB-045")
async def test_new_indexes_get_pods(world):
    """Given three indexes / when there are five / then indexes 3 and 4 run too."""
    await world.create_job(parallelism=3, completions=3, completionMode="Indexed")
    await world.change_job(parallelism=5, completions=5)
    assert sorted(await world.by_index()) == [0, 1, 2, 3, 4]


@pytest.mark.spec("JOB-046")
async def test_indexes_that_are_no_more_are_forgotten(world):
    """Given four indexes of which the last is done / when there are three / then it counts no more
    / when the other three are done / then the Job is complete.
    """
    await world.create_job(parallelism=4, completions=4, completionMode="Indexed")
    pods = await world.by_index()
    await world.succeed(pods[3])
    await world.advance(1)
    assert (await world.job())["status"]["completedIndexes"] == "3"
    job = await world.change_job(parallelism=3, completions=3)
    assert "completedIndexes" not in job["status"]
    assert counts(job) == (3, 0, 0, 0)
    await world.succeed(*(await world.by_index()).values())
    await world.advance(1)
    job = await world.job()
    assert job["status"]["completedIndexes"] == "0-2"
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]


@pytest.mark.spec("JOB-047")
async def test_a_complete_job_does_not_start_again(world):
    """Given a complete Job / when it is scaled down and up / then it makes no pods."""
    await world.create_job(parallelism=2, completions=2, completionMode="Indexed")
    await world.succeed(*await world.active())
    await world.advance(1)
    await world.change_job(parallelism=1, completions=1)
    await world.change_job(parallelism=4, completions=4)
    assert len(await world.pods()) == 2


@pytest.mark.spec("JOB-048")
async def test_a_job_scaled_to_nothing_is_complete(world):
    """Given running indexes / when there are none any more / then the pods go and the Job completes
    with nothing done.
    """
    await world.create_job(parallelism=3, completions=3, completionMode="Indexed")
    await world.change_job(parallelism=0, completions=0)
    await world.advance(2)
    job = await world.job()
    assert condition(job, "Complete")["status"] == "True"
    assert counts(job) == (0, 0, 0, 0)
    assert await world.pods() == []
