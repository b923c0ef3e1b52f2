"""Our Kueue beside the real control plane: ``fakekube run kueue`` with webhooks, conversions and
the visibility API over HTTPS.

The control plane is started by the program that starts managers, see ``managers.py``.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.clients.managers import MARKS, PROGRAM, SECONDS

pytestmark = [pytest.mark.fake_only(reason="it starts a control plane of its own"), *MARKS]

GROUP, NAMESPACE = "kueue.x-k8s.io", "default"
RUN = [sys.executable, "-m", "fakekube", "run", "kueue"]


@contextmanager
def process(command: list[str], log: Path) -> Iterator[None]:
    """A program, ended as Ctrl-C does; what it says is in the file."""
    with log.open("wb") as output:
        started = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(started.pid, signal.SIGINT)
            started.wait(60)


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a control plane."""
    folder = tmp_path_factory.mktemp("real")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kubeconfig = folder / "kubeconfig"
    with process([str(PROGRAM), "serve", "--kubeconfig", str(kubeconfig), "--port", str(port)], folder / "log"):
        yield kubeconfig


class Queues:
    """One queue of two CPUs, and Jobs for it."""

    def __init__(self, api: client.ApiClient) -> None:
        self.batch, self.custom = client.BatchV1Api(api), client.CustomObjectsApi(api)
        self.services, self.hooks = client.ApiregistrationV1Api(api), client.AdmissionregistrationV1Api(api)

    def create(self, plural: str, kind: str, name: str, version: str = "v1beta2", namespaced: bool = False, **body: Any) -> Any:
        tree = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, **body}
        if namespaced:
            return self.custom.create_namespaced_custom_object(GROUP, version, NAMESPACE, plural, tree)
        return self.custom.create_cluster_custom_object(GROUP, version, plural, tree)

    def job(self, name: str) -> None:
        container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}
        self.batch.create_namespaced_job(NAMESPACE, {
            "metadata": {"name": name, "labels": {f"{GROUP}/queue-name": "q"}},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}})

    def suspended(self) -> dict[str, bool]:
        return {job.metadata.name: job.spec.suspend for job in self.batch.list_namespaced_job(NAMESPACE).items}

    def waiting(self, version: str) -> list[str]:
        """The Jobs whose Workloads wait, as the visibility API has it."""
        found = self.custom.get_cluster_custom_object(f"visibility.{GROUP}", version, "clusterqueues", "q/pendingworkloads")
        return [item["metadata"]["ownerReferences"][0]["name"] for item in found["items"]]

    def flavor(self) -> Any:
        return self.custom.get_cluster_custom_object(GROUP, "v1beta2", "resourceflavors", "f")["metadata"]

    def left(self) -> list[str]:
        """What leads to who is gone."""
        lists = (
            self.hooks.list_validating_webhook_configuration(), self.hooks.list_mutating_webhook_configuration(),
            self.services.list_api_service())
        names = [each.metadata.name for found in lists for each in found.items]
        return [name for name in names if "kueue-" in name or name.endswith(f"visibility.{GROUP}")]


def quota(nominal: str) -> dict[str, Any]:
    flavor = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": nominal}]}
    return {"namespaceSelector": {}, "cohort": "all", "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}]}


def test_kueue_beside_a_real_control_plane(control_plane: Path, tmp_path: Path, until: Callable[..., Any]) -> None:
    """Given a real control plane, when our Kueue runs beside it, then Jobs wait for quota, its
    webhooks refuse, objects are converted, and the visibility API answers; when it is started
    again, all is as it was, and nothing leads to it when it is gone.
    """
    until(control_plane.exists, seconds=SECONDS)
    queues = Queues(config.new_client_from_config(str(control_plane)))
    log = tmp_path / "log"
    with process([*RUN, "--kubeconfig", str(control_plane)], log):
        until(lambda: b"running kueue" in log.read_bytes(), seconds=60.0)
        until(lambda: queues.create("resourceflavors", "ResourceFlavor", "f"))
        with pytest.raises(client.ApiException) as refused:
            queues.create("clusterqueues", "ClusterQueue", "q", "v1beta1", spec=quota("-1"))
        assert (refused.value.status, "vclusterqueue.kb.io" in refused.value.body) == (403, True)
        queues.create("clusterqueues", "ClusterQueue", "q", "v1beta1", spec=quota("2"))
        found = queues.custom.get_cluster_custom_object(GROUP, "v1beta2", "clusterqueues", "q")
        assert found["spec"]["cohortName"] == "all"
        queues.create("localqueues", "LocalQueue", "q", namespaced=True, spec={"clusterQueue": "q"})
        for name in "abc":
            queues.job(name)
        until(lambda: queues.suspended() == {"a": False, "b": False, "c": True}, seconds=60.0)
        for version in ("v1beta1", "v1beta2"):
            until(lambda version=version: queues.waiting(version) == ["c"], seconds=60.0)
        queues.custom.delete_cluster_custom_object(GROUP, "v1beta2", "resourceflavors", "f")
        assert queues.flavor()["finalizers"] == [f"{GROUP}/resource-in-use"]
    assert queues.left() == []
    with process([*RUN, "--kubeconfig", str(control_plane)], log):
        until(lambda: b"running kueue" in log.read_bytes(), seconds=60.0)
        until(lambda: queues.waiting("v1beta2") == ["c"], seconds=60.0)
        queues.batch.delete_namespaced_job("a", NAMESPACE, propagation_policy="Background")
        until(lambda: queues.suspended() == {"b": False, "c": False}, seconds=60.0)
        assert "deletionTimestamp" in queues.flavor()
    assert queues.left() == []
