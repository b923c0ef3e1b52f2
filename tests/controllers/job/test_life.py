"""A Job from its creation to its end: how many pods run, how many are counted, what is written."""

import pytest

from fakekube.client.resources import JOBS, PODS
from tests.controllers.world import counts, index_of, is_tracked, job_manifest, true_conditions


@pytest.mark.spec("JOB-033")
async def test_a_single_pod_that_fails_is_replaced_until_one_succeeds(world):
    """Given a Job for one pod / when its pod fails, and the next succeeds
    / then the failure is counted once, the Job is complete, and no pod is tracked any more.
    """
    job = await world.create_job()
    assert counts(job) == (1, 0, 0, 0)
    assert job["status"]["startTime"] == "2026-01-01T00:00:00Z"
    [first] = await world.pods()
    assert is_tracked(first)
    assert first["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]
    await world.fail(first)
    await world.advance(12)
    assert counts(await world.job()) == (1, 0, 1, 0)
    [second] = await world.active()
    await world.succeed(second)
    await world.advance(1)
    job = await world.job()
    assert counts(job) == (0, 1, 1, 0)
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert job["status"]["completionTime"] == "2026-01-01T00:00:14Z"
    assert not any(is_tracked(pod) for pod in await world.pods())


@pytest.mark.spec("JOB-034", "JOB-102")
async def test_a_work_queue_starts_nothing_new_once_one_pod_succeeded(world):
    """Given five pods and no number of completions / when two fail, one succeeds and the rest end /
    then the two are replaced before the success, nothing is replaced after it, and the Job
    completes with the last pod.
    """
    await world.create_job(parallelism=5)
    pods = await world.active()
    assert len(pods) == 5
    await world.make_ready(*pods[:2])
    await world.advance(1)
    assert (await world.job())["status"]["ready"] == 2
    await world.fail(*pods[:2])
    await world.advance(25)
    assert counts(await world.job()) == (5, 0, 2, 0)
    pods = await world.active()
    await world.succeed(pods[0])
    await world.advance(30)
    assert counts(await world.job()) == (4, 1, 2, 0)
    await world.succeed(*pods[1:3])
    await world.fail(*pods[3:])
    await world.advance(1)
    job = await world.job()
    assert counts(job) == (0, 3, 4, 0)
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert [is_tracked(pod) for pod in await world.pods()] == [False] * 7


@pytest.mark.spec("JOB-035")
async def test_pods_follow_parallelism_up_and_down(world):
    """Given five pods / when parallelism is 2 and then 4 / then so many run, and what was deleted
    is not counted as failed.
    """
    await world.create_job(parallelism=5)
    job = await world.change_job(parallelism=2)
    assert (len(await world.active()), counts(job)) == (2, (2, 0, 0, 0))
    job = await world.change_job(parallelism=4)
    assert (len(await world.active()), counts(job)) == (4, (4, 0, 0, 0))


@pytest.mark.spec("JOB-036")
async def test_no_more_pods_run_than_completions_are_left(world):
    """Given parallelism 54 and completions 56 / when two fail and 53 succeed / then 54, and then 3
    run, until all are done.
    """
    await world.create_job(parallelism=54, completions=56)
    pods = await world.active()
    assert len(pods) == 54
    await world.make_ready(*pods[:52])
    await world.advance(1)
    assert (await world.job())["status"]["ready"] == 52
    await world.fail(*pods[:2])
    await world.advance(25)
    assert counts(await world.job()) == (54, 0, 2, 0)
    pods = await world.active()
    await world.succeed(*pods[:53])
    await world.advance(1)
    assert counts(await world.job()) == (3, 53, 2, 0)
    await world.succeed(*await world.active())
    await world.advance(1)
    job = await world.job()
    assert counts(job) == (0, 56, 2, 0)
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]


@pytest.mark.spec("JOB-037")
async def test_an_indexed_job_runs_every_index_to_success(world):
    """Given three pods at a time of four indexes / when one index is done and another fails / then
    the next index starts, the failed one is made again, and completedIndexes tells what is done.
    """
    await world.create_job(parallelism=3, completions=4, completionMode="Indexed")
    pods = await world.by_index()
    assert sorted(pods) == [0, 1, 2]
    await world.succeed(pods[1])
    await world.advance(2)
    assert (await world.job())["status"]["completedIndexes"] == "1"
    pods = await world.by_index()
    assert sorted(pods) == [0, 2, 3]
    await world.fail(pods[2])
    await world.advance(12)
    assert counts(await world.job()) == (3, 1, 1, 0)
    assert sorted(await world.by_index()) == [0, 2, 3]
    await world.succeed(*await world.active())
    await world.advance(1)
    job = await world.job()
    assert counts(job) == (0, 4, 1, 0)
    assert job["status"]["completedIndexes"] == "0-3"
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]


