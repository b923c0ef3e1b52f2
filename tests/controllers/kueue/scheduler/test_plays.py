"""Random plays: queues, cohorts and Workloads come, change and go, and what is counted stays right.

After every step what queues use is the sum of what their Workloads reserve; use grows within quota
alone; and a Kueue that starts anew finds nothing to admit.
"""

import random

import pytest

from fakekube.apimachinery import meta, quantity
from fakekube_controllers.kueue.configuration import Configuration, FairSharing
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, RESOURCE_FLAVORS, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, world
from tests.controllers.kueue.scheduler.acting import finish, release

QUEUES = ("q0", "q1", "q2", "q3")
STEPS = 25


class Play:
    """One play; ``number`` is its seed."""

    def __init__(self, of: World, number: int) -> None:
        self.of, self.random, self.made = of, random.Random(number), 0

    def quotas(self) -> dict:
        draw = self.random
        flavors = [
            {"name": flavor, "resources": [{"name": "cpu", "nominalQuota": str(draw.randint(0, 4)), **self.limits()}]}
            for flavor in draw.sample(["f", "g"], draw.randint(1, 2))]
        return {"coveredResources": ["cpu"], "flavors": flavors}

    def limits(self) -> dict:
        return self.random.choice([{}, {}, {"borrowingLimit": str(self.random.randint(0, 3))}])

    def spec(self) -> dict:
        draw = self.random
        reclaim = draw.choice(["Never", "LowerPriority", "Any"])
        preemption = {
            "withinClusterQueue": draw.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
            "reclaimWithinCohort": reclaim,
            "borrowWithinCohort": {"policy": "Never" if reclaim == "Never" else draw.choice(["Never", "LowerPriority"])}}
        fungibility = {
            "whenCanBorrow": draw.choice(["MayStopSearch", "TryNextFlavor"]),
            "whenCanPreempt": draw.choice(["MayStopSearch", "TryNextFlavor"])}
        return {
            "namespaceSelector": {}, "cohortName": draw.choice(["left", "right"]), "resourceGroups": [self.quotas()],
            "queueingStrategy": draw.choice(["BestEffortFIFO", "BestEffortFIFO", "StrictFIFO"]), "preemption": preemption,
            "flavorFungibility": fungibility}

    async def begin(self) -> None:
        for name in ("f", "g"):
            await self.of.create(RESOURCE_FLAVORS, name, {})
        for name in ("left", "right"):
            await self.of.create(COHORTS, name, {"parentName": "top"})
        for name in QUEUES:
            await self.of.create(CLUSTER_QUEUES, name, self.spec())
            await self.of.create(LOCAL_QUEUES, name, {"clusterQueue": name})

    async def step(self) -> None:
        """Do one thing, and let the victims of preemptions give their quota back."""
        draw = self.random
        action = draw.choice([
            self.submit, self.submit, self.submit, self.submit, self.end, self.end, self.remove, self.change, self.restart])
        await action()
        await self.of.cluster.advance(f"{draw.choice([0, 0, 1, 3])}s")
        for workload in await self.workloads():
            if meta.is_condition_true(workload, "Evicted") and reserves(workload) and draw.random() < 0.7:
                await release(self.of, meta.name_of(workload))

    async def workloads(self) -> list:
        return (await self.of.client.list(WORKLOADS, NAMESPACE)).items

    async def submit(self) -> None:
        self.made += 1
        await self.of.workload(
            f"w{self.made}", str(self.random.randint(1, 5)), queueName=self.random.choice(QUEUES),
            priority=self.random.randint(0, 2))

    async def end(self) -> None:
        running = [each for each in await self.workloads() if reserves(each)]
        if running:
            await finish(self.of, meta.name_of(self.random.choice(running)))

    async def remove(self) -> None:
        pending = [each for each in await self.workloads() if "admission" not in each.get("status", {})]
        if pending:
            await self.of.client.delete(WORKLOADS, meta.name_of(self.random.choice(pending)), NAMESPACE)

    async def change(self) -> None:
        await self.of.patch(CLUSTER_QUEUES, self.random.choice(QUEUES), self.spec())


    async def restart(self) -> None:
        """Kueue forgets all but the objects."""
        await self.of.cluster.stop_controller("kueue")
        await self.of.cluster.start_controller("kueue")
        await self.of.cluster.settle()


def reserves(workload) -> bool:
    return meta.is_condition_true(workload, "QuotaReserved") and not meta.is_condition_true(workload, "Finished")


def cpus(text: str) -> int:
    return quantity.parse(text).milli_value


def used_of(workloads) -> dict[str, dict[str, int]]:
    """By ClusterQueue and flavor, what reservations sum up to."""
    result: dict[str, dict[str, int]] = {name: {} for name in QUEUES}
    for workload in filter(reserves, workloads):
        admission = workload["status"]["admission"]
        for assigned in admission["podSetAssignments"]:
            of, flavor = result[admission["clusterQueue"]], assigned["flavors"]["cpu"]
            of[flavor] = of.get(flavor, 0) + cpus(assigned["resourceUsage"]["cpu"])
    return result


async def check(of: World, before: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """What is used by now; it is what the cache counts, and where there is more there is quota."""
    workloads = (await of.client.list(WORKLOADS, NAMESPACE)).items
    used = used_of(workloads)
    cache = of.cluster.component("kueue").kueue.cache
    for name in QUEUES:
        counted = cache.hm.cluster_queues[name].resource_node.usage
        assert {fr.flavor: amount for fr, amount in counted.items() if amount} == used[name], name
    quotas = {}
    for name in QUEUES:
        for flavor in (await of.get(CLUSTER_QUEUES, name))["spec"]["resourceGroups"][0]["flavors"]:
            quota = flavor["resources"][0]
            quotas[name, flavor["name"]] = quota
            grown = used[name].get(flavor["name"], 0) > before[name].get(flavor["name"], 0)
            if grown and "borrowingLimit" in quota:
                assert used[name][flavor["name"]] <= cpus(quota["nominalQuota"]) + cpus(quota["borrowingLimit"])
    for flavor in ("f", "g"):
        now, then = (sum(of_queue.get(flavor, 0) for of_queue in each.values()) for each in (used, before))
        nominal = sum(cpus(quota["nominalQuota"]) for (_, name), quota in quotas.items() if name == flavor)
        assert now <= max(then, nominal), "use grows within quota alone"
    return used


@pytest.mark.spec("KUEUE-065")
@pytest.mark.parametrize("number", range(6))
async def test_what_is_counted_is_what_is_reserved(number: int) -> None:
    """Given any play, with fair sharing or without, when it settles after each step, then use is
    the sum of reservations, and grew within quota; at the end a restart admits nobody.
    """
    async with world(Configuration(fair_sharing=FairSharing() if number % 2 else None)) as of:
        play = Play(of, number)
        await play.begin()
        used: dict[str, dict[str, int]] = {name: {} for name in QUEUES}
        for _ in range(STEPS):
            await play.step()
            await of.cluster.settle()
            used = await check(of, used)
        for _ in range(5):
            for workload in await play.workloads():
                if meta.is_condition_true(workload, "Evicted") and reserves(workload):
                    await release(of, meta.name_of(workload))
            await of.cluster.advance("5s")
        used = await check(of, used)
        await play.restart()
        await of.cluster.advance("5s")
        assert await check(of, used) == used
