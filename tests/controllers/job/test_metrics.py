"""What the Job controller counts, under upstream's names."""

import pytest

from fakekube.client.resources import JOBS, PODS, Resource
from tests.controllers.world import NAMESPACE, counts, is_tracked, true_conditions

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", namespaced=True)


def counted(world, name, /, **labels):
    return world.cluster.metrics.value(f"job_controller_{name}", **labels)


def rule(action, code=5):
    return {"rules": [{"action": action, "onExitCodes": {"operator": "In", "values": [code]}}]}


def handled(world):
    """By the action of a failure policy, how many failures were treated so."""
    actions = ("FailJob", "FailIndex", "Ignore", "Count")
    found = {action: counted(world, "pod_failures_handled_by_failure_policy_total", action=action) for action in actions}
    return {action: number for action, number in found.items() if number}


@pytest.mark.spec("JOB-002")
async def test_a_job_that_fails_by_a_rule_is_counted_so(world):
    """Given a FailJob rule for code 5 / when a pod exits with it / then the Job failed for that,
    and one was handled so.
    """
    await world.create_job(podFailurePolicy=rule("FailJob"), backoffLimit=3)
    await world.fail(*await world.active(), exit_code=5)
    await world.advance(2)
    assert (counts(await world.job()), handled(world)) == ((0, 0, 1, 0), {"FailJob": 1})
    assert counted(world, "jobs_finished_total", completion_mode="NonIndexed", result="failed", reason="PodFailurePolicy") == 1


@pytest.mark.spec("JOB-005")
async def test_an_ignored_failure_is_handled_and_not_counted(world):
    """Given an Ignore rule for disruptions / when a pod fails by one / then nothing has failed, and
    one was ignored.
    """
    rules = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
    await world.create_job(podFailurePolicy=rules, backoffLimit=0)
    [pod] = await world.active()
    await world.set_status(pod, conditions=[{"type": "DisruptionTarget", "status": "True"}])
    await world.fail(pod)
    await world.advance(12)
    assert (counts(await world.job()), handled(world)) == ((1, 0, 0, 0), {"Ignore": 1})
    assert counted(world, "job_pods_finished_total", result="failed") == 0


@pytest.mark.spec("JOB-006", "JOB-007")
@pytest.mark.parametrize(("code", "expected"), [(5, {"Count": 1}), (6, {})])
async def test_a_counted_failure_is_handled_only_if_a_rule_says_so(world, code, expected):
    """Given a Count rule for code 5 / when a pod fails with it or with another / then one failed,
    by the rule or by none.
    """
    await world.create_job(podFailurePolicy=rule("Count"))
    await world.fail(*await world.active(), exit_code=code)
    await world.advance(12)
    assert (counts(await world.job()), handled(world)) == ((1, 0, 1, 0), expected)


@pytest.mark.spec("JOB-008")
@pytest.mark.parametrize(("policy", "reason"), [
    ({"successPolicy": {"rules": [{"succeededCount": 2}]}}, "SuccessPolicy"), ({}, "CompletionsReached")])
async def test_a_job_that_succeeds_is_counted_with_its_reason(world, policy, reason):
    """Given two indexes, with a policy that asks for both or none / when both succeed / then the
    Job counts for what it met.
    """
    await world.create_job(completionMode="Indexed", parallelism=2, completions=2, **policy)
    await world.succeed(*await world.active())
    await world.advance(2)
    assert counted(world, "jobs_finished_total", completion_mode="Indexed", result="succeeded", reason=reason) == 1
    assert counted(world, "jobs_finished_total") == 1
    assert counted(world, "job_finished_indexes_total", status="succeeded", backoffLimit="global") == 2
    assert counted(world, "job_pods_finished_total", completion_mode="Indexed", result="succeeded") == 2


