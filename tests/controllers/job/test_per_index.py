"""backoffLimitPerIndex: every index has its own retries and its own wait."""

import pytest

from fakekube.apimachinery import times
from tests.controllers.world import condition, counts, index_of, is_tracked, true_conditions

FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def indexed(size=2, **spec):
    return {"completionMode": "Indexed", "parallelism": size, "completions": size, "backoffLimitPerIndex": 1, **spec}


@pytest.mark.spec("JOB-019")
async def test_an_index_that_succeeds_on_its_second_try_is_fine(world):
    """Given one retry an index / when index 0 fails once and then all succeed / then the Job is
    complete.
    """
    await world.create_job(**indexed())
    await world.fail((await world.by_index())[0])
    await world.advance(12)
    await world.succeed(*await world.active())
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert (counts(job), job["status"]["failedIndexes"]) == ((0, 2, 1, 0), "")


@pytest.mark.spec("JOB-020", "JOB-022")
async def test_a_failed_index_does_not_stop_the_others(world):
    """Given one retry an index / when index 0 fails twice / then index 1 runs on, and the Job fails
    when that is done too.
    """
    await world.create_job(**indexed())
    for _ in range(2):
        await world.fail((await world.by_index())[0])
        await world.advance(12)
    job = await world.job()
    assert (counts(job), job["status"]["failedIndexes"]) == ((1, 0, 2, 0), "0")
    await world.succeed(*await world.active())
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert condition(job, "Failed")["reason"] == "FailedIndexes"
    assert job["status"]["completedIndexes"] == "1"


@pytest.mark.spec("JOB-021")
async def test_the_limit_of_the_whole_job_counts_too(world):
    """Given one retry an index and two failures in all / when three indexes fail / then the Job
    fails by the whole limit.
    """
    await world.create_job(**indexed(5, backoffLimit=2))
    pods = await world.by_index()
    await world.bind(*pods.values())
    await world.fail(pods[0], pods[1], pods[2])
    await world.advance(1)
    job = await world.job()
    assert condition(job, "FailureTarget")["reason"] == "BackoffLimitExceeded"
    assert (job["status"]["failed"], job["status"]["terminating"]) == (5, 2)


@pytest.mark.spec("JOB-023")
async def test_too_many_failed_indexes_end_the_job(world):
    """Given at most one failed index / when two have failed / then the third is stopped and
    counted, and the Job fails.
    """
    await world.create_job(**indexed(3, backoffLimitPerIndex=0, maxFailedIndexes=1))
    pods = await world.by_index()
    await world.fail(pods[0], pods[1])
    await world.advance(3)
    job = await world.job()
    assert condition(job, "Failed")["reason"] == "MaxFailedIndexesExceeded"
    assert (counts(job), job["status"]["failedIndexes"]) == ((0, 0, 3, 0), "0,1")
    assert not any(is_tracked(pod) for pod in await world.pods())


@pytest.mark.spec("JOB-024")
async def test_a_rule_can_give_an_index_up(world):
    """Given a FailIndex rule and retries left / when both indexes exit with its code / then neither
    is tried again.
    """
    rule = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [13]}}
    await world.create_job(**indexed(backoffLimitPerIndex=5, podFailurePolicy={"rules": [rule]}))
    await world.fail(*await world.active(), exit_code=13)
    await world.advance(2)
    job = await world.job()
    assert condition(job, "Failed")["reason"] == "FailedIndexes"
    assert (counts(job), job["status"]["failedIndexes"]) == ((0, 0, 2, 0), "0,1")


@pytest.mark.spec("JOB-016", "JOB-130", "JOB-131")
async def test_indexes_wait_each_for_itself(world):
    """Given two indexes / when index 0 fails twice and index 1 once
    / then each replacement waits for its own index alone, and carries how often that has failed.
    """
    await world.create_job(**indexed(backoffLimitPerIndex=5))
    pods = await world.by_index()
    start = world.cluster.clock.time()
    await world.fail(pods[0])
    await world.advance(5)
    await world.fail(pods[1])
    await world.advance(6)
    second = (await world.by_index())[0]
    assert times.parse_time(second["metadata"]["creationTimestamp"]) - start == 10
    assert second["metadata"]["annotations"][FAILURES] == "1"
    assert IGNORED not in second["metadata"]["annotations"]
    await world.fail(second)
    await world.advance(5)
    other = (await world.by_index())[1]
    assert times.parse_time(other["metadata"]["creationTimestamp"]) - start == 15
    await world.advance(15)
    third = (await world.by_index())[0]
    assert times.parse_time(third["metadata"]["creationTimestamp"]) - start == 31
    assert [pod["metadata"]["annotations"][FAILURES] for pod in (third, other)] == ["2", "1"]


@pytest.mark.spec("JOB-130")
async def test_ignored_failures_of_an_index_are_counted_apart(world):
    """Given an Ignore rule / when an index fails by it / then its next pod counts it apart."""
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [13]}}
    await world.create_job(**indexed(podFailurePolicy={"rules": [rule]}))
    await world.fail((await world.by_index())[0], exit_code=13)
    await world.advance(12)
    annotations = (await world.by_index())[0]["metadata"]["annotations"]
    assert (annotations[FAILURES], annotations[IGNORED]) == ("0", "1")


@pytest.mark.spec("JOB-014")
async def test_a_failed_pod_is_kept_until_its_replacement_is_there(world):
    """Given a failed index that waits / when its pod is deleted / then the pod stays, with its
    count of failures / when the replacement is there / then it goes.
    """
    await world.create_job(**indexed())
    pod = (await world.by_index())[0]
    await world.fail(pod)
    await world.advance(2)
    await world.delete_pods(pod)
    await world.advance(2)
    kept = [p for p in await world.pods() if p["metadata"]["uid"] == pod["metadata"]["uid"]]
    assert [is_tracked(p) for p in kept] == [True]
    await world.advance(12)
    pods = await world.pods()
    assert sorted(index_of(p) for p in pods) == [0, 1]
    assert pod["metadata"]["uid"] not in [p["metadata"]["uid"] for p in pods]
