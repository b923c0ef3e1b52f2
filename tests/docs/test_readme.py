"""What the README shows works: every marked block is run as its reader would run it."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
ADDRESS = "127.0.0.1:8001"
BLOCK = re.compile(r"(?:<!-- run: (?P<how>[^\n]+) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```", re.DOTALL)


class Block(NamedTuple):
    """A fenced block, and how it is run."""

    how: str
    language: str
    code: str


BLOCKS = [Block(match["how"] or "", match["language"], match["code"]) for match in BLOCK.finditer(README)]


def of(how: str) -> list[Block]:
    return [block for block in BLOCKS if block.how.split(" ")[0] == how]


def of_page(name: str, how: str) -> str:
    """The one block of a page under docs that is run like that."""
    found = [match["code"] for match in BLOCK.finditer((ROOT / "docs" / name).read_text()) if match["how"] == how]
    assert len(found) == 1
    return found[0]


def python(folder: Path, *arguments: str) -> str:
    """What a Python command prints; a failure shows it."""
    environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name != "KUBE_CACHE_MUTATION_DETECTOR"}
    # this checkout, installed or not
    path = os.pathsep.join([str(folder), str(ROOT), str(ROOT / "controllers")])
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment | {"PYTHONPATH": path}, capture_output=True, text=True,
        timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_block_is_run() -> None:
    """Given the README, when its blocks of code are counted, then each but configuration says how
    it is run.
    """
    assert [block.code for block in BLOCKS if not block.how and block.language != "toml"] == []
    assert {block.how.split(" ")[0] for block in BLOCKS if block.how} == {
        "make", "serve", "curl", "kubectl", "pytest", "python", "module"}


def test_the_commands_of_make_exist() -> None:
    """Given the first block, when its targets are looked up, then the Makefile has them."""
    makefile = (ROOT / "Makefile").read_text()
    for line in of("make")[0].code.splitlines():
        assert re.search(rf"^{line.removeprefix('make ')}:", makefile, re.MULTILINE)


def test_the_tests_that_it_shows_pass(tmp_path: Path) -> None:
    """Given the tests and the module that the README shows, when pytest runs them in an empty
    project, then all pass.
    """
    for block in of("module"):
        (tmp_path / block.how.split(" ")[1]).write_text(block.code)
    for number, block in enumerate(of("pytest")):
        (tmp_path / f"test_{number}.py").write_text(block.code)
    printed = python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "4 passed" in printed


def test_the_program_that_it_shows_runs(tmp_path: Path) -> None:
    """Given the program that the README shows, when it is run, then it prints two pods that have
    succeeded.
    """
    (tmp_path / "program.py").write_text(of("python")[0].code)
    printed = python(tmp_path, "program.py").splitlines()
    assert [line.split()[1:3] for line in printed[:2]] == [["Succeeded", "on"], ["Succeeded", "on"]]
    assert printed[2].startswith("curl http://127.0.0.1:")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A server started as the README says, on a port that is free and in a hurry; its address."""
    _, command = of("serve")[0].code.splitlines()
    words = command.replace("--port 8001", "--clock 20").split()
    assert words[0] == "fakekube"
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    code = "from fakekube.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code, *words[1:]], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    kubeconfig = tmp_path / "fakekube.kubeconfig"
    end = time.monotonic() + 60
    while not kubeconfig.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    yield yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"].removeprefix("http://")
    process.terminate()
    process.communicate(timeout=20)


def shell(folder: Path, code: str, address: str) -> str:
    """What a block of commands prints. The first that fails ends it."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code.replace(ADDRESS, address)], cwd=folder, capture_output=True, text=True,
        timeout=100, check=False, env=os.environ | {"HOME": str(folder)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
def test_curl_works_as_it_shows(tmp_path: Path, served: str) -> None:
    """Given a served cluster, when the commands with curl are run, then a namespace, a new object
    and a watch are seen.
    """
    printed = shell(tmp_path, of("curl")[0].code, served)
    assert '"kubernetes.io/metadata.name": "default"' in printed or '"kubernetes.io/metadata.name":"default"' in printed
    assert '"type":"ADDED"' in printed
    assert printed.count("settings") >= 2


@pytest.mark.kubectl
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
def test_kubectl_works_as_it_shows(tmp_path: Path, served: str) -> None:
    """Given a served cluster, when the commands with kubectl are run, then a Job goes from apply to
    delete.
    """
    printed = shell(tmp_path, of("kubectl")[0].code, served)
    for text in ("node-1", "job.batch/hello created", "condition met", "Completed", "Hello from a pod", '"hello" deleted'):
        assert text in printed


def test_links_lead_somewhere() -> None:
    """Given the README and the pages under docs, when links to files are followed, then the files
    exist.
    """
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(("page", "printed"), [
    ("time.md", ["2026-02-01 00:00:00+00:00 auto True"]),
    ("snapshots.md", [
        "~ configmaps default/settings", '    data.mode: "slow" -> "fast"', "2026-01-01 00:00:00+00:00", "{'mode': 'fast'}"]),
])
def test_programs_on_other_pages_run(tmp_path: Path, page: str, printed: list[str]) -> None:
    """Given the program that a page under docs shows, when it is run, then it prints what the page
    says it would.
    """
    (tmp_path / "program.py").write_text(of_page(page, "python"))
    assert python(tmp_path, "program.py").splitlines() == printed


def test_the_test_on_the_page_about_testing_passes(tmp_path: Path) -> None:
    """Given the tests that the page about testing shows, when pytest runs them in an empty project,
    then they pass.
    """
    (tmp_path / "test_page.py").write_text(of_page("testing.md", "pytest"))
    for name in ("a mutated cache", "options", "aiohttp", "why", "claims"):
        (tmp_path / f"test_{name.replace(' ', '_')}.py").write_text(of_page("testing.md", f"pytest, {name}"))
    assert "9 passed" in python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.mark.kubectl
@pytest.mark.skipif(shutil.which("kubectl") is None or shutil.which("curl") is None, reason="no kubectl or no curl here")
@pytest.mark.parametrize(("page", "printed"), [
    ("time.md", ["paused", '"paused":false', "times as fast as the wall's"]), ("snapshots.md", ["+ configmaps default/settings"]),
    ("tracing.md", [
        "kubernetes-admin: create jobs.batch default/report; only the request is known", "default/report: status.startTime is ",
        "Told is the last one of them (--last)"]),
    ("faults.md", [
        "slow", "leader: error EtcdLeaderChanged, met once", "lost: cut after, met once", "nothing goes wrong on purpose"]),
])
def test_commands_on_other_pages_work(tmp_path: Path, served: str, page: str, printed: list[str]) -> None:
    """Given a served cluster, when the commands of a page under docs are run, then they do what the
    page says.
    """
    (tmp_path / "fakekube").write_text(f'#!/bin/sh\nexec {sys.executable} -c "from fakekube.cli import main; main()" "$@"\n')
    (tmp_path / "fakekube").chmod(0o755)
    text = "export PATH=$PWD:$PATH KUBECONFIG=$PWD/fakekube.kubeconfig\n" + of_page(page, "shell")
    output = shell(tmp_path, text, served)
    assert [words for words in printed if words not in output] == []
