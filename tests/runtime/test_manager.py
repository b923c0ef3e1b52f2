"""Components with queues, handlers and tasks of their own, next to declared controllers."""

import pytest

from fakekube.apimachinery import meta
from fakekube.client.resources import NODES, PODS
from fakekube.client.users import node
from fakekube.runtime import Result, controller
from fakekube.runtime.controller import Worker
from tests.runtime.harness import WEBS, harness


class Kubelet:
    """Marks every pod as running, ten seconds after it has seen it, and beats its heart."""

    def __init__(self, name="kubelet"):
        self.name, self.user_agent, self.user = name, "kubelet/v1", node("n")
        self.beats = self.stops = 0

    async def start(self, ctx):
        self.ctx, self.pods = ctx, ctx.lister(PODS)
        self.queue = ctx.queue()
        ctx.add_handler(PODS, on_add=lambda pod: self.queue.add_after(meta.key_of(pod), 10))
        Worker(ctx, self.queue, self.run_pod).start()
        ctx.tasks.spawn(self.heartbeat(), "heartbeat")

    async def heartbeat(self):
        await self.ctx.wait_for_sync()
        while True:
            await self.ctx.clock.sleep(60, daemon=True)
            self.beats += 1

    async def run_pod(self, key):
        await self.ctx.client.patch(PODS, key.name, key.namespace, {"status": {"phase": "Running"}})

    async def stop(self):
        self.stops += 1


def phases(world):
    pods = [obj for (plural, _, _), obj in world.server.objects.items() if plural == "pods"]
    return [pod.get("status", {}).get("phase") for pod in pods]


async def test_a_runnable_works_with_its_own_queue_and_tasks():
    """Given a runnable, when pods come and time passes, then it acts as itself, and its daemon
    timers pull no time.
    """
    async with harness() as world:
        kubelet = Kubelet()
        await world.start(kubelet)
        await world.client.create(PODS, {"metadata": {"name": "p"}})
        await world.driver.run_until(lambda: phases(world) == ["Running"])
        request = world.server.requests[-1]
        assert request.headers["user-agent"] == "kubelet/v1"
        assert request.user.name == "system:node:n"
        assert kubelet.beats == 0
        await world.driver.advance(120)
        assert kubelet.beats == 2


async def test_what_a_component_had_goes_with_it():
    """Given a stopped component, when time passes, then timers, tasks and handlers are gone;
    restarted, it works.
    """
    async with harness() as world:
        kubelet = Kubelet()
        await world.start(kubelet)
        await world.client.create(PODS, {"metadata": {"name": "p"}})
        await world.driver.settle()
        await world.manager.stop_component("kubelet")
        await world.manager.stop_component("kubelet")
        assert kubelet.stops == 1
        assert not world.manager.is_running("kubelet")
        assert world.clock.timers() == []
        await world.driver.advance(600)
        assert phases(world) == [None]
        assert kubelet.beats == 0
        await world.manager.start_component("kubelet")
        await world.driver.advance(10)
        assert phases(world) == ["Running"]


async def test_names_are_unique_and_known():
    """Given a component, when another of its name is added, then it is refused; an unknown name is
    a KeyError.
    """
    async with harness() as world:
        world.manager.add(Kubelet("a"))
        with pytest.raises(ValueError, match="there is a component 'a' already"):
            world.manager.add(Kubelet("a"))
        assert world.manager.names == ["a"]
        with pytest.raises(KeyError):
            await world.manager.start_component("b")


async def test_a_component_added_late_gets_caches_at_once():
    """Given a running manager, when a component that needs another cache is added, then it works
    after it settles.
    """
    async with harness() as world:
        await world.start()
        await world.client.create(NODES, {"metadata": {"name": "n"}})
        seen = []

        class Late:
            def __init__(self, ctx):
                self.nodes = ctx.lister(NODES)

            async def reconcile(self, request):
                seen.append((request.name, len(self.nodes.list())))
                return Result()

        world.manager.add(controller("late").for_(WEBS).watches(NODES, lambda _: []).complete(Late))
        await world.manager.start_component("late")
        await world.web("a")
        await world.driver.settle()
        assert seen == [("a", 1)]


async def test_a_worker_that_dies_fails_who_waits():
    """Given a component whose task breaks, when time is driven, then its error is raised there."""
    class Broken(Kubelet):
        async def heartbeat(self):
            raise RuntimeError("broken")

    async with harness() as world:
        world.manager.add(Broken())
        await world.manager.start()
        with pytest.raises(RuntimeError, match="broken"):
            await world.driver.settle()


async def test_gates_version_and_options_reach_components():
    """Given a manager with gates and options, when a component reads them, then it gets them; unset
    gates are off.
    """
    async with harness(gates={"JobSuccessPolicy": True}, version="1.37", options={"nodes": 3}) as world:
        kubelet = Kubelet()
        await world.start(kubelet)
        assert kubelet.ctx.enabled("JobSuccessPolicy")
        assert not kubelet.ctx.enabled("GangScheduling")
        assert (kubelet.ctx.version, kubelet.ctx.options) == ("1.37", {"nodes": 3})
