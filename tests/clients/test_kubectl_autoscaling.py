"""What users of kubectl do about load: looking at what is used, and having workloads scaled by it.
"""

import json
import shutil
from collections.abc import Callable

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it says what pods use, by annotations"),
    pytest.mark.fakekube(nodes=2, clock=20),
]

Kubectl = Callable[..., str]


def deployment(name: str, **annotations: str) -> str:
    """A manifest of two pods with two containers."""
    containers = [
        {"name": container, "image": "i", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
        for container in ("main", "side")]
    said = {f"fakekube.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}, "annotations": said}, "spec": {"containers": containers}}}})


def rows(table: str) -> list[list[str]]:
    """The cells of what kubectl prints, without the header."""
    return [line.split() for line in table.splitlines()[1:]]


@pytest.mark.spec("API-172")
def test_top(inside: Kubectl) -> None:
    """Given two Deployments that use different amounts, when their nodes and pods are looked at, by
    container, by label, by name, sorted and summed up, then kubectl prints what is used.
    """
    inside("apply", "-f", "-", stdin=deployment("low", cpu_usage="10m", memory_usage="16Mi"))
    inside("apply", "-f", "-", stdin=deployment("high", cpu_usage="100m", memory_usage="4Mi"))
    inside("wait", "--for=condition=Available", "deployment", "--all", "--timeout=30s")
    nodes = rows(inside("top", "nodes"))
    assert [row[0] for row in nodes] == ["node-0", "node-1"]
    assert sum(int(row[1].removesuffix("m")) for row in nodes) == 440
    assert all(row[2].endswith("%") and row[3].endswith("Mi") for row in nodes)
    assert [row[1:] for row in rows(inside("top", "pods", "-l", "app=low"))] == [["20m", "32Mi"]] * 2
    by_cpu = rows(inside("top", "pods", "--sort-by=cpu"))
    assert [row[1] for row in by_cpu] == ["200m", "200m", "20m", "20m"]
    assert [row[2] for row in rows(inside("top", "pods", "--sort-by=memory"))] == ["32Mi", "32Mi", "8Mi", "8Mi"]
    assert rows(inside("top", "pod", by_cpu[0][0], "--containers")) == [
        [by_cpu[0][0], "main", "100m", "4Mi"], [by_cpu[0][0], "side", "100m", "4Mi"]]
    assert rows(inside("top", "pods", "--sum"))[-1] == ["440m", "80Mi"]
    assert len([row for row in rows(inside("top", "pods", "-A")) if row[1].startswith(("low-", "high-"))]) == 4
    assert rows(inside("get", "pods.metrics.k8s.io", by_cpu[0][0]))[0][1:] == ["200m", "8Mi", "15s"]
    assert 'Error from server (NotFound): pods "nope" not found' in inside("top", "pod", "nope", code=1)


@pytest.mark.fakekube(metrics_server=False)
def test_top_without_metrics_server(inside: Kubectl) -> None:
    """Given a cluster without metrics-server, when pods are looked at, then kubectl says what it
    says there.
    """
    assert "error: Metrics API not available" in inside("top", "pods", code=1)


@pytest.mark.spec("JOB-178", "API-172")
def test_autoscale(inside: Kubectl) -> None:
    """Given a Deployment whose pods use three times what they should, when it is autoscaled, then
    it grows to the maximum, and ``get`` and ``describe`` tell why.
    """
    inside("apply", "-f", "-", stdin=deployment("web", cpu_usage="150m"))
    inside("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    assert inside("autoscale", "deployment", "web", "--min=1", "--max=5", "--cpu-percent=50") == (
        "horizontalpodautoscaler.autoscaling/web autoscaled\n")
    inside("wait", "--for=jsonpath={.status.currentReplicas}=5", "hpa/web", "--timeout=40s")
    inside("wait", "--for=jsonpath={.status.availableReplicas}=5", "deployment/web", "--timeout=30s")
    line = inside("get", "hpa", "web").splitlines()[1]
    assert line.split()[:2] == ["web", "Deployment/web"]
    assert "150%/50%" in line
    assert line.split()[-4:-1] == ["1", "5", "5"]
    described = inside("describe", "hpa", "web")
    for text in (
        "resource cpu on pods  (as a percentage of request):  150% (300m) / 50%", "Deployment pods:", "TooManyReplicas",
        "ScalingActive   True    ValidMetricFound", "New size: 4; reason: cpu resource utilization",
    ):
        assert text in described, described
    assert json.loads(inside("get", "horizontalpodautoscalers.v1.autoscaling", "web", "-o", "json"))["status"][
        "currentCPUUtilizationPercentage"] == 150
    inside("delete", "hpa", "web")
