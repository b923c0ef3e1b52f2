"""Classes, checks and RuntimeClasses that change or go: which Workloads and queues hear of it."""

import pytest

from fakekube.client.resources import RUNTIME_CLASSES
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, CLUSTER_QUEUES, WORKLOAD_PRIORITY_CLASSES, WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, World, world


async def priorities(of: World) -> dict[str, int]:
    """The priority of each Workload."""
    return {each["metadata"]["name"]: each["spec"]["priority"] for each in (await of.client.list(WORKLOADS, NAMESPACE)).items}


async def test_workloads_follow_their_class() -> None:
    """Given Workloads of two classes, when one class has another value, then those of it have that,
    also if a write fails the first time; when the class is gone they stay as they are.
    """
    async with world() as of:
        await of.queues("1")
        for name in ("high", "low"):
            await of.client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": 5})
        for name, of_class in (("a", "high"), ("b", "high"), ("c", "low")):
            ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": of_class}
            await of.workload(name, priority=5, priorityClassRef=ref)
        await of.cluster.settle()
        with of.cluster.faults.add(error="Conflict", verbs="update", resources="workloads", names="a", times=1):
            await of.client.patch(WORKLOAD_PRIORITY_CLASSES, "high", "", {"value": 9})
            await of.cluster.settle()
        assert (await priorities(of))["b"] == 9
        await of.cluster.advance("2s")
        assert await priorities(of) == {"a": 9, "b": 9, "c": 5}
        await of.client.delete(WORKLOAD_PRIORITY_CLASSES, "high")
        await of.cluster.advance("2s")
        assert await priorities(of) == {"a": 9, "b": 9, "c": 5}


async def test_a_check_stays_while_a_queue_names_it() -> None:
    """Given a check of a ClusterQueue, when it is deleted, then it is there until the ClusterQueue
    names it no more; one that nobody names is gone at once, and a queue that names it later lacks
    it.
    """
    async with world() as of:
        for name in ("used", "free"):
            await of.create(ADMISSION_CHECKS, name, {"controllerName": "a.example/c"})
        await of.queues(admissionChecksStrategy={"admissionChecks": [{"name": "used"}]})
        for name in ("used", "free"):
            await of.client.delete(ADMISSION_CHECKS, name)
        await of.cluster.settle()
        left = (await of.client.list(ADMISSION_CHECKS)).items
        assert [(each["metadata"]["name"], "deletionTimestamp" in each["metadata"]) for each in left] == [("used", True)]
        await of.patch(CLUSTER_QUEUES, "cq", {"admissionChecksStrategy": {"admissionChecks": [{"name": "free"}]}})
        await of.cluster.settle()
        assert (await of.client.list(ADMISSION_CHECKS)).items == []
        assert await of.condition(CLUSTER_QUEUES, "cq", "Active") == (
            "False", "AdmissionCheckNotFound", "Can't admit new workloads: references missing AdmissionCheck(s): free.")


@pytest.mark.spec("KUEUE-048")
async def test_the_overhead_of_a_runtime_class_that_comes_later() -> None:
    """Given Workloads that wait, one of them with a RuntimeClass that is not there, when that comes
    and changes, then the Workload asks for its overhead as well, and the other for what it did.
    """
    async with world() as of:
        await of.queues("1")
        await of.workload("first")
        await of.cluster.settle()
        containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
        for name, spec in (("heavy", {"runtimeClassName": "r"}), ("plain", {})):
            template = {"spec": {"containers": containers, "restartPolicy": "Never", **spec}}
            podset = {"name": "main", "count": 1, "template": template}
            await of.create(WORKLOADS, name, {"queueName": "q", "podSets": [podset]})

        async def asked() -> list[str]:
            await of.cluster.advance("2s")
            return [(await of.get(WORKLOADS, name))["status"]["resourceRequests"][0]["resources"]["cpu"]
                    for name in ("heavy", "plain")]

        assert await asked() == ["1", "1"]
        body = {"metadata": {"name": "r"}, "handler": "h", "overhead": {"podFixed": {"cpu": "500m"}}}
        await of.client.create(RUNTIME_CLASSES, body)
        assert await asked() == ["1500m", "1"]
