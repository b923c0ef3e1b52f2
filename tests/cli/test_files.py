"""The files that commands write: never in place of what is not ours, and gone when the server
is."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakekube.cli import servefiles
from fakekube.composition.options import OptionError
from fakekube.server import kubeconfig
from fakekube.server.kubeconfigfile import KubeconfigFile
from tests.cli.conftest import FAKEKUBE, START_SECONDS

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

FOREIGN = """\
apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: prod, cluster: {server: "https://prod:6443"}}]
users: [{name: me, user: {token: abc}}]
contexts: [{name: prod, context: {cluster: prod, user: me}}]
"""
SMALL = ("--nodes", "0", "--controllers", "")


class Started:
    """A server that is ready when its ready file is there; ``stderr`` goes to a file."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.ready, self.log = folder / "ready", folder / "stderr"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*FAKEKUBE, "serve", *SMALL, "--ready-file", str(self.ready), *options], cwd=folder, stdout=subprocess.PIPE,
                stderr=log, text=True, env=os.environ | environment)
        end = time.monotonic() + START_SECONDS
        while not self.ready.exists() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        assert self.ready.exists(), self.log.read_text()
        self.url = self.ready.read_text().strip()

    def end(self) -> tuple[int, str, str]:
        """Exit code and what was printed to both."""
        self.process.send_signal(signal.SIGTERM)
        output = self.process.communicate(timeout=30)[0]
        return self.process.returncode, output, self.log.read_text()


@pytest.fixture
def start(tmp_path: Path) -> Any:
    """Starts servers in the test's folder, and stops them."""
    started: list[Started] = []

    def run(*options: str, **environment: str) -> Started:
        started.append(Started(tmp_path, *options, **environment))
        return started[-1]

    yield run
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()


def test_a_kubeconfig_of_others_keeps_what_is_theirs(start: Callable[..., Started], tmp_path: Path) -> None:
    """Given a kubeconfig of others behind a link, when a server writes to it and ends, then its
    cluster is the current one meanwhile, and all is as before afterwards; the ready file has the
    URL meanwhile."""
    real, link = tmp_path / "real", tmp_path / "config"
    real.write_text(FOREIGN)
    link.symlink_to(real)
    server = start("--kubeconfig", str(link))
    found = yaml.safe_load(real.read_text())
    assert found["current-context"] == "fakekube"
    assert [each["name"] for each in found["clusters"]] == ["prod", "fakekube"]
    assert found["clusters"][1]["cluster"]["server"] == server.url
    code, output, errors = server.end()
    assert (code, errors) == (0, "")
    assert "Traceback" not in output
    assert yaml.safe_load(real.read_text()) == yaml.safe_load(FOREIGN)
    assert link.is_symlink()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config", "real", "stderr"]


@pytest.mark.parametrize("option", ["--kubeconfig", "--ready-file"])
def test_serve_refuses_files_of_others(fakekube: Run, tmp_path: Path, option: str) -> None:
    """Given notes, or a device, where a file of ours would be, when a server is started, then one
    sentence refuses, it does not start, and the notes are as they were."""
    (tmp_path / "notes.txt").write_text("my notes\n")
    for name in ("notes.txt", "/dev/null", "."):
        done = fakekube("serve", option, name)
        assert (done.returncode, done.stdout) == (1, "")
        [line] = done.stderr.splitlines()
        assert line.startswith(f"Error: {option.removeprefix('--')}: ")
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]
    assert (tmp_path / "notes.txt").read_text() == "my notes\n"


