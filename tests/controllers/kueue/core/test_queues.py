"""What the statuses of queues say, and when flavors, checks and queues may go."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, CLUSTER_QUEUES, LOCAL_QUEUES, RESOURCE_FLAVORS
from tests.controllers.kueue.core.world import World, cluster_queue, world

READY = ("True", "Ready", "Can admit new workloads")


async def active(of: World, name: str = "cq") -> tuple[str, str, str] | None:
    await of.cluster.advance("2s")
    return await of.condition(CLUSTER_QUEUES, name, "Active")


@pytest.mark.spec("KUEUE-027")
async def test_a_cluster_queue_waits_for_its_flavors() -> None:
    """Given a ClusterQueue with two flavors that are not there, when they come one by one, then its
    condition lists what is missing, and is Ready at last.
    """
    async with world() as of:
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"a": "1", "b": "1"}))
        missing = "Can't admit new workloads: references missing ResourceFlavor(s): "
        assert await active(of) == ("False", "FlavorNotFound", f"{missing}a,b.")
        await of.create(RESOURCE_FLAVORS, "a", {})
        assert await active(of) == ("False", "FlavorNotFound", f"{missing}b.")
        await of.create(RESOURCE_FLAVORS, "b", {})
        assert await active(of) == READY


@pytest.mark.spec("KUEUE-028")
async def test_a_cluster_queue_waits_for_its_checks() -> None:
    """Given a ClusterQueue with a check, when that comes, and then is active, then the condition
    says so each time.
    """
    async with world() as of:
        await of.queues(admissionChecksStrategy={"admissionChecks": [{"name": "c"}]})
        text = "Can't admit new workloads: references "
        assert await active(of) == ("False", "AdmissionCheckNotFound", f"{text}missing AdmissionCheck(s): c.")
        check = await of.create(ADMISSION_CHECKS, "c", {"controllerName": "example.com/c"})
        assert await active(of) == ("False", "AdmissionCheckInactive", f"{text}inactive AdmissionCheck(s): c.")
        condition = {
            "type": "Active", "status": "True", "reason": "Active", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        await of.client.patch(
            ADMISSION_CHECKS, check["metadata"]["name"], body={"status": {"conditions": [condition]}}, subresource="status")
        assert await active(of) == READY


@pytest.mark.spec("KUEUE-029")
async def test_the_first_problem_is_the_reason_and_all_are_told() -> None:
    """Given a stopped ClusterQueue without its flavor, then it is Stopped, and both are in the
    message.
    """
    async with world() as of:
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"a": "1"}, stopPolicy="Hold"))
        message = "Can't admit new workloads: is stopped, references missing ResourceFlavor(s): a."
        assert await active(of) == ("False", "Stopped", message)


@pytest.mark.spec("KUEUE-012")
@pytest.mark.parametrize("is_deleted", [True, False])
async def test_a_flavor_goes_when_no_queue_names_it(is_deleted: bool) -> None:
    """Given a flavor of a ClusterQueue, when it is deleted, then it stays until the queue is gone,
    or names another.
    """
    async with world() as of:
        await of.queues()
        await of.client.delete(RESOURCE_FLAVORS, "f")
        await of.cluster.advance("2s")
        assert "deletionTimestamp" in (await of.get(RESOURCE_FLAVORS, "f"))["metadata"]
        if is_deleted:
            await of.client.delete(CLUSTER_QUEUES, "cq")
        else:
            await of.patch(CLUSTER_QUEUES, "cq", cluster_queue({"other": "1"}))
        await of.cluster.advance("2s")
        with pytest.raises(APIError, match="not found"):
            await of.get(RESOURCE_FLAVORS, "f")


@pytest.mark.spec("KUEUE-034")
async def test_a_local_queue_says_what_its_cluster_queue_is() -> None:
    """Given a LocalQueue, when its ClusterQueue is missing, inactive, there, and itself is stopped,
    then its condition says so.
    """
    async with world() as of:
        async def shown() -> tuple[str, str, str] | None:
            await of.cluster.advance("2s")
            return await of.condition(LOCAL_QUEUES, "q", "Active")

        await of.create(LOCAL_QUEUES, "q", {"clusterQueue": "cq"})
        message = "Can't submit new workloads to clusterQueue"
        assert await shown() == ("False", "ClusterQueueDoesNotExist", message)
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"f": "1"}))
        assert await shown() == ("False", "ClusterQueueIsInactive", message)
        await of.create(RESOURCE_FLAVORS, "f", {})
        assert await shown() == ("True", "Ready", "Can submit new workloads to localQueue")
        await of.workload("w", "2")
        await of.cluster.advance("2s")
        assert (await of.get(LOCAL_QUEUES, "q"))["status"]["pendingWorkloads"] == 1
        await of.patch(LOCAL_QUEUES, "q", {"stopPolicy": "Hold"})
        assert await shown() == ("False", "Stopped", "LocalQueue is stopped")
        assert (await of.get(LOCAL_QUEUES, "q"))["status"]["pendingWorkloads"] == 0
