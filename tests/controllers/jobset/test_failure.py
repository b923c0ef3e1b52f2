"""What a JobSet does when Jobs of it fail."""

import pytest

from fakekube.client.resources import JOBS, PODS
from fakekube_controllers.jobset.names import JOBSETS
from tests.controllers.jobset.conftest import JobSets, cluster_with, replicated
from tests.controllers.world import NAMESPACE

ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
ALONE = "jobset.sigs.k8s.io/job-restart-attempt"
REASON = "BackoffLimitExceeded"


def rule(action, **fields):
    return {"action": action, **fields}


async def attempts(world, label=ATTEMPT):
    return {name: job["metadata"]["labels"].get(label) for name, job in (await world.jobs()).items()}


async def restarts(world):
    status = await world.status()
    return status["restarts"], status.get("restartsCountTowardsMax", 0)


@pytest.mark.spec("JOB-185")
async def test_without_a_policy_the_first_failure_is_the_end(world):
    """Given no failure policy / when a Job fails / then the JobSet has failed, and the rest is
    deleted.
    """
    await world.create(replicated("a"), replicated("b"))
    await world.finish("js-a-0", exit_code=1)
    text = "jobset failed due to one or more job failures (first failed job: js-a-0)"
    assert await world.condition("Failed") == ("True", "FailedJobs", text)
    assert await world.told() == [("Warning", "FailedJobs", text)]
    assert [*await world.jobs()] == ["js-a-0"]
    assert world.cluster.metrics.value("jobset_failed_total", jobset_name="js", namespace=NAMESPACE) == 1


@pytest.mark.spec("JOB-185")
async def test_no_restarts_are_allowed_by_an_empty_policy(world):
    """Given a policy that says nothing / when a Job fails / then the JobSet has failed."""
    await world.create(replicated(), failurePolicy={})
    await world.finish("js-w-0", exit_code=1)
    text = "jobset failed due to reaching max number of restarts (first failed job: js-w-0)"
    assert await world.condition("Failed") == ("True", "ReachedMaxRestarts", text)


@pytest.mark.spec("JOB-185", "JOB-188", "JOB-191")
async def test_jobs_are_made_anew_until_there_were_enough_restarts(world):
    """Given one restart / when Jobs fail twice / then all are made anew once, the condition of the
    restart comes and goes, and the second failure is the end.
    """
    await world.create(replicated("a"), replicated("b"), failurePolicy={"maxRestarts": 1})
    await world.finish("js-a-0")
    await world.finish("js-b-0", exit_code=1)
    assert await restarts(world) == (1, 1)
    assert await attempts(world) == {"js-a-0": "1", "js-b-0": "1"}
    text = "applying RestartJobSet failure policy action (first failed job: js-b-0)"
    assert await world.condition("RestartingJobSet") == ("True", "DefaultFailurePolicy", text)
    assert ("Warning", "RestartJobSetFailurePolicyAction", text) in await world.told()
    await world.start_pods("js-a-0", "js-b-0")
    assert await world.condition("RestartingJobSet") == ("False", "JobsReady", "all jobs are ready")
    await world.finish("js-b-0", exit_code=1)
    assert (await world.condition("Failed"))[1] == "ReachedMaxRestarts"
    assert await restarts(world) == (1, 1)


@pytest.mark.spec("JOB-191")
async def test_it_succeeds_after_a_restart(world):
    """Given a JobSet that was restarted once / when all Jobs succeed then / then it is completed.
    """
    await world.create(replicated(replicas=2), failurePolicy={"maxRestarts": 2})
    await world.finish("js-w-1", exit_code=1)
    await world.finish("js-w-0", "js-w-1")
    assert (await world.status())["terminalState"] == "Completed"
    assert await restarts(world) == (1, 1)
    assert await world.condition("RestartingJobSet") == ("False", "JobSetCompleted", "jobset completed successfully")


@pytest.mark.spec("JOB-186")
@pytest.mark.parametrize(("fields", "fails"), [
    ({}, True),
    ({"onJobFailureReasons": ["PodFailurePolicy"]}, False),
    ({"onJobFailureReasons": [REASON]}, True),
    ({"onJobFailureMessagePatterns": ["no such text"]}, False),
    ({"onJobFailureMessagePatterns": ["no such text", "b[a-z]+off"]}, True),
    ({"onJobFailureMessagePatterns": ["("]}, False),
    ({"onJobFailureReasons": [REASON], "onJobFailureMessagePatterns": ["no such text"]}, False),
    ({"onJobFailureReasons": [REASON], "onJobFailureMessagePatterns": ["limit"]}, True),
])
async def test_a_rule_fails_the_jobset_for_a_reason_or_a_text(world, fields, fails):
    """Given a rule to fail / when a Job fails for a reason and with a message / then the JobSet has
    failed if the rule meets both, and is restarted else.
    """
    await world.create(replicated(), failurePolicy={"maxRestarts": 1, "rules": [rule("FailJobSet", **fields)]})
    await world.finish("js-w-0", exit_code=1)
    if fails:
        text = "applying FailJobSet failure policy action (first failed job: js-w-0)"
        assert await world.condition("Failed") == ("True", "FailJobSetFailurePolicyAction", text)
    assert (await restarts(world))[0] == (0 if fails else 1)


