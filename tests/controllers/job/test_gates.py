"""Feature gates of Jobs, in the releases in which they can be switched: off, on, and to and fro
while a Job runs.
"""

from dataclasses import replace

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS
from tests.controllers.world import NAMESPACE, World, condition, counts, job_manifest, manual_cluster, true_conditions

RULES = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [5]}}]}
FIRST_SUCCEEDS = {"rules": [{"succeededIndexes": "0"}]}


def of_release(release, **gates):
    """A cluster of an older release with these gates."""
    return manual_cluster(kubernetes_version=release, feature_gates=gates)


async def switch(world, **gates):
    """The same cluster, with all its objects, under these gates, as after a restart of every server
    and controller.
    """
    taken = world.cluster.snapshot()
    options = replace(taken.options, feature_gates={**taken.options.feature_gates, **gates})
    await world.cluster.restore(taken._replace(options=options))
    await world.advance(2)


@pytest.mark.spec("JOB-004")
async def test_without_failure_policies_a_failure_is_a_failure():
    """Given 1.30 with JobPodFailurePolicy off / when a Job has a FailJob rule and its pod ends with
    that code / then the policy is forgotten, the pod is counted and replaced, and the Job
    completes.
    """
    async with of_release("1.30", JobPodFailurePolicy=False) as cluster:
        world = World(cluster)
        job = await world.create_job(podFailurePolicy=RULES)
        assert "podFailurePolicy" not in job["spec"]
        await world.fail(*await world.active(), exit_code=5)
        await world.advance(12)
        assert counts(await world.job()) == (1, 0, 1, 0)
        await world.succeed(*await world.active())
        await world.advance(2)
        assert true_conditions(await world.job()) == ["Complete"]


@pytest.mark.spec("JOB-009", "JOB-013")
async def test_a_success_policy_holds_only_while_its_gate_is_on():
    """Given a Job that succeeds with index 0 / when the gate is off while index 0 succeeds / then
    it runs on / when the gate is on again / then the Job succeeds by the policy.
    """
    async with of_release("1.32") as cluster:
        world = World(cluster)
        await world.create_job(completionMode="Indexed", parallelism=3, completions=3, successPolicy=FIRST_SUCCEEDS)
        await switch(world, JobSuccessPolicy=False)
        pods = await world.by_index()
        await world.succeed(pods[0])
        await world.advance(2)
        job = await world.job()
        assert (counts(job), true_conditions(job)) == ((2, 1, 0, 0), [])
        await switch(world, JobSuccessPolicy=True)
        job = await world.job()
        assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
        assert condition(job, "Complete")["reason"] == "SuccessPolicy"


@pytest.mark.spec("JOB-009")
async def test_without_success_policies_success_needs_no_reason():
    """Given JobSuccessPolicy off / when a Job names such a policy and all indexes succeed / then
    the policy is forgotten, and the conditions have no reason, as before there was a choice of
    reasons.
    """
    async with of_release("1.32", JobSuccessPolicy=False) as cluster:
        world = World(cluster)
        job = await world.create_job(
            completionMode="Indexed", parallelism=2, completions=2, successPolicy=FIRST_SUCCEEDS)
        assert "successPolicy" not in job["spec"]
        await world.succeed(*await world.active())
        await world.advance(2)
        job = await world.job()
        assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
        assert "reason" not in condition(job, "Complete")
        assert world.cluster.metrics.value("job_controller_jobs_finished_total", reason="", result="succeeded") == 1


