"""``fakekube record``: a served cluster, or the tests of a run, into a file."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fakekube.client.resources import CONFIG_MAPS
from fakekube.recording import exchanges
from fakekube.testing.background import BackgroundCluster

Run = Callable[..., subprocess.CompletedProcess[str]]

TESTS = """
import pytest
from fakekube.client.resources import CONFIG_MAPS

@pytest.mark.parametrize("name", ["a", "b"])
def test_it(fakekube_server_session, name):
    fakekube_server_session.call(lambda cluster: cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name}}))

@pytest.mark.fakekube(nodes=0)
def test_own(fakekube_server):
    fakekube_server.call(lambda cluster: cluster.client.get(CONFIG_MAPS, "none"))
"""
QUIET = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:timeout")
PYTEST = (sys.executable, "-m", "pytest", "-q", *QUIET)


def test_a_run_of_pytest(fakekube: Run, tmp_path: Path) -> None:
    """Given tests, one of which fails / when the command runs pytest / then the file has what each
    test asked, by its name, the clusters of the session's fixture too, and the exit code is
    pytest's.
    """
    (tmp_path / "test_them.py").write_text(TESTS)
    output = tmp_path / "run.jsonl"
    done = fakekube("record", "-o", str(output), "--", *PYTEST, str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert f"{output}: 3 requests of 3 tests" in done.stderr
    recording = exchanges.read(output)
    assert [(one.test.rpartition("::")[2], one.code) for one in recording.exchanges] == [
        ("test_it[a]", 201), ("test_it[b]", 201), ("test_own", 404)]
    assert [cluster["nodes"] for cluster in recording.clusters.values()] == [1, 0]
    archive = tmp_path / "run.har"
    assert fakekube("record", "--from", str(output), "-o", str(archive)).returncode == 0
    assert len(json.loads(archive.read_text())["log"]["entries"]) == 3


def test_a_run_without_clusters(fakekube: Run, tmp_path: Path) -> None:
    """Given tests that use no cluster, or a command that is not there / when it is recorded / then
    a sentence says so, and there is no file.
    """
    (tmp_path / "test_them.py").write_text("def test_nothing(): pass\n")
    output = tmp_path / "run.jsonl"
    done = fakekube("record", "-o", str(output), "--", *PYTEST, str(tmp_path))
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "Error: nothing was recorded: no cluster of fakekube was used")
    none = fakekube("record", "-o", str(output), "--", "no-such-command")
    assert (none.returncode, none.stderr) == (1, "Error: no-such-command: No such file or directory\n")
    assert not output.exists()


def test_a_served_cluster(tmp_path: Path) -> None:
    """Given a served cluster / when the command records it until Ctrl-C / then the file has what
    was asked meanwhile; a second recorder is refused.
    """
    output = tmp_path / "run.jsonl"
    with BackgroundCluster(nodes=0, kubeconfig=tmp_path / "kubeconfig") as cluster:
        command = [sys.executable, "-m", "fakekube", "record", "--server", cluster.url, "-o", str(output)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == "recording; Ctrl-C ends it\n"
            second = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert (second.returncode, second.stderr) == (1, "Error: this cluster is recorded already\n")
            cluster.call(lambda inner: inner.client.create(CONFIG_MAPS, {"metadata": {"name": "x"}}))
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
    written = [one for one in exchanges.read(output).exchanges if one.method == "POST" and one.info.is_resource]
    names = [one.line["body"]["metadata"]["name"] for one in written]
    assert names == ["x"]


@pytest.mark.parametrize("content", ["", "what?"])
def test_what_is_no_recording(fakekube: Run, tmp_path: Path, content: str) -> None:
    """Given a file that is no recording / when an archive is to be made of it / then one sentence
    says so.
    """
    path = tmp_path / "file"
    path.write_text(content)
    done = fakekube("record", "--from", str(path), "-o", str(tmp_path / "x.har"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
