"""kubectl explains, applies and compares every kind of every release, against a served cluster."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from fakekube.apimachinery import releases
from fakekube.apis.catalog import catalog
from fakekube.apis.gates import Gates
from fakekube.registry.kind import Kind

pytestmark = [
    pytest.mark.slow,
    pytest.mark.kubectl,
    pytest.mark.timeout(600),
    pytest.mark.fake_only(reason="it asks for releases, and for all that they have"),
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
]

Kubectl = Callable[..., str]
RELEASES = [
    pytest.param(release, marks=pytest.mark.fakekube(
        kubernetes_version=release, nodes=0, controllers="", runtime_config="api/all=true", clock="manual"))
    for release in releases.TESTED
]


WITHOUT_SPECIMEN = ("PodCertificateRequest",)  # its fields change from release to release


def _specimens() -> ModuleType:
    place = Path(__file__).parents[1] / "releases" / "specimens.py"
    spec = importlib.util.spec_from_file_location("specimens", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


specimens = _specimens()


def kinds(release: str) -> list[Kind]:
    """What a cluster of the release serves that can be patched."""
    served = catalog(release, Gates(release), {"api/all": True}).kinds
    return [kind for kind in served if "patch" in kind.verbs and "create" in kind.verbs]


def manifests(release: str) -> list[str]:
    """An object of each kind and version; where the name is not free, of one version."""
    found, taken = [], []
    for kind in kinds(release):
        if (kind.kind in specimens.NAMES and kind.storage_resource in taken) or kind.kind in WITHOUT_SPECIMEN:
            continue
        taken.append(kind.storage_resource)
        version = kind.api_version.replace(".", "-").replace("/", "-")
        found.append(json.dumps(specimens.specimen(kind, f"specimen-{version}")))
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_is_explained(kubectl: Kubectl, release: str) -> None:
    """Given all kinds of a release, when each is explained with all its fields, then kubectl finds
    its version, its kind and fields.
    """
    for kind in kinds(release):
        told = kubectl("explain", kind.plural, "--recursive", f"--api-version={kind.api_version}")
        assert f"KIND:       {kind.kind}" in told
        assert "metadata\t<ObjectMeta>" in told


@pytest.mark.spec("API-105")
@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_is_applied_and_compared(kubectl: Kubectl, release: str) -> None:
    """Given an object of every kind of a release, when they are applied from the client, applied
    again, compared, and applied from the server, then nothing is refused, the second time nothing
    is written, and nothing differs.
    """
    listed = '{"apiVersion": "v1", "kind": "List", "items": [' + ",".join(manifests(release)) + "]}"
    made = kubectl("apply", "--validate=strict", "-f", "-", stdin=listed).splitlines()
    assert [line for line in made if not line.endswith(" created")] == []
    assert len(made) == len(manifests(release))
    template = '{range .items[*]}{.apiVersion} {.kind} {.metadata.resourceVersion}{"\\n"}{end}'
    before = kubectl("get", "-f", "-", "-o", f"jsonpath={template}", stdin=listed).splitlines()
    kubectl("apply", "-f", "-", stdin=listed)
    after = kubectl("get", "-f", "-", "-o", f"jsonpath={template}", stdin=listed).splitlines()
    assert [line for line in after if line not in before] == []
    assert kubectl("diff", "-f", "-", stdin=listed) == ""
    applied = kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=listed).splitlines()
    assert [line for line in applied if not line.endswith(" serverside-applied")] == []
    assert kubectl("diff", "--server-side", "--force-conflicts", "-f", "-", stdin=listed) == ""
    assert len(kubectl("delete", "--wait=false", "-f", "-", stdin=listed).splitlines()) == len(made)
