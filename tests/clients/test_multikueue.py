"""MultiKueue between Kueue's own manager and ours, in both directions.

Kueue's manager is started as those of ``test_managers.py`` are.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from kubernetes import client, config

from fakekube.testing.background import BackgroundCluster
from tests.clients import managers

pytestmark = [pytest.mark.fake_only(reason="two clusters are needed"), *managers.MARKS]

GROUP, VERSION, NS = "kueue.x-k8s.io", "v1beta2", "default"
CONFIGURATION = {
    "apiVersion": f"config.{GROUP}/v1beta2", "kind": "Configuration",
    # with more of them a worker has to know kinds that no cluster here has
    "integrations": {"frameworks": ["batch/job"]}}


class Side(NamedTuple):
    """One of the two clusters."""

    batch: client.BatchV1Api
    core: client.CoreV1Api
    custom: client.CustomObjectsApi
    kubeconfig: Path

    @classmethod
    def of(cls, kubeconfig: Path) -> "Side":
        """What a kubeconfig leads to."""
        settings = client.Configuration()
        config.load_kube_config(str(kubeconfig), client_configuration=settings)
        api = client.ApiClient(settings)
        return cls(client.BatchV1Api(api), client.CoreV1Api(api), client.CustomObjectsApi(api), kubeconfig)

    def create(self, plural: str, kind: str, name: str, namespace: str = "", **body: Any) -> None:
        """Create an object of Kueue's."""
        tree = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name}, **body}
        if namespace:
            self.custom.create_namespaced_custom_object(GROUP, VERSION, namespace, plural, tree)
        else:
            self.custom.create_cluster_custom_object(GROUP, VERSION, plural, tree)

    def is_active(self, plural: str, name: str) -> bool:
        """Whether the condition Active of an object is true."""
        found = self.custom.get_cluster_custom_object(GROUP, VERSION, plural, name)
        return any((one["type"], one["status"]) == ("Active", "True") for one in found.get("status", {}).get("conditions", ()))

    def put_queue(self, *checks: str) -> None:
        """Make a queue of two cpus."""
        groups = [{"coveredResources": ["cpu"], "flavors": [
            {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]}]
        wanted = {"admissionChecksStrategy": {"admissionChecks": [{"name": name} for name in checks]}} if checks else {}
        self.create("resourceflavors", "ResourceFlavor", "f")
        self.create("clusterqueues", "ClusterQueue", "cq", spec={"namespaceSelector": {}, "resourceGroups": groups, **wanted})
        self.create("localqueues", "LocalQueue", "q", NS, spec={"clusterQueue": "cq"})

    def put_worker(self, kubeconfig: str) -> None:
        """Let the admission check ``mk`` send what it is asked for to another cluster."""
        self.core.create_namespaced_secret("kueue-system", {"metadata": {"name": "w"}, "stringData": {"kubeconfig": kubeconfig}})
        source = {"kubeConfig": {"location": "w", "locationType": "Secret"}}
        self.create("multikueueclusters", "MultiKueueCluster", "w", spec={"clusterSource": source})
        self.create("multikueueconfigs", "MultiKueueConfig", "c", spec={"clusters": ["w"]})
        parameters = {"apiGroup": GROUP, "kind": "MultiKueueConfig", "name": "c"}
        self.create("admissionchecks", "AdmissionCheck", "mk", spec={
            "controllerName": f"{GROUP}/multikueue", "parameters": parameters})


OPTIONS: dict[str, Any] = {"tls": True, "nodes": 2, "clock": "real", "authorization_mode": "Node,RBAC"}


@pytest.fixture
def upstreams(tmp_path: Path, until: Callable[..., Any]) -> Iterator[Side]:
    """A cluster with Kueue's own manager."""
    configuration = tmp_path / "kueue.yaml"
    configuration.write_text(yaml.safe_dump(CONFIGURATION))
    with (
        BackgroundCluster(kubeconfig=tmp_path / "theirs", **OPTIONS) as cluster,
        managers.running("kueue", cluster.kubeconfig, tmp_path, configuration) as log,
    ):
        until(lambda: b"beside" in log.read_bytes(), seconds=managers.SECONDS)
        yield Side.of(cluster.kubeconfig)


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Side]:
    """A cluster with our Kueue."""
    with BackgroundCluster(kubeconfig=tmp_path / "ours", **OPTIONS, controllers="*,kueue") as cluster:
        yield Side.of(cluster.kubeconfig)


@pytest.mark.spec("KUEUE-152", "KUEUE-156")
@pytest.mark.parametrize(("managing", "working"), [("upstreams", "ours"), ("ours", "upstreams")])
def test_a_job_runs_on_the_others_worker(
    managing: str, working: str, request: pytest.FixtureRequest, until: Callable[..., Any],
) -> None:
    """Given Kueue's own manager on one side and ours on the other, when a Job is queued where the
    workers are managed, then its pods run on the worker, it completes, and the copy is gone.
    """
    manager, worker = (request.getfixturevalue(name) for name in (managing, working))
    worker.put_queue()
    manager.put_worker(worker.kubeconfig.read_text())
    until(lambda: manager.is_active("multikueueclusters", "w"))
    manager.put_queue("mk")
    until(lambda: manager.is_active("clusterqueues", "cq"))
    container = {"name": "c", "image": "busybox", "command": ["sleep", "1"], "resources": {"requests": {"cpu": "1"}}}
    manager.batch.create_namespaced_job(NS, {
        "metadata": {"name": "j", "labels": {f"{GROUP}/queue-name": "q"}},
        "spec": {"completions": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}})
    until(lambda: manager.batch.read_namespaced_job("j", NS).status.succeeded == 2, seconds=60.0)
    assert manager.core.list_namespaced_pod(NS).items == []
    until(lambda: not worker.batch.list_namespaced_job(NS).items)
    workloads = manager.custom.list_namespaced_custom_object(GROUP, VERSION, NS, "workloads")["items"]
    [conditions] = [[one["type"] for one in each["status"]["conditions"] if one["status"] == "True"] for each in workloads]
    assert sorted(conditions) in (  # how fast the worker's pods end is its own affair
        ["Admitted", "Finished", "QuotaReserved"], ["Admitted", "Finished", "PodsReady", "QuotaReserved"])
