"""How pods are asked for: in batches that double, and again later when the server refuses."""

import pytest

from fakekube.client.resources import EVENTS, JOBS, LIMIT_RANGES, Resource
from tests.controllers.world import NAMESPACE, counts, job_manifest

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")


async def allow_pods(world, number):
    """Let there be at most so many pods, as a quota whose status somebody keeps."""
    hard = {"pods": str(number)}
    quota = await world.client.get(QUOTAS, "few", NAMESPACE, missing_ok=True)
    if quota is None:
        quota = await world.client.create(QUOTAS, {"metadata": {"name": "few", "namespace": NAMESPACE}, "spec": {"hard": hard}})
    else:
        quota = await world.client.patch(QUOTAS, "few", NAMESPACE, {"spec": {"hard": hard}})
    quota["status"] = {"hard": hard, "used": {"pods": str(len(await world.pods()))}}
    await world.client.update_status(QUOTAS, quota)


async def refusals(world):
    """How often a pod was refused until now, and the text."""
    events = [e for e in (await world.client.list(EVENTS, NAMESPACE)).items if e["reason"] == "FailedCreate"]
    return sum(event["count"] for event in events), {event["message"].partition("pods ")[0] for event in events}


@pytest.mark.spec("JOB-088", "JOB-089")
async def test_a_server_that_refuses_is_not_asked_for_everything(world):
    """Given twenty pods wanted and a quota of three / then batches of one and two succeed, the four
    of the next are refused, and it ends there; it is tried again after one second, two and four /
    when the quota grows / then all are there.
    """
    await allow_pods(world, 3)
    await world.client.create(JOBS, job_manifest(parallelism=20))
    tried = []
    for second in range(8):
        await world.settle()
        seen, texts = await refusals(world)
        if not tried or seen != tried[-1][1]:
            tried.append((second, seen))
        await world.advance(1)
    assert len(await world.pods()) == 3
    assert texts == {"Error creating: "}
    assert tried[0] == (0, 4)
    assert [second for second, _ in tried][:3] == [0, 1, 3]
    assert [count for _, count in tried][:3] == [4, 5, 6]
    await allow_pods(world, 100)
    await world.advance(30)
    assert counts(await world.job()) == (20, 0, 0, 0)


@pytest.mark.spec("JOB-067")
async def test_what_admission_adds_to_pods_stays_theirs(world):
    """Given limits and tolerations that admission gives to pods / when a Job makes pods, one after
    the other / then each has them, and else what the template says, and the Job's template is what
    its author wrote.
    """
    limits = {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}
    await world.client.create(LIMIT_RANGES, {
        "metadata": {"name": "l", "namespace": NAMESPACE}, "spec": {"limits": [limits]}})
    job = await world.create_job(parallelism=1, completions=2)
    await world.succeed(*await world.active())
    await world.advance(2)
    first, second = await world.pods()
    for pod in (first, second):
        assert pod["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
        assert [toleration["key"] for toleration in pod["spec"]["tolerations"]] == [
            "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
        assert pod["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]
    now = await world.job()
    assert now["spec"] == job["spec"]
    assert now["metadata"]["generation"] == 1
    assert now["spec"]["template"]["spec"]["containers"][0]["resources"] == {}
