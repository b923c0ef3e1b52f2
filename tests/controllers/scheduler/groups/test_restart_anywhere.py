"""A scheduler that dies after any of its writes, unaware that it was done, and starts again."""

from collections.abc import Callable
from typing import Any

import pytest

from fakekube.client.resources import PODS
from tests.controllers.restarting import MOST_RESTARTS, Restarts
from tests.controllers.scheduler.groups.gangs import Gangs, cluster_of_gangs
from tests.controllers.world import NAMESPACE


async def _play(when: Callable[[int], bool]) -> tuple[Any, Restarts]:
    """A gang and a single pod evict others, beside a gang for which there is no room."""
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.priority_class("high", 100)
        for name in ("m", "n"):
            await world.node(name)
        restarts = Restarts(cluster, "scheduler", when, agent="kube-scheduler")
        await world.pods("low-1", "low-2", "low-3", cpu=2)
        await world.group("none", 3)
        await world.pods("none-1", "none-2", "none-3", group="none", cpu=4)
        await world.group("g", 2, priorityClassName="high")
        await world.pods("a", "b", group="g", cpu=3, priorityClassName="high")
        await world.advance(400)
        pods = (await cluster.client.list(PODS, NAMESPACE)).items
        return {pod["metadata"]["name"]: bool(pod["spec"].get("nodeName")) for pod in pods}, restarts


@pytest.mark.parametrize("step", [1, 2, 3])
async def test_a_scheduler_that_dies_after_writes_gets_there(step: int) -> None:
    """Given a gang that evicts others, and one without room, when the scheduler stops after each of
    its writes, or every second or third, and starts again, then the same pods have nodes as
    without, and the same are evicted.
    """
    expected, undisturbed = await _play(lambda _: False)
    assert expected["a"]
    assert expected["b"]
    assert not expected["none-1"]
    found, restarts = await _play(lambda write: write % step == 0)
    assert found == expected
    assert MOST_RESTARTS > restarts.count > 0 < undisturbed.writes
