"""Components that are loaded when there is something for them to do."""

from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.cluster import Cluster
from fakekube.runtime.context import Context
from fakekube.runtime.dormant import Dormant

MADE: list["Recorder"] = []


class Recorder:
    """A component that writes down what it is told of ConfigMaps."""

    name, user_agent, user = "recorder", "recorder/1", None

    def __init__(self) -> None:
        MADE.append(self)
        self.heard: list[str] = []
        self.stopped = False

    async def start(self, ctx: Context) -> None:
        ctx.add_handler(CONFIG_MAPS, self._hear, lambda _, new: self._hear(new))

    async def stop(self) -> None:
        self.stopped = True

    def _hear(self, obj: Tree) -> None:
        self.heard.append(obj["metadata"]["name"])


def recorder(*resources: Any) -> Dormant:
    MADE.clear()
    return Dormant("recorder", f"{__name__}:Recorder", *resources, user_agent="recorder/1")


def is_marked(obj: Tree) -> bool:
    return "marked" in obj["metadata"].get("labels", {})


async def test_a_component_is_made_for_the_first_object_and_told_of_all_that_are_there() -> None:
    """Given a component that sleeps until there is a Secret
    When ConfigMaps are made, and then a Secret
    Then it is made once, with the Secret, and is told of the ConfigMaps that were there and of later ones."""
    dormant = recorder(SECRETS)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[dormant]) as cluster:
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


async def test_objects_that_do_not_matter_wake_nobody_until_they_do() -> None:
    """Given a component that sleeps until there is a ConfigMap with a mark
    When one without a mark is made, and marked later
    Then only the mark wakes the component."""
    dormant = recorder((CONFIG_MAPS, is_marked))
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[dormant]) as cluster:
        made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        await cluster.settle()
        assert MADE == []
        await cluster.client.patch(CONFIG_MAPS, made["metadata"]["name"], "default", {"metadata": {"labels": {"marked": ""}}})
        await cluster.settle()
        assert [made.heard for made in MADE] == [["a"]]


async def test_a_component_that_was_stopped_wakes_again_for_what_is_there() -> None:
    """Given a component that woke and was stopped
    When it is started again
    Then a new one is made, and told of what is there."""
    dormant = recorder(CONFIG_MAPS)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[dormant]) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        await cluster.settle()
        await cluster.manager.stop_component("recorder")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "b"}}, "default")
        await cluster.settle()
        await cluster.manager.start_component("recorder")
        await cluster.settle()
        assert [made.heard for made in MADE] == [["a"], ["a", "b"]]