@pytest.mark.spec("JOB-187")
@pytest.mark.parametrize("gate", [False, True])
@pytest.mark.parametrize(("action", "counted"), [("RestartJobSet", 1), ("RestartJobSetAndIgnoreMaxRestarts", 0)])
async def test_restarts_of_all_jobs_count_or_not(gate, action, counted):
    """Given a rule to restart, with and without the gate RestartJob / when a Job fails / then the
    restart counts, towards the most that there may be or not.
    """
    async with cluster_with(RestartJob=gate) as cluster:
        world = JobSets(cluster)
        await world.create(replicated(), failurePolicy={"maxRestarts": 1, "rules": [rule(action)]})
        await world.finish("js-w-0", exit_code=1)
        assert await restarts(world) == (1, counted)
        assert (await world.condition("RestartingJobSet"))[1] == "FailurePolicy_failurePolicyRule0"
        assert await attempts(world, ALONE) == {"js-w-0": "0" if gate else None}
        await world.finish("js-w-0", exit_code=1)
        assert (await world.condition("Failed") is not None) == bool(counted)


@pytest.mark.spec("JOB-187")
@pytest.mark.parametrize(("action", "counted"), [("RestartJob", 1), ("RestartJobAndIgnoreMaxRestarts", 0)])
async def test_one_job_is_made_anew_alone(restarting_jobs, action, counted):
    """Given a rule to restart one Job / when it fails / then it alone is made anew, and the status
    counts it.
    """
    world = restarting_jobs
    await world.create(replicated(replicas=3), failurePolicy={"maxRestarts": 1, "rules": [rule(action)]})
    before = {name: job["metadata"]["uid"] for name, job in (await world.jobs()).items()}
    await world.finish("js-w-1", exit_code=1)
    after = {name: job["metadata"]["uid"] for name, job in (await world.jobs()).items()}
    assert [name for name in before if before[name] != after[name]] == ["js-w-1"]
    [status] = (await world.status())["replicatedJobsStatus"]
    assert status["jobRestarts"] == [0, 1, 0]
    assert status.get("jobRestartsCountTowardsMax") == ([0, 1, 0] if counted else None)
    assert await attempts(world, ALONE) == {"js-w-0": "0", "js-w-1": "1", "js-w-2": "0"}
    assert await restarts(world) == (0, 0)
    text = f"applying {action} failure policy action (first failed job: js-w-1)"
    assert ("Warning", f"{action}FailurePolicyAction", text) in await world.told()
    await world.finish("js-w-2", exit_code=1)
    assert (await world.condition("Failed") is not None) == bool(counted)


@pytest.mark.spec("JOB-190")
@pytest.mark.parametrize(("targets", "fails"), [(["a"], True), (["b"], False), (["b", "a"], True), ([], True)])
async def test_rules_are_for_the_jobs_that_they_name(world, targets, fails):
    """Given a rule for some replicated jobs / when a Job fails / then it holds for those only."""
    rules = [rule("FailJobSet", targetReplicatedJobs=targets)]
    await world.create(replicated("a"), replicated("b"), failurePolicy={"maxRestarts": 1, "rules": rules})
    await world.finish("js-a-0", exit_code=1)
    assert (await world.condition("Failed") is not None) == fails


@pytest.mark.spec("JOB-190")
@pytest.mark.parametrize(("rules", "outcome"), [
    ([rule("RestartJobSet", targetReplicatedJobs=["b"]), rule("FailJobSet", targetReplicatedJobs=["a"])], "js-b-0"),
    ([rule("FailJobSet", targetReplicatedJobs=["a"]), rule("RestartJobSet", targetReplicatedJobs=["b"])], "js-a-0"),
    ([rule("FailJobSet", onJobFailureReasons=["DeadlineExceeded"]), rule("RestartJobSet")], "js-a-0"),
])
async def test_the_first_rule_for_any_failed_job_decides(world, rules, outcome):
    """Given rules and two Jobs that have failed / when the JobSet looks at them / then the first
    rule that is for any of them decides, about the Job that failed first among those it is for.
    """
    await world.create(replicated("a"), replicated("b"), failurePolicy={"maxRestarts": 9, "rules": rules})
    await world.cluster.stop_controller("jobset")
    await world.finish("js-a-0", exit_code=1)
    await world.finish("js-b-0", exit_code=1)
    await world.cluster.start_controller("jobset")
    await world.advance(1)
    assert f"(first failed job: {outcome})" in (await world.told())[0][2]


async def hold(world, *jobs):
    """Keep Jobs from being gone when they are deleted."""
    for job in jobs:
        await world.client.patch(JOBS, job, NAMESPACE, {"metadata": {"finalizers": ["example.com/hold"]}})


