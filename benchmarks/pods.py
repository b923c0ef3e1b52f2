"""The pod of 3 KB that figures are about."""

from functools import cache
from typing import Any

import orjson


@cache
def _template() -> bytes:
    container: dict[str, Any] = {
        "image": "trainer:1.4", "command": ["python", "-m", "train"], "args": ["--epochs=10", "--batch-size=128"],
        "env": [{"name": f"VARIABLE_{number}", "value": f"value-of-variable-{number}"} for number in range(12)],
        "resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "1", "memory": "2Gi"}},
        "ports": [{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "scratch", "mountPath": "/scratch"}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10, "failureThreshold": 3},
        "securityContext": {"runAsNonRoot": True, "allowPrivilegeEscalation": False},
    }
    return orjson.dumps({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "@@NAME@@", "namespace": "default",
            "labels": {"app": "training", "team": "research", "batch.kubernetes.io/job-name": "train"},
            "annotations": {"example.com/owner": "somebody", "example.com/purpose": "a pod as long as pods are"}},
        "spec": {
            "restartPolicy": "Never", "containers": [container | {"name": "main"}, container | {"name": "helper", "ports": []}],
            "volumes": [{"name": "data", "emptyDir": {}}, {"name": "scratch", "emptyDir": {"medium": "Memory"}}],
            "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "nodeSelector": {"pool": "training"}}})


def body(number: int) -> bytes:
    """A pod as a client sends it."""
    return _template().replace(b"@@NAME@@", b"pod-%06d" % number)


def short(number: int) -> bytes:
    """A pod that is 3 KB long once the server has put in its own."""
    return orjson.dumps({
        "metadata": {"name": f"pod-{number:06d}", "labels": {"app": "training", "index": str(number)}},
        "spec": {"restartPolicy": "Never", "containers": [{
            "name": "main", "image": "trainer:1.4", "args": ["--epochs=10"], "env": [{"name": "INDEX", "value": str(number)}],
            "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}]}})


def generated() -> bytes:
    """The same with a name that the server makes up."""
    return _template().replace(b'"name":"@@NAME@@"', b'"generateName":"pod-"')
