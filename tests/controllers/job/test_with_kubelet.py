"""Jobs from end to end, with a scheduler and nodes on which pods run: what upstream's e2e tests ask
for.
"""

import pytest

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, condition, counts, index_of, is_tracked, job_manifest, true_conditions


def by_index(**codes):
    """An outcome by completion index: ``i1="0"`` or ``i1="1,0"`` by attempt; the rest succeed."""
    listed = {int(name[1:]): text for name, text in codes.items()}
    return lambda pod, *_: {"exit-codes": listed.get(index_of(pod), "0")}


async def run(outcome=None, *, nodes=2, restart_policy="Never", **spec):
    """Run a Job to its end on automatic time; the Job and its pods."""
    async with Cluster(nodes=nodes, outcome=outcome) as cluster:
        await cluster.client.create(JOBS, job_manifest(restart_policy=restart_policy, **spec))

        async def finished():
            job = await cluster.client.get(JOBS, "j", NAMESPACE)
            return condition(job, "Complete") or condition(job, "Failed")

        await cluster.run_until(finished)
        await cluster.settle()
        return await cluster.client.get(JOBS, "j", NAMESPACE), (await cluster.client.list(PODS, NAMESPACE)).items


def reason(job):
    return job["status"]["conditions"][-1]["reason"]


@pytest.mark.spec("JOB-212")
async def test_tasks_that_succeed_complete_the_job():
    """Given four tasks, two at a time, that succeed / then the Job is complete with four pods."""
    job, pods = await run(parallelism=2, completions=4)
    assert (counts(job), len(pods)) == ((0, 4, 0, 0), 4)
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]


@pytest.mark.spec("JOB-212")
async def test_tasks_that_are_restarted_in_place_complete_the_job():
    """Given tasks that fail once and are restarted on their node / then the Job is complete, and no
    pod failed.
    """
    job, pods = await run(
        lambda _, attempt, __: {"exit-code": "0" if attempt else "1"}, restart_policy="OnFailure", backoffLimit=99,
        parallelism=2, completions=2)
    assert counts(job) == (0, 2, 0, 0)
    assert max(pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods) == 1


@pytest.mark.spec("JOB-212")
async def test_tasks_that_are_replaced_complete_the_job():
    """Given tasks of which every second try fails, never restarted / then the Job is complete with
    as many failed pods.
    """
    job, pods = await run(lambda _, attempt, __: attempt % 2, backoffLimit=99, parallelism=2, completions=4)
    assert counts(job) == (0, 4, 3, 0)
    assert len(pods) == 7


@pytest.mark.spec("JOB-212")
async def test_a_job_gives_up_beyond_its_limit():
    """Given one retry / when the task always fails / then the Job has failed after two pods."""
    job, pods = await run(lambda *_: 1, backoffLimit=1)
    assert (reason(job), counts(job), len(pods)) == ("BackoffLimitExceeded", (0, 0, 2, 0), 2)


@pytest.mark.spec("JOB-212")
async def test_a_job_that_takes_too_long_is_stopped():
    """Given tasks that never end and a deadline / then the Job fails at the deadline, and its pods
    are gone.
    """
    job, pods = await run(
        lambda *_: {"run-duration": "forever"}, parallelism=2, completions=4, activeDeadlineSeconds=5)
    assert (reason(job), pods) == ("DeadlineExceeded", [])
    assert condition(job, "Failed")["lastTransitionTime"] == "2026-01-01T00:00:06Z"


@pytest.mark.spec("JOB-096")
async def test_restarts_in_place_count_against_the_limit():
    """Given OnFailure and a limit of two / when the task always fails / then the Job fails once it
    was restarted twice.
    """
    job, _ = await run(lambda *_: 1, restart_policy="OnFailure", backoffLimit=2)
    assert reason(job) == "BackoffLimitExceeded"


@pytest.mark.spec("JOB-213")
async def test_a_failure_policy_ends_a_job_early():
    """Given a rule for code 42 / when a task exits with it / then the Job fails for that, whatever
    its limit is.
    """
    rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]
    job, _ = await run(lambda *_: 42, backoffLimit=99, podFailurePolicy={"rules": rules})
    assert (reason(job), true_conditions(job)) == ("PodFailurePolicy", ["FailureTarget", "Failed"])


@pytest.mark.spec("JOB-213")
async def test_a_failure_that_is_ignored_is_not_counted():
    """Given a rule to ignore code 137 and no retries / when a task exits with it once / then the
    Job completes.
    """
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [137]}}]
    job, _ = await run(
        lambda _, attempt, __: 0 if attempt else 137, backoffLimit=0, podFailurePolicy={"rules": rules})
    assert (counts(job), true_conditions(job)) == ((0, 1, 0, 0), ["SuccessCriteriaMet", "Complete"])


