"""Which releases there are, and the sources from which the facts about each are read.

Releases and their patch releases are those of ``fakekube.apimachinery.releases``, since the package
needs them too. Sources:

- Go modules of upstream: ``k8s.io/api`` and its neighbours at v0.37.1 for 1.37.1,
  ``k8s.io/kubernetes`` at v1.37.1. They lie below one folder, as the module cache of the Go
  toolchain has them (``$(go env GOMODCACHE)/k8s.io/api@v0.37.1``).
- The Python package kubernetes-validate, a development dependency, which has the OpenAPI
  definitions of every release.
- What a control plane that nobody has used holds: ``data/bootstrap-1.37.json`` below a folder of
  recordings.

A source that is not there raises ``MissingSource``: what is made from it is then left as it is, and
neither made nor checked.
"""

import json
import subprocess
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from fakekube.apimachinery.releases import NEWEST, RECORDED, RELEASES, Release, minor_of

__all__ = ["MODULES", "NEWEST", "RELEASES", "ROOT", "SINCE", "MissingSource", "Release", "Sources", "minor_of"]

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "api", "apimachinery", "apiextensions-apiserver", "kube-aggregator", "apiserver", "client-go", "component-base",
    "controller-manager", "kubernetes",
)
SINCE = {"controller-manager": 33}  # pkg/features of kubernetes imports it from there on
"""The minor number of the first release of which a module is read, where it is not the oldest one.
"""


class MissingSource(Exception):
    """A source that is not on this machine; the text says what is missing where."""


class Sources:
    """Where the sources are.

    ``modules`` and ``recordings`` are folders, or None where there are none.
    """

    def __init__(self, modules: Path | None, recordings: Path | None) -> None:
        self.modules = modules
        self.recordings = recordings

    def module(self, name: str, release: Release) -> Path:
        """The folder of a Go module such as ``apimachinery`` at a release. Raises MissingSource."""
        if self.modules is None:
            raise MissingSource("no Go modules")
        found = self.modules / module_version(name, release)
        if not found.is_dir():
            raise MissingSource(f"no Go module {found.name}")
        return found

    def definitions(self, release: Release) -> dict[str, Any]:
        """The OpenAPI definitions of a release, by name. Raises MissingSource."""
        try:
            package = resources.files("kubernetes_validate")
        except ModuleNotFoundError:
            raise MissingSource("no package kubernetes-validate") from None
        file = package.joinpath("kubernetes-json-schema", f"v{release.name}.0-local", "_definitions.json")
        if not file.is_file():
            raise MissingSource(f"the package kubernetes-validate is too old for {release.name}")
        found: dict[str, Any] = json.loads(file.read_text())["$defs"]
        return found

    def first_objects(self) -> dict[str, Any]:
        """The objects of a fresh cluster of the newest release of which they were recorded.

        Raises MissingSource.

        Collection paths (``/apis/rbac.authorization.k8s.io/v1/clusterroles``) and the objects that
        a kube-apiserver lists there before anybody used it, without what differs from start to
        start: uid, resourceVersion and times.
        """
        for release in reversed(RECORDED):
            file = self.recordings / "data" / f"bootstrap-{release}.json" if self.recordings else None
            if file and file.is_file():
                found: dict[str, Any] = json.loads(file.read_text())
                return found
        raise MissingSource("no recording of a fresh cluster")


def module_version(name: str, release: Release) -> str:
    """A module at a release as the module cache writes it: ``api@v0.37.1``, ``kubernetes@v1.37.1``.
    """
    return f"{name}@v{'1' if name == 'kubernetes' else '0'}.{release.minor}.{release.patch}"


def fetch() -> Iterator[str]:
    """Put all modules of all releases into the module cache of the Go toolchain; yields those that
    are not to be had.
    """
    for release in RELEASES:
        for name in MODULES:
            if release.minor < SINCE.get(name, 0):
                continue
            wanted = f"k8s.io/{module_version(name, release)}"
            if subprocess.run(["go", "mod", "download", wanted], cwd="/", check=False).returncode:
                yield wanted


def module_cache() -> Path | None:
    """Where the Go toolchain keeps Kubernetes' modules; None where there is no Go."""
    try:
        done = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return Path(done.stdout.strip()) / "k8s.io"
