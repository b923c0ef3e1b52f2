"""What an import costs those who do not use what is behind it.

Every case runs in an interpreter of its own.
"""

import subprocess
import sys

import pytest

import fakekube


def loaded(statement: str) -> list[str]:
    """The modules that a statement brings into a fresh interpreter that has pytest already."""
    code = f"import pytest, sys; before = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()


def test_the_pytest_plugin_loads_nothing_but_itself() -> None:
    """Given a project that has fakekube installed and does not use it, when pytest imports the
    plugin, then no module comes with it: no aiohttp, no pydantic, no asyncio, nothing else of ours.
    """
    assert loaded("import fakekube.pytest_plugin") == ["fakekube", "fakekube.pytest_plugin"]


def test_the_fixtures_for_async_tests_load_no_server() -> None:
    """Given a plugin that runs async tests, when our fixture for them is made ready, then the
    cluster is not yet imported.
    """
    names = loaded("import fakekube.testing.async_fixtures")
    assert [name for name in names if name.split(".")[0] in ("aiohttp", "pydantic", "yaml", "orjson")] == []
    assert {name for name in names if name.startswith("fakekube.")} == {"fakekube.testing", "fakekube.testing.async_fixtures"}


def test_reading_the_help_loads_no_server() -> None:
    """Given a shell, when the command line is imported, then neither the server nor an HTTP library
    is.
    """
    names = loaded("import fakekube.cli.main")
    assert [name for name in names if name.split(".")[0] in ("aiohttp", "asyncio", "pydantic", "yaml", "orjson")] == []
    assert {name for name in names if name.startswith("fakekube.")} == {
        "fakekube.apimachinery", "fakekube.apimachinery.releases", "fakekube.cli", "fakekube.cli.addonconfigs",
        "fakekube.cli.clusteroptions", "fakekube.cli.commandline", "fakekube.cli.demos", "fakekube.cli.demos.commands",
        "fakekube.cli.echo", "fakekube.cli.exploring", "fakekube.cli.main", "fakekube.cli.recordings", "fakekube.composition",
        "fakekube.composition.options"}


def test_a_cluster_in_process_needs_no_http_library() -> None:
    """Given a test that speaks to its cluster in-process, when the cluster is imported, then no
    HTTP library and no model is.
    """
    names = loaded("import fakekube.composition.cluster")
    assert [name for name in names if name in ("aiohttp", "h11", "pydantic", "click", "uvloop")] == []


@pytest.mark.parametrize("name", [name for name in fakekube.__all__ if name != "__version__"])
def test_public_names_resolve_on_first_use(name: str) -> None:
    """Given a bare ``import fakekube``, when a public name is asked for, then it is there, and
    nothing was loaded before.
    """
    assert loaded("import fakekube") == ["fakekube"]
    assert "fakekube.composition.cluster" in loaded(f"import fakekube; fakekube.{name}")


def test_the_public_names_are_these() -> None:
    """Given the package, when its public names are read, then they are those that the README shows.
    """
    assert fakekube.__all__ == ["Cluster", "__version__"]
    with pytest.raises(AttributeError, match="module 'fakekube' has no attribute 'Clusters'"):
        fakekube.Clusters  # noqa: B018 (looking is the point)


def test_jobs_without_groups_load_nothing_of_groups() -> None:
    """Given a cluster without workload-aware scheduling, when a Job has run, then what makes
    Workloads, and the rules for their building blocks in controllers, are not imported.
    """
    names = loaded("""
import asyncio
from fakekube import Cluster
from fakekube.client.resources import JOBS, PODS

JOB = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}

async def main():
    async with Cluster(nodes=0, clock="manual", controllers="job,serviceaccount") as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance(2)
        assert len((await cluster.client.list(PODS, "default")).items) == 1

asyncio.run(main())
""")
    assert "fakekube_controllers.job.controller" in names
    parts = ("fakekube_controllers.workloadbuilder", "fakekube_controllers.job.scheduling", "fakekube_controllers.job.automatic")
    assert [name for name in names if name.startswith(parts)] == []
