"""Jobs of every kind on other clusters: each test has one of each kind in one fleet."""

from collections.abc import Iterable

import pytest

from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.kinds import KINDS, Case, Running
from tests.controllers.kueue.multikueue.workers import MANAGER, condition

pytestmark = pytest.mark.fakekube(controllers="*,kueue,jobset,lws,ray", nodes=3, fleet="manager,worker1,worker2")


async def set_up(fleet: Fleet, *quotas: str) -> list[Case]:
    """Workers with so much cpu, and a namespace for each kind."""
    await workers.set_up(fleet, quotas)
    cases = [Case(fleet, name) for name in KINDS]
    for case in cases:
        await case.set_up()
    return cases


async def run(fleet: Fleet, cases: Iterable[Case]) -> None:
    """Queue a job of each kind, and let it begin."""
    for case in cases:
        await case.create()
    await fleet.advance("30s")


async def running(cases: Iterable[Case]) -> dict[str, Running]:
    """How each fares."""
    return {case.name: await case.running() for case in cases}


async def left_on(member: str, cases: Iterable[Case]) -> dict[str, list[str]]:
    """What is left of each in a cluster, where something is."""
    found = {case.name: await case.left_on(member) for case in cases}
    return {name: left for name, left in found.items() if left}


async def ended(cases: Iterable[Case]) -> dict[str, list[tuple[str, str]]]:
    """Whether and how the Workloads of those have ended that do so by themselves."""
    return {case.name: [condition(each, "Finished")[:2] for each in await case.workloads()] for case in cases if case.kind.ends}


ALL_ENDED = {name: [("True", "Succeeded")] for name, kind in KINDS.items() if kind.ends}


@pytest.mark.spec("KUEUE-152", "KUEUE-153")
async def test_each_runs_on_one_worker(fake_fleet: Fleet) -> None:
    """Given a worker with room and one without, when jobs are queued on the manager, then all of
    each runs on the one, and nothing of it on the other or here; what ends there has ended here,
    with nothing left on the worker.
    """
    cases = await set_up(fake_fleet, "9", "0")
    await run(fake_fleet, cases)
    assert await running(cases) == {case.name: case.expected("worker1") for case in cases}
    assert await left_on("worker2", cases) == {}
    for case in cases:
        copies = await case.copies("worker1")
        assert {each["metadata"]["labels"][names.MULTIKUEUE_ORIGIN_LABEL] for each in copies} == {"multikueue"}
        assert not any("managedBy" in each["spec"] for each in copies), case.name
        if case.kind.is_shown and case.kind.copied is None:
            here = {each["metadata"]["name"]: each["status"] for each in await case.here()}
            assert here == {each["metadata"]["name"]: each["status"] for each in copies}, case.name
    await fake_fleet.advance("20m")
    assert await ended(cases) == ALL_ENDED
    assert await left_on("worker1", [case for case in cases if case.kind.ends]) == {}


@pytest.mark.spec("KUEUE-156")
async def test_what_is_deleted_here_goes_there(fake_fleet: Fleet) -> None:
    """Given jobs on a worker, when they are deleted here, then they go there; when others of their
    names are made, and deleted while the worker is away, they go once it is back.
    """
    cases = await set_up(fake_fleet, "9")
    await run(fake_fleet, cases)
    for case in cases:
        await case.delete()
    await fake_fleet.advance("1m")
    assert [await left_on(name, cases) for name in (MANAGER, "worker1")] == [{}, {}]
    await run(fake_fleet, cases)
    assert await running(cases) == {case.name: case.expected("worker1") for case in cases}
    fake_fleet.cut("worker1")
    for case in cases:
        await case.delete()
    await fake_fleet.advance("1m")
    fake_fleet.mend("worker1")
    await fake_fleet.advance("5m")
    assert [await left_on(name, cases) for name in (MANAGER, "worker1")] == [{}, {}]


@pytest.mark.spec("KUEUE-155")
async def test_an_outage_is_borne_for_a_while(fake_fleet: Fleet) -> None:
    """Given jobs that run on a worker, when it cannot be reached for five minutes, then nothing
    happens; when for more than fifteen, they run on another, and what is left on the first is
    collected once it is back.
    """
    cases = await set_up(fake_fleet, "9", "9")
    fake_fleet.cut("worker2")
    await run(fake_fleet, cases)
    fake_fleet.mend("worker2")
    fake_fleet.cut("worker1")
    await fake_fleet.advance("5m")
    assert await running(cases) == {case.name: case.expected("worker1") for case in cases}
    await fake_fleet.advance("12m")
    assert {name: found.cluster for name, found in (await running(cases)).items()} == dict.fromkeys(KINDS, "worker2")
    fake_fleet.mend("worker1")
    await fake_fleet.advance("6m")
    assert await running(cases) == {case.name: case.expected("worker2") for case in cases}
    assert await left_on("worker1", cases) == {}


@pytest.mark.spec("KUEUE-154")
async def test_what_is_evicted_on_a_worker_runs_on_another(fake_fleet: Fleet) -> None:
    """Given jobs on the one worker with room, when the queue there is drained and the other gets
    room, then all of each runs on the other; pods that nobody makes anew have gone.
    """
    cases = await set_up(fake_fleet, "9", "0")
    await run(fake_fleet, cases)
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "9"}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    await fake_fleet["worker2"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"resourceGroups": groups}})
    await fake_fleet["worker1"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await fake_fleet.advance("8m")
    others = [case for case in cases if not case.kind.is_stopped]
    assert await running(others) == {case.name: case.expected("worker2") for case in others}
    assert await left_on("worker1", cases) == {}


@pytest.mark.spec("KUEUE-159")
async def test_what_has_the_same_name_is_left_alone(fake_fleet: Fleet) -> None:
    """Given objects of the same names on the worker that are none of ours, when jobs are sent there
    and deleted, then those stay as they are.
    """
    cases = await set_up(fake_fleet, "9")
    for case in cases:
        await case.create_foreign("worker1")
    await fake_fleet.advance("20s")
    before = {case.name: {each["metadata"]["uid"]: each["spec"] for each in await case.copies("worker1")} for case in cases}
    await run(fake_fleet, cases)
    await fake_fleet.advance("1m")
    for case in cases:
        await case.delete()
    await fake_fleet.advance("2m")
    for case in cases:
        assert {each["metadata"]["uid"]: each["spec"] for each in await case.copies("worker1")} == before[case.name], case.name


@pytest.mark.spec("KUEUE-153", "KUEUE-156")
async def test_kueue_that_starts_again_goes_on(fake_fleet: Fleet) -> None:
    """Given jobs that are queued, when Kueue of the manager is away while they begin and again
    while they run, then they run on one worker and end as if nothing had been; what is deleted
    while Kueue is away goes once it is back.
    """
    cases, manager = await set_up(fake_fleet, "9", "0"), fake_fleet[MANAGER]
    for case in cases:
        await case.create()
    await fake_fleet.advance("1s")
    for _ in range(2):
        await manager.stop_controller("kueue")
        await fake_fleet.advance("1m")
        await manager.start_controller("kueue")
        await fake_fleet.advance("1m")
        assert await running(cases) == {case.name: case.expected("worker1") for case in cases}
    await fake_fleet.advance("20m")
    assert await ended(cases) == ALL_ENDED
    await manager.stop_controller("kueue")
    for case in cases:
        await case.delete()
    await fake_fleet.advance("1m")
    await manager.start_controller("kueue")
    await fake_fleet.advance("5m")
    assert [await left_on(name, cases) for name in (MANAGER, "worker1")] == [{}, {}]
