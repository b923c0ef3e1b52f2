"""Components that share a process, programs that lose their lease, and how what runs ends."""

import asyncio
from typing import Any, cast

import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.nodehandle import NodeHandle
from fakekube.client.resources import LEASES, NODES, PODS
from fakekube.client.transport import Authenticated
from fakekube.runtime import AggregatedAPI
from fakekube.runtime.controller import Worker, attempt_async
from fakekube.runtime.manager import Manager
from fakekube.runtime.standalone import run_components
from fakekube.util.choices import Choices
from fakekube.util.tasks import Tasks
from tests.runtime import harness as harnesses
from tests.runtime.harness import WEBS

HARNESS: Any = harnesses.harness


class Watches:
    """A component that notes what it hears of webs, and when it starts and stops."""

    def __init__(self, name: str, log: list[str], user_agent: str = "", user: UserInfo | None = None) -> None:
        self.name, self.log, self.user_agent, self.user = name, log, user_agent, user

    async def start(self, ctx: Any) -> None:
        self.ctx = ctx
        ctx.on_close(lambda: self.log.append(f"{self.name} closes"))
        ctx.on_close(self._close_slowly)
        ctx.add_handler(WEBS, lambda web: self.log.append(f"{self.name} hears of {meta.name_of(web)}"))

    async def _close_slowly(self) -> None:
        await asyncio.sleep(0)
        self.log.append(f"{self.name} is closed")

    async def stop(self) -> None:
        self.log.append(f"{self.name} stops")


def lists(world: Any) -> list[str]:
    """Whose caches have begun."""
    return [
        request.headers["user-agent"] for request in world.server.requests
        if request.method == "GET" and not request.flag("watch") and request.path.endswith("/webs")]


async def test_what_runs_in_one_process_dies_with_it() -> None:
    """Given three components, two of them in one process, where who hears first is chosen / when
    one of the two dies / then the other dies, too, and their cache is gone; the third runs on.
    """
    log: list[str] = []
    async with HARNESS(choices=Choices(seed=1), process_of=lambda name: "both" if name in "ab" else name) as world:
        await world.web("w")
        user = UserInfo("somebody")
        await world.start(Watches("a", log, "agent/a"), Watches("b", log), Watches("c", log, user=user))
        manager = world.manager
        assert sorted(log) == ["a hears of w", "b hears of w", "c hears of w"]
        assert sorted(lists(world)) == ["both", "c"]
        assert [manager.agents_of(name) for name in "abc"] == [("agent/a", "both"), ("b", "both"), ("c",)]
        assert [manager.user_of(name) for name in "abc"] == [None, None, user]
        for ask in (manager.agents_of, manager.user_of):
            with pytest.raises(KeyError, match="'d'"):
                ask("d")
        log.clear()
        assert await manager.stop_together("a") == ["a", "b"]
        assert log == ["b stops", "b closes", "b is closed", "a stops", "a closes", "a is closed"]
        log.clear()
        await world.web("x")
        await world.driver.settle()
        assert log == ["c hears of x"]
        log.clear()
        await manager.start_component("b")
        await world.driver.settle()
        assert log == ["b hears of w", "b hears of x"]
        assert sorted(lists(world)) == ["both", "both", "c"]
        assert await manager.stop_together("a") == ["b"]
        assert await manager.stop_together("a") == []


async def test_what_shares_all_caches_dies_alone() -> None:
    """Given components of one manager / when some die together / then only those that run do, the
    last first, and the cache lives.
    """
    log: list[str] = []
    async with HARNESS() as world:
        await world.start(*(Watches(name, log) for name in "abc"))
        await world.manager.stop_component("b")
        log.clear()
        assert await world.manager.stop_together("a", "b", "c") == ["a", "c"]
        assert [line for line in log if line.endswith("stops")] == ["c stops", "a stops"]
        await world.manager.start_component("a")
        await world.driver.settle()
        assert lists(world) == ["test"]


async def test_a_worker_whose_queue_ends() -> None:
    """Given a worker / when its queue is shut down / then the worker ends without a failure, and
    its keys are not worked on any more.
    """
    done: list[Any] = []

    class Works(Watches):
        async def start(self, ctx: Any) -> None:
            self.queue = ctx.queue()
            Worker(ctx, self.queue, self.one).start(2)

        async def one(self, key: Any) -> None:
            done.append(key)

    async with HARNESS() as world:
        works = Works("works", [])
        await world.start(works)
        works.queue.add("a")
        await world.driver.settle()
        works.queue.shut_down()
        works.queue.add("b")
        await world.driver.settle()
        assert done == ["a"]
        world.driver.raise_failure()


