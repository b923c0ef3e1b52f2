"""A Kueue that starts again knows from the objects alone what the one before it knew."""

from collections.abc import Callable
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, Resource
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.names import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    QUEUE_LABEL,
    WORKLOAD_PRIORITY_CLASS_LABEL,
    WORKLOAD_PRIORITY_CLASSES,
    WORKLOADS,
)
from tests.controllers.kueue.core.world import NAMESPACE, World, world
from tests.controllers.restarting import MOST_RESTARTS, Restarts

KINDS = (CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS)
PARTS = ("batch/job", "workload_controller", "kueue-scheduler", "clusterqueue_controller", "localqueue_controller")


async def everything(of: World) -> dict[Resource, list[Tree]]:
    await of.cluster.advance("3s")
    return {kind: (await of.client.list(kind)).items for kind in KINDS}


async def test_a_restart_changes_nothing() -> None:
    """Given Workloads that are admitted, and that wait, when Kueue is started again, then no object
    changes.
    """
    async with world() as of:
        await of.queues()
        for number in range(8):
            await of.workload(f"w{number}", "2")
        before = await everything(of)
        await of.cluster.stop_controller("kueue")
        await of.cluster.start_controller("kueue")
        assert await everything(of) == before


async def test_what_happened_meanwhile_is_seen() -> None:
    """Given a full queue, when a Workload with quota is deleted, one of higher priority comes and
    the one that waits goes while Kueue is stopped, then it goes on as if it had seen it.
    """
    async with world() as of:
        await of.queues()
        for name in ("a", "b", "c"):
            await of.workload(name, "3")
            await of.cluster.advance("1s")
        await of.cluster.stop_controller("kueue")
        await of.client.delete(WORKLOADS, "a", NAMESPACE)
        await of.client.delete(WORKLOADS, "b", NAMESPACE)
        await of.workload("high", "3", priority=5)
        await of.cluster.settle()
        await of.cluster.start_controller("kueue")
        after = await everything(of)
        admitted = [each["metadata"]["name"] for each in after[WORKLOADS] if "admission" in each["status"]]
        assert admitted == ["high"]
        [queue] = after[CLUSTER_QUEUES]
        assert (queue["status"]["pendingWorkloads"], queue["status"]["admittedWorkloads"]) == (1, 1)
        assert queue["status"]["flavorsUsage"][0]["resources"][0]["total"] == "3"


async def play(when: Callable[[int], bool]) -> tuple[Any, Restarts]:
    """A job of high priority takes the quota of one of low priority; a third waits, a fourth runs.
    """
    async with Cluster(nodes=0, controllers="job", clock="manual", extra=[addon()]) as cluster:
        of = World(cluster)
        for name, value in (("low", 1), ("high", 9)):
            await of.client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
        restarts = Restarts(cluster, "kueue", when, PARTS)
        await of.queues("5", preemption={"withinClusterQueue": "LowerPriority"})
        jobs = (("first", "4", "low"), ("small", "1", "high"), ("second", "4", "high"), ("third", "3", "low"))
        for name, cpu, priority in jobs:
            containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
            labels = {QUEUE_LABEL: "q", WORKLOAD_PRIORITY_CLASS_LABEL: priority}
            await of.create(
                JOBS, name, {"template": {"spec": {"containers": containers, "restartPolicy": "Never"}}}, labels=labels)
            await cluster.advance("5s")
        await cluster.advance("400s")
        found = (await of.client.list(JOBS, NAMESPACE)).items
        suspended = {each["metadata"]["name"]: each["spec"]["suspend"] for each in found}
        status = (await of.get(CLUSTER_QUEUES, "cq"))["status"]
        fields = ("flavorsUsage", "pendingWorkloads", "admittedWorkloads", "reservingWorkloads")
        shown = {field: status[field] for field in fields}
        return (suspended, shown), restarts


@pytest.mark.parametrize("step", [1, 2, 3])
async def test_a_kueue_that_dies_after_writes_gets_there(step: int) -> None:
    """Given jobs of which one preempts another, when Kueue stops after each of its writes, or every
    second or third, and starts again, then the same jobs run as without.
    """
    expected, undisturbed = await play(lambda _: False)
    assert expected[0] == {"first": True, "small": False, "second": False, "third": True}
    found, restarts = await play(lambda write: write % step == 0)
    assert found == expected
    assert MOST_RESTARTS > restarts.count > 0 < undisturbed.writes
