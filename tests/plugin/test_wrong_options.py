"""What a run of pytest says of options of the plugin that cannot be meant."""

from pathlib import Path

import pytest

from fakekube.recording import exchanges

QUIET = (
    "-p", "no:aiohttp", "-p", "no:timeout", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o",
    "asyncio_default_fixture_loop_scope=function")
RECORDED = """
from fakekube.client.resources import CONFIG_MAPS


async def test_one(fake_cluster):
    await fake_cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "m"}})
    await fake_cluster.client.list(CONFIG_MAPS)
"""
WRONG = """
import pytest


@pytest.mark.fakekube(kubernetes_version="1.12")
async def test_cluster(fake_cluster):
    pass


@pytest.mark.fakekube(kubernetes_version="1.12")
async def test_fleet(fake_fleet):
    pass
"""


def test_a_schedule_that_is_none(pytester: pytest.Pytester) -> None:
    """Given a schedule that is none / when tests are to run / then that is an error of usage."""
    pytester.makepyfile(RECORDED)
    result = pytester.runpytest_inprocess(*QUIET, "--fakekube-schedule", "soon")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --fakekube-schedule: 'soon' is no schedule: say VERSION:SEED, 1:17 say"]


def test_a_recorded_run(pytester: pytest.Pytester) -> None:
    """Given a file / when a run is recorded / then it has what the test asked, with the test's
    name.
    """
    pytester.makepyfile(test_it=RECORDED)
    pytester.makeini("[pytest]\nfakekube_nodes = 0\nfakekube_controllers =\n")
    result = pytester.runpytest_inprocess(*QUIET, "--fakekube-record", "recorded")
    result.assert_outcomes(passed=1)
    recording = exchanges.read(Path(pytester.path / "recorded"))
    assert [(each.test, each.method, each.path) for each in recording.exchanges] == [
        ("test_it.py::test_one", "POST", "/api/v1/namespaces/default/configmaps"),
        ("test_it.py::test_one", "GET", "/api/v1/configmaps")]


def test_clusters_that_cannot_be_made(pytester: pytest.Pytester) -> None:
    """Given options that no cluster takes / when fixtures make one, or a fleet / then it is an
    error of usage which says why.
    """
    pytester.makepyfile(WRONG)
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(errors=2)
    told = [line for line in result.outlines if "UsageError: fakekube: " in line and line.startswith("E ")]
    assert len(told) == 2
    assert all("unknown Kubernetes release '1.12'" in line for line in told)