@pytest.mark.spec("JOB-216", "JOB-170")
async def test_all_indexes_run_though_some_fail():
    """Given four indexes with one retry each / when 1 and 3 always fail / then 0 and 2 are done,
    and the Job has failed.
    """
    job, _ = await run(
        by_index(i1="1", i3="1"), completionMode="Indexed", parallelism=4, completions=4, backoffLimitPerIndex=1)
    assert (job["status"]["failedIndexes"], job["status"]["completedIndexes"]) == ("1,3", "0,2")
    assert (reason(job), counts(job)) == ("FailedIndexes", (0, 2, 4, 0))


@pytest.mark.spec("JOB-216")
async def test_too_many_failed_indexes_end_a_job():
    """Given at most one failed index / when three always fail / then the Job fails before all were
    tried.
    """
    job, _ = await run(
        by_index(i0="1", i1="1", i2="1"), completionMode="Indexed", parallelism=2, completions=8, backoffLimitPerIndex=0,
        maxFailedIndexes=1)
    assert reason(job) == "MaxFailedIndexesExceeded"
    assert job["status"]["failedIndexes"] == "0,1"


@pytest.mark.spec("JOB-216")
async def test_indexed_pods_have_hostnames():
    """Given three indexes / then each succeeded once, in a pod with its index for a hostname."""
    job, pods = await run(completionMode="Indexed", parallelism=2, completions=3)
    assert job["status"]["completedIndexes"] == "0-2"
    assert sorted(pod["spec"]["hostname"] for pod in pods) == ["j-0", "j-1", "j-2"]


@pytest.mark.spec("JOB-217")
@pytest.mark.parametrize("rule", [{"succeededIndexes": "0"}, {"succeededCount": 1}])
async def test_a_success_policy_ends_a_job_while_others_run(rule):
    """Given a rule that index 0 meets / when it succeeds while index 1 would run for ever / then
    the Job completes.
    """
    job, pods = await run(
        lambda pod, *_: {"run-duration": "forever"} if index_of(pod) else None, completionMode="Indexed",
        parallelism=2, completions=2, successPolicy={"rules": [rule]})
    assert (reason(job), job["status"]["completedIndexes"]) == ("SuccessPolicy", "0")
    assert not any(is_tracked(pod) for pod in pods)


@pytest.mark.spec("JOB-218", "JOB-049")
async def test_more_pods_than_fit_run_one_after_the_other():
    """Given ninety pods of a CPU each on two nodes of eight / then never more than sixteen run, and
    all are done.
    """
    most = 0
    async with Cluster(nodes=2, clock="manual") as cluster:
        manifest = job_manifest(parallelism=90, completions=90)
        manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        await cluster.client.create(JOBS, manifest)
        for _ in range(60):
            await cluster.advance(1)
            pods = (await cluster.client.list(PODS, NAMESPACE)).items
            most = max(most, sum(pod["status"]["phase"] == "Running" for pod in pods))
            job = await cluster.client.get(JOBS, "j", NAMESPACE)
            if condition(job, "Complete"):
                break
    assert (most, counts(job)) == (16, (0, 90, 0, 0))
    assert not any(is_tracked(pod) for pod in pods)


@pytest.mark.spec("JOB-215", "JOB-164")
async def test_with_policy_failed_a_deleted_pod_is_replaced_when_it_has_ended():
    """Given policy Failed and a pod that ignores SIGTERM / when it is deleted / then it is replaced
    thirty seconds later.
    """
    stubborn = {"run-duration": "forever", "ignore-sigterm": "true"}
    async with Cluster(nodes=1, clock="manual", outcome=lambda *_: stubborn) as cluster:
        await cluster.client.create(JOBS, job_manifest(podReplacementPolicy="Failed"))
        await cluster.advance(5)
        [pod] = (await cluster.client.list(PODS, NAMESPACE)).items
        await cluster.client.delete(PODS, pod["metadata"]["name"], NAMESPACE)
        await cluster.advance(29)
        assert [p["metadata"]["uid"] for p in (await cluster.client.list(PODS, NAMESPACE)).items] == [pod["metadata"]["uid"]]
        await cluster.advance(15)
        [other] = (await cluster.client.list(PODS, NAMESPACE)).items
        assert other["metadata"]["uid"] != pod["metadata"]["uid"]
        assert counts(await cluster.client.get(JOBS, "j", NAMESPACE)) == (1, 0, 1, 0)


