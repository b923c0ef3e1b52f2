"""Requests that take time: who waits for them, who gives up, and that nothing of them is left."""

import asyncio

import pytest

from fakekube import Cluster
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.client.resources import CONFIG_MAPS, JOBS
from fakekube.util.driver import Stalled
from tests.faults.asking import create, is_there

JOB = {"metadata": {"name": "a"}, "spec": {"completions": 3, "parallelism": 3, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}


def quiet() -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual")


async def test_who_gives_up_leaves_nothing_behind() -> None:
    """Given a write that takes an hour before its commit / when its client leaves / then nothing is
    written, nothing sleeps, and no timer is left.
    """
    async with quiet() as cluster:
        cluster.faults.add(latency="1h", verbs="create")
        task = asyncio.ensure_future(create(cluster, "a"))
        await cluster.settle()
        assert cluster.activity.asleep == 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await cluster.advance("2h")
        assert (cluster.activity.asleep, cluster.activity.idle, await is_there(cluster, "a")) == (0, True, False)


async def test_many_sleep_at_once() -> None:
    """Given two thousand writes that take an hour / when it is over / then each is answered."""
    async with quiet() as cluster:
        cluster.faults.add(latency="1h", verbs="create")
        tasks = [asyncio.ensure_future(create(cluster, f"a{number}")) for number in range(2_000)]
        await cluster.settle()
        assert cluster.activity.asleep == len(tasks)
        await cluster.advance("1h")
        assert {answer.status for answer in await asyncio.gather(*tasks)} == {201}
        assert (cluster.activity.asleep, cluster.activity.idle) == (0, True)


async def test_a_webhook_that_writes_while_its_caller_waits() -> None:
    """Given writes that take two seconds, one of which is made by a webhook of another / when time
    passes / then both are made, one after the other.
    """
    async with quiet() as cluster:
        @cluster.webhook("configmaps", failure_policy="Fail")
        async def writes(request: AdmissionRequest) -> None:
            if request.name == "outer":
                await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "inner"}}, "default")

        cluster.faults.add(latency="2s", verbs="create", resources="configmaps")
        task = asyncio.ensure_future(create(cluster, "outer"))
        await cluster.advance("3s")
        assert not task.done()
        await cluster.advance("1s")
        assert ((await task).status, await is_there(cluster, "inner")) == (201, True)
        assert (cluster.activity.asleep, cluster.activity.idle) == (0, True)


async def test_waiting_for_what_sleeps() -> None:
    """Given a write that takes an hour / when a test waits for it a minute, and then for longer /
    then the one is Stalled, which names the fault, and the other is not.
    """
    async with quiet() as cluster:
        cluster.faults.add(latency="1h", verbs="create")
        task = asyncio.ensure_future(create(cluster, "a"))

        async def there() -> bool:
            return await is_there(cluster, "a")

        with pytest.raises(Stalled, match=r"fault fault-1 \(latency 3600 s\): 1 of 1"):
            await cluster.run_until(there, within="1m")
        await cluster.run_until(there, within="2h")
        assert (await task).status == 201


@pytest.mark.parametrize("clock", ["auto", "100x"])
async def test_requests_take_time_on_every_clock(clock: str) -> None:
    """Given a Job controller whose creations take ten seconds / when a Job runs on another clock /
    then it completes, and nothing sleeps any more.
    """
    async with Cluster(clock=clock) as cluster:
        cluster.faults.add(latency="10s", resources="pods", verbs="create", moment="after")
        began = cluster.clock.time()
        await cluster.client.create(JOBS, JOB, "default")

        async def done() -> bool:
            found = await cluster.client.get(JOBS, "a", "default")
            return any(one["type"] == "Complete" for one in found.get("status", {}).get("conditions", ()))

        await cluster.run_until(done, within="5m")
        assert cluster.clock.time() - began >= 10
        assert cluster.activity.asleep == 0
