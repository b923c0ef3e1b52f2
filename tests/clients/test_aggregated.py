"""Aggregated APIs as people meet them: metrics behind another server, by kubectl and a client."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from kubernetes import client, dynamic

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.testing.background import BackgroundCluster

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="the server behind the APIService runs in this process"),
    pytest.mark.fakekube(nodes=1, metrics_server=False),
]

PATH = "/apis/metrics.k8s.io/v1beta1"
Kubectl = Callable[..., str]


class Nothing:
    """A watch that ends at once, after an event."""

    def start(self, sink: Sink) -> None:
        sink.send(Frame(json.dumps({"type": "ADDED", "object": Metrics.node}).encode() + b"\n"))
        sink.end()

    def stop(self) -> None:
        pass


class Metrics:
    """A small metrics-server."""

    node: ClassVar[dict[str, Any]] = {
        "kind": "NodeMetrics", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {"name": "node-0"},
        "timestamp": "2026-01-01T00:00:00Z", "window": "20s", "usage": {"cpu": "250m", "memory": "512Mi"}}

    def __init__(self) -> None:
        self.is_away = False

    async def handle(self, request: Request) -> Response:
        if self.is_away:
            return Response(500, b"broken", "text/plain")
        if request.flag("watch"):
            return Response(stream=Nothing(), is_watch=True)
        answers = {
            PATH: {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1", "resources": [
                {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]},
                {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]}]},
            f"{PATH}/nodes": {
                "kind": "NodeMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [self.node]},
            f"{PATH}/nodes/node-0": self.node}
        found = answers.get(request.path)
        return Response(body=json.dumps(found).encode()) if found else Response(404, b"{}")


@pytest.fixture
def metrics(fakekube_server: BackgroundCluster) -> Iterator[Metrics]:
    """The server, once it is available."""
    server = Metrics()
    fakekube_server.aggregate("v1beta1.metrics.k8s.io", server, group_priority=100, version_priority=100)
    return server


def test_kubectl_sees_another_server(metrics: Metrics, kubectl: Kubectl) -> None:
    """Given metrics behind an APIService / when kubectl shows usage, resources, APIServices and raw
    paths / then all come from the server behind it.
    """
    kubectl("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
    assert kubectl("top", "nodes").splitlines()[1].split()[:2] == ["node-0", "250m"]
    assert json.loads(kubectl("get", "--raw", f"{PATH}/nodes/node-0")) == Metrics.node
    rows = [line.split() for line in kubectl("api-resources", "--api-group=metrics.k8s.io").splitlines()]
    assert [row[0] for row in rows[1:]] == ["nodes", "pods"]
    table = [line.split()[:3] for line in kubectl("get", "apiservices").splitlines()]
    assert ["v1beta1.metrics.k8s.io", "handlers.fakekube.invalid/v1beta1.metrics.k8s.io", "True"] in table
    assert ["v1.apps", "Local", "True"] in table


def test_kubectl_sees_that_it_is_away(metrics: Metrics, kubectl: Kubectl, fakekube_server: BackgroundCluster) -> None:
    """Given the server behind an APIService is away / when kubectl asks / then it says so, and
    everything else works.
    """
    kubectl("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
    metrics.is_away = True
    fakekube_server.advance(31)
    assert "False (FailedDiscoveryCheck)" in kubectl("get", "apiservice", "v1beta1.metrics.k8s.io")
    told = kubectl("get", "--raw", f"{PATH}/nodes", code=1)
    assert "the server is currently unable to handle the request" in told
    assert "error: Metrics API not available" in kubectl("top", "nodes", code=1)
    assert "node-0" in kubectl("get", "nodes")


def test_the_python_client_reads_and_watches(metrics: Metrics, kubectl: Kubectl, api: client.ApiClient) -> None:
    """Given the same / when the Python client lists, discovers and watches / then it gets what the
    server says.
    """
    kubectl("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
    found = client.CustomObjectsApi(api).list_cluster_custom_object("metrics.k8s.io", "v1beta1", "nodes")
    assert [item["usage"]["cpu"] for item in found["items"]] == ["250m"]
    nodes = dynamic.DynamicClient(api).resources.get(api_version="metrics.k8s.io/v1beta1", kind="NodeMetrics")
    assert nodes.get().items[0].metadata.name == "node-0"
    events = list(dynamic.DynamicClient(api).watch(nodes, timeout=1))
    assert [event["type"] for event in events] == ["ADDED"]
    service = client.ApiregistrationV1Api(api).read_api_service("v1beta1.metrics.k8s.io")
    assert (service.spec.group_priority_minimum, service.status.conditions[0].reason) == (100, "Passed")


def test_apply_of_metrics_servers_manifest(kubectl: Kubectl, tmp_path: Path) -> None:
    """Given the APIService that metrics-server ships / when it is applied / then its Service is
    missing, and kubectl says so; when it is deleted / then it is gone.
    """
    manifest = tmp_path / "apiservice.yaml"
    manifest.write_text("""
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  labels: {k8s-app: metrics-server}
  name: v1beta1.metrics.k8s.io
spec:
  group: metrics.k8s.io
  groupPriorityMinimum: 100
  insecureSkipTLSVerify: true
  service: {name: metrics-server, namespace: kube-system}
  version: v1beta1
  versionPriority: 100
""")
    kubectl("apply", "-f", str(manifest))
    kubectl("wait", "--for=condition=Available=False", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
    assert "kube-system/metrics-server   False (ServiceNotFound)" in kubectl("get", "apiservice", "v1beta1.metrics.k8s.io")
    kubectl("delete", "-f", str(manifest))
    assert "v1beta1.metrics.k8s.io" not in kubectl("get", "apiservices")
