"""The page about verification does what it says, against a cluster of ours that is somebody else's;
and against a real one, with ``-m real --kubeconfig FILE``.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakekube.client.resources import DEPLOYMENTS, NAMESPACES, PODS
from fakekube.recording import exchanges
from fakekube.testing.background import BackgroundCluster
from tests.docs.test_readme import ADDRESS, ROOT, of_page

QUIET = "-p no:cacheprovider -p no:asyncio -p no:aiohttp -p no:timeout"
PROGRAM = """#!{python}
import sys
sys.argv[0] = "fakekube"
from fakekube.cli import main
main()
"""


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """The home of a reader, whose tests are those of the page, and who has ``fakekube`` and
    ``pytest``.
    """
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_operator.py").write_text(of_page("verify.md", "pytest"))
    (tmp_path / ".kube").mkdir()
    (tmp_path / "bin").mkdir()
    for name, text in (("fakekube", PROGRAM.format(python=sys.executable)),
                       ("pytest", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pytest "$@"\n')):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o700)
    return tmp_path


@pytest.fixture(params=["ours", pytest.param("real", marks=pytest.mark.real)])
def theirs(request: pytest.FixtureRequest, reader: Path) -> Iterator[BackgroundCluster | None]:
    """The cluster of ``~/.kube/config``; None stands for a real one."""
    place = reader / ".kube" / "config"
    if request.param == "real":
        path = request.config.getoption("--kubeconfig")
        if not path:
            pytest.skip("--kubeconfig names no cluster")
        place.write_bytes(Path(path).read_bytes())
        yield None
        return
    with BackgroundCluster(kubeconfig=place, nodes=1, clock=4, seed=9) as cluster:
        cluster.call(lambda inner: inner.client.create(NAMESPACES, {"metadata": {"name": "shop"}}))
        cluster.call(lambda inner: inner.client.create(DEPLOYMENTS, {**OTHERS, "metadata": {"name": "o", "namespace": "shop"}}))
        # What is loaded with the first pod is loaded before one is looked at; a second is 0.25 s.
        cluster.run_until(lambda: is_running(cluster))

        @cluster.webhook("deployments.apps", mutating=True)
        def label(review: object) -> None:
            review.object["metadata"].setdefault("labels", {})["team"] = "shop"  # type: ignore[attr-defined]

        yield cluster


OTHERS = {"spec": {
    "replicas": 1, "selector": {"matchLabels": {"app": "o"}}, "template": {
        "metadata": {"labels": {"app": "o"}}, "spec": {"containers": [{"name": "main", "image": "o"}]}}}}


def is_running(cluster: BackgroundCluster) -> bool:
    """Whether the pod of others is."""
    pods = cluster.call(lambda inner: inner.client.list(PODS, "shop")).items
    return [pod["status"].get("phase") for pod in pods] == ["Running"]


def lines_of(how: str) -> list[str]:
    """The commands of a block, without comments."""
    return [line.partition("   #")[0].strip() for line in of_page("verify.md", how).splitlines()]


def environment(home: Path) -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FAKEKUBE_", "KUBE"))}
    return known | {
        "HOME": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "PYTEST_ADDOPTS": QUIET, "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "controllers")])}


def run(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A command, as its reader would run it."""
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=home, env=environment(home), capture_output=True, text=True, timeout=110, check=False,
        stdin=subprocess.DEVNULL)


def namespaces(cluster: BackgroundCluster) -> list[str]:
    async def names(inner: object) -> list[str]:
        return [item["metadata"]["name"] for item in (await cluster.cluster.client.list(NAMESPACES)).items]

    return [name for name in cluster.call(names) if not name.startswith("kube-")]


def test_what_is_verified(reader: Path, theirs: BackgroundCluster | None) -> None:
    """Given the test of the page, and a cluster whose webhook labels Deployments / when the
    commands of the page are run / then the first does nothing but show, and the second prints what
    the page shows; a real cluster does not differ.
    """
    shows, plays = (run(reader, line) for line in lines_of("verify"))
    assert (shows.returncode, shows.stderr.splitlines()[-1]) == (1, "Error: nothing was done: say --yes to go on")
    if theirs is None:
        assert plays.returncode == 0, plays.stdout + plays.stderr
        assert re.search(r"^verify: \d+ requests of 1 test: \d+ equal, 0 differ", plays.stdout, re.MULTILINE)
        return
    expected = of_page("verify.md", "output").replace("https://127.0.0.1:6443", theirs.url).splitlines()
    printed = plays.stdout.splitlines()
    assert printed[-len(expected):] == expected
    assert plays.returncode == 1
    assert namespaces(theirs) == ["default", "shop"]


def test_what_is_recorded(reader: Path) -> None:
    """Given a served cluster / when the commands of the page record, and turn a recording into an
    archive / then each leaves the file that it names; replayed, nothing differs.
    """
    with BackgroundCluster(kubeconfig=reader / "kubeconfig", nodes=1, clock=20) as cluster:
        tests, served, archive, turned = (
            line.replace(ADDRESS, cluster.url.removeprefix("http://")) for line in lines_of("record"))
        assert run(reader, tests).returncode == 0
        file = reader / "run.jsonl"
        assert {one.test for one in exchanges.read(file).exchanges} == {"tests/test_operator.py::test_it_scales"}
        again = run(reader, f"fakekube replay run.jsonl --server {cluster.url} --yes")
        assert again.returncode == 0, again.stdout + again.stderr
        with subprocess.Popen(
                shlex.split(served), cwd=reader, env=environment(reader), stderr=subprocess.PIPE, text=True,
                executable=str(reader / "bin" / "fakekube")) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == "recording; Ctrl-C ends it\n"
            cluster.call(lambda inner: inner.client.create(NAMESPACES, {"metadata": {"name": "seen"}}))
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        assert "seen" in file.read_text()
    for line in (archive, turned):
        (reader / "run.har").unlink(missing_ok=True)
        assert run(reader, line).returncode == 0
        assert json.loads((reader / "run.har").read_text())["log"]["entries"]


def test_what_it_says_of_doors(reader: Path) -> None:
    """Given pytest alone, and a cluster that a test makes by itself / when it is run with the
    option of the page / then the file has both, by test.
    """
    (reader / "tests" / "test_own.py").write_text("""
import asyncio
from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS

async def story():
    async with Cluster(nodes=0) as cluster:
        await cluster.client.get(CONFIG_MAPS, "none", missing_ok=True)

def test_own():
    asyncio.run(story())
""")
    [option] = re.findall(r"`(pytest --fakekube-record=run\.jsonl)`", (ROOT / "docs" / "verify.md").read_text())
    assert run(reader, f"{option} tests").returncode == 0
    tests = {one.test.rpartition("::")[2] for one in exchanges.read(reader / "run.jsonl").exchanges}
    assert tests == {"test_it_scales", "test_own"}
