"""A Kueue that starts again knows from the objects alone what the one before it knew."""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, world

KINDS = (CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS)


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
