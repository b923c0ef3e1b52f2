"""The examples of KEP-77, jobs that change their size, and of KEP-976, plain pods."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, WORKLOADS
from tests.keps.examples import FOLDER, example, running

DRAFTS: Tree = {"featureGates": {"kep-drafts": True}, "integrations": {"frameworks": ["batch/job", "pod"]}}
GATE, ELASTIC_GATE = "kueue.x-k8s.io/admission", "kueue.x-k8s.io/elastic-job"


class Queues:
    """A cluster with the queues of the examples."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.client = cluster, cluster.client

    async def load(self, name: str) -> None:
        """The objects of an example, some time ago."""
        await self.cluster.load(FOLDER / f"{name}.yaml")
        await self.cluster.advance(30)

    async def workloads(self) -> list[Tree]:
        """All that are not finished, by name."""
        found = sorted((await self.client.list(WORKLOADS)).items, key=meta.name_of)
        return [each for each in found if not meta.is_condition_true(each, "Finished")]

    async def pods(self) -> list[Tree]:
        """All of them, by name."""
        return sorted((await self.client.list(PODS)).items, key=meta.name_of)

    async def running(self) -> int:
        """How many pods run."""
        return sum(pod["status"]["phase"] == "Running" for pod in await self.pods())

    async def usage(self) -> dict[str, str]:
        """What is reserved, by resource."""
        found = await self.client.get(CLUSTER_QUEUES, "cluster-queue")
        return {each["name"]: each["total"] for each in found["status"]["flavorsReservation"][0]["resources"]}

    async def quota(self, cpu: str) -> None:
        """Let the queue have so much cpu."""
        patch = [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": cpu}]
        await self.client.patch(CLUSTER_QUEUES, "cluster-queue", "", patch, type="json")
        await self.cluster.advance(30)


@asynccontextmanager
async def with_queues(kueue: Tree | None = None) -> AsyncIterator[Queues]:
    """A node, the queues, and Kueue, with what it is told."""
    async with Cluster(
        nodes=0, clock="manual", controllers="*,kueue", outcome=running, load=[FOLDER / "queues.yaml"], kueue=kueue or True,
    ) as cluster:
        found = Queues(cluster)
        has = {"cpu": "8", "memory": "64Gi", "pods": "110", "vendor.com/gpu": "8"}
        await cluster.load([{
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}, "status": {"capacity": has, "allocatable": has}}])
        await cluster.advance(30)
        yield found


@pytest.fixture
async def queues() -> AsyncIterator[Queues]:
    async with with_queues() as found:
        yield found


@pytest.mark.spec("KUEUE-100", "KUEUE-101", "KUEUE-102")
async def test_a_job_shrinks_and_grows_while_it_runs(queues: Queues) -> None:
    """Given the Job of the KEP, when it shrinks to one pod, then the same Workload has one, and the
    others end; when it grows to two, then a second slice takes the place of the first, and no pod
    that runs is disturbed.
    """
    await queues.load("77-0.19-job")
    [first] = await queues.workloads()
    assert meta.name_of(first).startswith("job-demo-slice-")
    assert (await queues.running(), await queues.usage()) == (3, {"cpu": "300m", "vendor.com/gpu": "0"})
    await queues.client.patch(JOBS, "demo-slice", "demo", {"spec": {"parallelism": 1}})
    await queues.cluster.advance(60)
    [same] = await queues.workloads()
    assert (meta.uid_of(same), same["spec"]["podSets"][0]["count"]) == (meta.uid_of(first), 1)
    assert (await queues.running(), (await queues.usage())["cpu"]) == (1, "100m")
    stays = next(meta.uid_of(pod) for pod in await queues.pods() if pod["status"]["phase"] == "Running")
    await queues.client.patch(JOBS, "demo-slice", "demo", {"spec": {"parallelism": 2}})
    await queues.cluster.advance(60)
    [second] = await queues.workloads()
    assert meta.annotations_of(second)["kueue.x-k8s.io/workload-slice-replacement-for"] == f"demo/{meta.name_of(first)}"
    replaced = await queues.client.get(WORKLOADS, meta.name_of(first), "demo")
    assert [each["reason"] for each in replaced["status"]["conditions"] if each["type"] == "Finished"] == [
        "WorkloadSliceReplaced"]
    assert (await queues.running(), (await queues.usage())["cpu"]) == (2, "200m")
    assert stays in [meta.uid_of(pod) for pod in await queues.pods() if pod["status"]["phase"] == "Running"]
    assert not (await queues.client.get(JOBS, "demo-slice", "demo"))["spec"]["suspend"]


