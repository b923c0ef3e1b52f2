"""What lists of Workloads may select by."""

from fakekube_controllers.kueue.names import WORKLOADS
from tests.controllers.kueue.core.world import NAMESPACE, world


async def test_workloads_are_selected_by_their_queue() -> None:
    """Given a Workload that has quota and one that waits, when a list selects by the ClusterQueue
    of the admission, then it has the one.
    """
    async with world() as of:
        await of.queues()
        await of.workload("w")
        await of.workload("waits", "99")
        await of.cluster.advance("3s")
        for queue, expected in (("cq", ["w"]), ("other", [])):
            found = await of.client.list(WORKLOADS, NAMESPACE, field_selector=f"status.admission.clusterQueue={queue}")
            assert [each["metadata"]["name"] for each in found.items] == expected
