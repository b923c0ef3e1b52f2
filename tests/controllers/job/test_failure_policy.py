"""podFailurePolicy: which failures end a Job, an index, count, or do not count."""

import pytest

from tests.controllers.world import condition, counts, true_conditions


def on_code(action, *codes, operator="In", **more):
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(codes), **more}}


def policy(*rules):
    return {"rules": list(rules)}


@pytest.mark.spec("JOB-002")
async def test_an_exit_code_fails_the_job(world):
    """Given a FailJob rule for code 5 / when one of two pods exits with it / then the Job fails,
    and says which pod and rule.
    """
    await world.create_job(parallelism=2, completions=2, podFailurePolicy=policy(on_code("FailJob", 5)))
    pod, _ = await world.active()
    await world.fail(pod, exit_code=5)
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert counts(job) == (0, 0, 2, 0)
    failed = condition(job, "Failed")
    assert failed["reason"] == "PodFailurePolicy"
    name = pod["metadata"]["name"]
    assert failed["message"] == (
        f"Container main for pod default/{name} failed with exit code 5 matching FailJob rule at index 0")


@pytest.mark.spec("JOB-003")
async def test_a_controller_that_restarts_between_counts_once(world):
    """Given a FailJob rule / when the controller stops, a pod fails, and it starts again / then the
    pod counts once.
    """
    await world.create_job(podFailurePolicy=policy(on_code("FailJob", 5)))
    [pod] = await world.active()
    await world.cluster.manager.stop_component("job")
    await world.fail(pod, exit_code=5)
    await world.cluster.manager.start_component("job")
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert counts(job) == (0, 0, 1, 0)


@pytest.mark.spec("JOB-001")
async def test_a_failed_pod_that_was_deleted_meanwhile_still_decides(world):
    """Given a FailJob rule / when, while the controller is down, a pod fails and is deleted
    / then it has waited to be counted, and the Job fails by the rule, and the pod is gone.
    """
    await world.create_job(podFailurePolicy=policy(on_code("FailJob", 5)))
    [pod] = await world.active()
    await world.cluster.manager.stop_component("job")
    await world.fail(pod, exit_code=5)
    await world.delete_pods(pod)
    await world.settle()
    assert len(await world.pods()) == 1
    await world.cluster.manager.start_component("job")
    await world.advance(2)
    assert condition(await world.job(), "Failed")["reason"] == "PodFailurePolicy"
    assert await world.pods() == []


@pytest.mark.spec("JOB-005")
async def test_a_disrupted_pod_does_not_count(world):
    """Given an Ignore rule for DisruptionTarget / when a disrupted pod fails / then failed stays 0
    and the pod is replaced.
    """
    ignore = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    await world.create_job(podFailurePolicy=policy(ignore), backoffLimit=0)
    [pod] = await world.active()
    await world.set_status(pod, phase="Failed", conditions=[{"type": "DisruptionTarget", "status": "True"}])
    await world.advance(12)
    job = await world.job()
    assert counts(job) == (1, 0, 0, 0)
    assert true_conditions(job) == []


@pytest.mark.spec("JOB-006", "JOB-007")
@pytest.mark.parametrize("code", [10, 11])
async def test_what_matches_count_or_nothing_counts(world, code):
    """Given a Count rule for code 10 / when a pod exits with 10, or with another code / then it
    counts and is replaced.
    """
    await world.create_job(podFailurePolicy=policy(on_code("Count", 10)))
    await world.fail(*await world.active(), exit_code=code)
    await world.advance(12)
    assert counts(await world.job()) == (1, 0, 1, 0)


@pytest.mark.spec("JOB-115")
async def test_the_first_rule_that_matches_decides(world):
    """Given Ignore before FailJob, both for the same code / when a pod exits with it / then the
    failure is ignored.
    """
    await world.create_job(podFailurePolicy=policy(on_code("Ignore", 7), on_code("FailJob", 7)))
    await world.fail(*await world.active(), exit_code=7)
    await world.advance(12)
    assert counts(await world.job()) == (1, 0, 0, 0)


@pytest.mark.spec("JOB-114")
async def test_ignored_failures_are_retried_ever_more_slowly(world):
    """Given an Ignore rule and no retries allowed / when pods fail for an hour
    / then the Job goes on, and waits no longer than ten minutes.
    """
    await world.create_job(podFailurePolicy=policy(on_code("Ignore", 7)), backoffLimit=0)
    made = 0
    for delay in (10, 20, 40, 80, 160, 320, 600, 600):
        [pod] = await world.active()
        made += 1
        await world.fail(pod, exit_code=7)
        await world.advance(delay - 1)
        assert await world.active() == [], delay
        await world.advance(2)
    job = await world.job()
    assert counts(job) == (1, 0, 0, 0)
    assert len(await world.pods()) == made + 1