@pytest.mark.spec("JOB-015")
async def test_failed_indexes_are_forgotten_while_their_gate_is_off():
    """Given no retries an index, and index 0 failed / when the gate goes off / then there are no
    failed indexes and 0 is tried again / when it is on again / then none has failed yet, and
    nothing was counted twice / when 2 fails / then 2 has failed.
    """
    async with of_release("1.32") as cluster:
        world = World(cluster)
        await world.create_job(
            completionMode="Indexed", parallelism=3, completions=3, backoffLimitPerIndex=0, backoffLimit=100)
        await world.fail((await world.by_index())[0])
        await world.advance(2)
        job = await world.job()
        assert (job["status"]["failedIndexes"], counts(job)) == ("0", (2, 0, 1, 0))
        await switch(world, JobBackoffLimitPerIndex=False)
        await world.advance(12)
        job = await world.job()
        assert "failedIndexes" not in job["status"]
        assert (counts(job), sorted(await world.by_index())) == ((3, 0, 1, 0), [0, 1, 2])
        await switch(world, JobBackoffLimitPerIndex=True)
        job = await world.job()
        assert (job["status"]["failedIndexes"], counts(job)) == ("", (3, 0, 1, 0))
        await world.fail((await world.by_index())[2])
        await world.advance(2)
        job = await world.job()
        assert (job["status"]["failedIndexes"], counts(job)) == ("2", (2, 0, 2, 0))


async def test_without_limits_an_index_has_neither_limits_nor_rules():
    """Given JobBackoffLimitPerIndex off / when a Job comes with such limits and a FailIndex rule /
    then they are forgotten.
    """
    rule = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [5]}}
    async with of_release("1.32", JobBackoffLimitPerIndex=False) as cluster:
        world = World(cluster)
        job = await world.create_job(
            completionMode="Indexed", completions=2, backoffLimitPerIndex=1, maxFailedIndexes=1,
            podFailurePolicy={"rules": [rule, *RULES["rules"]]})
        assert not {"backoffLimitPerIndex", "maxFailedIndexes"} & set(job["spec"])
        assert [found["action"] for found in job["spec"]["podFailurePolicy"]["rules"]] == ["FailJob"]


@pytest.mark.spec("JOB-029")
async def test_without_its_gate_nobody_else_manages_a_job():
    """Given JobManagedBy off / when a Job names another manager / then that is forgotten, and it
    gets its pods.
    """
    async with of_release("1.34", JobManagedBy=False) as cluster:
        world = World(cluster)
        job = await world.create_job(managedBy="example.com/mine", parallelism=2)
        assert "managedBy" not in job["spec"]
        assert counts(job) == (2, 0, 0, 0)


@pytest.mark.spec("JOB-030")
async def test_a_job_changes_hands_with_the_gate():
    """Given a Job that others manage, and its gate off, so that it has pods / when the gate is on
    / then nobody counts its pods / when it is off again / then they are counted, once.
    """
    async with of_release("1.34") as cluster:
        world = World(cluster)
        job = await world.create_job(managedBy="example.com/mine", parallelism=2, completions=2)
        assert job["status"] == {}
        await switch(world, JobManagedBy=False)
        assert counts(await world.job()) == (2, 0, 0, 0)
        await switch(world, JobManagedBy=True)
        await world.succeed((await world.active())[0])
        await world.advance(5)
        assert counts(await world.job()) == (2, 0, 0, 0)
        await switch(world, JobManagedBy=False)
        assert counts(await world.job()) == (1, 1, 0, 0)
        await world.succeed(*await world.active())
        await world.advance(2)
        assert counts(await world.job()) == (0, 2, 0, 0)


async def deleted_pods(world, **spec):
    """A Job two of whose pods are being deleted and do not go."""
    await world.create_job(parallelism=2, completions=2, **spec)
    pods = await world.active()
    await world.bind(*pods)
    await world.delete_pods(*pods)
    await world.advance(30)


@pytest.mark.spec("JOB-038")
@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
async def test_without_a_choice_terminating_pods_are_replaced(mode):
    """Given JobPodReplacementPolicy off / when a Job wants policy Failed and its pods are deleted
    / then that is forgotten, they are replaced at once, and nobody counts who terminates.
    """
    async with of_release("1.33", JobPodReplacementPolicy=False) as cluster:
        world = World(cluster)
        await deleted_pods(world, podReplacementPolicy="Failed", completionMode=mode)
        job = await world.job()
        assert "podReplacementPolicy" not in job["spec"]
        assert counts(job) == (2, 0, 2, 0)
        assert "terminating" not in job["status"]


