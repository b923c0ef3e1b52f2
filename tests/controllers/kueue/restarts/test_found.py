"""What was found by letting Kueue stop after each of its writes."""

import pytest

from fakekube_controllers import leaderworkerset
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS
from tests.controllers.kueue.apps.test_leader_worker_sets import lws
from tests.controllers.kueue.restarts import appplays, jobplays
from tests.controllers.kueue.topology.conftest import Topologies
from tests.controllers.world import NAMESPACE


async def test_a_queue_does_not_miss_a_topology_that_is_there() -> None:
    """Given a queue whose flavor has a topology, when Kueue is started again, then nothing is
    written of the queue.
    """
    async with jobplays.topology_scene() as cluster:
        world = Topologies(cluster)  # type: ignore[no-untyped-call]  # the helpers of tests are not typed
        await world.start("rack")
        await world.nodes(a="r1")
        before = await cluster.client.get(names.CLUSTER_QUEUES, "cq")
        await cluster.restart_controller("kueue")
        await cluster.advance("5s")
        assert await cluster.client.get(names.CLUSTER_QUEUES, "cq") == before


@pytest.mark.spec("KUEUE-177")
async def test_a_running_leader_worker_set_goes_in_the_foreground() -> None:
    """Given a LeaderWorkerSet whose pods run, when it is deleted in the foreground, then Kueue and
    the collector do not take turns for ever, and nothing is left of it.
    """
    async with appplays.scene(leaderworkerset.addon()) as cluster:
        await appplays.begin(cluster, "1")
        await cluster.client.create(LEADER_WORKER_SETS, lws(1, leader=False))
        await cluster.advance("20s")
        await cluster.client.delete(LEADER_WORKER_SETS, "l", NAMESPACE, propagation_policy="Foreground")
        await cluster.advance("60s")
        assert (await cluster.client.list(LEADER_WORKER_SETS)).items == []
        assert (await cluster.client.list(names.WORKLOADS)).items == []