def test_another_live_server_owns_its_entry(start: Callable[..., Started], serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given a server that serves, when another would write to the same kubeconfig, then one
    sentence says who owns it; once the first was killed, the other takes its place and cleans
    up."""
    first = serve(*SMALL)
    done = fakekube("serve", *SMALL, "--kubeconfig", str(first.kubeconfig))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Error: kubeconfig: the cluster fakekube in {first.kubeconfig} belongs to the server at {first.url}, which still "
        "answers: name another file by --kubeconfig\n")
    first.process.kill()
    first.process.wait()
    second = start("--kubeconfig", str(first.kubeconfig))
    assert json.loads(first.kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == second.url
    assert second.end()[0] == 0
    assert not first.kubeconfig.exists()


def test_no_kubeconfig_is_written_where_none_is_wanted(start: Callable[..., Started], tmp_path: Path) -> None:
    """Given an empty name, in the configuration file or on the command line, when a server is
    started, then it serves and writes none; the files that KUBECONFIG lists are as they were."""
    (tmp_path / "fakekube.yaml").write_text("kubeconfig: ''\n")
    for name in ("a", "b"):
        (tmp_path / name).write_text(FOREIGN)
    for options in (("--kubeconfig", ""), ("--config", "fakekube.yaml")):
        server = start(*options, KUBECONFIG=f"{tmp_path / 'a'}:{tmp_path / 'b'}")
        assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b", "fakekube.yaml", "ready", "stderr"]
        code, output, errors = server.end()
        assert (code, errors) == (0, "")
        assert f"kubectl --server {server.url} get nodes" in output
        assert "kubeconfig" not in output.lower()
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == FOREIGN


def test_a_directory_that_cannot_be_written_is_a_warning(start: Callable[..., Started], tmp_path: Path) -> None:
    """Given a read-only directory, when a server would write its kubeconfig there, then one line
    warns, and it serves."""
    # nothing keeps root out of a directory of its own
    folder = Path("/sys") if os.geteuid() == 0 else tmp_path / "closed"
    if os.geteuid() != 0:
        folder.mkdir(mode=0o500)
    server = start("--kubeconfig", str(folder / "kubeconfig"))
    code, output, errors = server.end()
    assert code == 0
    [line] = errors.splitlines()
    assert line.startswith(f"Warning: there is no kubeconfig: {folder}")
    assert f"kubectl --server {server.url} get nodes" in output


def test_a_ready_file_of_a_dead_server_goes_at_once(fakekube: Run, start: Callable[..., Started], tmp_path: Path) -> None:
    """Given the ready file of a server that was killed, when another is started there, then the
    file is removed before anything else happens, and says its own address once it answers."""
    ready = tmp_path / "ready"
    ready.write_text("http://127.0.0.1:1\n")
    (tmp_path / "bad.yaml").write_text("kind: ConfigMap")
    assert fakekube("serve", *SMALL, "--ready-file", "ready", "--load", "bad.yaml").returncode == 1
    assert not ready.exists()
    server = start()
    assert ready.read_text() == f"{server.url}\n"
    server.end()
    assert not ready.exists()


def test_snapshots_replace_snapshots_alone(serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given a server, when its snapshot is written twice, behind a link, and over notes, then the
    second replaces the first, and the notes stay, with one sentence."""
    server = serve(*SMALL)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "notes.txt").write_text("my notes\n")
    for name, code in (("one", 0), ("one", 0), ("link", 0), ("notes.txt", 1), ("/dev/null", 1)):
        done = fakekube("snapshot", "--server", server.url, "-o", name)
        assert (done.returncode, len(done.stderr.splitlines())) == (code, code)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "notes.txt").read_text() == "my notes\n"
    assert fakekube("diff", "one", "link", "configmaps").stderr == ""


def test_what_a_crashed_server_left_is_taken_over_whoever_is_at_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a kubeconfig of a server whose process is gone, while another one answers at its
    address / when the next server looks at the file / then it is not refused; that of a live
    process is.
    """
    path = tmp_path / "config"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    KubeconfigFile(path).add(kubeconfig.tree("http://127.0.0.1:1", "token"))
    monkeypatch.setattr(servefiles, "_answers", lambda owner: owner.url == "http://127.0.0.1:1")
    with pytest.raises(OptionError, match="which still answers"):
        servefiles.ServeFiles(str(path), "").check()
    path.write_text(path.read_text().replace(f'/{os.getpid()}"', f'/{ended.pid}"'))
    servefiles.ServeFiles(str(path), "").check()
