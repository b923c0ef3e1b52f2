"""What was found by letting Kueue stop after each of its writes."""

from collections.abc import Callable
from typing import Any

import pytest

from fakekube.client.resources import JOBS, PODS
from fakekube_controllers import leaderworkerset
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS
from tests.controllers.kueue.apps.test_leader_worker_sets import lws
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER
from tests.controllers.kueue.restarts import appplays, fleetplays, jobplays
from tests.controllers.kueue.topology.conftest import Topologies
from tests.controllers.restarting import Restarts
from tests.controllers.world import NAMESPACE


def once(fleet: Any, home: str, is_time: Callable[[list[str]], bool]) -> Restarts:
    """Kueue of a member dies at the first write at which the writes so far say so."""
    others = [fleet[name] for name in workers.WORKERS] if home == MANAGER else []
    restarts = Restarts(fleet[home], "kueue", lambda _: restarts.count == 0 and is_time(restarts.written), others=others)
    return restarts


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


@pytest.mark.spec("KUEUE-163")
async def test_a_slice_on_a_worker_gives_its_quota_to_the_next() -> None:
    """Given an elastic job on a worker, when the worker's Kueue dies after it has let in a larger
    slice and before it has finished the one of which this takes the place, then that is finished.
    """
    def is_second_slice_in(written: list[str]) -> bool:
        return len({each for each in written if each.startswith("PATCH") and "/workloads/" in each}) == 2

    async with fleetplays.scene() as fleet:
        restarts = once(fleet, "worker1", is_second_slice_in)
        await fleetplays.elastic_across(fleet)
        assert restarts.count == 1
        left = [each for each in await workers.workloads(fleet, "worker1") if workers.condition(each, "Finished")[0] != "True"]
        assert len(left) == 1
        queue = await fleet["worker1"].client.get(names.CLUSTER_QUEUES, "cq")
        assert queue["status"]["flavorsReservation"][0]["resources"] == [{"borrowed": "0", "name": "cpu", "total": "1"}]


@pytest.mark.spec("KUEUE-156")
async def test_no_pod_of_a_group_stays_on_a_worker() -> None:
    """Given a group of pods that has ended on a worker, when the manager's Kueue dies after it has
    deleted the first copy there, then none of them stays.
    """
    async with fleetplays.scene() as fleet:
        restarts = once(fleet, MANAGER, lambda written: written[-1].startswith("DELETE /api/v1/namespaces/default/pods/"))
        await fleetplays.group_across(fleet)
        assert restarts.count == 1
        assert (await fleet["worker1"].client.list(PODS, NAMESPACE)).items == []
        assert await workers.workloads(fleet, "worker1") == []


@pytest.mark.spec("KUEUE-155")
async def test_what_finds_no_worker_goes_to_the_first_that_is_back() -> None:
    """Given a Job, when both workers are lost, the manager's Kueue starts again and evicts the
    Workload, and then the worker comes back that it was not on, then it is sent there.
    """
    async with fleetplays.scene() as fleet:
        await workers.set_up(fleet)
        await fleet[MANAGER].client.create(JOBS, workers.job())
        await fleet.advance("10s")
        [before] = await workers.workloads(fleet, MANAGER)
        lost = before["status"]["clusterName"]
        [other] = set(workers.WORKERS) - {lost}
        for name in workers.WORKERS:
            fleet.cut(name)
        await fleet[MANAGER].restart_controller("kueue")
        await fleet.advance("20m")
        [workload] = await workers.workloads(fleet, MANAGER)
        assert workers.condition(workload, "Evicted")[0] == "True"
        fleet.mend(other)
        await fleet.advance("6m")
        [workload] = await workers.workloads(fleet, MANAGER)
        assert workload["status"]["clusterName"] == other
        job = await fleet[MANAGER].client.get(JOBS, "j", NAMESPACE)
        assert job["spec"]["suspend"] is False
        assert job["status"]["active"] == 1


@pytest.mark.spec("KUEUE-155")
async def test_a_worker_that_was_away_may_still_be_the_one() -> None:
    """Given a Job that waits on two workers, when the manager's Kueue starts again while one of
    them is away, and nominates the other alone, then the first, which has let it in meanwhile,
    runs it once it is back.
    """
    async with fleetplays.scene() as fleet:
        await workers.set_up(fleet, ("0", "0"))
        await fleet[MANAGER].client.create(JOBS, workers.job())
        await fleet.advance("10s")
        fleet.cut("worker1")
        await fleet[MANAGER].restart_controller("kueue")
        await fleet.advance("30s")
        [workload] = await workers.workloads(fleet, MANAGER)
        assert workload["status"]["nominatedClusterNames"] == ["worker2"]
        flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]
        groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
        await fleet["worker1"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"resourceGroups": groups}})
        await fleet.advance("30s")
        fleet.mend("worker1")
        await fleet.advance("2m")
        [workload] = await workers.workloads(fleet, MANAGER)
        assert workload["status"]["clusterName"] == "worker1"
        job = await fleet[MANAGER].client.get(JOBS, "j", NAMESPACE)
        assert job["status"]["active"] == 1
