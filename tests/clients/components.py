"""Upstream's own components beside a server of ours, for tests of both together.

The environment names the binaries, of the newest release that a cluster can be:
``KUBE_CONTROLLER_MANAGER``, ``KUBE_SCHEDULER``; else they are looked for on the PATH.
"""

import json
import os
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakekube.apimachinery.namespace_defaults import CERTIFICATE
from fakekube.composition.options import ClusterOptions
from fakekube.testing.background import BackgroundCluster

COMPONENTS = {"kube-controller-manager": "KUBE_CONTROLLER_MANAGER", "kube-scheduler": "KUBE_SCHEDULER"}
BINARIES = {name: os.environ.get(variable) or shutil.which(name) for name, variable in COMPONENTS.items()}
MISSING = [f"{name} (set {COMPONENTS[name]} to its path)" for name, path in BINARIES.items() if not path]
WITHIN = "90s"

MARKS = [
    pytest.mark.fake_only(reason="a real cluster has them already"), pytest.mark.toolchain, pytest.mark.timeout(600),
    pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}"),
]


class World:
    """The cluster, and what the components have said so far."""

    def __init__(self, cluster: BackgroundCluster, logs: dict[str, Path]) -> None:
        self.cluster, self._logs = cluster, logs

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """An answer's body; None when there is nothing at the path."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.cluster.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def create(self, path: str, name: str, **fields: Any) -> None:
        self.send("POST", path, {"metadata": {"name": name}, **fields})

    def status(self, path: str) -> Any:
        return self.send("GET", path).get("status") or {}

    def until(self, predicate: Callable[[], bool]) -> None:
        """Wait. A failure tells what the components complained of."""
        try:
            self.cluster.run_until(predicate, within=WITHIN)
        except Exception as error:
            error.add_note("\n".join(self.errors()))
            raise

    def errors(self) -> list[str]:
        """The lines of errors and of what is fatal, as klog writes them."""
        return [line for log in self._logs.values() for line in log.read_text().splitlines() if line[:1] in ("E", "F")]

@contextmanager
def components(folder: Path, *, nodes: int = 2, gates: str = "", **options: Any) -> Iterator[World]:
    """A server on real time with these nodes, the two components beside it.

    ``gates``: feature gates that are on in the components.
    """
    (folder / "ca.pem").write_text(CERTIFICATE)
    made = ClusterOptions.of(
        clock="real", controllers="kubelet", nodes=nodes, client_ca_file=folder / "ca.pem", advertise_address="127.0.0.2",
        **options)
    logs = {name: folder / f"{name}.log" for name in COMPONENTS}
    with BackgroundCluster(made, kubeconfig=folder / "kubeconfig") as cluster:
        more = [f"--feature-gates={gates}"] if gates else []
        running = [_started(name, cluster.kubeconfig, folder / name, logs[name], more) for name in COMPONENTS]
        try:
            yield World(cluster, logs)
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait(30)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _started(name: str, kubeconfig: Path, certificates: Path, log: Path, more: list[str]) -> "subprocess.Popen[bytes]":
    options = ["--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"]
    with log.open("wb") as file:
        return subprocess.Popen(
            [str(BINARIES[name]), *(f"{option}={kubeconfig}" for option in options), "--bind-address=127.0.0.1",
             f"--secure-port={_free_port()}", f"--cert-dir={certificates}", "--leader-elect=true", *more],
            stdout=file, stderr=file)
