"""Every pod is counted once and let go, whoever deletes what, and whoever is down meanwhile."""

import pytest

from fakekube.client.resources import JOBS, PODS
from tests.controllers.world import NAMESPACE, TRACKING, counts, is_tracked, job_manifest, true_conditions


@pytest.mark.spec("JOB-050")
@pytest.mark.parametrize("policy", ["Orphan", "Background", "Foreground"])
async def test_pods_of_a_deleted_job_are_let_go(world, policy):
    """Given a Job with pods / when it is deleted in any way / then no pod is tracked, and orphaned
    ones stay.
    """
    await world.create_job(parallelism=3)
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy=policy)
    await world.advance(5)
    assert await world.client.get(JOBS, "j", NAMESPACE, missing_ok=True) is None
    pods = await world.pods()
    assert len(pods) == (3 if policy == "Orphan" else 0)
    assert not any(is_tracked(pod) or pod["metadata"].get("ownerReferences") for pod in pods)


@pytest.mark.spec("JOB-086", "API-146")
async def test_a_job_deleted_without_a_policy_leaves_its_pods(world):
    """Given a Job with a pod / when it is deleted and nobody says how
    / then the pod stays with its labels, and without owner and finalizer.
    """
    await world.create_job()
    await world.client.delete(JOBS, "j", NAMESPACE)
    await world.advance(5)
    [pod] = await world.pods()
    assert pod["metadata"]["labels"]["job-name"] == "j"
    assert not is_tracked(pod)
    assert "ownerReferences" not in pod["metadata"]


@pytest.mark.spec("JOB-054")
async def test_pods_orphaned_while_the_controller_was_down_are_let_go(world):
    """Given no controller / when a Job is deleted and its pods stay / then they are let go once the
    controller starts.
    """
    await world.create_job(parallelism=2)
    await world.cluster.manager.stop_component("job")
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Orphan")
    await world.advance(1)
    assert [is_tracked(pod) for pod in await world.pods()] == [True, True]
    await world.cluster.manager.start_component("job")
    await world.advance(1)
    assert [is_tracked(pod) for pod in await world.pods()] == [False, False]


@pytest.mark.spec("JOB-051")
async def test_a_failed_job_holds_none_of_its_hundred_pods(world):
    """Given a hundred pods and no retries / when one fails / then the Job fails with all of them
    counted and let go.
    """
    await world.create_job(parallelism=100, backoffLimit=0)
    await world.fail((await world.active())[0])
    await world.advance(3)
    job = await world.job()
    assert true_conditions(job) == ["FailureTarget", "Failed"]
    assert job["status"]["failed"] == 100
    assert not any(is_tracked(pod) for pod in await world.pods())


@pytest.mark.spec("JOB-053")
async def test_a_controller_that_comes_and_goes_counts_right(world):
    """Given thirty pods and many retries / when the controller is stopped and started while pods
    fail / then in the end exactly those that failed are counted.
    """
    await world.create_job(parallelism=30, backoffLimit=1000, activeDeadlineSeconds=5000)
    failed = 0
    for _ in range(4):
        pods = (await world.active())[:7]
        await world.cluster.manager.stop_component("job")
        await world.fail(*pods)
        failed += len(pods)
        await world.cluster.manager.start_component("job")
        await world.advance(2)
    job = await world.job()
    assert job["status"]["failed"] == failed
    assert job["status"]["uncountedTerminatedPods"] == {}
    await world.advance(700)
    assert sum(is_tracked(pod) for pod in await world.pods()) == len(await world.active()) == 30


@pytest.mark.spec("JOB-120")
async def test_a_pod_noted_as_uncounted_is_counted_once_after_a_crash(world):
    """Given a status that names a succeeded pod as uncounted, its finalizer still there, as a crash
    between the two leaves it / when the controller starts / then the pod counts once.
    """
    await world.create_job(completions=3)
    [pod] = await world.active()
    await world.cluster.manager.stop_component("job")
    await world.succeed(pod)
    job = await world.job()
    job["status"]["uncountedTerminatedPods"] = {"succeeded": [pod["metadata"]["uid"]]}
    await world.client.update_status(JOBS, job)
    await world.cluster.manager.start_component("job")
    await world.advance(3)
    job = await world.job()
    assert counts(job) == (1, 1, 0, 0)
    assert job["status"]["uncountedTerminatedPods"] == {}


@pytest.mark.spec("JOB-121")
async def test_six_hundred_pods_that_end_at_once_are_counted_in_two_rounds(world):
    """Given 600 pods / when all succeed at once / then the status never names more than 500 of
    them, and all are counted.
    """
    await world.create_job(parallelism=600, completions=600)
    await world.advance(3)
    version = (await world.job())["metadata"]["resourceVersion"]
    events = await world.client.watch(JOBS, NAMESPACE, resource_version=version)
    await world.succeed(*await world.active())
    await world.advance(5)
    noted = []
    async with events:
        async for event in events:
            noted.append(len(event.object["status"]["uncountedTerminatedPods"].get("succeeded", ())))
            if "Complete" in true_conditions(event.object):
                break
    assert max(noted) == 500
    assert counts(event.object) == (0, 600, 0, 0)


@pytest.mark.spec("JOB-090")
async def test_no_more_than_five_hundred_pods_are_made_in_one_go(world):
    """Given parallelism 1200 / then 500, 1000 and 1200 pods are there after one, two and three
    syncs.
    """
    await world.client.create(JOBS, job_manifest(parallelism=1200))
    sizes = []
    for _ in range(3):
        await world.settle()
        sizes.append(len(await world.pods()))
        await world.advance(1)
    assert sizes == [500, 1000, 1200]


@pytest.mark.spec("JOB-122")
async def test_pods_of_a_finished_job_are_let_go_whoever_made_them_tracked(world):
    """Given a complete Job, one of whose pods is tracked again / when the Job changes in any way /
    then the pod is let go.
    """
    await world.create_job()
    await world.succeed(*await world.active())
    await world.advance(2)
    [pod] = await world.pods()
    await world.cluster.manager.stop_component("job")
    await world.client.patch(PODS, pod["metadata"]["name"], NAMESPACE, {"metadata": {"finalizers": [TRACKING]}})
    await world.cluster.manager.start_component("job")
    await world.settle()
    await world.client.patch(JOBS, "j", NAMESPACE, {"metadata": {"labels": {"looked": "at"}}})
    await world.settle()
    assert [is_tracked(pod) for pod in await world.pods()] == [False]
