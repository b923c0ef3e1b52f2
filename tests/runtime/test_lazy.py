"""Lazy controllers are loaded and started when the first object that they are for appears."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, JOBS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from fakekube.composition.cluster import Cluster
from fakekube.runtime.builder import controller
from fakekube.runtime.context import Context
from fakekube.runtime.lazy import OWNED, LazyController
from tests.runtime.harness import harness

MADE: list["Recorder"] = []


class Recorder:
    """A component that writes down what it is told of ConfigMaps, but for those that come with a
    cluster.
    """

    def __init__(self) -> None:
        MADE.append(self)
        self.heard: list[str] = []
        self.stopped = False

    async def start(self, ctx: Context) -> None:
        ctx.add_handler(CONFIG_MAPS, self._hear, lambda _, new: self._hear(new))

    async def stop(self) -> None:
        self.stopped = True

    def _hear(self, obj: Tree) -> None:
        if obj["metadata"]["namespace"] != "kube-system":
            self.heard.append(obj["metadata"]["name"])


def lazy(path: str, *triggers: Any, **options: Any) -> LazyController:
    declared = controller("recorder").starts_with(*triggers, **options).with_options(user_agent="recorder/1")
    found = declared.runs(f"{__name__}:{path}").runnable()
    assert isinstance(found, LazyController)
    return found


def recorder(*resources: Any) -> LazyController:
    MADE.clear()
    return lazy("Recorder", *resources)


def is_marked(obj: Tree) -> bool:
    return "marked" in obj["metadata"].get("labels", {})


async def test_a_component_is_made_for_the_first_object_and_told_of_all_that_are_there() -> None:
    """Given a component that starts with the first Secret When ConfigMaps are made, and then a
    Secret Then it is made once, with the Secret, and is told of the ConfigMaps that were there and
    of later ones.
    """
    waiting = recorder(SECRETS)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[waiting]) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "early"}}, "default")
        await cluster.settle()
        assert MADE == []
        for name in ("one", "two"):
            await cluster.client.create(SECRETS, {"metadata": {"name": name}}, "default")
        await cluster.settle()
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "late"}}, "default")
        await cluster.settle()
        assert [made.heard for made in MADE] == [["early", "late"]]
    assert MADE[0].stopped


async def test_objects_that_do_not_count_start_nothing_until_they_do() -> None:
    """Given a component that starts with the first ConfigMap that has a mark
    When one without a mark is made, and marked later
    Then only the mark starts the component."""
    waiting = recorder((CONFIG_MAPS, is_marked))
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[waiting]) as cluster:
        made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        await cluster.settle()
        assert MADE == []
        await cluster.client.patch(CONFIG_MAPS, made["metadata"]["name"], "default", {"metadata": {"labels": {"marked": ""}}})
        await cluster.settle()
        assert [made.heard for made in MADE] == [["a"]]


async def test_a_component_that_was_stopped_starts_again_for_what_is_there() -> None:
    """Given a component that started and was stopped
    When it is started again
    Then a new one is made, and told of what is there."""
    waiting = recorder(CONFIG_MAPS)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[waiting]) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        await cluster.settle()
        await cluster.manager.stop_component("recorder")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "b"}}, "default")
        await cluster.settle()
        await cluster.manager.start_component("recorder")
        await cluster.settle()
        assert [made.heard for made in MADE] == [["a"], ["a", "b"]]


async def test_a_cluster_in_which_nothing_was_made_asks_for_nothing() -> None:
    """Given a cluster with all its controllers and no nodes
    When it has started
    Then none of them has made a request."""
    async with Cluster(nodes=0, clock="manual") as cluster:
        assert [(entry.verb, entry.resource) for entry in cluster.apiserver.log] == []


@pytest.mark.parametrize("metadata", [
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "gone", "uid": "1"}]}, {"finalizers": ["orphan"]},
    {"finalizers": ["foregroundDeletion"]}])
async def test_a_tie_to_another_object_starts_who_waits_for_one(metadata: Tree) -> None:
    """Given a component that starts when something is owned
    When objects are made, and then one that names an owner or waits for its dependents
    Then only that one starts it; and where there is such an object already it starts at once."""
    waiting = recorder(OWNED)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[waiting]) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "free", "finalizers": ["a.b/c"]}}, "default")
        await cluster.settle()
        assert MADE == []
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "tied", **metadata}}, "default")
        await cluster.settle()
        assert [made.heard for made in MADE] == [["free", "tied"]]
        async with Cluster(state=cluster.snapshot(), controllers="", extra=[recorder(OWNED)]) as other:
            await other.settle()
            assert [made.heard for made in MADE] == [["free", "tied"]]


async def test_what_came_with_the_cluster_starts_nothing_until_it_changes() -> None:
    """Given components that start with the first namespace, or a marked one
    When the first namespaces are looked at, one is labelled, and another marked
    Then the label starts the one, and the mark the other."""
    plain, marked = recorder(NAMESPACES), recorder((NAMESPACES, is_marked))
    marked.name = "marked"
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[plain, marked]) as cluster:
        await cluster.client.list(NAMESPACES)
        await cluster.settle()
        assert (plain.component, marked.component) == (None, None)
        await cluster.client.patch(NAMESPACES, "default", body={"metadata": {"labels": {"x": ""}}})
        await cluster.settle()
        assert (plain.component is not None, marked.component) == (True, None)
        await cluster.client.patch(NAMESPACES, "kube-public", body={"metadata": {"labels": {"marked": ""}}})
        await cluster.settle()
        assert marked.component is not None


async def test_an_object_that_goes_starts_who_is_for_all_of_them() -> None:
    """Given a component that is for accounts, of which the first came with the cluster
    When all of them are deleted before the loop turns
    Then it starts, though there is nothing left to see."""
    waiting = recorder(SERVICE_ACCOUNTS)
    async with Cluster(nodes=0, clock="manual", controllers="serviceaccount", extra=[waiting]) as cluster:
        for account in (await cluster.client.list(SERVICE_ACCOUNTS)).items:
            await cluster.client.delete(SERVICE_ACCOUNTS, "default", account["metadata"]["namespace"])
        await cluster.settle()
        assert len(MADE) == 1


async def test_a_component_that_was_stopped_before_it_started_is_not_started() -> None:
    """Given a component that waits for an object, and is stopped
    When that object is made
    Then it stays as it is."""
    for awaited in (SECRETS, (SECRETS, is_marked), OWNED):
        waiting = recorder(awaited)
        async with Cluster(nodes=0, clock="manual", controllers="", extra=[waiting]) as cluster:
            await cluster.manager.stop_component("recorder")
            meta = {"name": "a", "labels": {"marked": ""}, "finalizers": ["orphan"]}
            await cluster.client.create(SECRETS, {"metadata": meta}, "default")
            await cluster.settle()
            assert MADE == []


async def test_a_component_that_is_stopped_between_its_first_object_and_its_start_is_not_started() -> None:
    """Given a component that another one runs, and that was just told of its first object
    When it is stopped before its start has its turn
    Then it is not made, and nothing fails."""
    waiting = recorder(SECRETS)

    class Runs:
        async def start(self, ctx: Context) -> None:
            waiting.wait(lambda: ctx)
            waiting.resource_changed(SECRETS, None, None)
            await waiting.stop()

        async def stop(self) -> None:
            """Nothing runs."""

    declared = controller("runs").starts_with(is_needed=lambda _: True).runs(Runs)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[declared]) as cluster:
        await cluster.settle()
        assert MADE == []


async def test_a_component_with_something_to_do_starts_at_once() -> None:
    """Given a component that has something to do where there are nodes
    When clusters with and without nodes start
    Then it starts at once in the one, and in the other when it is activated."""
    for nodes in (1, 0):
        MADE.clear()
        waiting = lazy("Recorder", SECRETS, is_needed=lambda ctx: ctx.options["nodes"] > 0)
        async with Cluster(nodes=nodes, clock="manual", controllers="", extra=[waiting]) as cluster:
            assert len(MADE) == nodes
            assert (cluster.manager.working("recorder") is not None) == (nodes == 1)
            active = cluster.manager.activate("recorder")
            await cluster.settle()
            assert active is cluster.component("recorder") is MADE[0]
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
            await cluster.settle()
            assert MADE[0].heard == ["a"]


class StatefulRecorder(Recorder):
    """One whose state is what it heard."""

    def dump(self) -> Any:
        return self.heard

    def load(self, state: Any) -> None:
        self.heard = list(state)


async def test_a_component_with_a_state_keeps_it_when_it_starts_again_and_in_a_cluster_that_goes_on() -> None:
    """Given a component with a state, which started
    When it is stopped and started again, and when another cluster goes on from a snapshot
    Then it starts at once with what it knew; one that never started has no state."""
    MADE.clear()
    stateful = lazy("StatefulRecorder", SECRETS)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[stateful]) as cluster:
        assert "recorder" not in cluster.manager.dump()
        await cluster.client.create(SECRETS, {"metadata": {"name": "a"}}, "default")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "b"}}, "default")
        await cluster.settle()
        await cluster.manager.stop_component("recorder")
        await cluster.manager.start_component("recorder")
        await cluster.settle()
        assert (len(MADE), MADE[0].heard) == (1, ["b", "b"])
        taken = cluster.snapshot()
        other = lazy("StatefulRecorder", JOBS)
        async with Cluster(state=taken, extra=[other]):
            assert MADE[1].heard[:2] == ["b", "b"]


@pytest.mark.parametrize(("awaited", "waits"), [(CONFIG_MAPS, True), ((CONFIG_MAPS, is_marked), True), (OWNED, False)])
async def test_on_a_server_elsewhere_caches_start_it(awaited: Any, waits: bool) -> None:
    """Given a server that does not say what is written to
    When a component waits for its objects, and they are made
    Then its cache starts it; one that would have to look at everything starts at once."""
    async with harness() as world:
        await world.start(recorder(awaited))
        await world.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"marked": ""}}}, "default")
        assert len(MADE) == (not waits)
        await world.driver.settle()
        assert [made.heard for made in MADE] == [["a"]]
        await world.manager.stop_component("recorder")
        assert MADE[0].stopped
