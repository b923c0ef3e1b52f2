"""Which requests a probable fault meets is drawn from the seed of an exploration, too."""

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS
from fakekube.util.choices import Deviation, schedule_of


async def met(schedule):
    """Which of twenty creates a fault meets that is as probable as not."""
    async with Cluster(schedule=schedule, controllers="", nodes=0) as cluster:
        cluster.faults.add(verbs="create", resources="configmaps", probability=0.5, error="InternalError")
        found = []
        for number in range(20):
            try:
                await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": f"map-{number}", "namespace": "default"}})
            except APIError:
                found.append(number)
        return found


async def test_a_seed_decides_what_a_fault_meets():
    """Given a fault with a probability, when clusters run with seeds, then each seed has others
    that meet it, the same ones each time, its replayed deviations included; and a calm run its own.
    """
    runs = {seed: await met(schedule_of(seed)) for seed in (1, 2, 3)}
    calm = await met(None)
    assert len({tuple(found) for found in (*runs.values(), calm)}) == 4
    assert await met(None) == calm
    assert await met(schedule_of(2)) == await met(schedule_of(2, [Deviation("nothing", 1, 1)])) == runs[2]
