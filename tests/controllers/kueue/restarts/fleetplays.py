"""Plays of a manager and two workers; the Kueue of the manager dies, or that of a worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, NS
from tests.controllers.kueue.restarts.dying import Play
from tests.controllers.world import CONTROLLERS

WORKER = workers.WORKERS[0]
ELASTIC = {names.ELASTIC_JOB_ANNOTATION: "true"}


async def job_to_its_end(fleet: Fleet) -> None:
    """A Job runs on a worker that is away in the middle of it; a second waits for room, and a
    third is deleted while the worker is away.
    """
    await workers.set_up(fleet, ("2", "0"))
    client = fleet[MANAGER].client
    for name in ("a", "b", "c"):
        await client.create(JOBS, workers.job(name))
        await fleet.advance("5s")
    fleet.cut(WORKER)
    await fleet.advance("5m")
    await client.delete(JOBS, "b", NS, propagation_policy="Background")
    await fleet.advance("30s")
    fleet.mend(WORKER)
    await fleet.advance("40m")


async def lost_worker(fleet: Fleet) -> None:
    """A worker is away so long that its Job runs on the other one; what is left is collected."""
    await workers.set_up(fleet, ("2", "2"))
    await fleet[MANAGER].client.create(JOBS, workers.job())
    await fleet.advance("10s")
    [local] = await workers.workloads(fleet, MANAGER)
    lost = local["status"]["clusterName"]
    fleet.cut(lost)
    await fleet.advance("20m")
    fleet.mend(lost)
    await fleet.advance("20m")


async def evicted_there(fleet: Fleet) -> None:
    """A Job is evicted on its worker, and runs on the other one."""
    await workers.set_up(fleet, ("2", "0"))
    await fleet[MANAGER].client.create(JOBS, workers.job())
    await fleet.advance("10s")
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    await fleet["worker2"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"resourceGroups": groups}})
    await fleet[WORKER].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await fleet.advance("20m")


async def elastic_across(fleet: Fleet) -> None:
    """An elastic Job grows and shrinks on its worker."""
    await workers.set_up(fleet, ("3", "0"))
    client = fleet[MANAGER].client
    await client.create(JOBS, workers.job(parallelism=1, completions=9, annotations=ELASTIC))
    await fleet.advance("10s")
    for size in (2, 3, 1):
        await client.patch(JOBS, "j", NS, {"spec": {"parallelism": size}})
        await fleet.advance("40s")


async def group_across(fleet: Fleet) -> None:
    """A group of pods runs on a worker to its end; they do not end at once."""
    await workers.set_up(fleet, ("4", "0"))
    for name, duration in (("a", "10m"), ("b", "12m")):
        pod = workers.job()["spec"]["template"]
        annotations = {"fakekube.dev/run-duration": duration, names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "2"}
        labels = {names.QUEUE_LABEL: "q", names.POD_GROUP_NAME_LABEL: "g"}
        metadata = {"name": name, "namespace": NS, "labels": labels, "annotations": annotations}
        await fleet[MANAGER].client.create(PODS, {"metadata": metadata, "spec": pod["spec"]})
    await fleet.advance("20m")


@asynccontextmanager
async def scene() -> AsyncIterator[Any]:
    """A manager and its workers, with a node each."""
    controllers = f"{CONTROLLERS},scheduler,kubelet,kueue"
    async with Fleet(MANAGER, *workers.WORKERS, nodes=1, controllers=controllers, clock="manual") as fleet:
        yield fleet


PLAYS = [
    Play(f"{act.__name__} of {home}", scene, act, home)
    for act, home in (
        (job_to_its_end, MANAGER), (job_to_its_end, WORKER), (elastic_across, MANAGER), (elastic_across, WORKER),
        (lost_worker, MANAGER), (lost_worker, WORKER), (evicted_there, WORKER),
        (group_across, MANAGER), (group_across, WORKER))
] + [Play(f"evicted_there of {MANAGER}", scene, evicted_there, MANAGER, least_step=3)]
"""Not all that there could be: see "Starting again" in docs/kueue.md."""
