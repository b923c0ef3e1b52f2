"""Add-ons in a cluster: what they bring is there before their controllers run."""

import asyncio
from pathlib import Path

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, Resource
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError
from fakekube.runtime import AddOn, Context, Request, controller
from fakekube.util.driver import Stalled

BELLS = Resource("example.com", "v1", "bells", "Bell")
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bells.example.com}
spec:
  group: example.com
  names: {plural: bells, kind: Bell}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
BELL = """
apiVersion: example.com/v1
kind: Bell
metadata: {name: first, namespace: default}
"""


class Ringing:
    """Notes every bell that it hears."""

    def __init__(self, ctx: Context) -> None:
        self.client = ctx.client

    async def reconcile(self, request: Request) -> None:
        await self.client.apply({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": f"rang-{request.name}", "namespace": request.namespace}})


bells = AddOn(
    "bells", manifests=(BELL, DEFINITION), controllers=(controller("ringing").for_(BELLS).complete(Ringing),),
    explainers=(lambda ctx: [f"bells: {len(ctx.lister(BELLS).list())} are there"],))


async def names(cluster: Cluster) -> list[str]:
    found = await cluster.client.list(CONFIG_MAPS, "default")
    return [item["metadata"]["name"] for item in found.items if item["metadata"]["name"].startswith("rang")]


async def test_definitions_come_before_their_objects_and_controllers_act_on_them() -> None:
    """Given an add-on whose manifests are in the wrong order, when a cluster starts with it, then
    the object is there and its controller has seen it.
    """
    async with Cluster(nodes=0, clock="manual", extra=[bells]) as cluster:
        await cluster.settle()
        assert await names(cluster) == ["rang-first"]


async def test_its_controllers_are_stopped_and_started_by_name() -> None:
    """Given an add-on in a cluster, when its controller is stopped, then it does nothing until it
    is started.
    """
    async with Cluster(nodes=0, clock="manual", extra=[bells]) as cluster:
        await cluster.stop_controller("ringing")
        await cluster.client.create(BELLS, {"metadata": {"name": "second", "namespace": "default"}})
        await cluster.settle()
        assert await names(cluster) == ["rang-first"]
        await cluster.start_controller("ringing")
        await cluster.settle()
        assert await names(cluster) == ["rang-first", "rang-second"]


async def test_a_fork_has_it_too() -> None:
    """Given a cluster with an add-on, when it is forked, then the controllers run in the fork."""
    async with Cluster(nodes=0, clock="manual", extra=[bells]) as cluster:
        async with cluster.fork() as other:
            await other.client.create(BELLS, {"metadata": {"name": "second", "namespace": "default"}})
            await other.settle()
            assert await names(other) == ["rang-first", "rang-second"]
        assert await names(cluster) == ["rang-first"]


async def test_who_waits_in_vain_is_told_what_it_explains() -> None:
    """Given an add-on that explains, when nothing is left that could happen, then its lines are in
    the failure.
    """
    async with Cluster(nodes=0, clock="manual", extra=[bells]) as cluster:
        with pytest.raises(Stalled, match="bells: 1 are there"):
            await cluster.run_until(lambda: False)


async def test_manifests_are_files_too(tmp_path: Path) -> None:
    """Given an add-on with a directory, when a cluster starts, then its files are applied."""
    (tmp_path / "a.yaml").write_text(BELL)
    (tmp_path / "b.yaml").write_text(DEFINITION)
    async with Cluster(nodes=0, clock="manual", extra=[bells._replace(manifests=(tmp_path,))]) as cluster:
        assert (await cluster.client.get(BELLS, "first", "default"))["kind"] == "Bell"


@pytest.mark.parametrize(("manifest", "error"), [
    ("a: b", OptionError), (BELL.replace("first", "First") + "---" + DEFINITION, APIError)])
async def test_what_cannot_be_installed_stops_the_start(manifest: str, error: type[Exception]) -> None:
    """Given an add-on with a broken manifest, when a cluster starts with it, then the start fails
    with what is wrong, and leaves no task behind.
    """
    before = len(asyncio.all_tasks())
    cluster = Cluster(nodes=0, clock="manual", extra=[AddOn("broken", manifests=(manifest,))])
    with pytest.raises(error):
        await cluster.start()
    await cluster.stop()
    assert len(asyncio.all_tasks()) == before



class Shipping:
    """A component that has manifests for reasons of its own."""

    name = "shipping"
    user_agent = ""
    user = None
    manifests = ("a cargo list",)

    def __init__(self) -> None:
        self.started = False

    async def start(self, ctx: Context) -> None:
        self.started = True

    async def stop(self) -> None:
        pass


async def test_a_component_is_no_add_on_for_having_manifests() -> None:
    """Given a component with an attribute of an add-on's name, when it runs, then it just runs."""
    shipping = Shipping()
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[shipping]):
        assert shipping.started
