"""When a pod is replaced: podReplacementPolicy, and pods that are deleted by others."""

import pytest

from tests.controllers.world import counts, true_conditions

RULES = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]}


async def bound_job(world, **spec):
    """A Job with two pods on a node that no kubelet looks after: deleted pods stay until the test
    ends them.
    """
    await world.create_job(parallelism=2, completions=2, **spec)
    pods = await world.active()
    await world.bind(*pods)
    return pods


@pytest.mark.spec("JOB-039", "JOB-040", "JOB-112")
@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
async def test_terminating_pods_count_as_failed_and_are_replaced(world, mode):
    """Given the default policy / when two running pods are deleted
    / then they count as failed and terminating at once, and two others take their place.
    """
    pods = await bound_job(world, completionMode=mode)
    await world.delete_pods(*pods)
    await world.advance(30)
    assert counts(await world.job()) == (2, 0, 2, 2)


@pytest.mark.spec("JOB-042", "JOB-043")
@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
async def test_only_failed_pods_are_replaced_if_the_policy_says_so(world, mode):
    """Given policy Failed / when two running pods are deleted / then nothing comes in their place
    / when they have failed / then two others do.
    """
    pods = await bound_job(world, completionMode=mode, podReplacementPolicy="Failed")
    await world.delete_pods(*pods)
    await world.advance(30)
    assert counts(await world.job()) == (0, 0, 0, 2)
    await world.fail(*pods)
    await world.advance(30)
    assert counts(await world.job()) == (2, 0, 2, 0)


@pytest.mark.spec("JOB-041")
async def test_a_failure_policy_makes_pods_be_replaced_only_once_they_failed(world):
    """Given a podFailurePolicy, which implies policy Failed / when pods are deleted / then they are
    replaced only when failed.
    """
    pods = await bound_job(world, podFailurePolicy=RULES)
    assert (await world.job())["spec"]["podReplacementPolicy"] == "Failed"
    await world.delete_pods(*pods)
    await world.advance(30)
    assert counts(await world.job()) == (0, 0, 0, 2)
    await world.fail(pods[0])
    await world.advance(30)
    assert counts(await world.job()) == (1, 0, 1, 1)


@pytest.mark.spec("JOB-113")
async def test_a_pod_without_a_node_is_not_replaced_until_somebody_fails_it(world):
    """Given policy Failed / when a pod that nobody ever ran is deleted / then it stays, held by its
    tracking finalizer, and is not replaced / when it is failed / then it is.
    """
    await world.create_job(podReplacementPolicy="Failed")
    [pod] = await world.pods()
    await world.delete_pods(pod)
    await world.advance(60)
    assert counts(await world.job()) == (0, 0, 0, 1)
    await world.fail(pod)
    await world.advance(30)
    assert counts(await world.job()) == (1, 0, 1, 0)
    assert len(await world.pods()) == 1


@pytest.mark.spec("JOB-106")
async def test_the_pods_that_got_least_far_go_first(world):
    """Given a ready, an unready and two pending pods / when two are too many / then the pending
    ones go.
    """
    await world.create_job(parallelism=4)
    ready, unready, *_ = await world.active()
    await world.bind(ready, unready, node="somewhere")
    await world.run(ready)
    await world.run(unready, ready=False)
    await world.change_job(parallelism=2)
    left = [pod["metadata"]["name"] for pod in await world.active()]
    assert sorted(left) == sorted(pod["metadata"]["name"] for pod in (ready, unready))
    await world.change_job(parallelism=1)
    assert [pod["metadata"]["name"] for pod in await world.active()] == [ready["metadata"]["name"]]


@pytest.mark.spec("JOB-017")
async def test_a_job_fails_only_when_its_last_pod_has_stopped(world):
    """Given a Job over its backoff limit / while another of its pods is still terminating
    / then only FailureTarget is there / when that pod ends / then the Job is Failed.
    """
    failing, other = await bound_job(world, backoffLimit=0)
    await world.fail(failing)
    await world.advance(1)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget"]
    assert job["status"]["terminating"] == 1
    await world.fail(other)
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert counts(job) == (0, 0, 2, 0)


@pytest.mark.spec("JOB-018")
async def test_a_job_completes_only_when_its_surplus_pods_have_stopped(world):
    """Given an indexed Job that shrinks to what is done / while its surplus pod is terminating
    / then only SuccessCriteriaMet is there / when the pod is gone / then the Job is Complete.
    """
    pods = await bound_job(world, completionMode="Indexed")
    await world.succeed(pods[0])
    await world.change_job(parallelism=1, completions=1)
    await world.advance(2)
    job = await world.job()
    assert true_conditions(job) == ["SuccessCriteriaMet"]
    assert (job["status"]["succeeded"], job["status"]["terminating"]) == (1, 1)
    await world.fail(pods[1])
    await world.delete_pods(pods[1], grace_period_seconds=0)
    await world.advance(2)
    assert true_conditions(await world.job()) == ["SuccessCriteriaMet", "Complete"]