async def let_go(world, *jobs):
    for job in jobs:
        found = await world.client.get(JOBS, job, NAMESPACE)
        kept = [each for each in found["metadata"]["finalizers"] if each != "example.com/hold"]
        await world.client.patch(JOBS, job, NAMESPACE, {"metadata": {"finalizers": kept or None}})
    await world.advance(2)


@pytest.mark.spec("JOB-189")
@pytest.mark.parametrize(("strategy", "present"), [
    ("Recreate", {"js-w-0": "0", "js-w-1": "1"}), ("BlockingRecreate", {"js-w-0": "0"})])
async def test_jobs_are_made_anew_one_by_one_or_all_at_once(world, strategy, present):
    """Given a strategy / when one of the old Jobs lingers / then the others are made anew, or wait
    for it.
    """
    await world.create(replicated(replicas=2), failurePolicy={"maxRestarts": 1, "restartStrategy": strategy})
    await hold(world, "js-w-0")
    await world.finish("js-w-1", exit_code=1)
    assert await attempts(world) == present
    await let_go(world, "js-w-0")
    assert await attempts(world) == {"js-w-0": "1", "js-w-1": "1"}


@pytest.mark.spec("JOB-196")
async def test_the_order_is_kept_in_a_restart(world):
    """Given an order of startup / when the JobSet is restarted / then Jobs are made in it again."""
    await world.create(
        replicated("a"), replicated("b"), startupPolicy={"startupPolicyOrder": "InOrder"}, failurePolicy={"maxRestarts": 1})
    await world.start_pods("js-a-0")
    await world.finish("js-b-0", exit_code=1)
    assert await attempts(world) == {"js-a-0": "1"}
    await world.start_pods("js-a-0")
    assert await attempts(world) == {"js-a-0": "1", "js-b-0": "1"}


async def test_a_failure_counts_in_a_suspended_jobset(world):
    """Given a suspended JobSet / when one of its Jobs is found failed / then its policy holds."""
    await world.create(replicated())
    await world.cluster.stop_controller("jobset")
    await world.finish("js-w-0", exit_code=1)
    await world.client.patch(JOBSETS, "js", NAMESPACE, {"spec": {"suspend": True}})
    await world.cluster.start_controller("jobset")
    await world.advance(1)
    assert (await world.condition("Failed"))[1] == "FailedJobs"


async def test_suspending_ends_the_condition_of_a_restart(world):
    """Given a JobSet that restarts / when it is suspended / then it does not restart any more."""
    await world.create(replicated(), failurePolicy={"maxRestarts": 1})
    await world.finish("js-w-0", exit_code=1)
    await world.change(suspend=True)
    assert await world.condition("RestartingJobSet") == ("False", "JobSetSuspended", "jobset is suspended")


@pytest.fixture
async def in_place():
    """A cluster with the gate InPlaceRestart, and a JobSet of two pods in it."""
    async with cluster_with(InPlaceRestart=True) as cluster:
        world = JobSets(cluster)
        job = replicated(backoffLimit=2**31 - 1, podReplacementPolicy="Failed", parallelism=2, completions=2)
        await world.create(job, failurePolicy={"restartStrategy": "InPlaceRestart", "maxRestarts": 2})
        yield world


async def note_attempts(world, *numbers):
    """What the agents in the pods write."""
    for pod, number in zip(await world.pods(), numbers, strict=True):
        annotations = {"jobset.sigs.k8s.io/in-place-restart-attempt": number}
        await world.client.patch(PODS, pod["metadata"]["name"], NAMESPACE, {"metadata": {"annotations": annotations}})
    await world.advance(1)
    status = await world.status()
    return status.get("previousInPlaceRestartAttempt"), status.get("currentInPlaceRestartAttempt")


async def test_pods_are_led_from_one_round_to_the_next(in_place):
    """Given a restart in place / when agents come to rounds / then the status lets those behind
    restart, and lifts the barrier when all are in one round.
    """
    assert await note_attempts(in_place, "0", "0") == (None, 0)
    assert await note_attempts(in_place, "1", "0") == (0, 0)
    assert await note_attempts(in_place, "1", "1") == (0, 1)
    assert await note_attempts(in_place, "3", "1") == (0, 1)
    assert await in_place.condition("Failed") == (
        "True", "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")


async def test_containers_that_restart_too_often_end_it(in_place):
    """Given a restart in place / when a container has restarted too often / then the JobSet has
    failed, whatever its agent says.
    """
    [pod, _] = await in_place.pods()
    await in_place.run(pod, restarts=3)
    await in_place.advance(1)
    assert (await in_place.condition("Failed"))[1] == "ReachedMaxRestarts"


async def test_an_agent_that_writes_nonsense_is_waited_for(in_place):
    """Given a pod with a round that is no number / when the number is there / then the rounds go
    on.
    """
    assert await note_attempts(in_place, "x", "0") == (None, None)
    assert await note_attempts(in_place, "0", "0") == (None, 0)
