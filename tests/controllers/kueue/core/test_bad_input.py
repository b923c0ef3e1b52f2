"""Whatever is written by hand, queues and Workloads of others go on."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, RESOURCE_FLAVORS, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world

SINCE = "2026-01-01T00:00:00Z"
RESERVED = {"type": "QuotaReserved", "status": "True", "reason": "Mine", "message": "", "lastTransitionTime": SINCE}


def admission(queue: str, flavor: str) -> Tree:
    assignment = {"name": "main", "flavors": {"cpu": flavor}, "resourceUsage": {"cpu": "1"}, "count": 1}
    return {"clusterQueue": queue, "podSetAssignments": [assignment]}


async def is_well(of: World) -> None:
    """A Workload that asks for something is admitted, and counted."""
    await of.workload("well")
    await of.cluster.advance("3s")
    assert (await of.condition(WORKLOADS, "well", "Admitted") or ("",))[0] == "True"


@pytest.mark.parametrize("spec", [
    None, {"queueName": "q"}, {"podSets": []}, {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": {}}]},
    {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": {"spec": {}}}]},
    {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": []}}}]},
])
async def test_workloads_that_say_little(spec: Tree | None) -> None:
    """Given a Workload without a spec, podsets, pods or containers, then it is refused, or
    harmless.
    """
    async with world() as of:
        await of.queues()
        try:
            await of.create(WORKLOADS, "w", spec)
        except APIError as error:
            refused = error.code
        else:
            refused = 422
        assert refused in (403, 422)
        await is_well(of)


@pytest.mark.parametrize(("queue", "flavor"), [("nowhere", "f"), ("cq", "unknown"), ("cq", "f")])
async def test_reservations_that_are_made_by_hand(queue: str, flavor: str) -> None:
    """Given a Workload that somebody gave quota of a queue, then that queue counts it, if it is
    there.
    """
    async with world() as of:
        await of.queues()
        await of.workload("w", queueName="other")
        await of.client.patch(
            WORKLOADS, "w", NAMESPACE, {"status": {"admission": admission(queue, flavor), "conditions": [RESERVED]}},
            subresource="status")
        await is_well(of)
        assert (await of.get(CLUSTER_QUEUES, "cq"))["status"]["reservingWorkloads"] == (1 if queue == "nowhere" else 2)


async def test_finalizers_that_are_removed_by_hand_come_back() -> None:
    """Given a ClusterQueue and a flavor, when somebody removes their finalizers, then they have
    them again.
    """
    async with world() as of:
        await of.queues()
        for resource, name in ((CLUSTER_QUEUES, "cq"), (RESOURCE_FLAVORS, "f")):
            await of.client.patch(resource, name, body={"metadata": {"finalizers": None, "labels": {"x": "y"}}})
        await of.cluster.advance("2s")
        assert (await of.get(CLUSTER_QUEUES, "cq"))["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]
        await is_well(of)


@pytest.mark.parametrize("quota", ["0", "9e30"])
async def test_quotas_that_change_by_much(quota: str) -> None:
    """Given a queue that is used, when its quota is nothing, or more than anybody has, then what
    runs goes on, and the next Workload waits or is admitted.
    """
    async with world() as of:
        await of.queues()
        await of.workload("w")
        await of.cluster.settle()
        await of.patch(CLUSTER_QUEUES, "cq", cluster_queue({"f": quota}))
        await of.workload("next", "4")
        await of.cluster.advance("3s")
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
        assert (await of.condition(WORKLOADS, "next", "QuotaReserved") or ("",))[0] == ("False" if quota == "0" else "True")


@pytest.mark.spec("KUEUE-063")
async def test_cohorts_in_a_circle() -> None:
    """Given cohorts that are each other's parents, then a queue in them admits nobody, and one that
    is not in them does; when the circle is broken, both do.
    """
    async with world() as of:
        await of.queues()
        await of.create(COHORTS, "a", {"parentName": "b"})
        await of.create(CLUSTER_QUEUES, "round", cluster_queue({"f": "1"}, cohortName="a"))
        await of.create(LOCAL_QUEUES, "r", {"clusterQueue": "round"})
        await of.create(COHORTS, "b", {"parentName": "a"})
        await of.cluster.advance("2s")
        await of.workload("w", queueName="r")
        await is_well(of)
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] != "True"
        await of.client.delete(COHORTS, "b")
        await of.cluster.advance("3s")
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
