"""The areas of the code, each with the tests that have to notice a change in it."""

from pathlib import Path
from typing import NamedTuple


class Area(NamedTuple):
    """``code`` and ``tests`` are files and folders below the root of the checkout."""

    name: str
    code: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self, root: Path) -> list[Path]:
        """Its modules, in the order of their paths."""
        found: list[Path] = []
        for place in self.code:
            path = root / place
            found += [path] if path.is_file() else sorted(path.rglob("*.py"))
        return found

    def test_files(self, root: Path) -> list[str]:
        """Its modules of tests, below the root; none of a project that a test checks."""
        found = [path for place in self.tests for path in sorted((root / place).rglob("test_*.py"))]
        return [str(path.relative_to(root)) for path in found if "project" not in path.parts]


def _library(name: str, packages: str, tests: str) -> Area:
    return Area(name, tuple(f"fakekube/{package}" for package in packages.split()), _below("tests", tests))


def _controllers(name: str, packages: str, more_tests: str = "") -> Area:
    folders = packages.split()
    code = tuple(f"controllers/fakekube_controllers/{package}" for package in folders)
    return Area(name, code, (*_below("tests/controllers", f"{packages} stories"), *_below("tests", more_tests)))


def _below(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names.split())


STATED = (
    _library("storage", "storage", "storage registry apiserver composition"),
    _library("registry", "registry", "registry endpoints apiserver admission apis releases apiextensions auth"),
    _library("endpoints", "endpoints", "endpoints apiserver registry releases server apiextensions auth"),
    _library(
        "apiserver",
        "apiserver server aggregator",
        "apiserver endpoints server aggregator security cli admission apiextensions controllers/podautoscaler "
        "controllers/kubelet",
    ),
    _library("admission", "admission webhooks auth", "admission webhooks auth authentication apiextensions registry endpoints"),
    _library("fields", "managedfields patch", "managedfields patch endpoints registry"),
    _library("schema", "schema apimachinery util", "schema apimachinery util patch endpoints apis releases runtime storage"),
    _library("apis", "apis", "apis endpoints registry releases admission"),
    _library("customs", "apiextensions cel", "apiextensions cel types admission"),
    _library(
        "client",
        "client workqueue types cache runtime",
        ("client workqueue types cache runtime controllers/replicaset controllers/job controllers/stories"),
    ),
    _library(
        "composition",
        "composition testing cli __init__.py __main__.py pytest_plugin.py",
        "composition runtime plugin cli docs",
    ),
    _library("faults", "faults exploration recording tracing", "faults exploration recording tracing"),
    _controllers("job", "job cronjob ttlafterfinished workloadbuilder jobset leaderworkerset ray"),
    _controllers("workloads", "deployment replicaset disruption statefulset daemonset"),
    _controllers(
        "objects",
        "garbagecollector namespace podgc resourcequota clusterroleaggregation podgroupprotection persistentvolume pvcprotection "
        "pvprotection volumeprovisioner vacprotection ephemeralvolume resourceclaim",
    ),
    _controllers(
        "services",
        "nodelifecycle tainteviction ttl endpoints serviceaccount podautoscaler certificates validatingadmissionpolicystatus",
        "composition",
    ),
    _controllers("kubelet", "kubelet"),
    _controllers("scheduler", "scheduler"),
    _controllers("kueue", "kueue"),
)
"""By size about the same; each share of a sample is large enough to say something."""


def areas(root: Path) -> tuple[Area, ...]:
    """The stated ones, and each package that is in none of them as an area of its own."""
    known = {place for area in STATED for place in area.code}
    libraries = [_library(name, name, name) for name in _packages(root / "fakekube") if f"fakekube/{name}" not in known]
    folder = "controllers/fakekube_controllers"
    controllers = [_controllers(name, name) for name in _packages(root / folder) if f"{folder}/{name}" not in known]
    return (*STATED, *libraries, *controllers)


def _packages(folder: Path) -> list[str]:
    return sorted(file.parent.name for file in folder.glob("*/__init__.py"))
