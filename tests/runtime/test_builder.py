"""What a declaration says is what runs: its sources, its start, who it is, its queue; and the
installed ones are all lazy.
"""

import subprocess
import sys
from datetime import timedelta

import pytest

from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.composition.controllermanager import installed
from fakekube.runtime import Declaration, Request, Result, controller, predicates
from fakekube.types import ConfigMap
from fakekube.workqueue.ratelimit import ExponentialBackoff
from tests.runtime.harness import WEBS, harness

MADE: list["Recorder"] = []


class Recorder:
    """Writes down what it is asked to reconcile; its own key comes back a minute later, once."""

    def __init__(self, ctx):
        MADE.append(self)
        self.ctx, self.seen = ctx, []

    def setup(self, queue):
        self.queue = queue
        self.ctx.add_handler(SECRETS, lambda secret: queue.add(("secret", secret["metadata"]["name"])))

    async def reconcile(self, key):
        self.seen.append(key)
        if len(self.seen) == 1:
            return Result(requeue_after=timedelta(minutes=1))
        return None


PATH = f"{__name__}:Recorder"


def is_marked(obj):
    return "marked" in obj["metadata"].get("labels", {})


def config_map(name, *labels):
    return {"metadata": {"name": name, "namespace": "default", "labels": dict.fromkeys(labels, "")}}


@pytest.fixture(autouse=True)
def made():
    """Of this test alone."""
    MADE.clear()


async def test_a_reconciler_that_is_given_by_its_path_starts_with_the_first_object_that_it_would_reconcile():
    """Given a controller for marked ConfigMaps, by its path / when one without a mark is made, and
    then two with a mark / then it is made once, for the first of these, and reconciles both.
    """
    declared = controller("c").for_(CONFIG_MAPS, predicate=predicates.for_objects(is_marked)).complete(PATH)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[declared]) as cluster:
        await cluster.client.create(CONFIG_MAPS, config_map("plain"))
        await cluster.settle()
        assert MADE == []
        for name in ("one", "two"):
            await cluster.client.create(CONFIG_MAPS, config_map(name, "marked"))
        await cluster.settle()
        assert [made.seen for made in MADE] == [[Request("default", "one"), Request("default", "two")]]


async def test_what_it_starts_with_may_be_said_and_replaces_what_it_is_for():
    """Given a controller for ConfigMaps that starts with Secrets / when a ConfigMap is made, and
    then a Secret / then the Secret starts it, and it finds both.
    """
    declared = controller("c").for_(CONFIG_MAPS).starts_with(SECRETS).complete(PATH)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[declared]) as cluster:
        await cluster.client.create(CONFIG_MAPS, config_map("a"))
        await cluster.settle()
        assert MADE == []
        await cluster.client.create(SECRETS, {"metadata": {"name": "b", "namespace": "default"}})
        await cluster.settle()
        assert sorted(key for key in MADE[0].seen if key[0] != "kube-system") == [("default", "a"), ("secret", "b")]


def test_what_it_starts_with_may_be_the_class_of_a_model():
    """Given a class of models / when a controller is declared to start with it / then it starts
    with its resource.
    """
    assert controller("c").starts_with(ConfigMap).complete(PATH).starts_with == (CONFIG_MAPS,)


async def test_setup_is_called_once_with_the_queue_whose_keys_are_reconciled():
    """Given a reconciler that adds keys of its own / when it asks to see one again / then it does,
    by the same queue.
    """
    async with harness() as world:
        await world.start(controller("c").for_(WEBS).complete(Recorder))
        await world.client.create(SECRETS, {"metadata": {"name": "s"}})
        await world.driver.settle()
        await world.driver.advance(60)
        assert MADE[0].seen == [("secret", "s"), ("secret", "s")]
        assert MADE[0].queue is world.manager.component("c").queue


async def test_options_are_kept_unless_they_are_given_again():
    """Given options in two steps / when the controller runs / then all of them hold: its user
    agent, its queue's name, its limiter, the number of its workers.
    """
    declared = (
        controller("c").for_(WEBS).with_options(user_agent="agent/1", queue="webs", workers=1)
        .with_options(workers=3, limiter=lambda _: ExponentialBackoff(7.0)).complete(Recorder))
    assert declared.options.workers == 3
    async with harness() as world:
        await world.start(declared)
        running = world.manager.component("c")
        assert running.queue.name == "webs"
        await running.ctx.client.list(WEBS)
        assert world.server.requests[-1].headers["user-agent"] == "agent/1"
        running.queue.add_rate_limited("key")
        await world.driver.advance(6)
        assert MADE[0].seen == []
        await world.driver.advance(1)
        assert MADE[0].seen == ["key"]


async def test_a_declaration_may_ask_for_gates_and_options_before_it_starts():
    """Given a controller that is needed where an option says so / when clusters start / then it
    starts in that one alone.
    """
    declared = controller("c").for_(SECRETS).starts_with(is_needed=lambda ctx: bool(ctx.options["nodes"])).complete(PATH)
    for nodes in (0, 1):
        async with Cluster(nodes=nodes, clock="manual", controllers="", extra=[declared]):
            assert len(MADE) == nodes


class Started:
    """A component of its own kind."""

    def __init__(self):
        self.contexts = []

    async def start(self, ctx):
        self.contexts.append(ctx)

    async def stop(self):
        self.contexts.clear()


async def test_a_component_of_its_own_kind_starts_at_once_unless_it_is_told_to_wait():
    """Given a declared component / when its manager starts / then it has started, under the
    declaration's name.
    """
    async with harness() as world:
        await world.start(controller("c").with_options(user_agent="agent/2").runs(Started))
        (ctx,) = world.manager.component("c").contexts
        await ctx.client.list(WEBS)
        assert (ctx.name, world.server.requests[-1].headers["user-agent"]) == ("c", "agent/2")


@pytest.mark.parametrize("name", installed().entry_points)
def test_an_installed_controller_names_work_that_can_be_loaded(name):
    """Given an installed controller / when its work is loaded / then it is a component, and it has
    the entry point's name.
    """
    found = installed().entry_points[name].load()
    if isinstance(found, Declaration):
        assert found.name == name
        assert hasattr(found.make(), "start")


def test_a_cluster_without_objects_loads_no_controllers_work():
    """Given a fresh interpreter / when a cluster without nodes starts / then it has loaded what
    entry points name alone.
    """
    named = {point.value.partition(":")[0] for point in installed().entry_points.values()}
    code = """if True:
        import asyncio, sys
        from fakekube.composition.cluster import Cluster
        async def main():
            async with Cluster(nodes=0, clock="manual"):
                print(*(name for name in sys.modules if name.startswith("fakekube_controllers.")))
        asyncio.run(main())"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in answer.stdout.split() if not any(each.startswith(name) for each in named)}
    assert loaded == {"fakekube_controllers.podautoscaler.queries"}
