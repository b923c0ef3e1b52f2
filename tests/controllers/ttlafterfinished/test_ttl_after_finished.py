"""Finished Jobs go when their time is over, and not before."""

import pytest

from fakekube.apimachinery import times
from fakekube.client.resources import JOBS
from fakekube.runtime.reconcile import TerminalError
from fakekube.util.driver import Stalled
from fakekube_controllers.ttlafterfinished.controller import expires_at
from tests.controllers.world import NAMESPACE, World, job_manifest, manual_cluster


@pytest.fixture
async def world():
    async with manual_cluster("ttlafterfinished,job,garbagecollector,namespace,serviceaccount") as cluster:
        yield World(cluster)


async def finished(world, **spec):
    """A Job that has just completed, by its own account."""
    job = await world.create_job(**spec)
    await world.succeed(*await world.active())
    await world.advance(2)
    (complete,) = [c for c in (await world.job())["status"]["conditions"] if c["type"] == "Complete"]
    return job, times.parse_time(complete["lastTransitionTime"])


async def is_there(world):
    return await world.client.get(JOBS, "j", NAMESPACE, missing_ok=True) is not None


async def until(world, second):
    await world.advance(second - world.cluster.clock.time())


@pytest.mark.spec("JOB-171")
async def test_a_job_goes_with_its_pods(world):
    """Given a Job with a minute to live / when a minute has passed since it completed / then it
    goes, its pods first.
    """
    _, at = await finished(world, ttlSecondsAfterFinished=60)
    seen = []
    world.cluster.manager.component("job").ctx.add_handler(
        JOBS, on_update=lambda _, new: seen.append(new["metadata"].get("finalizers")))
    await until(world, at + 59)
    assert await is_there(world)
    await until(world, at + 60)
    assert not await is_there(world)
    assert await world.pods() == []
    assert seen == [["foregroundDeletion"]]


@pytest.mark.spec("JOB-171")
@pytest.mark.parametrize(("ttl", "ends"), [(120, 120), (None, None), (10, 30)])
async def test_its_time_can_be_changed(world, ttl, ends):
    """Given the same / when its time is changed after half a minute / then the new time counts from
    its completion: more, for ever, or over already.
    """
    _, at = await finished(world, ttlSecondsAfterFinished=60)
    await until(world, at + 30)
    await world.client.patch(JOBS, "j", NAMESPACE, {"spec": {"ttlSecondsAfterFinished": ttl}})
    await world.settle()
    if ends is None:
        await until(world, at + 86400)
        assert await is_there(world)
        return
    if ends > 30:
        await until(world, at + ends - 1)
        assert await is_there(world)
    await until(world, at + ends)
    assert not await is_there(world)


async def test_no_time_at_all(world):
    """Given a Job with no time to live / when it completes / then it is gone at once."""
    await world.client.create(JOBS, job_manifest(completions=0, ttlSecondsAfterFinished=0))
    await world.advance(2)
    assert not await is_there(world)


@pytest.mark.spec("JOB-172")
async def test_an_interim_condition_does_not_count(world):
    """Given a Job that has met its failure but not failed yet / when its time passes / then it is
    still there.
    """
    await world.create_job(ttlSecondsAfterFinished=10, backoffLimit=0, podReplacementPolicy="Failed")
    (pod,) = await world.active()
    await world.bind(pod)
    await world.client.patch(JOBS, "j", NAMESPACE, {"spec": {"activeDeadlineSeconds": 5}})
    await world.advance(10)
    assert [c["type"] for c in (await world.job())["status"]["conditions"]] == ["FailureTarget"]
    await world.advance(3600)
    assert await is_there(world)


async def test_the_wait_never_pulls_time(world):
    """Given a completed Job with a time to live / when nothing else is left / then who says for how
    long waits for its end.
    """
    await finished(world, ttlSecondsAfterFinished=60)

    async def gone():
        return not await is_there(world)

    with pytest.raises(Stalled):
        await world.cluster.run_until(gone)
    await world.cluster.run_until(gone, within=60)


async def test_a_restart_forgets_nothing(world):
    """Given a completed Job / when the controller is away while its time ends / then it goes when
    the controller is back.
    """
    await finished(world, ttlSecondsAfterFinished=60)
    await world.cluster.manager.stop_component("ttlafterfinished")
    await world.advance(600)
    assert await is_there(world)
    await world.cluster.manager.start_component("ttlafterfinished")
    await world.settle()
    assert not await is_there(world)


def test_a_finished_job_that_does_not_say_since_when_is_never_tried_again():
    """Given a finished condition without its time / then that is told, as something that no later
    try mends; with it the time is over so many seconds later.
    """
    job = {
        "metadata": {"name": "j", "namespace": "default"}, "spec": {"ttlSecondsAfterFinished": 5},
        "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    with pytest.raises(TerminalError, match=r"^unable to find the time when the Job default/j finished$"):
        expires_at(job)
    job["status"]["conditions"][0]["lastTransitionTime"] = "1970-01-01T00:01:40Z"
    assert expires_at(job) == 105
