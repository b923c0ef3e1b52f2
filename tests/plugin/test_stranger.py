"""What a project that installs us meets: the plugin's fixtures work there, and break nothing that
was there before.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fakekube.apimachinery.releases import NEWEST

PROJECT = Path(__file__).parent / "project"
QUIET = ("-o", "asyncio_default_fixture_loop_scope=function")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs pytest in a copy of the stranger's project, as a process of its own."""
    project = shutil.copytree(PROJECT, tmp_path / "project")
    environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name not in ("KUBE_CACHE_MUTATION_DETECTOR", "FAKEKUBE_CHECK_TREES")}

    def call(*arguments: str, test: str = "") -> subprocess.CompletedProcess[str]:
        if test:
            (project / "test_written.py").write_text(test)
            arguments = (*arguments, "test_written.py")
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=project, env=environment,
            capture_output=True, text=True, timeout=110, check=False)

    return call


def outcome(done: subprocess.CompletedProcess[str]) -> str:
    """The counts of pytest's last line, ``12 passed``."""
    counts = re.findall(r"\d+ (?:passed|failed|errors?|warnings?|skipped)", done.stdout)
    assert counts, done.stdout + done.stderr
    return ", ".join(counts)


def test_every_fixture_works_in_a_project_of_its_own(run: Run) -> None:
    """Given a project with the official client, its asyncio sibling and in-process tests, when
    pytest runs there, then all pass, without a warning.
    """
    done = run(*QUIET, "-W", "error")
    assert outcome(done) == "13 passed", done.stdout


def test_parallel_workers_do_not_meet(run: Run) -> None:
    """Given the same project, when two workers of xdist share the tests, then all pass."""
    done = run(*QUIET, "-n", "2")
    assert outcome(done) == "13 passed", done.stdout


def test_blocking_tests_need_no_plugin_for_async_ones(run: Run) -> None:
    """Given a project where pytest-asyncio, pytest-aiohttp and anyio are off, when its blocking
    tests run, then all pass.
    """
    done = run("-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:anyio", "test_official_client.py", "test_uninvolved.py")
    assert outcome(done) == "10 passed", done.stdout


def test_a_project_without_async_tests_never_meets_the_async_fixture(run: Run) -> None:
    """Given no plugin that runs async tests, when fixtures are listed, then ours for blocking tests
    are there and ``fake_cluster`` is not.
    """
    listed = run("-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:anyio", "--fixtures", "test_uninvolved.py").stdout
    assert "fakekube_server" in listed
    assert "fakekube_kubeconfig" in listed
    assert "fake_cluster" not in listed


def test_anyio_can_run_async_tests_too(run: Run) -> None:
    """Given a project that uses anyio and not pytest-asyncio, when an async test asks for
    ``fake_cluster``, then it passes.
    """
    done = run("-p", "no:asyncio", "-p", "no:aiohttp", test="""
import pytest
from fakekube.client.resources import NODES

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
async def test_nodes(fake_cluster):
    assert len((await fake_cluster.client.list(NODES)).items) == 2
""")
    assert outcome(done) == "1 passed", done.stdout


def test_a_project_that_does_not_use_us_starts_no_cluster(run: Run) -> None:
    """Given a test without our fixtures, when it runs, then no module of a cluster was imported."""
    done = run(*QUIET, "-p", "no:aiohttp", test="""
import sys

def test_nothing_came_along():
    assert [name for name in ("fakekube.composition", "aiohttp") if name in sys.modules] == []
""")
    assert outcome(done) == "1 passed", done.stdout


@pytest.mark.parametrize(("marker", "text"), [
    ("nodes=-1", "nodes: -1 is no number of nodes"),
    ("clock='never'", "clock: 'never' is none of real, manual, auto, or a factor above 0"),
    ("clock='nan'", "clock: 'nan' is none of"),
    ("seed='x'", "seed: 'x' is no whole number"),
    ("colour='red'", "unknown option 'colour': known are nodes, controllers, kubernetes_version"),
    ("kubernetes_version='1.12'", "unknown Kubernetes release '1.12', known are 1.25"),
    ("kubernetes_version='newest'", f"kubernetes_version: 'newest' is no version: say {NEWEST.name}"),
    ("feature_gates={'Nope': True}", "unrecognized feature gate: Nope"),
    ("feature_gates='GangScheduling=maybe'", "invalid value of GangScheduling=maybe"),
    ("controllers='*,-jobs'", 'controllers: "jobs" is not in the list of known controllers: '),
    ("disable_admission_plugins='Foo'", 'plugin "Foo" is unknown'),
    ("start='today'", "start: 'today' is no time with a time zone"),
    ("3", "@pytest.mark.fakekube takes keyword arguments only, such as nodes=3"),
])
def test_an_option_that_cannot_be_meant_is_told(pytester: pytest.Pytester, marker: str, text: str) -> None:
    """Given a marker with a mistake, when the test runs, then it ends in a UsageError that names
    the option.
    """
    pytester.makepyfile(f"import pytest\n@pytest.mark.fakekube({marker})\ndef test_it(fakekube_server): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:timeout")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"E *UsageError: *{glob(text)}*"])


