"""Upstream's own kube-controller-manager and kube-scheduler beside a server whose controllers are
off, all but the kubelet.

The environment names the binaries, of the newest release that a cluster can be:
``KUBE_CONTROLLER_MANAGER``, ``KUBE_SCHEDULER``. Where one is not named, and is not on the PATH
either, the tests are skipped.
"""

import json
import os
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
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
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}

pytestmark = [
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


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server on real time with two nodes, the two components beside it."""
    folder = tmp_path_factory.mktemp("components")
    (folder / "ca.pem").write_text(CERTIFICATE)
    options = ClusterOptions.of(
        clock="real", controllers="kubelet", nodes=2, client_ca_file=folder / "ca.pem", advertise_address="127.0.0.2")
    logs = {name: folder / f"{name}.log" for name in COMPONENTS}
    with BackgroundCluster(options, kubeconfig=folder / "kubeconfig") as cluster:
        running = [_started(name, cluster.kubeconfig, folder / name, logs[name]) for name in COMPONENTS]
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


def _started(name: str, kubeconfig: Path, certificates: Path, log: Path) -> "subprocess.Popen[bytes]":
    options = ["--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"]
    with log.open("wb") as file:
        return subprocess.Popen(
            [str(BINARIES[name]), *(f"{option}={kubeconfig}" for option in options), "--bind-address=127.0.0.1",
             f"--secure-port={_free_port()}", f"--cert-dir={certificates}", "--leader-elect=true"], stdout=file, stderr=file)


def test_they_lead(world: World) -> None:
    """Given both components, when they start, then each holds its Lease."""
    for name in COMPONENTS:
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{name}"
        world.until(lambda path=path: bool((world.send("GET", path) or {}).get("spec", {}).get("holderIdentity")))


def test_a_deployment_behind_a_service(world: World) -> None:
    """Given a Deployment and a Service, when the components run, then it is available, and a slice
    has its pods.
    """
    world.create("/apis/apps/v1/namespaces/default/deployments", "web", spec={
        "replicas": 3, "selector": {"matchLabels": LABELS}, "template": TEMPLATE})
    world.create("/api/v1/namespaces/default/services", "web", spec={"selector": LABELS, "ports": [{"port": 80}]})
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    world.until(lambda: world.status(path).get("availableReplicas") == 3)

    def addresses() -> int:
        slices = world.send(
            "GET", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb")
        return sum(len(each.get("endpoints") or ()) for each in slices["items"])

    world.until(lambda: addresses() == 3)
    pods = world.send("GET", "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb")["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
    world.send("DELETE", path, {"propagationPolicy": "Foreground"})
    world.until(lambda: world.send("GET", path) is None and addresses() == 0)


def test_a_job_a_daemon_set_and_a_stateful_set(world: World) -> None:
    """Given workloads of other kinds, when their controllers run, then the Job completes, and the
    others are ready.
    """
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "1"]}]}
    world.create("/apis/batch/v1/namespaces/default/jobs", "j", spec={
        "completions": 3, "parallelism": 2, "template": {"spec": pod}})
    sets = {"selector": {"matchLabels": {"app": "set"}}, "template": {**TEMPLATE, "metadata": {"labels": {"app": "set"}}}}
    world.create("/apis/apps/v1/namespaces/default/daemonsets", "d", spec=sets)
    labels = {"app": "state"}
    world.create("/apis/apps/v1/namespaces/default/statefulsets", "s", spec={
        "replicas": 2, "serviceName": "s", "selector": {"matchLabels": labels},
        "template": {**TEMPLATE, "metadata": {"labels": labels}}})
    world.until(lambda: world.status("/apis/batch/v1/namespaces/default/jobs/j").get("succeeded") == 3)
    world.until(lambda: world.status("/apis/apps/v1/namespaces/default/daemonsets/d").get("numberReady") == 2)
    world.until(lambda: world.status("/apis/apps/v1/namespaces/default/statefulsets/s").get("readyReplicas") == 2)
    [condition] = [each for each in world.status("/apis/batch/v1/namespaces/default/jobs/j")["conditions"]
                   if each["type"] == "Complete"]
    assert condition["status"] == "True"


def test_a_namespace_with_a_quota_comes_and_goes(world: World) -> None:
    """Given a namespace with a quota, when it is deleted, then the quota had been counted, and all
    of it goes.
    """
    world.create("/api/v1/namespaces", "team")
    world.until(lambda: world.send("GET", "/api/v1/namespaces/team/serviceaccounts/default") is not None)
    world.create("/api/v1/namespaces/team/configmaps", "c")
    world.create("/api/v1/namespaces/team/resourcequotas", "q", spec={"hard": {"count/configmaps": "9"}})
    path = "/api/v1/namespaces/team/resourcequotas/q"
    world.until(lambda: world.status(path).get("used", {}).get("count/configmaps", "0") != "0")
    world.send("DELETE", "/api/v1/namespaces/team")
    world.until(lambda: world.send("GET", "/api/v1/namespaces/team") is None)


def test_they_miss_nothing(world: World) -> None:
    """Given what the components have logged, when it is searched, then nothing was fatal or
    missing, and nobody crashed.
    """
    complaints = [line for line in world.errors() if line.startswith("F") or "not found" in line or "panic" in line]
    assert complaints == []
