"""Sweeps of very many seeds, over threads, processes and a Dask cluster."""

import re
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from fakekube.exploration.sweeping import sweep

ROOT = Path(__file__).parents[2]
OPTIONS = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
COMMAND = ("pytest", *OPTIONS)

TESTS = """
import pytest
from tests.exploration import operators
from fakekube.client.resources import CONFIG_MAPS, PODS

async def pods(cluster):
    made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}})
    await cluster.client.update(CONFIG_MAPS, {**made, "data": {"wanted": "1"}})
    await cluster.settle()
    return (await cluster.client.list(PODS, "default")).items

@pytest.mark.fakekube(extra=[operators.two_children])
async def test_racy(fake_cluster):
    assert len(await pods(fake_cluster)) == 1

@pytest.mark.fakekube(extra=[operators.one_child])
async def test_mended(fake_cluster):
    assert len(await pods(fake_cluster)) == 1
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a racy operator and its mended twin."""
    (tmp_path / "test_them.py").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ":".join([str(ROOT), str(ROOT / "controllers"), *sys.path]))
    return tmp_path


def explored(*arguments):
    command = [sys.executable, "-c", "import sys; from fakekube.cli import main; sys.exit(main())", "explore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(found, seeds):
    assert found.problems == ()
    tests = {one.test.rpartition("::")[2]: one for one in found.tests}
    assert tests["test_mended"].seeds == seeds
    assert tests["test_mended"].histories > 1
    assert tests["test_mended"].failures == ()
    racy = tests["test_racy"].failures
    assert racy
    assert all(one.deviations and one.schedule.startswith(f"1:{one.seed}:") and "to have it again:" in one.story for one in racy)
    return racy


def test_any_executor_runs_the_parts(project):
    """Given an executor that runs what it is given, when a command is swept, then all seeds are
    run, in parts, and seeds, verdicts and shrunk failures come back; they replay.
    """
    parts = []

    class AtOnce(Executor):
        def submit(self, function, /, *arguments, **values):
            parts.append(arguments[1:3])
            future = Future()
            future.set_result(function(*arguments, **values))
            return future

    racy = check(sweep(COMMAND, range(1, 201), AtOnce(), 1), 200)
    assert parts == [(1, 100), (101, 200)]
    replay = [sys.executable, "-m", *COMMAND, "-k", "racy", "--fakekube-schedule", racy[0].schedule]
    assert subprocess.run(replay, check=False, capture_output=True).returncode == 1


def test_the_command_sweeps_over_processes(project):
    """Given the command with two workers, then it tells each test, each failure's story, and ends
    with 1.
    """
    done = explored("--seeds", "1-120", "--workers", "2", "--", *COMMAND)
    assert done.returncode == 1, done.stderr
    assert re.search(r"test_them.py::test_mended: 120 seeds, \d+ distinct histories, no failure", done.stdout)
    assert re.search(r"test_them.py::test_racy: \d+ seeds, \d+ distinct histories, \d failures?", done.stdout)
    assert "> +" in done.stdout
    done = explored("--seeds", "101-110", "--workers", "1", "--", *COMMAND, "-k", "mended")
    assert (done.returncode, done.stderr) == (0, "")


STRATEGIES = """
import pytest
from tests.exploration.buggy import intermediate
from fakekube.client.resources import CONFIG_MAPS, SECRETS

async def moved(cluster):
    labels = {"of": "web"}
    await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}, "data": {"place": "new"}})
    await cluster.client.create(SECRETS, {"metadata": {"name": "old", "namespace": "default", "labels": labels}})
    await cluster.advance("1m")
    return [secret["metadata"]["name"] for secret in (await cluster.client.list(SECRETS, "default")).items]

@pytest.mark.fakekube(extra=[intermediate.moves_in_memory])
async def test_buggy(fake_cluster):
    assert await moved(fake_cluster) == ["new"]

@pytest.mark.fakekube(extra=[intermediate.moves_on_the_server])
async def test_mended(fake_cluster):
    assert await moved(fake_cluster) == ["new"]
"""


def test_the_command_sweeps_over_strategies(project):
    """Given the command with strategies, then each seed is run with each, a bug's story names the
    write after which the operator died, and its command replays it; a name of none is refused.
    """
    (project / "test_them.py").write_text(STRATEGIES)
    done = explored(
        "--strategies", "intermediate-states, conflicts", "--seeds", "1-12", "--workers", "1", "--", *COMMAND)
    assert done.returncode == 1, done.stderr
    assert re.search(r"test_them.py::test_mended: 24 seeds, \d+ distinct histor(y|ies), no failure", done.stdout)
    assert re.search(r"test_them.py::test_buggy: \d+ seeds, .* 1 failure\n", done.stdout)
    assert re.search(r"> \+0s fault: moves-in-memory dies .* its write \d is committed", done.stdout)
    schedule = re.search(r"--fakekube-schedule (\S+)", done.stdout)
    replay = [sys.executable, "-m", *COMMAND, "-k", "buggy", "--fakekube-schedule", schedule.group(1)]
    assert subprocess.run(replay, check=False, capture_output=True).returncode == 1
    done = explored("--strategies", "stale", "--", *COMMAND)
    assert (done.returncode, "'stale' is no strategy: known are " in done.stderr) == (2, True)


def test_workers_of_xdist_tell_what_strategies_found(project):
    """Given tests that are spread over two processes by pytest itself, when they are run with
    strategies, then the end of the run tells of each what was explored.
    """
    (project / "test_them.py").write_text(STRATEGIES)
    run = [sys.executable, "-m", *COMMAND, "-n", "2", "--fakekube-strategies", "intermediate-states", "--fakekube-explore", "12"]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert re.search(r"test_them.py::test_mended: 12 seeds, \d+ distinct histor(y|ies), no failure", done.stdout)
    assert re.search(r"test_them.py::test_buggy: \d+ seeds?, \d+ distinct histories, seed \d+ fails", done.stdout)
    assert "fault: moves-in-memory dies" in done.stdout


def test_what_does_not_come_to_explore_is_told(project):
    """Given tests that fail anyway, none at all, a command that is not there, and seeds that are
    none, then each is told.
    """
    (project / "test_wrong.py").write_text("async def test_it(fake_cluster): assert 'never'.isdigit()\n")
    with ThreadPoolExecutor(2) as executor:
        found = sweep((*COMMAND, "test_wrong.py"), range(1, 3), executor, 1)
        assert found.tests == ()
        assert "test_wrong.py::test_it fails in the calm run" in found.problems[0]
        assert "isdigit" in found.problems[0]
        assert "ended with 4" in sweep((*COMMAND, "test_none.py"), range(1, 3), executor, 1).problems[0]
        assert sweep(("no-such-command",), range(1, 3), executor, 1).problems == ("no-such-command: No such file or directory",)
    done = explored("--seeds", "none", "--", "pytest")
    assert (done.returncode, "are no seeds" in done.stderr) == (2, True)


def test_dask_runs_the_parts(project):
    """Given a Dask cluster of two workers, when a command is swept over it, then seeds, verdicts
    and shrunk failures come back from both.
    """
    distributed = pytest.importorskip("distributed", reason="the extra fakekube[dask] is not installed")
    from fakekube.exploration.dask import connected

    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1")
    with local:
        local.wait_for_workers(2, timeout=60)  # a busy machine starts them after the scheduler answers
        with connected(local.scheduler_address) as (executor, workers):
            assert workers == 2
            check(sweep(COMMAND, range(1, 201), executor, workers), 200)