def test_an_ini_option_that_cannot_be_meant_is_told(pytester: pytest.Pytester) -> None:
    """Given an ini file with a mistake, when a test asks for a cluster, then it ends in a
    UsageError that names the option.
    """
    pytester.makeini("[pytest]\nfakekube_nodes = many\n")
    pytester.makepyfile("def test_it(fakekube_kubeconfig): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:timeout")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *UsageError: fakekube: nodes: 'many' is no number of nodes"])


def glob(text: str) -> str:
    """The text as fnmatch wants it."""
    return re.sub(r"([\[\]*?])", r"[\1]", text)


def test_a_failure_is_reported_with_the_seed_and_the_last_writes(run: Run) -> None:
    """Given tests that fail, one with a blocking client's cluster and one in-process, when they are
    reported, then each has a section with why its pods are as they are, the last Events and writes,
    who made them and what they changed, the seed, and how to run it again, and says nothing twice;
    a test that passes has none.
    """
    done = run(*QUIET, "-m", "", test="""
import pytest
from fakekube.client.resources import CONFIG_MAPS, PODS

MAP = {"metadata": {"name": "settings", "namespace": "default"}}

@pytest.mark.fakekube(seed=5, nodes=0)
def test_blocking(fakekube_server):
    fakekube_server.call(lambda cluster: cluster.client.create(CONFIG_MAPS, MAP))
    assert False

@pytest.mark.asyncio
async def test_in_process(fake_cluster):
    await fake_cluster.client.create(CONFIG_MAPS, MAP)
    assert False

@pytest.mark.asyncio
async def test_in_vain(fake_cluster):
    await fake_cluster.client.create(PODS, {"metadata": {"name": "big", "namespace": "default"}, "spec": {"containers": [
        {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1000"}}}]}})
    await fake_cluster.run_until(lambda: False)

@pytest.mark.asyncio
async def test_that_passes(fake_cluster):
    pass
""")
    assert outcome(done) == "3 failed, 1 passed", done.stdout
    assert done.stdout.count("fakekube: what happened, and the seed") == 3
    written = "ADDED configmaps default/settings  POST /api/v1/namespaces/default/configmaps  by fakekube as kubernetes-admin"
    assert done.stdout.count(written) == 2
    assert f"seed 5, Kubernetes {NEWEST.name}" in done.stdout
    assert "pytest 'test_written.py::test_in_process'" in done.stdout
    shown = done.stdout.partition("short test summary")[0]
    assert shown.count("pod default/big is not scheduled: FailedScheduling: 0/2 nodes are available: 2 Insufficient cpu.") == 1
    # besides in the fields of the condition that was written
    assert shown.count("2 Insufficient cpu.") <= 3


GREEDY = """
import asyncio
import pytest
from fakekube.client.resources import PODS
from fakekube.runtime import controller

POD = {"metadata": {"name": "p", "namespace": "default"},
       "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}

class Greedy:
    def __init__(self, ctx):
        self.pods = ctx.lister(PODS)

    async def reconcile(self, request):
        self.pods.get(*request)["spec"]["tolerations"].append({"operator": "Exists"})

async def use(cluster):
    cluster.manager.add(controller("greedy").for_(PODS).complete(Greedy))
    await cluster.manager.start_component("greedy")
    await cluster.client.create(PODS, POD)
    for _ in range(20):
        await asyncio.sleep(0)
"""

USES = GREEDY + """
def test_blocking(fakekube_server):
    fakekube_server.call(use)

@pytest.mark.asyncio
async def test_in_process(fake_cluster):
    await use(fake_cluster)
"""


def test_a_controller_that_changes_a_cached_object_fails_its_test(run: Run) -> None:
    """Given tests that pass, with a controller of their own that changes a cached pod, when they
    are over, then each ends with an error that names the pod, the place in it, and the controller
    with its key.
    """
    done = run(*QUIET, test=USES)
    assert outcome(done) == "2 passed, 2 errors", done.stdout
    assert done.stdout.count("CacheMutated: cached Pod default/p was changed by the controller greedy at default/p:") >= 2
    assert done.stdout.count('spec.tolerations[2]: (none) -> {"operator":"Exists"}') >= 2


def test_settle_tells_of_it_at_once(run: Run) -> None:
    """Given the same controller, when a test settles after that, then the test itself fails there,
    once.
    """
    done = run(*QUIET, test=GREEDY + """
@pytest.mark.asyncio
async def test_in_process(fake_cluster):
    await use(fake_cluster)
    await fake_cluster.settle()

def test_blocking(fakekube_server):
    fakekube_server.call(use)
    fakekube_server.settle()
""")
    assert outcome(done) == "2 failed", done.stdout


@pytest.mark.parametrize("switched_off", ["-o", "mark"])
def test_the_guard_can_be_switched_off(run: Run, switched_off: str) -> None:
    """Given the same tests, when the ini file or the marker says so, then nothing is compared and
    they pass.
    """
    if switched_off == "-o":
        done = run(*QUIET, "-o", "fakekube_cache_mutation_detector=false", test=USES)
    else:
        done = run(*QUIET, test=USES.replace("def test_blocking", "pytestmark = pytest.mark.fakekube("
                                             "cache_mutation_detector=False)\n\ndef test_blocking"))
    assert outcome(done) == "2 passed", done.stdout
