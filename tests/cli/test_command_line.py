"""The command line's further ways: from standard input and directories, as a module, completed by a
shell, into a pipe."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import FAKEKUBE, Serving

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

SMALL = ("--nodes", "0", "--controllers", "")
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: default}}\n"


def maps(server: Any) -> list[str]:
    return [each["metadata"]["name"] for each in server.get("/api/v1/namespaces/default/configmaps")[1]["items"]]


def test_a_directory_is_loaded_in_order(serve: Serve, tmp_path: Path) -> None:
    """Given a directory of YAML, JSON and other files, when it is loaded, then its manifests are
    created sorted by the file's name, and what is something else, or lies deeper, is left out."""
    folder = tmp_path / "manifests"
    (folder / "deeper.yaml").mkdir(parents=True)
    (folder / "c.yaml").write_text(MAP.format("c"))
    (folder / "b.json").write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}))
    (folder / "a.yml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n")
    (folder / "README.md").write_text("no manifest")
    (folder / "deeper.yaml" / "d.yaml").write_text(MAP.format("d"))
    server = serve(*SMALL, "--load", str(folder))
    found = server.get("/api/v1/configmaps")[1]["items"]
    metadata = [each["metadata"] for each in found if each["metadata"]["name"] in "abcd"]
    ours = {each["name"]: int(each["resourceVersion"]) for each in metadata}
    assert list(ours) == ["b", "c"]
    team = int(server.get("/api/v1/namespaces/team")[1]["metadata"]["resourceVersion"])
    assert team < ours["b"] < ours["c"]


def test_standard_input_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given manifests on standard input, when they are loaded by ``-``, then they are there."""
    (tmp_path / "typed").write_text(MAP.format("typed"))
    with (tmp_path / "typed").open() as typed:
        saved = os.dup(0)
        os.dup2(typed.fileno(), 0)
        try:
            server = Serving(tmp_path / "kubeconfig", *SMALL, "--load", "-")
        finally:
            os.dup2(saved, 0)
            os.close(saved)
    assert "typed" in maps(server)
    assert server.end()[0] == 0


def test_a_server_whose_output_nobody_reads_serves_on(tmp_path: Path) -> None:
    """Given somebody who reads the first line alone, when the server is told to end, then it
    answered meanwhile, and ends with 0 and without a word on stderr."""
    ready = tmp_path / "ready"
    with subprocess.Popen(
            [*FAKEKUBE, "serve", *SMALL, "--ready-file", str(ready)], cwd=tmp_path, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"Kubernetes ")
        process.stdout.close()
        assert ready.exists()
        process.send_signal(signal.SIGTERM)
        assert (process.stderr.read(), process.wait(30)) == (b"", 0)
    assert list(tmp_path.iterdir()) == []


def test_the_server_may_be_named_after_the_subcommand(serve: Serve, fakekube: Run) -> None:
    """Given a served cluster, when its address stands before or after a command of ``clock``, then
    both lead there, and the one after it goes before."""
    server = serve("--clock", "manual", *SMALL)
    assert fakekube("clock", "advance", "1h", "--server", server.url).stdout.startswith("2026-01-01T01:00:00Z")
    assert fakekube("clock", "now", "--kubeconfig", str(server.kubeconfig)).stdout.startswith("2026-01-01T01:00:00Z")
    assert fakekube("clock", "--server", "127.0.0.1:1", "set", "2026-01-02T00:00:00Z", "--server", server.url).returncode == 0
    assert fakekube("clock", "--server", server.url).stdout.startswith("2026-01-02T00:00:00Z")
    assert fakekube("clock", "advance", "-1h", "--server", server.url).returncode == 1


def test_it_is_a_module_too() -> None:
    """Given Python alone, when it runs the module, then it is the command."""
    done = subprocess.run([sys.executable, "-m", "fakekube", "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: fakekube [OPTIONS] COMMAND")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(fakekube: Run, shell: str) -> None:
    """Given the script for a shell, when it is printed, then it asks us by click's variable; where
    the shell is installed, it takes the script."""
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("click asks bash for its version")
    done = fakekube("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_FAKEKUBE_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        taken = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, check=False)
        assert (taken.returncode, taken.stderr) == (0, "")


@pytest.mark.parametrize(("line", "found"), [
    ("fakekube s", {"serve", "schema", "snapshot"}), ("fakekube completion ", {"bash", "zsh", "fish"}),
    ("fakekube serve --ready", {"--ready-file"}), ("fakekube demo ", {"gang", "job", "jobset"}),
])
def test_commands_and_options_are_completed(line: str, found: set[str]) -> None:
    """Given a line that is being typed, when bash asks, then what may follow is told."""
    typed = line.split(" ")
    done = subprocess.run(FAKEKUBE, capture_output=True, text=True, check=False, env=os.environ | {
        "_FAKEKUBE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(typed) - 1)})
    told = {each.partition(",")[2] for each in done.stdout.splitlines()}
    assert found <= told
    assert all(each.startswith(typed[-1]) for each in told)