@pytest.mark.spec("KUEUE-105")
async def test_growth_waits_for_quota_while_the_rest_runs(queues: Queues) -> None:
    """Given a queue for three pods, when the Job is to have five, then it runs on with three, the
    others wait behind a gate, and the Workload says how much more it needs; with more quota all
    run.
    """
    await queues.quota("300m")
    await queues.load("77-0.19-job")
    await queues.client.patch(JOBS, "demo-slice", "demo", {"spec": {"parallelism": 5}})
    await queues.cluster.advance(60)
    gated = [pod for pod in await queues.pods() if {"name": ELASTIC_GATE} in (pod["spec"].get("schedulingGates") or ())]
    assert (await queues.running(), len(gated)) == (3, 2)
    waiting = [each for each in await queues.workloads() if not meta.is_condition_true(each, "QuotaReserved")]
    assert [meta.find_condition(each, "QuotaReserved")["message"] for each in waiting] == [  # type: ignore[index]
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default-flavor, 200m more needed"]
    await queues.quota("1")
    await queues.cluster.advance(60)
    assert (await queues.running(), len(await queues.workloads())) == (5, 1)


@pytest.mark.spec("KUEUE-099")
async def test_a_job_takes_fewer_pods_or_changes_its_size_and_not_both(queues: Queues) -> None:
    """Given the Job that the KEP refuses, when it is created, then it is refused."""
    with pytest.raises(APIError, match="partial admission and elastic job cannot be used together"):
        await queues.load("77-0.19-partial")


@pytest.mark.spec("KUEUE-128")
async def test_a_pod_waits_for_quota(queues: Queues) -> None:
    """Given a queue without quota, when the pod of story 1 is created, then it waits behind a gate
    with a Workload as the KEP's, but for a hash in its name; with quota it runs.
    """
    await queues.quota("0")
    await queues.load("976-0.19-pod")
    [pod], [workload] = await queues.pods(), await queues.workloads()
    assert {"name": GATE} in pod["spec"]["schedulingGates"]
    [by_hand] = example("976-0.19-pod-workload")
    [podset], [wanted] = workload["spec"]["podSets"], by_hand["spec"]["podSets"]
    assert meta.name_of(workload).startswith(f"{meta.name_of(by_hand)}-")
    assert (workload["spec"]["queueName"], podset["name"], podset["count"]) == (by_hand["spec"]["queueName"], "main", 1)
    assert podset["template"]["spec"]["containers"][0]["image"] == wanted["template"]["spec"]["containers"][0]["image"]
    await queues.quota("1")
    assert await queues.running() == 1


@pytest.mark.spec("KUEUE-132", "KUEUE-133")
async def test_a_group_of_pods_starts_together(queues: Queues) -> None:
    """Given a queue with too little, when the group of story 2 is created, then no pod runs, and
    its Workload has a pod set for the driver and one for both workers; with quota all three run.
    """
    await queues.quota("2m")
    await queues.load("976-0.19-group")
    [workload] = await queues.workloads()
    assert meta.name_of(workload) == "pod-group"
    assert sorted(each["count"] for each in workload["spec"]["podSets"]) == [1, 2]
    assert (await queues.running(), len(meta.owners_of(workload))) == (0, 3)
    await queues.quota("3m")
    assert (await queues.running(), await queues.usage()) == (3, {"cpu": "3m", "vendor.com/gpu": "2"})


@pytest.mark.spec("KUEUE-036")
@pytest.mark.parametrize(("name", "usage"), [
    ("pod-workload", {"cpu": "1m", "vendor.com/gpu": "0"}), ("group-workload", {"cpu": "3m", "vendor.com/gpu": "2"}),
    ("sets-workload", {"cpu": "11m", "vendor.com/gpu": "0"})])
async def test_a_workload_by_hand_gets_quota(queues: Queues, name: str, usage: dict[str, str]) -> None:
    """Given a Workload of the KEP, when it is created by hand, then it gets quota as one, and holds
    it although nothing runs.
    """
    await queues.load(f"976-0.19-{name}")
    [workload] = await queues.workloads()
    assert meta.is_condition_true(workload, "Admitted")
    assert (await queues.usage(), await queues.running()) == (usage, 0)


async def test_a_driver_is_admitted_with_its_workers() -> None:
    """Given a queue for less than a driver and its ten workers, when the pods of story 3 are there,
    then none runs, and their Workload is that of the KEP; with quota the driver and its worker run,
    all eleven have quota, and of eleven workers the last is deleted.
    """
    async with with_queues(DRAFTS) as queues:
        await queues.quota("10m")
        await queues.load("976-draft-sets")
        [workload], [by_hand] = await queues.workloads(), example("976-0.19-sets-workload")
        assert meta.name_of(workload) == meta.name_of(by_hand)
        counts = [[(each["name"], each["count"]) for each in found["spec"]["podSets"]] for found in (workload, by_hand)]
        assert counts[0] == counts[1]
        images = [each["template"]["spec"]["containers"][0]["image"] for each in workload["spec"]["podSets"]]
        assert (images, await queues.running()) == (["hello-world"] * 2, 0)
        await queues.quota("11m")
        assert (await queues.running(), (await queues.usage())["cpu"]) == (2, "11m")
        worker = example("976-draft-sets")[1]
        for number in range(2, 12):
            more = deepcopy(worker)
            more["metadata"]["name"] = f"job-worker-{number}"
            await queues.client.create(PODS, more)
            await queues.cluster.advance(2)
        await queues.cluster.advance(30)
        assert (await queues.running(), (await queues.usage())["cpu"]) == (11, "11m")
        assert "job-worker-11" not in map(meta.name_of, await queues.pods())


async def test_what_a_driver_of_the_kep_says_means_nothing_to_a_release(queues: Queues) -> None:
    """Given Kueue without a gate of ours, when the pods of story 3 come, then they are refused as
    members of a group that do not say how many it has.
    """
    with pytest.raises(APIError, match="pod-group-total-count"):
        await queues.load("976-draft-sets")
