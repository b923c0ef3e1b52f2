"""What a user of kubectl does with a Job, against a served cluster."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

MANIFEST = Path(__file__).parents[2] / "fixtures" / "manifests" / "job.yaml"

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
]

Kubectl = Callable[..., str]


@pytest.mark.fake_only(reason="it needs nodes with kubelets")
@pytest.mark.fakekube(nodes=2, clock=20)
@pytest.mark.spec("API-172")
def test_a_job_from_apply_to_delete(kubectl: Kubectl) -> None:
    """Given a cluster with two nodes, when a Job is applied, waited for, looked at and deleted with
    kubectl, then every command behaves as on a cluster.
    """
    nodes = kubectl("get", "nodes")
    assert nodes.splitlines()[0].split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [line.split()[:2] for line in nodes.splitlines()[1:]] == [["node-0", "Ready"], ["node-1", "Ready"]]
    assert kubectl("apply", "-f", str(MANIFEST)) == "job.batch/hello created\n"
    assert "condition met" in kubectl("wait", "--for=condition=complete", "job/hello", "--timeout=30s")
    both = kubectl("get", "pods,jobs", "-o", "wide")
    assert "Completed" in both
    assert "job.batch/hello" in both
    assert "1/1" in both
    assert "busybox:1.36" in both
    assert kubectl("logs", "job/hello") == "Hello from a pod\n"
    described = kubectl("describe", "job", "hello")
    assert "1 Succeeded / 0 Failed" in described
    assert "SuccessfulCreate" in described
    assert "Completed" in described
    events = kubectl("get", "events")
    for reason in ("SuccessfulCreate", "Scheduled", "Started", "Completed"):
        assert reason in events
    assert kubectl("delete", "job", "hello").startswith('job.batch "hello" deleted')
    assert kubectl("get", "pods") == ""


@pytest.mark.spec("API-172")
def test_objects_are_created_labelled_patched_and_deleted(kubectl: Kubectl, namespace: str) -> None:
    """Given a namespace, when a ConfigMap goes through create, label, annotate, patch, get and
    delete, then each command leaves what it says.
    """
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"mode": "fast"}}))
    kubectl("-n", namespace, "label", "configmap", "settings", "tier=a")
    kubectl("-n", namespace, "annotate", "configmap", "settings", "note=b")
    kubectl("-n", namespace, "patch", "configmap", "settings", "--type=merge", "-p", '{"data":{"mode":"slow"}}')
    add = '[{"op":"add","path":"/data/more","value":"1"}]'
    kubectl("-n", namespace, "patch", "configmap", "settings", "--type=json", "-p", add)
    found = json.loads(kubectl("-n", namespace, "get", "configmap", "settings", "-o", "json"))
    assert found["data"] == {"mode": "slow", "more": "1"}
    assert found["metadata"]["labels"] == {"tier": "a"}
    assert found["metadata"]["annotations"] == {"note": "b"}
    assert kubectl("-n", namespace, "get", "configmaps", "-l", "tier=a", "-o", "name") == "configmap/settings\n"
    kubectl("-n", namespace, "delete", "configmap", "settings")
    assert kubectl("-n", namespace, "get", "configmaps", "-l", "tier=a") == ""
