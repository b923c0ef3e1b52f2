"""The hash of a pod template: the value that upstream's controllers give it, release by release."""

from typing import Any

import pytest

from fakekube.apimachinery.releases import RELEASES
from fakekube.runtime.gotemplate import printed
from fakekube.runtime.revisions import template_hash

# The Deployment of Kubernetes' documentation, as its server completes it.
NGINX: dict[str, Any] = {"metadata": {"labels": {"app": "nginx"}}, "spec": {
    "containers": [{
        "name": "nginx", "image": "nginx:1.14.2", "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent"}],
    "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "securityContext": {},
    "schedulerName": "default-scheduler"}}

RICH: dict[str, Any] = {"metadata": {"labels": {"b": "2", "a": "1"}, "annotations": {"note": "über"}}, "spec": {
    "initContainers": [{"name": "side", "image": "i", "restartPolicy": "Always", "startupProbe": {
        "exec": {"command": ["true"]}, "periodSeconds": 1}}],
    "containers": [{
        "name": "main", "image": "app:1", "args": ["-v", "2"],
        "env": [{"name": "A", "value": "x"}, {"name": "M", "valueFrom": {
            "resourceFieldRef": {"resource": "limits.memory", "divisor": "0"}}}],
        "resources": {
            "limits": {"cpu": "1500m", "memory": "128Mi"}, "requests": {"cpu": "1", "memory": "100M", "example.com/x": "3"}},
        "livenessProbe": {"httpGet": {"path": "/", "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 1},
        "readinessProbe": {"tcpSocket": {"port": 8080}},
        "securityContext": {"runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
    "volumes": [
        {"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Ki"}}}}}}],
    "nodeSelector": {"os": "linux"}, "priority": 7, "securityContext": {}, "hostNetwork": False,
    "terminationGracePeriodSeconds": 0,
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}},
    "tolerations": [{"key": "t", "operator": "Exists", "tolerationSeconds": 5}],
    "topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"a": "1"}}}]}}


@pytest.mark.parametrize(("release", "expected"), [
    ("1.25", "7fb96c846b"), ("1.26", "85996f8dbd"), ("1.27", "cbdccf466"), ("1.28", "86dcfdf4c6"), ("1.29", "86dcfdf4c6"),
    ("1.30", "77d8468669"), ("1.31", "d556bf558"), ("1.32", "647677fc66"), ("1.37", "54fd4d6d4c"),
])
def test_a_known_template_has_its_known_hash(release: str, expected: str) -> None:
    """Given a template, when a release hashes it, then it is known by the name that ReplicaSets
    have on real clusters.
    """
    assert template_hash(NGINX, None, release) == expected


def test_any_field_counts() -> None:
    """Given a template with fields of all sorts, when it is hashed with and without collisions,
    then the hashes are Go's.
    """
    assert template_hash(RICH, None, "1.37") == "7bc6fb869c"
    assert template_hash(RICH, 3, "1.37") == "75d6785d9d"
    assert template_hash(RICH, None, "1.30") == "78565757c9"


@pytest.mark.parametrize(("amount", "value", "scale", "kept", "form"), [
    ("0", 0, 0, "0", "DecimalSI"), ("-5e3", -5, 3, "-5e3", "DecimalExponent"), ("8Ki", 8192, 0, "", "BinarySI"),
    ("9Ki", 9216, 0, "9Ki", "BinarySI"), ("100m", 100, -3, "100m", "DecimalSI"),
])
def test_amounts_are_printed_as_go_keeps_them(amount: str, value: int, scale: int, kept: str, form: str) -> None:
    """Given an amount, when its template is printed, then it is what Go made of it, its text if
    that could be kept.
    """
    text = f"{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} "
    text += f"d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} s:(string){kept} Format:(resource.Format){form}}}"
    assert f"Overhead:(v1.ResourceList)map[cpu:{text}]" in printed({"spec": {"overhead": {"cpu": amount}}}, "1.37")


def test_a_big_number_is_told_apart() -> None:
    """Given amounts that Go keeps as big numbers, when their templates are hashed, then the hashes
    differ.
    """
    hashes = [template_hash({"spec": {"overhead": {"cpu": amount}}}, None, "1.37") for amount in ("2Pi", "3Pi", "9" * 19)]
    assert len(dict.fromkeys(hashes)) == 3


def test_every_release_prints() -> None:
    """Given all releases that are served, when a template is printed, then each has a text, and a
    newer one its newer fields.
    """
    texts = {release.minor: printed(RICH, release.name) for release in RELEASES}
    assert all(text.startswith("(v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){Name:(string) ") for text in texts.values())
    assert ["ResizePolicy" in texts[minor] for minor in (26, 27)] == [False, True]