async def test_failed_indexes_are_counted_once(world):
    """Given no retries an index / when one of two fails and the other succeeds / then one of each
    is counted.
    """
    await world.create_job(completionMode="Indexed", parallelism=2, completions=2, backoffLimitPerIndex=0)
    pods = await world.by_index()
    await world.fail(pods[0])
    await world.advance(2)
    await world.succeed(pods[1])
    await world.advance(2)
    for status in ("succeeded", "failed"):
        assert counted(world, "job_finished_indexes_total", status=status, backoffLimit="perIndex") == 1
    assert counted(world, "jobs_finished_total", reason="FailedIndexes") == 1


@pytest.mark.spec("JOB-027")
async def test_a_job_of_another_controller_is_counted_once(world):
    """Given a Job that others manage / when it changes / then it is counted once, by their name,
    and never synced.
    """
    await world.create_job(managedBy="example.com/mine")
    await world.client.patch(JOBS, "j", NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
    await world.advance(3)
    assert counted(world, "jobs_by_external_controller_total", controller_name="example.com/mine") == 1
    assert counted(world, "job_syncs_total") == 0


@pytest.mark.spec("JOB-033", "JOB-034", "JOB-051")
async def test_finished_pods_get_and_lose_their_finalizer(world):
    """Given pods of which one fails, one is deleted and others succeed / when the Job is complete
    / then as many finalizers went as there were on finished pods, and every pod was counted.
    """
    await world.create_job(parallelism=3, completions=4)
    pods = await world.active()
    await world.fail(pods[0])
    await world.delete_pods(pods[1])
    await world.advance(60)
    while "Complete" not in true_conditions(await world.job()):
        await world.succeed(*await world.active())
        await world.advance(2)
    assert not any(is_tracked(pod) for pod in await world.pods())
    added = counted(world, "terminated_pods_tracking_finalizer_total", event="add")
    assert added == counted(world, "terminated_pods_tracking_finalizer_total", event="delete") == 5
    assert counted(world, "job_pods_finished_total", result="failed") == 2
    assert counted(world, "job_pods_finished_total", result="succeeded") == 4
    created = {reason: counted(world, "job_pods_creation_total", reason=reason, status="succeeded") for reason in (
        "new", "recreate_terminating_or_failed", "recreate_failed")}
    assert created == {"new": 3, "recreate_terminating_or_failed": 3, "recreate_failed": 0}


@pytest.mark.spec("JOB-036")
async def test_large_jobs_are_counted_to_the_last_pod(world):
    """Given parallelism 54 and completions 56 / when two pods fail and the rest succeed / then 56
    and 2 pods have finished.
    """
    await world.create_job(parallelism=54, completions=56)
    await world.fail(*(await world.active())[:2])
    await world.advance(25)
    for _ in range(2):
        await world.succeed(*await world.active())
        await world.advance(2)
    assert counted(world, "job_pods_finished_total", completion_mode="NonIndexed", result="succeeded") == 56
    assert counted(world, "job_pods_finished_total", completion_mode="NonIndexed", result="failed") == 2
    assert counted(world, "job_pods_creation_total", status="failed") == 0


async def test_syncs_are_counted_by_what_they_did(world):
    """Given a Job / when it makes pods, is refused more, waits, and deletes some / then there are
    syncs of each kind.
    """
    hard = {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"hard": {"pods": "3"}}}
    await world.client.create(QUOTAS, hard)
    status = {"status": {"hard": {"pods": "3"}, "used": {"pods": "0"}}}
    await world.client.patch(QUOTAS, "q", NAMESPACE, status, subresource="status")
    await world.create_job(parallelism=5)
    await world.change_job(parallelism=2)
    await world.advance(10)
    for action, result in (("pods_created", "error"), ("pods_deleted", "success"), ("tracking", "success")):
        assert counted(world, "job_syncs_total", action=action, result=result) >= 1, action
    assert counted(world, "job_pods_creation_total", status="failed") >= 1
    assert counted(world, "job_sync_duration_seconds") == counted(world, "job_syncs_total")
    assert len((await world.client.list(PODS, NAMESPACE)).items) <= 3
