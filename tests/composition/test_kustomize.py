"""Folders of kustomize: what kubectl builds of them is loaded; a folder by itself is refused.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, Resource
from fakekube.composition.manifests import KUSTOMIZATIONS
from fakekube.composition.options import OptionError
from fakekube.runtime.addon import AddOn
from tests.apiextensions.definitions import custom_object, definition

WIDGETS = Resource("probe.dev", "v1", "widgets", "Widget", True)
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ours"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A base of two definitions, and an overlay with an object, a namespace and a prefix."""
    base, overlay = tmp_path / "crd", tmp_path / "default"
    write(base / "widgets.yaml", definition())
    write(base / "gadgets.yaml", definition("gadgets", "Gadget"))
    write(base / "kustomization.yaml", {"resources": ["widgets.yaml", "gadgets.yaml"]})
    write(overlay / "widget.yaml", custom_object("a", spec={"size": 3}))
    write(overlay / "namespace.yaml", NAMESPACE)
    write(overlay / "kustomization.yaml", {
        "namespace": "ours", "namePrefix": "my-", "resources": ["widget.yaml", "namespace.yaml", "../crd"],
        "configMapGenerator": [{"name": "settings", "literals": ["a=b"]}],
        "patches": [{"target": {"kind": "Widget"}, "patch": '[{"op": "replace", "path": "/spec/size", "value": 5}]'}]})
    return overlay


def write(file: Path, tree: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(tree))


def built(folder: Path) -> str:
    """What kubectl prints of a folder."""
    return subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.kubectl
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
@pytest.mark.parametrize("how", ["option", "file", "add-on"])
async def test_what_is_built_is_loaded(folder: Path, tmp_path: Path, how: str) -> None:
    """Given what kubectl builds of an overlay / when a cluster is given it as a text, as a file, or
    as the manifests of an add-on / then definitions, object and generated ConfigMap are there.
    """
    text = built(folder)
    (tmp_path / "bundle.yaml").write_text(text)
    extra = [AddOn("project", manifests=(text,))] if how == "add-on" else []
    async with Cluster(controllers="", extra=extra, load=text if how == "option" else "") as cluster:
        if how == "file":
            await cluster.load(tmp_path / "bundle.yaml")
        found = (await cluster.client.list(WIDGETS, "ours")).items
        assert [(item["metadata"]["name"], item["spec"]) for item in found] == [("my-a", {"size": 5})]
        definitions = await cluster.client.list(CUSTOM_RESOURCE_DEFINITIONS)
        assert [item["metadata"]["name"] for item in definitions.items] == ["gadgets.probe.dev", "widgets.probe.dev"]
        [settings] = (await cluster.client.list(CONFIG_MAPS, "ours")).items
        assert settings["metadata"]["name"].startswith("my-settings-")
        assert settings["data"] == {"a": "b"}


@pytest.mark.parametrize("name", KUSTOMIZATIONS)
async def test_a_folder_to_be_built_is_refused(tmp_path: Path, name: str) -> None:
    """Given a folder with a kustomization / when it is loaded / then one sentence says what to give
    instead, and nothing of it was created.
    """
    write(tmp_path / "namespace.yaml", NAMESPACE)
    write(tmp_path / name, {"resources": ["namespace.yaml"]})
    async with Cluster(controllers="") as cluster:
        with pytest.raises(OptionError) as refused:
            await cluster.load(tmp_path)
        assert str(refused.value) == (
            f"{tmp_path}: a folder with a {name} is built first: give what kubectl kustomize {tmp_path} prints")
