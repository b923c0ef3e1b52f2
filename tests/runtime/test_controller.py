"""Controllers: what makes them run, what makes them run again, and what ends them."""

import asyncio
import logging
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, NODES, PODS
from fakekube.runtime import ExpectedError, Request, Result, TerminalError, controller, predicates
from fakekube.runtime.controller import UNTURNED_KEYS
from fakekube.util.driver import Stalled
from tests.runtime.harness import WEBS, harness


class WebReconciler:
    """Keeps as many pods as spec.replicas says."""

    def __init__(self, ctx):
        self.client, self.webs, self.pods = ctx.client, ctx.lister(WEBS), ctx.lister(PODS)
        self.seen = []

    async def reconcile(self, request):
        self.seen.append(request)
        web = self.webs.get(*request)
        if web is None:
            return
        have = [meta.name_of(pod) for pod in self.pods.controlled_by(meta.uid_of(web))]
        for index in range(web["spec"]["replicas"]):
            name = f"{request.name}-{index}"
            if name not in have:
                await self.client.create(PODS, {
                    "metadata": {
                        "name": name, "namespace": request.namespace,
                        "ownerReferences": [meta.controller_reference(web)],
                    },
                })


def web_controller():
    return controller("web").for_(WEBS).owns(PODS).complete(WebReconciler)


async def test_a_controller_makes_what_is_wanted_and_repairs_it():
    """Given a web of two pods, when it is made and then a pod is deleted, then the pods are there
    both times.
    """
    async with harness() as world:
        await world.start(web_controller())
        await world.web("a", replicas=2)
        await world.driver.settle()
        assert world.server.names("pods") == ["a-0", "a-1"]
        await world.client.delete(PODS, "a-0")
        await world.driver.settle()
        assert sorted(world.server.names("pods")) == ["a-0", "a-1"]


async def test_what_was_there_before_the_controller_is_reconciled():
    """Given webs that are older than the controller, when it starts, then it reconciles each, in
    order.
    """
    async with harness() as world:
        for name in "cab":
            await world.web(name, replicas=0)
        await world.start(web_controller())
        assert [r.name for r in world.manager.component("web").reconciler.seen] == ["c", "a", "b"]


async def test_requests_carry_the_controllers_user_agent():
    """Given a controller, when it writes, then the server sees its name, and its user where one is
    set.
    """
    async with harness() as world:
        await world.start(web_controller())
        await world.web("a", replicas=1)
        await world.driver.settle()
        assert world.server.requests[-1].headers["user-agent"] == "web"


class Scripted:
    """Does what the test says, for each request in turn."""

    def __init__(self, ctx, script):
        self.clock, self.script, self.times = ctx.clock, script, []
        self.start = ctx.clock.time()

    async def reconcile(self, request):
        self.times.append(round(self.clock.time() - self.start, 6))
        step = self.script[min(len(self.times), len(self.script)) - 1]
        if isinstance(step, Exception):
            raise step
        return step


def scripted(*script):
    return controller("web").for_(WEBS).complete(lambda ctx: Scripted(ctx, script))


async def test_failures_are_retried_with_growing_delays(caplog):
    """Given a reconcile that fails thrice, when time passes, then it is tried after 5, 10 and 20
    ms, and logged.
    """
    async with harness() as world:
        conflict = APIError(409, "Conflict", "changed")
        await world.start(scripted(ValueError("bad"), ValueError("bad"), conflict, Result()))
        await world.web("a")
        await world.driver.advance(60)
        controller_ = world.manager.component("web")
        assert controller_.reconciler.times == [0, 0.005, 0.015, 0.035]
        assert controller_.worker.failures == {}
        assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


