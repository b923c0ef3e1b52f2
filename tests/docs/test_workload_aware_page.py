"""What docs/workload-aware.md shows works, and its table of gates is that of the preset."""

import re
from pathlib import Path

import pytest
import yaml

from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import WORKLOAD_AWARE_GATES, WORKLOAD_AWARE_VERSIONS
from fakekube.types import PodGroup
from tests.docs.test_readme import ROOT, of_page, python


def test_the_tests_pass(tmp_path: Path) -> None:
    """Given the page's tests, when pytest runs them, then they pass."""
    for name in ("gang", "controller"):
        (tmp_path / f"test_{name}.py").write_text(of_page("workload-aware.md", f"pytest, {name}"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "2 passed" in python(tmp_path, "-m", "pytest", *settings)


async def test_the_job_is_taken_as_it_stands() -> None:
    """Given the page's Job, when it is created, then its group has all that it says."""
    job = yaml.safe_load(of_page("workload-aware.md", "job"))
    job["metadata"]["namespace"] = "default"
    async with Cluster(nodes=0, clock="manual", feature_gates="workload-aware") as cluster:
        await cluster.client.create(JOBS, job)
        await cluster.advance(1)
        [group] = (await cluster.client.list(PodGroup.resource)).items
        assert {key: group["spec"][key] for key in job["spec"]["scheduling"]} == {
            **job["spec"]["scheduling"], "schedulingPolicy": {"gang": {"minCount": 4}}}


@pytest.mark.parametrize("release", WORKLOAD_AWARE_GATES)
def test_the_table_names_the_gates_of_a_release(release: str) -> None:
    """Given a release, when its row is read, then it has the versions and gates of the preset."""
    text = (ROOT / "docs" / "workload-aware.md").read_text()
    found = re.search(rf"^\| {re.escape(release)} \| ([^|]*) \| ([^|]*) \|$", text, re.MULTILINE)
    assert found is not None
    assert re.findall(r"`(v\w+)`", found[1]) == [name.split("/")[1] for name in WORKLOAD_AWARE_VERSIONS[release]]
    assert tuple(found[2].split(", ")) == WORKLOAD_AWARE_GATES[release]
