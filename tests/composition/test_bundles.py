"""Bundles of definitions and objects as projects ship them: loaded in any order, kept in snapshots.
"""

from pathlib import Path

import pytest
import yaml

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from fakekube.composition.snapshot import read
from tests.apiextensions.definitions import custom_object, definition, version

WIDGETS = Resource("probe.dev", "v1", "widgets", "Widget", True)
SIZE: Tree = {"type": "object", "properties": {"spec": {"type": "object", "properties": {
    "size": {"type": "integer", "default": 1}, "colour": {"type": "string"}}}}}
DEFINITION = definition(versions=[version(schema=SIZE, selectableFields=[{"jsonPath": ".spec.colour"}])])


def in_namespace(tree: Tree, namespace: str) -> Tree:
    return {**tree, "metadata": {**tree["metadata"], "namespace": namespace}}


async def test_a_bundle_in_any_order(tmp_path: Path) -> None:
    """Given a bundle whose objects stand before their definition and their namespace / when a
    cluster loads it / then everything is there, and told in the order given.
    """
    trees = [
        in_namespace(custom_object("a", spec={}), "ours"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ours"}},
        DEFINITION, in_namespace(custom_object("b", spec={"size": 3}), "ours")]
    file = tmp_path / "bundle.yaml"
    file.write_text(yaml.safe_dump_all(trees))
    async with Cluster(controllers="") as cluster:
        loaded = await cluster.load(file)
        assert [tree["kind"] for tree in loaded] == ["Widget", "Namespace", "CustomResourceDefinition", "Widget"]
        found = (await cluster.client.list(WIDGETS, "ours")).items
        assert [item["spec"] for item in found] == [{"size": 1}, {"size": 3}]


async def test_a_bundle_is_loaded_at_the_start() -> None:
    """Given a definition and an object of it as manifests of a cluster / when it starts, and when
    it is reset / then they are served.
    """
    bundle = yaml.safe_dump_all([custom_object("a", spec={}), DEFINITION])
    async with Cluster(controllers="", load=bundle) as cluster:
        assert len((await cluster.client.list(WIDGETS, "default")).items) == 1
        await cluster.client.delete(WIDGETS, "a", "default")
        await cluster.reset()
        assert len((await cluster.client.list(WIDGETS, "default")).items) == 1


@pytest.mark.parametrize("how", ["fork", "file", "restore"])
async def test_definitions_are_part_of_a_snapshot(how: str, tmp_path: Path) -> None:
    """Given a cluster with custom objects / when another one continues from it / then their kind is
    served there, with its schema and its selectable fields, and the first goes on by itself.
    """
    async with Cluster(controllers="") as cluster:
        await cluster.load([DEFINITION, custom_object("a", spec={"colour": "red"}), custom_object("b", spec={})])
        cluster.snapshot().write(tmp_path / "state")
        if how == "fork":
            other = cluster.fork()
        else:
            other = Cluster(state=read(tmp_path / "state")) if how == "file" else Cluster(controllers="")
        async with other:
            if how == "restore":
                await other.restore(tmp_path / "state")
            await other.client.create(WIDGETS, custom_object("c", spec={"colour": "red"}), "default")
            found = await other.client.list(WIDGETS, "default", field_selector="spec.colour=red")
            assert [item["metadata"]["name"] for item in found.items] == ["a", "c"]
            assert found.items[1]["spec"] == {"colour": "red", "size": 1}
            assert (await other.client.resource("widgets")).kind == "Widget"
            await other.client.delete(CUSTOM_RESOURCE_DEFINITIONS, "widgets.probe.dev")
        assert len((await cluster.client.list(WIDGETS, "default")).items) == 2


async def test_a_reset_forgets_definitions() -> None:
    """Given a cluster that was given a definition / when it is reset / then nothing of it is
    served, and another one of the same name may come.
    """
    async with Cluster(controllers="") as cluster:
        await cluster.load([DEFINITION, custom_object("a", spec={})])
        await cluster.reset()
        with pytest.raises(KeyError):
            await cluster.client.resource("widgets")
        await cluster.load([definition(scope="Cluster"), custom_object("a")])
        assert (await cluster.client.resource("widgets")).namespaced is False