@pytest.mark.parametrize(("error", "level"), [
    (APIError(404, "NotFound", "gone"), "DEBUG"), (APIError(409, "Conflict", "changed"), "DEBUG"),
    (APIError(409, "AlreadyExists", "there"), "DEBUG"),
    (APIError(403, "Forbidden", "ends", {"causes": [{"reason": "NamespaceTerminating"}]}), "DEBUG"),
    (APIError(403, "Forbidden", "no"), "WARNING"), (APIError(500, "InternalError", "broken"), "WARNING"),
])
async def test_races_that_harm_nobody_are_told_to_those_who_look_for_them(caplog, error, level):
    """Given a reconcile that fails for what somebody else did first, or otherwise, when it fails,
    then only that is a warning.
    """
    caplog.set_level(logging.DEBUG, logger="fakekube.runtime.controller")
    failures = [error]

    class Racing:
        def __init__(self, ctx):
            pass

        async def reconcile(self, request):
            if failures:
                raise failures.pop()

    async with harness() as world:
        await world.start(controller("web").for_(WEBS).complete(Racing))
        await world.web("a", replicas=0)
        await world.driver.settle()
        assert [record.levelname for record in caplog.records] == [level]


async def test_an_expected_error_is_a_line_and_is_retried(caplog):
    """Given a reconcile that finds once that something is not there yet, when time passes, then it
    is tried again, and a line without a traceback tells of it, which is no warning.
    """
    caplog.set_level(logging.INFO, "fakekube.runtime.controller")
    async with harness() as world:
        await world.start(scripted(ExpectedError("not there yet"), Result()))
        await world.web("a")
        await world.driver.advance(60)
        assert len(world.manager.component("web").reconciler.times) == 2
        told = [(record.levelname, record.exc_info) for record in caplog.records if "not there yet" in record.getMessage()]
        assert told == [("INFO", None)]


async def test_a_terminal_error_is_not_retried(caplog):
    """Given a terminal error, when time passes, then nothing happens before the next event."""
    async with harness() as world:
        await world.start(scripted(TerminalError("no use"), Result()))
        await world.web("a")
        await world.driver.advance(60)
        assert len(world.manager.component("web").reconciler.times) == 1
        await world.client.patch(WEBS, "a", body={"spec": {"x": 1}})
        await world.driver.settle()
        assert len(world.manager.component("web").reconciler.times) == 2


async def test_requeue_after_looks_again_at_that_time():
    """Given a result that asks for it, when time passes, then reconcile runs again at exactly that
    time.
    """
    async with harness() as world:
        await world.start(scripted(Result(timedelta(seconds=30)), Result(timedelta(hours=1), daemon=True), Result()))
        await world.web("a")
        reconciler = world.manager.component("web").reconciler
        await world.driver.run_until(lambda: len(reconciler.times) == 2)
        with pytest.raises(Stalled, match="only daemon timers"):
            await world.driver.run_until(lambda: len(reconciler.times) == 3)
        await world.driver.run_until(lambda: len(reconciler.times) == 3, within=timedelta(hours=2))
        assert reconciler.times == [0, 30, 3630]


async def test_a_stall_says_what_fails(caplog):
    """Given a reconcile that always fails, when run until what cannot be, then the text names key
    and error.
    """
    caplog.set_level(logging.CRITICAL)
    async with harness() as world:
        await world.start(scripted(ValueError("broken")))
        await world.web("a")
        with pytest.raises(Stalled, match=r"web: default/a failed \d+ times: ValueError\('broken'\)"):
            await world.driver.run_until(lambda: False, within=10)


async def test_predicates_keep_events_away():
    """Given a predicate on the generation, when only the status changes, then nothing is
    reconciled.
    """
    async with harness() as world:
        declaration = controller("web").for_(WEBS, predicate=predicates.generation_changed()).complete(WebReconciler)
        await world.start(declaration)
        await world.web("a", replicas=0)
        await world.driver.settle()
        seen = world.manager.component("web").reconciler.seen
        await world.client.patch(WEBS, "a", body={"status": {"x": 1}})
        await world.driver.settle()
        assert len(seen) == 1
        await world.client.patch(WEBS, "a", body={"metadata": {"generation": 2}})
        await world.driver.settle()
        assert len(seen) == 2


