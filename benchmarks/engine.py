"""How fast the reconcile engine is by itself: a server that answers at once, and everything else
real.

``python -m benchmarks.engine`` prints rates per second, CPU time. Rates are the best of several
rounds.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

import orjson

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import Resource
from fakekube.runtime import Context, Manager, Result, controller, predicates
from fakekube.runtime import Request as Key
from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.driver import VirtualDriver
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

WEBS = Resource("example.com", "v1", "webs", "Web")
OBJECTS = 1000
ROUNDS = 10


class InstantServer:
    """Lists objects, answers every write with nothing, and tells watchers of it."""

    def __init__(self) -> None:
        self.revision, self.sinks = 1, []

    def web(self, name: str) -> dict[str, object]:
        self.revision += 1
        metadata = {"namespace": "default", "name": name, "uid": name, "resourceVersion": str(self.revision)}
        return {"apiVersion": "example.com/v1", "kind": "Web", "metadata": metadata}

    async def handle(self, request: Request) -> Response:
        if request.method == "PATCH":
            frame = Frame(orjson.dumps({"type": "MODIFIED", "object": self.web(request.path.rpartition("/")[2])}))
            for sink in self.sinks:
                sink.send(frame)
            return Response(200, b"{}")
        if request.flag("watch"):
            return Response(stream=self)
        items = [self.web(f"web-{number}") for number in range(OBJECTS)]
        return Response(body=orjson.dumps({"metadata": {"resourceVersion": str(self.revision)}, "items": items}))

    def start(self, sink: Sink) -> None:
        self.sinks.append(sink)

    def stop(self) -> None:
        self.sinks.clear()


class Writer:
    """Reads its object from the cache and writes it, again and again."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.webs = ctx.client, ctx.lister(WEBS)
        self.requeue: Result | None = None

    async def reconcile(self, request: Key) -> Result | None:
        assert self.webs.get(*request) is not None
        await self.client.patch(WEBS, request.name, request.namespace, {"status": {"x": 1}})
        return self.requeue


async def best(count: int, once: Callable[[], Awaitable[None]]) -> float:
    """The highest rate of several rounds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        await once()
        times.append(time.process_time() - started)
    return count / min(times)


async def measure() -> dict[str, float]:
    """Rates per second by what they are of."""
    activity = Activity()
    clock = ManualClock(activity=activity)
    driver, tasks = VirtualDriver(clock, activity), Tasks()
    client = Client(InProcess(InstantServer()))
    manager = Manager(client, clock=clock, activity=activity, rng=Rng(0), tasks=tasks)
    manager.add(controller("web").for_(WEBS, predicate=predicates.generation_changed()).complete(Writer))
    await manager.start()
    await driver.settle()
    running = manager.component("web")
    keys = [Key("default", f"web-{number}") for number in range(OBJECTS)]

    async def all_at_once() -> None:
        for key in keys:
            running.queue.add(key)
        await driver.settle()

    results = {"reconcile and write, queued at once": await best(OBJECTS, all_at_once)}
    running.reconciler.requeue = Result(timedelta(seconds=10))
    await all_at_once()
    results["reconcile and write, each by a timer"] = await best(OBJECTS, lambda: driver.advance(10))
    await manager.stop()

    def tick() -> None:
        clock.call_later(1, tick)

    for number in range(OBJECTS):
        clock.call_later(number / OBJECTS, tick)
    results["timers"] = await best(OBJECTS, lambda: driver.advance(1))
    await tasks.close()
    return results


if __name__ == "__main__":
    for name, rate in asyncio.run(measure()).items():
        print(f"{rate:>12,.0f}/s  {name}")
