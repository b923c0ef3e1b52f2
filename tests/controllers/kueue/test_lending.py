"""Queues that lend to each other, in a cluster: what is free is used, and no more than there is."""

from random import Random

import pytest

from fakekube.apimachinery import meta, quantity
from fakekube.client.resources import NAMESPACES
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, RESOURCE_FLAVORS, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world

FINISHED = {
    "type": "Finished", "status": "True", "reason": "Succeeded", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}


async def settled(of: World) -> None:
    await of.cluster.advance("3s")


async def reserved(of: World) -> dict[str, str]:
    """By Workload with quota the queue that gave it."""
    found = (await of.client.list(WORKLOADS)).items
    return {
        meta.name_of(each): each["status"]["admission"]["clusterQueue"] for each in found
        if meta.is_condition_true(each, "QuotaReserved") and not meta.is_condition_true(each, "Finished")}


@pytest.mark.spec("KUEUE-040")
async def test_a_head_of_a_namespace_that_is_not_selected_holds_up_nobody() -> None:
    """Given a strict queue that selects namespaces, when the oldest Workload is of another one,
    then it is told so, and the next is admitted.
    """
    async with world() as of:
        selector = {"matchLabels": {"team": "a"}}
        await of.queues(queueingStrategy="StrictFIFO", namespaceSelector=selector)
        await of.workload("first")
        await settled(of)
        assert await of.condition(WORKLOADS, "first", "QuotaReserved") == (
            "False", "Pending", "workload namespace doesn't match ClusterQueue selector")
        await of.client.create(NAMESPACES, {"metadata": {"name": "other", "labels": {"team": "a"}}})
        await of.client.create(LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": "other"}, "spec": {"clusterQueue": "cq"}})
        second = await of.workload("second")
        await of.client.delete(WORKLOADS, "second", NAMESPACE)
        await of.client.create(WORKLOADS, {"metadata": {"name": "second", "namespace": "other"}, "spec": second["spec"]})
        await settled(of)
        assert await reserved(of) == {"second": "cq"}


@pytest.mark.spec("KUEUE-056", "KUEUE-064")
async def test_what_one_queue_gives_back_another_of_its_cohort_takes() -> None:
    """Given a Workload that waits for quota of its cohort, when one in another queue is deleted,
    then it is tried again, and admitted with what it borrows.
    """
    async with world() as of:
        await of.queues(cohortName="c")
        await of.create(CLUSTER_QUEUES, "lender", cluster_queue({"f": "5"}, cohortName="c"))
        await of.create(LOCAL_QUEUES, "lent", {"clusterQueue": "lender"})
        await of.workload("holder", "3", queueName="lent")
        await settled(of)
        await of.workload("waiting", "8")
        await settled(of)
        assert await reserved(of) == {"holder": "lender"}
        await of.client.delete(WORKLOADS, "holder", NAMESPACE)
        await settled(of)
        assert await reserved(of) == {"waiting": "cq"}
        status = (await of.get(CLUSTER_QUEUES, "cq"))["status"]
        assert status["flavorsReservation"][0]["resources"] == [{"name": "cpu", "total": "8", "borrowed": "3"}]


@pytest.mark.spec("KUEUE-058", "KUEUE-060")
async def test_a_quota_that_is_raised_or_moved_to_is_used() -> None:
    """Given Workloads that wait, when a lending limit is raised and when a queue moves to a cohort
    with quota, then they are admitted.
    """
    async with world() as of:
        await of.queues(cohortName="c")
        lender = cluster_queue({"f": "5"}, cohortName="c")
        lender["resourceGroups"][0]["flavors"][0]["resources"][0]["lendingLimit"] = "2"
        await of.create(CLUSTER_QUEUES, "lender", lender)
        await of.workload("w", "8")
        await settled(of)
        assert await reserved(of) == {}
        lender["resourceGroups"][0]["flavors"][0]["resources"][0]["lendingLimit"] = "3"
        await of.patch(CLUSTER_QUEUES, "lender", lender)
        await settled(of)
        assert await reserved(of) == {"w": "cq"}
        await of.create(COHORTS, "rich", {"resourceGroups": cluster_queue({"f": "4"})["resourceGroups"]})
        await of.create(CLUSTER_QUEUES, "poor", cluster_queue({"f": "0"}))
        await of.create(LOCAL_QUEUES, "poor", {"clusterQueue": "poor"})
        await of.workload("v", "4", queueName="poor")
        await settled(of)
        assert "v" not in await reserved(of)
        await of.patch(CLUSTER_QUEUES, "poor", {"cohortName": "rich"})
        await settled(of)
        assert (await reserved(of))["v"] == "poor"


QUEUES = ("p", "q", "r", "s")
COHORT_NAMES = ("a", "b")


class Play:
    """Random changes, and what must be true after each of them."""

    def __init__(self, of: World, seed: int) -> None:
        self.of, self.random = of, Random(seed)
        self.nominal: dict[str, int] = {}
        self.before: dict[str, str] = {}
        self.number = 0

    async def begin(self) -> None:
        await self.of.create(RESOURCE_FLAVORS, "f", {})
        await self.of.create(COHORTS, "root", {})
        for name in COHORT_NAMES:
            await self.of.create(COHORTS, name, {"parentName": "root"})
        for name in QUEUES:
            self.nominal[name] = self.random.randint(0, 6)
            strategy = self.random.choice(("StrictFIFO", "BestEffortFIFO"))
            spec = cluster_queue(
                {"f": str(self.nominal[name])}, cohortName=self.random.choice(COHORT_NAMES), queueingStrategy=strategy)
            await self.of.create(CLUSTER_QUEUES, name, spec)
            await self.of.create(LOCAL_QUEUES, name, {"clusterQueue": name})
        await settled(self.of)

    async def change(self) -> None:
        kind = self.random.choice(("create", "create", "create", "end", "delete", "quota", "move"))
        names = sorted(meta.name_of(each) for each in (await self.of.client.list(WORKLOADS)).items)
        name = self.random.choice(names) if names else ""
        queue = self.random.choice(QUEUES)
        if kind == "create" or not name:
            self.number += 1
            await self.of.workload(
                f"w{self.number:02}", str(self.random.randint(1, 7)), queueName=queue, priority=self.random.randint(0, 2))
        elif kind == "end":
            found = await self.of.get(WORKLOADS, name)
            status = found.get("status") or {}
            conditions = [*(each for each in status.get("conditions", ()) if each["type"] != "Finished"), FINISHED]
            await self.of.client.update_status(WORKLOADS, {**found, "status": {**status, "conditions": conditions}})
        elif kind == "delete":
            await self.of.client.delete(WORKLOADS, name, NAMESPACE)
        elif kind == "quota":
            self.nominal[queue] = self.random.randint(0, 8)
            await self.of.patch(CLUSTER_QUEUES, queue, cluster_queue({"f": str(self.nominal[queue])}))
        else:
            await self.of.patch(CLUSTER_QUEUES, queue, {"cohortName": self.random.choice(COHORT_NAMES)})

    async def check(self) -> None:
        """Figures are the sums of what is reserved; more than there is is used only by who had it.
        """
        found = {meta.name_of(each): each for each in (await self.of.client.list(WORKLOADS)).items}
        now = await reserved(self.of)
        for queue in QUEUES:
            status = (await self.of.get(CLUSTER_QUEUES, queue))["status"]
            total = quantity.parse(status["flavorsReservation"][0]["resources"][0]["total"]).value
            assert total == sum(_cpus(found[name]) for name, of in now.items() if of == queue), queue
            assert status["reservingWorkloads"] == sum(of == queue for of in now.values())
        used = sum(_cpus(found[name]) for name in now)
        if used > sum(self.nominal.values()):
            assert now.keys() <= self.before.keys()
        self.before = now


def _cpus(workload) -> int:
    podset = workload["status"]["admission"]["podSetAssignments"][0]
    return quantity.parse(podset["resourceUsage"]["cpu"]).value


@pytest.mark.parametrize("seed", range(6))
async def test_usage_is_the_sum_of_reservations_and_nobody_waits_in_vain(seed: int) -> None:
    """Given queues in a tree of cohorts, when Workloads come, end and go and quotas change, then
    figures are sums of what is reserved, never more than there is, and a Kueue that is started
    again admits nobody who waited.
    """
    async with world() as of:
        play = Play(of, seed)
        await play.begin()
        for _ in range(25):
            await play.change()
            await settled(of)
            await play.check()
        await of.cluster.restart_controller("kueue")
        await settled(of)
        assert await reserved(of) == play.before
        await play.check()


@pytest.mark.parametrize(("quota", "asked", "told"), [
    ("10E", "9E", ""), ("8Ei", "1", ""), ("9223372036854774", "9223372036854774", ""),
    ("1", "9E", "current podset request (9223372036854775807m) > maximum capacity (1)"),
    ("0", "1n", "current podset request (1m) > maximum capacity (0)"),
])
async def test_amounts_as_large_and_as_small_as_can_be(quota: str, asked: str, told: str) -> None:
    """Given quotas and requests at the ends of what numbers can be, when a Workload comes, then it
    is admitted or told why not, and what comes after it is treated as ever.
    """
    async with world() as of:
        await of.queues(quota)
        await of.workload("w", asked)
        await settled(of)
        if told:
            assert told in (await of.condition(WORKLOADS, "w", "QuotaReserved") or ("", "", ""))[2]
        else:
            assert await reserved(of) == {"w": "cq"}
            await of.client.delete(WORKLOADS, "w", NAMESPACE)
        await of.patch(CLUSTER_QUEUES, "cq", cluster_queue({"f": "2"}))
        await settled(of)
        await of.workload("next")
        await settled(of)
        assert (await reserved(of))["next"] == "cq"


async def test_cohorts_that_come_and_go_in_circles_lose_nothing() -> None:
    """Given a Workload that runs, when its cohorts form a circle, it ends within, and the circle is
    broken, then who waited is admitted, and all figures are right.
    """
    async with world() as of:
        await of.queues(cohortName="a")
        for name, parent in (("a", "b"), ("b", "c")):
            await of.create(COHORTS, name, {"parentName": parent})
        await of.workload("runs", "4")
        await settled(of)
        await of.create(COHORTS, "c", {"parentName": "a"})
        await of.workload("waits", "3")
        await settled(of)
        assert await reserved(of) == {"runs": "cq"}
        await of.client.delete(WORKLOADS, "runs", NAMESPACE)
        await of.patch(CLUSTER_QUEUES, "cq", {"fairSharing": {"weight": "2"}})
        await settled(of)
        assert await reserved(of) == {}
        await of.patch(COHORTS, "b", {"parentName": None})
        await settled(of)
        assert await reserved(of) == {"waits": "cq"}
        status = (await of.get(CLUSTER_QUEUES, "cq"))["status"]
        assert status["flavorsReservation"][0]["resources"] == [{"name": "cpu", "total": "3", "borrowed": "0"}]
