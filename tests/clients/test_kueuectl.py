"""Upstream's command for queues, kueuectl 0.19, with our Kueue.

The environment names the binary, ``KUEUECTL``; else it is looked for on the PATH.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

KUEUECTL, KUBECTL = os.environ.get("KUEUECTL") or shutil.which("kueuectl"), shutil.which("kubectl")
JOB = {
    "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}]}}}}

pytestmark = [
    pytest.mark.fake_only(reason="a real cluster has its own queues"), pytest.mark.toolchain,
    pytest.mark.fakekube(controllers="*,kueue", nodes=1),
    pytest.mark.skipif(not KUEUECTL or not KUBECTL, reason="no kueuectl (set KUEUECTL to its path) or no kubectl here")]


class Shell:
    """Runs the commands against a cluster."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._kubeconfig, self._namespace = kubeconfig, namespace

    def _run(self, *command: str, text: str = "") -> str:
        environment = os.environ | {"KUBECONFIG": str(self._kubeconfig)}
        done = subprocess.run(
            [*command, "-n", self._namespace], env=environment, input=text, capture_output=True, text=True, timeout=60,
            check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def kueuectl(self, *arguments: str) -> str:
        """What kueuectl prints."""
        return self._run(str(KUEUECTL), *arguments)

    def apply(self, obj: Any) -> None:
        """Apply an object with kubectl."""
        self._run(str(KUBECTL), "apply", "-f", "-", text=json.dumps(obj))

    def rows(self, *arguments: str) -> list[list[str]]:
        """The cells of a table, without its header."""
        return [line.split() for line in self.kueuectl("list", *arguments).splitlines()[1:]]


@pytest.fixture
def shell(kubeconfig: Path, namespace: str) -> Shell:
    """A queue of two cpus, made by kueuectl."""
    found = Shell(kubeconfig, namespace)
    assert found.kueuectl("create", "resourceflavor", "f") == "resourceflavor.kueue.x-k8s.io/f created\n"
    made = found.kueuectl("create", "clusterqueue", "cq", "--nominal-quota", "f:cpu=2")
    assert made == "clusterqueue.kueue.x-k8s.io/cq created\n"
    assert found.kueuectl("create", "localqueue", "q", "-c", "cq") == "localqueue.kueue.x-k8s.io/q created\n"
    return found


@pytest.mark.spec("KUEUE-079")
def test_a_workload_is_stopped_and_resumed(shell: Shell, until: Callable[..., Any]) -> None:
    """Given a Job in a queue, when its Workload is listed, stopped and resumed, then the lists show
    it admitted, finished with being so, and admitted again, and its pods are listed.
    """
    shell.apply(JOB)
    until(lambda: [row[5] for row in shell.rows("kueueworkload")] == ["ADMITTED"])
    [[name, kind, job, *_]] = shell.rows("kueueworkload")
    assert (kind, job) == ("job", "j")
    assert len(shell.rows("pods", "--for", "job/j")) == 1
    assert shell.kueuectl("stop", "kueueworkload", name) == f"workload.kueue.x-k8s.io/{name} stopped\n"
    until(lambda: [row[5] for row in shell.rows("kueueworkload")] == ["PENDING"])
    assert shell.kueuectl("resume", "kueueworkload", name) == f"workload.kueue.x-k8s.io/{name} resumed\n"
    until(lambda: [row[5] for row in shell.rows("kueueworkload")] == ["ADMITTED"])


@pytest.mark.spec("KUEUE-078")
def test_a_queue_is_stopped_and_resumed(shell: Shell, until: Callable[..., Any]) -> None:
    """Given a Job in a queue, when the queue is drained, then it is inactive and nothing is
    admitted; resumed, the Job is admitted again.
    """
    shell.apply(JOB)
    until(lambda: [row[2] for row in shell.rows("clusterqueue")] == ["1"])
    shell.kueuectl("stop", "clusterqueue", "cq")
    until(lambda: [row[1:4] for row in shell.rows("clusterqueue")] == [["1", "0", "false"]])
    shell.kueuectl("resume", "clusterqueue", "cq")
    until(lambda: [row[1:4] for row in shell.rows("clusterqueue")] == [["0", "1", "true"]])
