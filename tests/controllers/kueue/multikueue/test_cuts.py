"""A worker that is cut off after any request of its manager, and comes back.

The Job ends all the same, it ran on one worker, and nothing is left on any of them. ``CUTS_SEED``
says which requests the default run takes; a failure says the seed.
"""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from fakekube.client.resources import JOBS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, NS
from tests.controllers.kueue.restarts import state
from tests.controllers.world import CONTROLLERS

if TYPE_CHECKING:
    from fakekube import Cluster

WORKER = workers.WORKERS[0]
"""The one that is cut off: it has the Job where nothing goes wrong."""
SAMPLE = 1
BORNE_SECONDS, LONG_SECONDS = 60, 20 * 60
"""Outages: one that is waited for, and one after which the Job goes to another worker."""


class Play(NamedTuple):
    """What a user does, and how many pods of the Job succeed in the end."""

    act: Callable[[Fleet], Awaitable[None]]
    succeeded: int


async def one_pod(fleet: Fleet) -> None:
    """A Job of one pod, of ten minutes."""
    await fleet[MANAGER].client.create(JOBS, workers.job())
    await fleet.advance("60m")


async def elastic(fleet: Fleet) -> None:
    """An elastic Job that grows, and shrinks to less than it was."""
    annotations = {names.ELASTIC_JOB_ANNOTATION: "true"}
    await fleet[MANAGER].client.create(JOBS, workers.job(parallelism=2, completions=4, annotations=annotations))
    await fleet.advance("10s")
    for parallelism in (3, 1):
        await fleet[MANAGER].client.patch(JOBS, "j", NS, {"spec": {"parallelism": parallelism}})
        await fleet.advance("40s")
    await fleet.advance("90m")


PLAYS = {"one pod": Play(one_pod, 1), "elastic": Play(elastic, 4)}


class Requests:
    """Stands in front of the workers: counts what comes over the link to the first of them, cuts it
    off after one request, and mends it after a while. Number 0 is none.
    """

    def __init__(self, fleet: Fleet, number: int, seconds: float) -> None:
        self.seen: list[str] = []
        self.with_pods: set[str] = set()
        self._fleet, self._number, self._seconds = fleet, number, seconds
        for name in workers.WORKERS:
            self._listen(name, fleet[name])

    def _listen(self, name: str, cluster: "Cluster") -> None:
        answered = cluster.apiserver.handle

        async def handle(request: Any) -> Any:
            response = await answered(request)
            if (request.method, request.path.rpartition("/")[2]) == ("POST", "pods"):
                self.with_pods.add(name)
            is_linked = request.headers.get("user-agent") == names.KUEUE_NAME and "authorization" in request.headers
            if name == WORKER and is_linked:
                self.seen.append(f"{request.method} {request.path}")
                if len(self.seen) == self._number:
                    asyncio.get_running_loop().call_soon(self._cut)  # once the answer has come
            return response

        cluster.apiserver.handle = handle  # type: ignore[method-assign]  # in place of the server's

    def _cut(self) -> None:
        self._fleet.cut(WORKER)
        self._fleet.clock.call_later(self._seconds, self._fleet.mend, WORKER)


async def wrong_of(play: Play, number: int, seconds: float) -> tuple[list[str], list[str]]:
    """What is wrong with the end if the worker is cut off after a request, and all requests."""
    controllers = f"{CONTROLLERS},scheduler,kubelet,kueue"
    async with Fleet(MANAGER, *workers.WORKERS, nodes=1, controllers=controllers, clock="manual") as fleet:
        await workers.set_up(fleet, ("4", "4"))
        requests = Requests(fleet, number, seconds)
        await play.act(fleet)
        wrong = state.faults({name: await state.objects_of(cluster) for name, cluster in fleet.items()})
        job = await fleet[MANAGER].client.get(JOBS, "j", NS)
        if (found := job["status"].get("succeeded")) != play.succeeded or "completionTime" not in job["status"]:
            wrong.append(f"{found} pods of the Job succeeded: {job['spec']} {job['status']}")
        for local in await workers.workloads(fleet, MANAGER):
            if workers.condition(local, "Finished")[0] != "True":
                wrong.append(f"the Workload {local['metadata']['name']} is not finished: {local['status']}")
        for name in workers.WORKERS:
            for found_there in (workers.workloads, workers.jobs, workers.pods):
                left = [each["metadata"]["name"] for each in await found_there(fleet, name)]
                if left:
                    wrong.append(f"left on {name}: {found_there.__name__} {left}")
        if await workers.pods(fleet, MANAGER):
            wrong.append("pods run on the manager")
        if len(requests.with_pods) != 1 and seconds == BORNE_SECONDS:
            wrong.append(f"it ran on {sorted(requests.with_pods)}")
        return wrong, requests.seen


async def calmly(play: Play) -> list[str]:
    """The requests of a play in which nothing is cut off."""
    wrong, seen = await wrong_of(play, 0, BORNE_SECONDS)
    assert not wrong, wrong
    assert any(each.startswith("POST") for each in seen)
    return seen


def numbers_of(seen: list[str]) -> list[int]:
    """The requests to cut after; of a row of equal ones the first."""
    return [number for number, each in enumerate(seen, 1) if number == 1 or each != seen[number - 2]]


async def all_wrong(play: Play, seconds: float, numbers: list[int], seen: list[str]) -> list[str]:
    """What is wrong, for each request to cut after."""
    found = []
    for number in numbers:
        wrong, _ = await wrong_of(play, number, seconds)
        found += [f"cut for {seconds} s after request {number} of {len(seen)}, {seen[number - 1]}: {each}" for each in wrong]
    return found


outages = pytest.mark.parametrize("seconds", [BORNE_SECONDS, LONG_SECONDS], ids=["borne", "long"])
plays = pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS.keys())


@outages
@plays
@pytest.mark.spec("KUEUE-155")
async def test_a_worker_is_cut_off_at_some_steps(play: Play, seconds: float) -> None:
    """Given a Job that runs on a worker, when this is cut off after some request of its manager and
    comes back, then the Job ends, on one worker, and nothing is left over.
    """
    seen = await calmly(play)
    seed = int(os.environ.get("CUTS_SEED") or random.randrange(1000))
    numbers = random.Random(seed).sample(numbers_of(seen), SAMPLE)
    wrong = await all_wrong(play, seconds, numbers, seen)
    assert not wrong, "\n".join([f"CUTS_SEED={seed}", *wrong])


@outages
@plays
@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_worker_is_cut_off_at_every_step(play: Play, seconds: float) -> None:
    """Given the same, when it is cut off after any of the requests, then it is the same."""
    seen = await calmly(play)
    wrong = await all_wrong(play, seconds, numbers_of(seen), seen)
    assert not wrong, "\n".join(wrong)