@pytest.mark.spec("JOB-129")
async def test_an_indexed_pod_knows_its_index_in_four_ways(world):
    """Given containers and init containers, one with a variable of its own of that name / then a
    pod has its index as hostname, label, annotation and environment, and the variable of its own is
    kept.
    """
    manifest = job_manifest(completions=1, completionMode="Indexed")
    mine = [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]
    manifest["spec"]["template"]["spec"]["initContainers"] = [{"name": "init", "image": "i"}]
    manifest["spec"]["template"]["spec"]["containers"].append({"name": "own", "image": "i", "env": mine})
    await world.client.create(JOBS, manifest)
    await world.settle()
    [pod] = await world.pods()
    assert pod["metadata"]["generateName"] == "j-0-"
    assert pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0"
    assert index_of(pod) == 0
    assert pod["spec"]["hostname"] == "j-0"
    path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    given = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
    assert pod["spec"]["initContainers"][0]["env"] == [given]
    assert [container["env"] for container in pod["spec"]["containers"]] == [[given], mine]


@pytest.mark.spec("JOB-103")
async def test_one_success_too_many_is_counted_and_told(world):
    """Given two completions / when three pods succeed at once
    / then the Job is complete with three, and says that it is one too many.
    """
    await world.create_job(parallelism=2, completions=2)
    owner = (await world.job())["metadata"]
    extra = {
        "metadata": {
            "name": "extra", "namespace": "default", "labels": owner["labels"] | {"job-name": "j"}, "finalizers": [
                "batch.kubernetes.io/job-tracking"],
            "ownerReferences": [{
                "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": owner["uid"], "controller": True}],
        },
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]},
    }
    pods = await world.active()
    made = await world.client.create(PODS, extra)
    await world.succeed(*pods, made)
    await world.advance(1)
    job = await world.job()
    assert counts(job) == (0, 3, 0, 0)
    assert (await world.reasons())[-2:] == ["TooManySucceededPods", "Completed"]


@pytest.mark.spec("JOB-104")
async def test_a_job_of_no_completions_is_complete_at_once(world):
    """Given completions 0 / then the Job completes without a pod."""
    job = await world.create_job(completions=0)
    assert true_conditions(job) == ["SuccessCriteriaMet", "Complete"]
    assert await world.pods() == []


@pytest.mark.spec("JOB-105")
async def test_a_job_of_no_parallelism_waits(world):
    """Given parallelism 0 / then no pod is made and the Job is not complete / when it is raised to
    2 / then two pods run.
    """
    job = await world.create_job(parallelism=0)
    assert (await world.pods(), true_conditions(job)) == ([], [])
    await world.change_job(parallelism=2)
    assert len(await world.active()) == 2


@pytest.mark.spec("JOB-128")
async def test_a_happy_job_tells_of_its_pods_and_its_end(world):
    """Given two pods that succeed / then the Job's events are two creations and the completion."""
    await world.create_job(parallelism=2, completions=2)
    pods = await world.pods()
    await world.succeed(*pods)
    await world.advance(1)
    names = sorted(pod["metadata"]["name"] for pod in pods)
    events = await world.events()
    assert sorted(message for _, reason, message in events[:2]) == [f"Created pod: {name}" for name in names]
    assert events[2:] == [("Normal", "Completed", "Job completed")]


@pytest.mark.spec("JOB-119")
async def test_a_success_is_written_twice_and_the_end_only_when_all_is_counted(world):
    """Given a watch on a Job / when its pod succeeds / then SuccessCriteriaMet comes with the
    uncounted pod, and Complete with the count, at the completion time.
    """
    await world.create_job()
    seen = []
    version = (await world.job())["metadata"]["resourceVersion"]
    events = await world.client.watch(JOBS, "default", resource_version=version)
    [pod] = await world.pods()
    await world.succeed(pod)
    await world.advance(1)
    async with events:
        async for event in events:
            seen.append(event.object)
            if "Complete" in true_conditions(event.object):
                break
    first, last = seen
    assert true_conditions(first) == ["SuccessCriteriaMet"]
    assert first["status"]["uncountedTerminatedPods"] == {"succeeded": [pod["metadata"]["uid"]]}
    assert "succeeded" not in first["status"]
    assert last["status"]["uncountedTerminatedPods"] == {}
    assert last["status"]["succeeded"] == 1
    complete = last["status"]["conditions"][-1]
    assert complete["lastTransitionTime"] == last["status"]["completionTime"]