@pytest.mark.spec("JOB-219", "JOB-167")
async def test_ready_pods_are_counted_when_they_are_ready():
    """Given tasks that are ready after five seconds / then status.ready follows active that much
    later.
    """
    async with Cluster(nodes=1, clock="manual", outcome=lambda *_: {"run-duration": "1h", "ready-after": "5s"}) as cluster:
        await cluster.client.create(JOBS, job_manifest(parallelism=2, completions=2))
        seen = []
        for _ in range(9):
            await cluster.advance(1)
            status = (await cluster.client.get(JOBS, "j", NAMESPACE))["status"]
            seen.append((status["active"], status["ready"]))
    assert seen[0] == (2, 0)
    assert seen[-1] == (2, 2)
    assert seen.index((2, 2)) == 6  # started at one, ready at six, batched for a second


@pytest.mark.spec("JOB-214")
async def test_a_job_stands_still_while_it_is_suspended():
    """Given two nodes and a Job made suspended / then it has no pods after an hour / when it is
    resumed, then it runs / when it is suspended again / then its pods stop, and nothing else runs
    until it is resumed.
    """
    async with Cluster(nodes=2, clock="manual", outcome=lambda *_: {"run-duration": "20m"}) as cluster:
        await cluster.client.create(JOBS, job_manifest(parallelism=2, completions=2, suspend=True))
        seen = []
        for suspended in (False, True, False):
            await cluster.advance("1h" if not seen else "5m")
            seen.append([pod["status"]["phase"] for pod in (await cluster.client.list(PODS, NAMESPACE)).items])
            await cluster.client.patch(JOBS, "j", NAMESPACE, {"spec": {"suspend": suspended}})
        await cluster.advance("5m")
        assert seen == [[], ["Running", "Running"], []]
        await cluster.advance("20m")
        assert counts(await cluster.client.get(JOBS, "j", NAMESPACE)) == (0, 2, 0, 0)


@pytest.mark.spec("JOB-220")
@pytest.mark.parametrize("change", [
    {"nodeSelector": {"kubernetes.io/hostname": "node-1"}},
    {"containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "2"}}}]}])
async def test_a_job_that_was_stopped_goes_on_elsewhere_or_larger(change):
    """Given a running Job that is suspended / when it is told where its pods run, or what they ask
    for, and resumed / then its new pods run so.
    """
    async with Cluster(nodes=2, clock="manual", outcome=lambda *_: {"run-duration": "1h"}) as cluster:
        await cluster.client.create(JOBS, job_manifest(parallelism=2, completions=2))
        await cluster.advance(5)
        await cluster.client.patch(JOBS, "j", NAMESPACE, {"spec": {"suspend": True}})
        await cluster.advance(40)
        await cluster.client.patch(JOBS, "j", NAMESPACE, {"spec": {"template": {"spec": change}}})
        await cluster.client.patch(JOBS, "j", NAMESPACE, {"spec": {"suspend": False}})
        await cluster.advance(5)
        pods = (await cluster.client.list(PODS, NAMESPACE)).items
        assert [pod["status"]["phase"] for pod in pods] == ["Running", "Running"]
        for pod in pods:
            assert pod["spec"].get("nodeSelector") == change.get("nodeSelector")
            assert "nodeSelector" not in change or pod["spec"]["nodeName"] == "node-1"
            assert "containers" not in change or pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


@pytest.mark.spec("JOB-220")
async def test_another_controller_takes_a_job_to_its_end():
    """Given a Job that another controller manages / when that writes what became of it / then every
    step is taken as the built-in controller's would be, which adds nothing, and the Job is complete
    for everybody.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        job = await cluster.client.create(JOBS, job_manifest(managedBy="example.com/elsewhere"))
        await cluster.advance(5)
        met = {"type": "SuccessCriteriaMet", "status": "True", "reason": "CompletionsReached"}
        steps = (
            {"startTime": "2026-01-01T00:00:05Z", "active": 1, "ready": 0},
            {"ready": 1},
            {"active": 0, "ready": 0, "succeeded": 1, "conditions": [met]},
            {"conditions": [met, met | {"type": "Complete"}], "completionTime": "2026-01-01T00:00:06Z"},
        )
        for step in steps:
            job["status"] = job.get("status", {}) | step
            job = await cluster.client.update_status(JOBS, job)
            await cluster.advance(2)
        found = await cluster.client.get(JOBS, "j", NAMESPACE)
        assert found["metadata"]["resourceVersion"] == job["metadata"]["resourceVersion"]
        assert true_conditions(found) == ["SuccessCriteriaMet", "Complete"]
        assert (await cluster.client.list(PODS, NAMESPACE)).items == []
