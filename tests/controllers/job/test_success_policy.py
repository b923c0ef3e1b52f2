"""successPolicy: Jobs that are done before every index is."""

import pytest

from tests.controllers.world import condition, counts, true_conditions


def indexed(**spec):
    return {"completionMode": "Indexed", "parallelism": 2, "completions": 2, **spec}


@pytest.mark.spec("JOB-008")
async def test_all_indexes_of_a_rule_have_to_succeed(world):
    """Given a rule for indexes 0 and 1 / when both succeed / then the reason is the policy."""
    await world.create_job(**indexed(successPolicy={"rules": [{"succeededIndexes": "0,1"}]}))
    await world.succeed(*await world.active())
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert [condition(job, kind)["reason"] for kind in ("SuccessCriteriaMet", "Complete")] == ["SuccessPolicy"] * 2
    assert condition(job, "Complete")["message"] == "Matched rules at index 0"


@pytest.mark.spec("JOB-009")
async def test_without_a_policy_the_reason_is_that_all_completed(world):
    """Given no policy / when all indexes succeed / then the reason is CompletionsReached."""
    await world.create_job(**indexed())
    await world.succeed(*await world.active())
    await world.advance(1)
    assert condition(await world.job(), "Complete")["reason"] == "CompletionsReached"


@pytest.mark.spec("JOB-010", "JOB-011")
@pytest.mark.parametrize("rule", [{"succeededIndexes": "1"}, {"succeededCount": 1}])
async def test_what_still_runs_is_stopped_once_enough_succeeded(world, rule):
    """Given a rule that index 1 alone meets / when it succeeds while index 0 runs
    / then index 0 is stopped, and the Job is complete once it has stopped, with index 1 alone.
    """
    await world.create_job(**indexed(successPolicy={"rules": [rule]}))
    pods = await world.by_index()
    await world.bind(pods[0])
    await world.succeed(pods[1])
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["SuccessCriteriaMet"]
    assert counts(job) == (0, 1, 0, 1)
    await world.fail(pods[0])
    await world.delete_pods(pods[0], grace_period_seconds=0)
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert job["status"]["completedIndexes"] == "1"
    assert counts(job) == (0, 1, 0, 0)


@pytest.mark.spec("JOB-012")
async def test_failed_indexes_are_looked_at_before_the_policy(world):
    """Given no retry of indexes and a rule for index 1 / when index 0 fails and index 1 succeeds at
    once / then the Job fails.
    """
    await world.create_job(**indexed(backoffLimitPerIndex=0, successPolicy={"rules": [{"succeededIndexes": "1"}]}))
    pods = await world.by_index()
    await world.fail(pods[0])
    await world.succeed(pods[1])
    await world.advance(1)
    assert true_conditions(await world.job()) == ["FailureTarget", "Failed"]


@pytest.mark.spec("JOB-118")
async def test_failures_under_the_limit_do_not_stand_in_the_way(world):
    """Given a rule for index 1 / when index 0 fails, and later index 1 succeeds
    / then the Job is complete, and the failure stays counted.
    """
    await world.create_job(**indexed(successPolicy={"rules": [{"succeededIndexes": "1"}]}))
    pods = await world.by_index()
    await world.fail(pods[0])
    await world.advance(2)
    await world.succeed(pods[1])
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert counts(job) == (0, 1, 1, 0)