async def test_what_authors_functions_raise() -> None:
    """Given functions, plain and async / when they are tried / then what they return or raise comes
    back, but for a broken connection, which passes.
    """
    async def slow(value: int) -> int:
        if value < 0:
            raise ValueError("negative")
        return value

    def broken() -> None:
        raise ConnectionResetError("gone")

    assert await attempt_async(slow, 1) == (1, None)
    assert await attempt_async(int, "2") == (2, None)
    for function, argument, error in ((slow, -1, "negative"), (int, "x", "invalid literal for int() with base 10: 'x'")):
        result, raised = await attempt_async(function, argument)
        assert (result, type(raised), str(raised)) == (None, ValueError, error)
    with pytest.raises(ConnectionResetError, match=r"^gone$"):
        await attempt_async(broken)


async def test_a_program_that_loses_its_lease() -> None:
    """Given a program with a lease / when somebody else takes the lease / then the program's
    components stop and it returns; it had told of its manager before.
    """
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        log, managers, tasks = list[str](), list[Manager](), Tasks()

        def started(manager: Manager) -> None:
            managers.append(manager)
            log.append(f"manager of {manager.names}")

        client = Client(InProcess(cluster.apiserver))
        program = tasks.spawn(run_components(
            client, [Watches("a", log)], lease="program", clock=cast("Any", cluster.clock), on_start=started), "program")
        await cluster.advance(5)
        assert log == ["manager of ['a']"]
        assert not program.done()
        lease = await cluster.client.get(LEASES, "program", "kube-system")
        assert lease["spec"]["holderIdentity"].startswith("fakekube_")
        await cluster.client.update(LEASES, {**lease, "spec": {**lease["spec"], "holderIdentity": "other"}})
        await cluster.advance(5)
        assert program.done()
        assert program.result() is None
        assert log == ["manager of ['a']", "a stops", "a closes", "a is closed"]
        await tasks.close()


async def test_the_handler_of_an_aggregated_api() -> None:
    """Given an API with a handler, and one that makes it / when it is asked for / then it is the
    one that was given, or what is made with what finds components.
    """
    class Answers:
        async def handle(self, _: Request) -> Response:
            return Response(200)

    handler, made, finds = Answers(), list[Any](), (lambda _: None)

    def make(find: Any) -> Answers:
        made.append(find)
        return handler

    assert AggregatedAPI("v1.x.dev", handler).made_handler(finds) is handler
    assert AggregatedAPI("v1.x.dev", handler_of=make).made_handler(finds) is handler
    assert made == [finds]


async def test_draining_what_goes_meanwhile() -> None:
    """Given a node with two pods / when it is drained, and one is gone before it is evicted / then
    that is no error, and only the other was evicted; another refusal is one.
    """
    for code in (404, 429):
        async with HARNESS() as world:
            await world.client.create(NODES, {"metadata": {"name": "n"}})
            for name in "pq":
                await world.client.create(PODS, {"metadata": {"name": name}, "spec": {"nodeName": "n"}})

            def evicted(request: Request, code: int = code) -> None:
                if request.path.endswith("/q/eviction"):
                    raise APIError(code, "Whatever", "refused")

            world.server.fault = evicted
            world.server.create = lambda _plural, _namespace, obj: obj
            node = NodeHandle(world.client, "n")
            if code == 404:
                assert await node.drain() == ["default/p"]
            else:
                with pytest.raises(APIError, match=r"^refused$"):
                    await node.drain()
            assert (await world.client.get(NODES, "n"))["spec"] == {"unschedulable": True}


async def test_closing_a_transport_with_credentials() -> None:
    """Given a transport with credentials on another / when it is closed / then the other is."""
    closed: list[str] = []

    class Other:
        async def request(self, request: Request) -> Response:
            return Response(200)

        async def close(self) -> None:
            closed.append("other")

    await Authenticated(Other(), {}).close()
    assert closed == ["other"]


async def test_explaining_parts() -> None:
    """Given a component with a part that has a queue / when it is explained / then what waits in
    the part's queue is told, too.
    """
    async with HARNESS() as world:
        component = Watches("a", [])
        await world.start(component)
        part = component.ctx.child("part")
        part.queue().add("k")
        part.explainers.append(lambda: iter(["the part waits"]))
        assert list(component.ctx.explain()) == ["part: 1 queued, 0 in work", "the part waits"]
        assert list(world.manager.explain()) == ["a: part: 1 queued, 0 in work", "a: the part waits"]