@pytest.mark.spec("JOB-044")
async def test_terminating_pods_are_shown_while_the_gate_is_on():
    """Given two terminating pods / when the gate goes off and on again / then status.terminating
    goes and comes.
    """
    async with of_release("1.33") as cluster:
        world = World(cluster)
        await deleted_pods(world)
        seen = [(await world.job())["status"].get("terminating")]
        for on in (False, True):
            await switch(world, JobPodReplacementPolicy=on)
            seen.append((await world.job())["status"].get("terminating"))
        assert seen == [2, None, 2]
        assert counts(await world.job())[:3] == (2, 0, 2)


@pytest.mark.spec("JOB-017", "JOB-018")
@pytest.mark.parametrize(("release", "gates"), [
    ("1.30", {}), ("1.33", {"JobManagedBy": False, "JobPodReplacementPolicy": False})])
async def test_where_nothing_delays_it_the_end_is_not_announced(release, gates):
    """Given 1.30, or a later release without the gates that delay the end / when one pod fails
    beyond the limit while another terminates / then the Job has failed at once, without
    FailureTarget.
    """
    async with of_release(release, **gates) as cluster:
        world = World(cluster)
        await world.create_job(parallelism=2, completions=2, backoffLimit=0)
        failing, other = await world.active()
        await world.bind(failing, other)
        await world.fail(failing)
        await world.advance(2)
        assert true_conditions(await world.job()) == ["Failed"]


@pytest.mark.spec("JOB-062", "JOB-220")
async def test_without_its_gate_a_suspended_job_keeps_its_requests():
    """Given MutablePodResourcesForSuspendedJobs off / when a suspended Job's pods are to ask for
    more / then 422, immutable.
    """
    async with manual_cluster(feature_gates={"MutablePodResourcesForSuspendedJobs": False}) as cluster:
        world = World(cluster)
        await world.create_job(suspend=True)
        container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "2"}}}
        with pytest.raises(APIError, match=r"spec.template.*field is immutable") as refused:
            await world.change_job(template={"spec": {"containers": [container]}})
        assert refused.value.code == 422


async def test_a_job_that_ran_and_is_suspended_remembers_its_start_in_older_releases():
    """Given 1.35 / when a running Job is suspended / then it keeps its start, and where its pods
    run stays as it is.
    """
    async with of_release("1.35") as cluster:
        world = World(cluster)
        started = (await world.create_job())["status"]["startTime"]
        job = await world.change_job(suspend=True)
        assert (job["status"]["startTime"], true_conditions(job)) == (started, ["Suspended"])
        with pytest.raises(APIError, match="field is immutable"):
            await world.change_job(template={"spec": {"nodeSelector": {"disk": "fast"}}})
        job = await world.change_job(suspend=False)
        assert job["status"]["startTime"] > started


async def test_without_strict_checks_a_status_may_contradict_itself():
    """Given JobManagedBy off / when a status says Complete without announcing it / then that is
    taken, where the newest release refuses it.
    """
    body = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    async with of_release("1.33", JobManagedBy=False) as cluster:
        await cluster.client.create(JOBS, job_manifest(suspend=True))
        await cluster.client.patch(JOBS, "j", NAMESPACE, body, subresource="status")
    async with manual_cluster() as cluster:
        await cluster.client.create(JOBS, job_manifest(suspend=True))
        with pytest.raises(APIError, match="without the SuccessCriteriaMet=true condition"):
            await cluster.client.patch(JOBS, "j", NAMESPACE, body, subresource="status")


async def test_where_it_is_not_elastic_an_indexed_job_keeps_its_size():
    """Given 1.30 with ElasticIndexedJob off / when completions and parallelism change together /
    then that is refused.
    """
    async with of_release("1.30", ElasticIndexedJob=False) as cluster:
        world = World(cluster)
        await world.create_job(completionMode="Indexed", parallelism=2, completions=2)
        with pytest.raises(APIError, match=r"spec.completions: Invalid value.*field is immutable"):
            await world.change_job(parallelism=3, completions=3)
