"""Whatever users do to queues and Workloads: usage is the sum of reservations, within quota, and
nobody waits whom a Kueue that starts anew would admit.
"""

import contextlib
import random
from typing import Any

import pytest

from fakekube.apimachinery import quantity
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, RESOURCE_FLAVORS, WORKLOADS
from fakekube_controllers.kueue.workload import states
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world

COHORT_NAMES = (None, "a", "b")
FINISHED = {
    "type": "Finished", "status": "True", "reason": "Succeeded", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}


class Users:
    """Act at random, by one seed."""

    def __init__(self, of: World, seed: int) -> None:
        self.of, self.rng, self.made = of, random.Random(seed), 0

    async def begin(self) -> None:
        for name in ("f", "g"):
            await self.of.create(RESOURCE_FLAVORS, name, {})
        await self.of.create(COHORTS, "b", {"parentName": "a"})
        for number in range(4):
            await self.of.create(CLUSTER_QUEUES, f"cq{number}", self.spec())
            await self.of.create(LOCAL_QUEUES, f"q{number}", {"clusterQueue": f"cq{number}"})

    def spec(self) -> Tree:
        return cluster_queue(
            {"f": str(self.rng.randint(0, 6)), "g": str(self.rng.randint(0, 3))}, cohortName=self.rng.choice(COHORT_NAMES),
            queueingStrategy=self.rng.choice(["StrictFIFO", "BestEffortFIFO"]))

    async def act(self) -> None:
        actions = (self.submit, self.submit, self.submit, self.finish, self.delete, self.change_queue, self.stop, self.activate)
        await self.rng.choice(actions)()

    async def some(self, *, with_quota: bool) -> Tree | None:
        found = [
            each for each in (await self.of.client.list(WORKLOADS, NAMESPACE)).items
            if states.has_quota_reservation(each) == with_quota and not states.is_finished(each)]
        return self.rng.choice(found) if found else None

    async def submit(self) -> None:
        self.made += 1
        await self.of.workload(
            f"w{self.made}", str(self.rng.randint(1, 5)), queueName=f"q{self.rng.randrange(4)}", priority=self.rng.randrange(3))

    async def finish(self) -> None:
        found = await self.some(with_quota=True)
        if found is not None:
            conditions = [*found["status"]["conditions"], FINISHED]
            await self.patch_status(found, {"conditions": conditions})

    async def patch_status(self, workload: Tree, status: Tree) -> None:
        await self.of.client.patch(WORKLOADS, workload["metadata"]["name"], NAMESPACE, {"status": status}, subresource="status")

    async def delete(self) -> None:
        found = await self.some(with_quota=self.rng.random() < 0.5)
        if found is not None:
            await self.of.client.delete(WORKLOADS, found["metadata"]["name"], NAMESPACE)

    async def change_queue(self) -> None:
        await self.of.patch(CLUSTER_QUEUES, f"cq{self.rng.randrange(4)}", self.spec())

    async def stop(self) -> None:
        policy = self.rng.choice(["None", "None", "Hold"])
        resource, name = self.rng.choice([(CLUSTER_QUEUES, "cq"), (LOCAL_QUEUES, "q")])
        await self.of.patch(resource, f"{name}{self.rng.randrange(4)}", {"stopPolicy": policy})

    async def activate(self) -> None:
        found = await self.some(with_quota=False)
        if found is not None:
            await self.of.patch(WORKLOADS, found["metadata"]["name"], {"active": not states.is_active(found)})


async def reserved(of: World) -> list[Tree]:
    return [each for each in (await of.client.list(WORKLOADS, NAMESPACE)).items if states.has_active_quota_reservation(each)]


async def check_usage(of: World) -> None:
    """Of every ClusterQueue: its status is what its Workloads were given."""
    holders = await reserved(of)
    waiting = [
        each for each in (await of.client.list(WORKLOADS, NAMESPACE)).items
        if not states.has_quota_reservation(each) and not states.is_finished(each) and states.is_active(each)]
    local_queues = {each["metadata"]["name"]: each for each in (await of.client.list(LOCAL_QUEUES)).items}
    for queue in (await of.client.list(CLUSTER_QUEUES)).items:
        name, expected = queue["metadata"]["name"], dict[str, int]()
        own = [each for each in holders if each["status"]["admission"]["clusterQueue"] == name]
        for each in own:
            for podset in each["status"]["admission"]["podSetAssignments"]:
                flavor = podset["flavors"]["cpu"]
                expected[flavor] = expected.get(flavor, 0) + quantity.parse(podset["resourceUsage"]["cpu"]).value
        status = queue["status"]
        shown = {
            each["name"]: quantity.parse(each["resources"][0]["total"]).value for each in status["flavorsReservation"]}
        assert shown == {flavor: expected.get(flavor, 0) for flavor in shown}, name
        assert status["reservingWorkloads"] == len(own)
        pending = [
            each for each in waiting
            if (found := local_queues[each["spec"]["queueName"]])["spec"]["clusterQueue"] == name
            and found["spec"].get("stopPolicy", "None") == "None"]
        assert status["pendingWorkloads"] == len(pending), name


async def admitted(of: World) -> dict[str, Any]:
    return {each["metadata"]["name"]: each["status"]["admission"] for each in await reserved(of)}


@pytest.mark.parametrize("seed", [0, 2, 5, 7, 9, 10])
async def test_users_act_at_random(seed: int) -> None:
    """Given four queues in two cohorts, when users act forty times, then usage is always the sum of
    what was given; when Kueue starts anew then, it admits nobody else.
    """
    async with world() as of:
        users = Users(of, seed)
        await users.begin()
        for _ in range(40):
            with contextlib.suppress(APIError):  # what a webhook refuses, or a rule
                await users.act()
            await of.cluster.advance("3s")
            await check_usage(of)
        before = await admitted(of)
        assert before
        await of.cluster.stop_controller("kueue")
        await of.cluster.start_controller("kueue")
        await of.cluster.advance("5s")
        assert await admitted(of) == before
        await check_usage(of)
