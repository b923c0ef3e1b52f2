"""Jobs of every kind on other clusters: one test for all of them."""

import pytest

from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.kinds import KINDS, Kind
from tests.controllers.kueue.multikueue.workers import MANAGER, NS, check_of, condition

pytestmark = [
    pytest.mark.fakekube(controllers="*,kueue,jobset,lws,ray", nodes=2, fleet="manager,worker1,worker2"),
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)]


async def running(fleet: Fleet, member: str) -> int:
    """How many pods run in a cluster."""
    return sum(bool(pod["spec"].get("nodeName")) for pod in await workers.pods(fleet, member))


async def run(fleet: Fleet, kind: Kind, quotas: tuple[str, ...] = ("4", "4")) -> tuple[str, str]:
    """Queue a job, and let it begin; the worker that it runs on, and the other."""
    await workers.set_up(fleet, quotas)
    await kind.create(fleet)
    await fleet.advance("30s")
    return await place_of(fleet, kind)


async def place_of(fleet: Fleet, kind: Kind) -> tuple[str, str]:
    """The worker that a job runs on, and the other."""
    found = await workers.workloads(fleet, MANAGER)
    assert len(found) == kind.workloads
    assert [check_of(each)[0] for each in found] == ["Ready"] * kind.workloads
    [first] = {each["status"]["clusterName"] for each in found}
    [other] = set(workers.WORKERS) - {first}
    assert (await running(fleet, first), await running(fleet, other)) == (kind.pods, 0)
    return first, other


@pytest.mark.spec("KUEUE-152", "KUEUE-153")
async def test_a_job_runs_on_one_worker(fake_fleet: Fleet, kind: Kind) -> None:
    """Given two workers with room, when a job is queued on the manager, then all of it runs on one
    of them, and nothing of it on the other or here; what ends there has ended here, with nothing
    left on the worker.
    """
    first, other = await run(fake_fleet, kind)
    assert await running(fake_fleet, MANAGER) == 0
    assert await kind.is_gone_from(fake_fleet, other)
    copies = await kind.copies(fake_fleet, first)
    assert all(each["metadata"]["labels"][names.MULTIKUEUE_ORIGIN_LABEL] == "multikueue" for each in copies)
    assert not any("managedBy" in each["spec"] for each in copies)
    if kind.is_shown and kind.on_workers == kind.resource:
        shown = {each["metadata"]["name"]: each["status"] for each in await kind.shown(fake_fleet)}
        assert shown == {each["metadata"]["name"]: each["status"] for each in copies}
    if kind.ends:
        await fake_fleet.advance("20m")
        [local] = await workers.workloads(fake_fleet, MANAGER)
        assert condition(local, "Finished")[:2] == ("True", "Succeeded")
        assert await kind.is_gone_from(fake_fleet, first)


@pytest.mark.spec("KUEUE-156")
async def test_what_is_deleted_here_goes_there(fake_fleet: Fleet, kind: Kind) -> None:
    """Given a job on a worker, when it is deleted here, then it goes there; when another of its
    name is made and deleted while the worker is away, it goes once the worker is back.
    """
    first, _ = await run(fake_fleet, kind, ("4", "0"))
    await kind.delete(fake_fleet)
    await fake_fleet.advance("1m")
    assert await workers.workloads(fake_fleet, MANAGER) == []
    assert await kind.is_gone_from(fake_fleet, first)
    await kind.create(fake_fleet)
    await fake_fleet.advance("30s")
    await place_of(fake_fleet, kind)
    fake_fleet.cut(first)
    await kind.delete(fake_fleet)
    await fake_fleet.advance("1m")
    fake_fleet.mend(first)
    await fake_fleet.advance("5m")
    assert await kind.is_gone_from(fake_fleet, first)


@pytest.mark.spec("KUEUE-155")
async def test_an_outage_is_borne_for_a_while(fake_fleet: Fleet, kind: Kind) -> None:
    """Given a job on a worker, when the worker cannot be reached for five minutes, then nothing
    happens; when for more than fifteen, it runs on the other, and what is left on the first is
    collected once that is back.
    """
    first, other = await run(fake_fleet, kind)
    fake_fleet.cut(first)
    await fake_fleet.advance("5m")
    assert (await place_of(fake_fleet, kind))[0] == first
    await fake_fleet.advance("14m")
    found = await workers.workloads(fake_fleet, MANAGER)
    assert {each["status"].get("clusterName") for each in found} == {other}
    assert await running(fake_fleet, other) == kind.pods
    fake_fleet.mend(first)
    await fake_fleet.advance("2m")
    assert await kind.is_gone_from(fake_fleet, first)
    assert await running(fake_fleet, other) == kind.pods


@pytest.mark.spec("KUEUE-154")
async def test_what_is_evicted_on_a_worker_runs_on_another(fake_fleet: Fleet, kind: Kind) -> None:
    """Given a job on the one worker with room, when the queue there is drained and the other gets
    room, then all of it runs on the other.
    """
    await run(fake_fleet, kind, ("4", "0"))
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    await fake_fleet["worker2"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"resourceGroups": groups}})
    await fake_fleet["worker1"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await fake_fleet.advance("8m")
    assert (await place_of(fake_fleet, kind))[0] == "worker2"
    assert await kind.is_gone_from(fake_fleet, "worker1")


@pytest.mark.spec("KUEUE-159")
async def test_an_object_of_the_same_name_is_left_alone(fake_fleet: Fleet, kind: Kind) -> None:
    """Given objects of the same names on the worker that are none of ours, when a job is sent there
    and deleted, then they stay as they are.
    """
    await workers.set_up(fake_fleet, ("4",))
    await kind._replace(resource=kind.on_workers).create(fake_fleet, "worker1")
    await fake_fleet.advance("30s")
    before = {each["metadata"]["uid"]: each["spec"] for each in await kind.copies(fake_fleet, "worker1")}
    await kind.create(fake_fleet)
    await fake_fleet.advance("2m")
    await kind.delete(fake_fleet)
    await fake_fleet.advance("2m")
    assert {each["metadata"]["uid"]: each["spec"] for each in await kind.copies(fake_fleet, "worker1")} == before


@pytest.mark.spec("KUEUE-153", "KUEUE-156")
async def test_kueue_that_starts_again_goes_on(fake_fleet: Fleet, kind: Kind) -> None:
    """Given a job on a worker, when Kueue of the manager is stopped while the job begins and again
    before it ends, then it runs on the same worker and ends as if nothing had been; what is deleted
    while Kueue is away goes once it is back.
    """
    await workers.set_up(fake_fleet, ("4", "4"))
    manager = fake_fleet[MANAGER]
    await kind.create(fake_fleet)
    await fake_fleet.advance("1s")
    for _ in range(2):
        await manager.stop_controller("kueue")
        await fake_fleet.advance("1m")
        await manager.start_controller("kueue")
        await fake_fleet.advance("1m")
    first, _ = await place_of(fake_fleet, kind)
    if kind.ends:
        await fake_fleet.advance("20m")
        [local] = await workers.workloads(fake_fleet, MANAGER)
        assert condition(local, "Finished")[:2] == ("True", "Succeeded")
    else:
        await manager.stop_controller("kueue")
        await kind.delete(fake_fleet)
        await fake_fleet.advance("1m")
        await manager.start_controller("kueue")
        await fake_fleet.advance("5m")
        assert (await fake_fleet[MANAGER].client.list(kind.resource, NS)).items == []
    assert await kind.is_gone_from(fake_fleet, first)