async def test_mapped_objects_enqueue_what_they_stand_for():
    """Given a config map that names a web before and after, when it changes, then both webs are
    reconciled.
    """
    async with harness() as world:
        declaration = (
            controller("web").for_(WEBS)
            .watches(CONFIG_MAPS, lambda obj: [Request("default", obj["data"]["web"])])
            .complete(WebReconciler)
        )
        await world.start(declaration)
        await world.client.create(CONFIG_MAPS, {"metadata": {"name": "m"}, "data": {"web": "one"}})
        await world.driver.settle()
        await world.client.patch(CONFIG_MAPS, "m", body={"data": {"web": "two"}})
        await world.driver.settle()
        seen = world.manager.component("web").reconciler.seen
        assert [request.name for request in seen] == ["one", "two", "one"]


async def test_a_stopped_controller_does_nothing_and_catches_up_when_started():
    """Given a running controller, when it is stopped, things change, and it starts again, then it
    catches up.
    """
    async with harness() as world:
        await world.start(web_controller())
        await world.manager.stop_component("web")
        await world.web("a", replicas=1)
        await world.driver.advance(100)
        assert world.server.names("pods") == []
        await world.manager.start_component("web")
        await world.driver.settle()
        assert world.server.names("pods") == ["a-0"]


async def test_a_reconcile_that_sleeps_lets_time_pass():
    """Given a reconcile that sleeps on the clock, when time advances, then it goes on; its key is
    not taken twice.
    """
    class Sleeper(Scripted):
        async def reconcile(self, request):
            await super().reconcile(request)
            await self.clock.sleep(10)
            self.times.append("done")

    async with harness() as world:
        builder = controller("web").for_(WEBS).with_options(workers=2)
        await world.start(builder.complete(lambda ctx: Sleeper(ctx, [None])))
        await world.web("a")
        await world.driver.advance(5)
        await world.client.patch(WEBS, "a", body={"spec": {"x": 1}})
        await world.driver.advance(20)
        assert world.manager.component("web").reconciler.times == [0, "done", 10, "done"]


async def test_a_long_queue_does_not_keep_the_loop_from_its_timers():
    """Given many keys whose reconciles wait for nothing and wake nobody, when a timer of the loop
    is due, then it fires long before the queue is empty.
    """
    seen = []

    class Counting:
        def __init__(self, ctx):
            self.ctx = ctx

        async def reconcile(self, request):
            if not seen:
                asyncio.get_running_loop().call_later(0, lambda: seen.append("timer"))
            seen.append(request.name)

    async with harness() as world:
        for number in range(100):
            await world.web(f"w{number}")
        await world.start(controller("web").for_(WEBS).complete(Counting))
        assert len(seen) == 101
        assert seen.index("timer") <= UNTURNED_KEYS + 1


async def test_cluster_scoped_owners_have_no_namespace():
    """Given a pod controlled by a node, when it appears, then the node is reconciled without a
    namespace.
    """
    async with harness() as world:
        await world.start(controller("node").for_(NODES).owns(PODS).complete(WebReconciler))
        owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}
        await world.client.create(PODS, {"metadata": {"name": "p", "ownerReferences": [owner]}})
        await world.driver.settle()
        assert world.manager.component("node").reconciler.seen == [Request("", "n")]


async def test_one_seed_gives_one_history():
    """Given two runs with one seed, when the same happens, then the servers saw the same requests.
    """
    histories = []
    for _ in range(2):
        async with harness(seed=7) as world:
            await world.start(web_controller(), scripted_named("other"))
            for name in "abc":
                await world.web(name, replicas=3)
            await world.driver.advance(10)
            histories.append([(r.method, r.path, r.body, dict(r.headers)) for r in world.server.requests])
    assert histories[0] == histories[1]


def scripted_named(name):
    return controller(name).for_(WEBS).complete(lambda ctx: Scripted(ctx, [ValueError("x"), Result()]))


@given(st.floats(1.7e9, 1.9e9), st.floats(0, 2, exclude_min=True))
def test_who_waits_for_a_time_gets_there(start, seconds):
    """Given a reconcile that asks to be called again for as long as a time is not there, when it
    is, then the time comes after a few calls, however little is left of it.
    """
    now, calls = start, 0
    while now < start + seconds:
        wait = Result.after(start + seconds - now, daemon=True).requeue_after
        now, calls = now + wait.total_seconds(), calls + 1
        assert calls < 5
    assert Result.after(0) == Result(timedelta(0))
